//go:build !linux

package main

import "runtime"

// system names the processor, the kernel and the file system that dir is on.
func system(string) (cpu, kernel, disk string) {
	return runtime.GOARCH, runtime.GOOS, "unknown file system"
}
