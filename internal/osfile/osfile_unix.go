//go:build unix

package osfile

import (
	"io/fs"
	"os"
	"syscall"
)

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

// SameOwner reports whether two files belong to one user.
func SameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Uid == y.Uid
}

// SameGroup reports whether two files belong to one group.
func SameGroup(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Gid == y.Gid
}

// OpenRead opens a file to be read; it waits for nobody, and follows no link.
func OpenRead(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
