//go:build unix

package gitinfo

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// rawFile is an open file outside of the runtime's poller: of a pipe that took the file's place since it was looked at, a read gives an
// error at once.
type rawFile struct{ fd int }

func openRaw(path string) (rawFile, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
		switch err {
		case nil:
			return rawFile{fd}, nil
		case syscall.EINTR:
		default:
			return rawFile{}, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

func (f rawFile) stat() (fs.FileMode, int64, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(f.fd, &st); err != nil {
		return 0, 0, os.NewSyscallError("fstat", err)
	}
	mode := fs.ModeIrregular
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		mode = 0
	case syscall.S_IFDIR:
		mode = fs.ModeDir
	}
	return mode, st.Size, nil
}

func (f rawFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd, b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Close closes a file that was only read.
func (f rawFile) Close() { _ = syscall.Close(f.fd) }
