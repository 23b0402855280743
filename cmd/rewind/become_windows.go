package main

import (
	"os"
	"os/exec"

	"rewind/api"
)

// become runs another program until it ends.
func become(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return &api.StartError{Path: args[0], Err: err}
	}
	return nil
}
