//go:build unix

package main

import (
	"os"
	"syscall"

	"rewind/api"
)

// become makes this process another program; it returns only where that cannot be started.
func become(args []string) error {
	return &api.StartError{Path: args[0], Err: syscall.Exec(args[0], args, os.Environ())}
}
