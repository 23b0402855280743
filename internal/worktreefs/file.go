package worktreefs

import (
	"io"

	"golang.org/x/sys/unix"
)

// file is an open regular file, read or written.
type file struct {
	fd   int
	dir  *dir
	name string
}

func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var n int
	err := again(func() (err error) { n, err = unix.Read(f.fd, p[:min(len(p), maxIO)]); return err })
	return f.got("read", n, err)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	total := 0
	for total < len(p) {
		var n int
		err := again(func() (err error) {
			n, err = unix.Pread(f.fd, p[total:min(len(p), total+maxIO)], off+int64(total))
			return err
		})
		n, err = f.got("read", n, err)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// got translates what a read gave.
func (f *file) got(op string, n int, err error) (int, error) {
	switch {
	case err != nil:
		return 0, f.dir.fail(op, f.name, err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	total := 0
	for total < len(p) {
		var n int
		err := again(func() (err error) { n, err = unix.Write(f.fd, p[total:min(len(p), total+maxIO)]); return err })
		if err != nil {
			return total, f.dir.fail("write", f.name, err)
		}
		total += n
	}
	return total, nil
}

func (f *file) Chmod(perm uint16) error {
	if err := again(func() error { return unix.Fchmod(f.fd, uint32(perm&permMask)) }); err != nil {
		return f.dir.fail("change permissions", f.name, err)
	}
	return nil
}

func (f *file) WriteOut() { writeOut(f.fd) }

func (f *file) Sync() error {
	if err := fullSync(f.fd); err != nil {
		return f.dir.fail("sync", f.name, err)
	}
	return nil
}

func (f *file) Stat() (Stat, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(f.fd, &st) }); err != nil {
		return Stat{}, f.dir.fail("stat", f.name, err)
	}
	return statOf(&st), nil
}

func (f *file) Writers() (bool, error) {
	w, err := writers(f.fd)
	if err != nil {
		return false, f.dir.fail("ask for writers", f.name, err)
	}
	return w, nil
}

func (f *file) Close() error {
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return f.dir.fail("close", f.name, err)
	}
	return nil
}
