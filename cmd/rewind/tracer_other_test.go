//go:build !linux

package main

// helpers are the programs besides rewind that the test binary is.
func helpers() map[string]func() { return map[string]func(){} }
