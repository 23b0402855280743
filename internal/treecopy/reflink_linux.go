package treecopy

import (
	"os"

	"golang.org/x/sys/unix"
)

// Reflink is a Clone by the file system.
func Reflink(to, from *os.File) error {
	switch err := unix.IoctlFileClone(int(to.Fd()), int(from.Fd())); err {
	case nil:
		return nil
	case unix.EXDEV, unix.EOPNOTSUPP, unix.ENOTTY, unix.EINVAL, unix.ENOSYS, unix.EPERM:
		return ErrNoReflink
	default:
		return &os.PathError{Op: "reflink", Path: from.Name(), Err: err}
	}
}
