package worktreefs

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// dir is a directory file descriptor.
type dir struct {
	fd     int
	name   string // last component, or the root's path
	parent *dir   // for Name only: its descriptor may be closed
	git    bool   // reached through a spelling of .git: writes are refused

	listing sync.Mutex // the descriptor has one read position
}

// openFlags of every directory: links refused, no inheritance by child processes.
const openFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openRoot(path string) (Dir, error) {
	d := &dir{name: path, git: anyDotGit(path)}
	// The root itself may be named through links: the user's own path to the project.
	fd, err := openat(unix.AT_FDCWD, path, openFlags&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &opError{op: "open directory", dir: d, kind: kindOf(err), err: err}
	}
	d.fd = fd
	return d, nil
}

func statRoot(path string) (Stat, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Stat(path, &st) })
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = unix.ENOTDIR
	}
	if err != nil {
		return Stat{}, &opError{op: "stat", dir: &dir{name: path}, kind: kindOf(err), err: err}
	}
	return statOf(&st), nil
}

func (d *dir) Name() string {
	if d.parent == nil {
		return d.name
	}
	var names []string
	n := 0
	for e := d; e != nil; e = e.parent {
		names = append(names, e.name)
		n += len(e.name) + 1
	}
	b := make([]byte, 0, n)
	for i := len(names) - 1; i >= 0; i-- {
		b = append(b, names[i]...)
		if i > 0 && (len(b) == 0 || b[len(b)-1] != '/') {
			b = append(b, '/')
		}
	}
	return string(b)
}

func (d *dir) Close() error {
	if err := unix.Close(d.fd); err != nil && err != unix.EINTR {
		return d.fail("close", "", err)
	}
	return nil
}

func (d *dir) Stat() (Stat, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(d.fd, &st) }); err != nil {
		return Stat{}, d.fail("stat", "", err)
	}
	return statOf(&st), nil
}

func (d *dir) StampsNames() bool { return stampsNames(d.fd) }

func (d *dir) Lstat(name string) (Stat, error) {
	if err := checkName(name); err != nil {
		return Stat{}, d.refuse("stat", name, err)
	}
	var st unix.Stat_t
	for {
		err := lstatat(d.fd, name, &st)
		if err == nil {
			return statOf(&st), nil
		}
		if err != unix.EINTR {
			return Stat{}, d.fail("stat", name, err)
		}
	}
}

func (d *dir) OpenDir(name string) (Dir, error) {
	if err := checkName(name); err != nil {
		return nil, d.refuse("open directory", name, err)
	}
	flags := openFlags
	fd, err := openat(d.fd, name, flags, 0)
	if err != nil {
		if err == unix.ELOOP || err == unix.ENOTDIR {
			return nil, &opError{op: "open directory", dir: d, name: name, kind: ErrNotDir, err: err}
		}
		return nil, d.fail("open directory", name, err)
	}
	return &dir{fd: fd, name: name, parent: d, git: d.git || IsDotGit(name)}, nil
}

func (d *dir) Open(name string) (File, Stat, error) {
	// Opening some devices has effects of its own (a tape rewinds), so their type is looked at first. What is swapped
	// in after that is opened without waiting, seen by the second look, and closed again.
	st, err := d.Lstat(name)
	if err != nil {
		return nil, Stat{}, err
	}
	if st.Type != TypeFile {
		return nil, Stat{}, d.refuse("open", name, ErrNotRegular)
	}
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	for try := 0; err == unix.EAGAIN && try < leaseTries; try++ {
		// Somebody (a file server) holds a lease on the file: the first try asked for it back.
		time.Sleep(leasePause)
		fd, err = openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	switch err {
	case nil:
	case unix.ELOOP, unix.ENXIO, unix.EOPNOTSUPP: // now a link, a pipe or device without its other side, a socket
		return nil, Stat{}, &opError{op: "open", dir: d, name: name, kind: ErrNotRegular, err: err}
	default:
		return nil, Stat{}, d.fail("open", name, err)
	}
	f := &file{fd: fd, dir: d, name: name}
	if st, err = f.Stat(); err == nil && st.Type != TypeFile {
		err = d.refuse("open", name, ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, Stat{}, err
	}
	return f, st, nil
}

func (d *dir) Readlink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", d.refuse("read link", name, err)
	}
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		var n int
		err := again(func() (err error) { n, err = unix.Readlinkat(d.fd, name, buf); return err })
		if err == unix.EINVAL {
			return "", &opError{op: "read link", dir: d, name: name, kind: ErrUnsupported, err: err}
		}
		if err != nil {
			return "", d.fail("read link", name, err)
		}
		if n < size { // a full buffer may have cut the target
			return string(buf[:n]), nil
		}
	}
}

func (d *dir) Sync() error {
	err := fullSync(d.fd)
	if err == unix.EINVAL || err == unix.ENOTSUP {
		return nil // a file system that orders its directories itself and has no fsync for them
	}
	if err != nil {
		return d.fail("sync", "", err)
	}
	return nil
}

func (d *dir) SyncFS() error {
	if err := again(func() error { return syncFS(d.fd) }); err != nil {
		return d.fail("sync file system", "", err)
	}
	return nil
}

// fail wraps a system error.
func (d *dir) fail(op, name string, err error) error {
	return &opError{op: op, dir: d, name: name, kind: kindOf(err), err: err}
}

// refuse wraps a refusal of our own.
func (d *dir) refuse(op, name string, kind error) error {
	return &opError{op: op, dir: d, name: name, kind: kind}
}

// kindOf gives the sentinel of a system error; nil where the error already matches an fs sentinel or none fits.
func kindOf(err error) error {
	switch err {
	case unix.ENOTDIR:
		return ErrNotDir
	case unix.EISDIR:
		return ErrIsDir
	case unix.ENOSPC, unix.EDQUOT:
		return errNoSpace
	case unix.EXDEV:
		return errCrossDevice
	case unix.ENAMETOOLONG, unix.EILSEQ:
		return ErrBadName
	case unix.EBUSY, unix.ETXTBSY:
		return errBusy
	case unix.EROFS:
		return ErrPermission
	case unix.ENOSYS, unix.EOPNOTSUPP:
		return ErrUnsupported
	}
	return nil
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func openat(at int, name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags, perm)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
