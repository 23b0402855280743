//go:build !linux

package main

// helpers are the programs that the test binary is besides, by name.
func helpers() map[string]func([]string) int { return nil }
