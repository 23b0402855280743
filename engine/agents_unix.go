//go:build unix

package engine

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

// openRead opens a file to be read; it waits for nobody, and follows no link.
func openRead(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// freeBytes is the space in bytes that the file system of dir has for this user.
func freeBytes(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
