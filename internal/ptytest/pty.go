// Package ptytest opens terminals, for tests and benchmarks of programs that a person looks at.
package ptytest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Start starts a program as the leader of a session on a new terminal of that size. What is written to keys is typed
// there, and what the program prints can be read from it until the last who has the terminal is gone.
func Start(cmd *exec.Cmd, rows, columns uint16) (keys *os.File, err error) {
	keys, screen, err := open(rows, columns)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err = errors.Join(cmd.Start(), screen.Close()); err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	return keys, nil
}
