//go:build unix

package clients

import (
	"errors"
	"syscall"

	"rewind/internal/osfile"
)

// locked reports whether somebody holds the file's flock, and who, where the system says. For a moment the file has a lock of ours, which
// others may share; it is never made.
func locked(path string) (held bool, pid int, err error) {
	f, err := osfile.OpenRead(path)
	if err != nil {
		return false, 0, err
	}
	defer f.Close() // releases
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, lockHolder(f), nil
	}
	return false, 0, err
}

// exists reports whether a process runs, whoever's it is.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
