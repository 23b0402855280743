//go:build unix

package clients

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// locked reports whether somebody holds the file's flock, and who, where the system says. For a moment the file has a lock of ours, which
// others may share; it is never made.
func locked(path string) (held bool, pid int, err error) {
	f, err := openRead(path)
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

// openRead opens a file to be read; it waits for nobody, and follows no link.
func openRead(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// exists reports whether a process runs, whoever's it is.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// sameOwner gives a new file the owner and group of another.
func sameOwner(f *os.File, like fs.FileInfo) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	now, ok := fi.Sys().(*syscall.Stat_t)
	want, ok2 := like.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || now.Uid == want.Uid && now.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
