//go:build !unix

package kv_test

func runChild() bool { return false }
