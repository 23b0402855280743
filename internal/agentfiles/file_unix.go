//go:build unix

package agentfiles

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// noWait keeps an open from waiting for the other end of a pipe.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// links is how many names a file has.
func links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// mayWrite reports by an error whether files can be made in a directory, or taken away.
func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}
