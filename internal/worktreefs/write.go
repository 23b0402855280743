package worktreefs

import (
	"io"

	"golang.org/x/sys/unix"
)

// mayWrite refuses names that must not be written in this directory.
func (d *dir) mayWrite(op, name string) error {
	if err := checkWrite(name); err != nil {
		return d.refuse(op, name, err)
	}
	if d.git {
		return d.refuse(op, name, errDotGit)
	}
	return nil
}

func (d *dir) CreateFile(name string, perm uint16) (WFile, error) {
	if err := d.mayWrite("create", name); err != nil {
		return nil, err
	}
	fd, err := openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm&permMask))
	if err != nil {
		return nil, d.failName("create", name, err)
	}
	return &file{fd: fd, dir: d, name: name}, nil
}

func (d *dir) Mkdir(name string, perm uint16) error {
	if err := d.mayWrite("make directory", name); err != nil {
		return err
	}
	// Never wider than asked, not even for the moment between the two calls.
	if err := again(func() error { return unix.Mkdirat(d.fd, name, uint32(perm&0o777)) }); err != nil {
		return d.failName("make directory", name, err)
	}
	if err := chmodat(d.fd, name, perm&permMask); err != nil && !noPermissions(err) {
		return d.fail("make directory", name, err)
	}
	return nil
}

// noPermissions reports whether a change of permissions, of what this process has just made, failed since the file
// system keeps none.
func noPermissions(err error) bool {
	return err == unix.EPERM || err == unix.ENOSYS || err == unix.EOPNOTSUPP
}

func (d *dir) Symlink(target, name string) error {
	if err := d.mayWrite("link", name); err != nil {
		return err
	}
	err := again(func() error { return unix.Symlinkat(target, d.fd, name) })
	if err == unix.EPERM { // a directory that we may not write in gives EACCES
		return &opError{op: "link", dir: d, name: name, kind: ErrUnsupported, err: err}
	}
	return d.failName("link", name, err)
}

func (d *dir) Move(name string, to Dir, toName string) error {
	t, err := d.other("move", name, to, toName)
	if err != nil {
		return err
	}
	err = again(func() error { return renameNoReplace(d.fd, name, t.fd, toName) })
	if unsupported(err) {
		err = d.moveByLink(name, t, toName)
	}
	return d.failName("move", name, err)
}

// moveByLink moves without replacing where the system has no such rename: a link refuses a taken name by itself.
// EOPNOTSUPP where the file system has no links, or none for this file.
func (d *dir) moveByLink(name string, t *dir, toName string) error {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return d.renameFree(name, t, toName)
	}
	err := again(func() error { return unix.Linkat(d.fd, name, t.fd, toName, 0) })
	switch err {
	case nil:
		return again(func() error { return unix.Unlinkat(d.fd, name, 0) })
	case unix.EPERM, unix.EMLINK, unix.ENOSYS:
		return unix.EOPNOTSUPP
	}
	return err
}

func (d *dir) Rename(name string, to Dir, toName string) error {
	t, err := d.other("rename", name, to, toName)
	if err != nil {
		return err
	}
	return d.failName("rename", name, d.renameFree(name, t, toName))
}

// renameFree renames to a name that a look finds free. A directory replaces nothing that holds bytes: the system
// refuses the place of a file, and of a directory that is not empty.
func (d *dir) renameFree(name string, t *dir, toName string) error {
	taken := func() bool {
		var st unix.Stat_t
		return again(func() error { return unix.Fstatat(t.fd, toName, &st, unix.AT_SYMLINK_NOFOLLOW) }) == nil
	}
	if taken() {
		return unix.EEXIST
	}
	err := again(func() error { return unix.Renameat(d.fd, name, t.fd, toName) })
	if (err == unix.ENOTEMPTY || err == unix.ENOTDIR || err == unix.EISDIR) && taken() {
		return unix.EEXIST
	}
	return err
}

func (d *dir) Exchange(name string, other Dir, otherName string) error {
	t, err := d.other("exchange", name, other, otherName)
	if err != nil {
		return err
	}
	err = again(func() error { return renameExchange(d.fd, name, t.fd, otherName) })
	if unsupported(err) {
		return &opError{op: "exchange", dir: d, name: name, kind: ErrUnsupported, err: err}
	}
	if err != nil {
		return d.fail("exchange", name, err)
	}
	return nil
}

func (d *dir) Lock(name string) (io.Closer, error) {
	if err := d.mayWrite("lock", name); err != nil {
		return nil, err
	}
	st, err := d.Lstat(name)
	if err == nil && st.Type != TypeFile {
		err = d.refuse("lock", name, ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	fd, err := openat(d.fd, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &opError{op: "lock", dir: d, name: name, kind: ErrUnsupported, err: err}
	}
	f := &file{fd: fd, dir: d, name: name}
	if err := lock(fd); err != nil {
		_ = f.Close() // nothing was written
		return nil, &opError{op: "lock", dir: d, name: name, kind: ErrUnsupported, err: err}
	}
	return f, nil
}

// other checks both sides of a rename.
func (d *dir) other(op, name string, to Dir, toName string) (*dir, error) {
	if err := d.mayWrite(op, name); err != nil {
		return nil, err
	}
	t, ok := unwrap(to).(*dir)
	if !ok {
		return nil, d.refuse(op, name, ErrUnsupported)
	}
	if err := t.mayWrite(op+" to", toName); err != nil {
		return nil, err
	}
	return t, nil
}

func (d *dir) Remove(name string) error {
	if err := d.mayWrite("remove", name); err != nil {
		return err
	}
	if unlinkTakesDirs {
		if st, err := d.Lstat(name); err != nil {
			return err
		} else if st.Type == TypeDir {
			return d.refuse("remove", name, ErrIsDir)
		}
	}
	if err := again(func() error { return unix.Unlinkat(d.fd, name, 0) }); err != nil {
		return d.fail("remove", name, err)
	}
	return nil
}

func (d *dir) Rmdir(name string) error {
	if err := d.mayWrite("remove directory", name); err != nil {
		return err
	}
	err := again(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
	switch err {
	case nil:
		return nil
	case unix.ENOTEMPTY, unix.EEXIST: // the system's error also matches ErrExist, which this is not
		return d.refuse("remove directory", name, ErrNotEmpty)
	}
	return d.fail("remove directory", name, err)
}

func (d *dir) Chmod(name string, perm uint16) error {
	if err := d.mayWrite("change permissions", name); err != nil {
		return err
	}
	if err := chmodat(d.fd, name, perm&permMask); err != nil {
		return d.fail("change permissions", name, err)
	}
	return nil
}

// failName wraps the error of a call that gives an entry a name; nil stays nil. EINVAL is about the name then: a file
// system of other systems does not take every one.
func (d *dir) failName(op, name string, err error) error {
	switch err {
	case nil:
		return nil
	case unix.EINVAL:
		return &opError{op: op, dir: d, name: name, kind: ErrBadName, err: err}
	}
	return d.fail(op, name, err)
}

// unsupported: the file system or kernel has no such rename. EINVAL also means a name that cannot be, or a directory
// moved into itself: the fallback then refuses with the same error.
func unsupported(err error) bool {
	unknown := err == unix.EINVAL || err == unix.ENOSYS
	return unknown || err == unix.EOPNOTSUPP || err == unix.ENOTSUP
}
