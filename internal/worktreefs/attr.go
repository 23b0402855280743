package worktreefs

import (
	"bytes"

	"golang.org/x/sys/unix"
)

func (f *file) Attrs() ([]Attr, error) {
	var room [1024]byte
	names, err := sized(room[:], func(buf []byte) (int, error) { return unix.Flistxattr(f.fd, buf) })
	if err == unix.EOPNOTSUPP || err == unix.ENOTSUP || err == unix.ENOSYS {
		return nil, nil
	}
	if err != nil {
		return nil, f.dir.fail("list attributes", f.name, err)
	}
	var list []Attr
	for name := range bytes.SplitSeq(names, []byte{0}) {
		a := Attr{Name: string(name)}
		if !handedOn(a.Name) {
			continue
		}
		a.Value, err = sized(nil, func(buf []byte) (int, error) { return unix.Fgetxattr(f.fd, a.Name, buf) })
		if err == errNoAttr {
			continue // taken away meanwhile
		}
		if err != nil {
			return nil, f.dir.fail("read attribute "+a.Name, f.name, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// sized asks into room and, where that is too small or none, once more for as much as there is.
func sized(room []byte, ask func([]byte) (int, error)) ([]byte, error) {
	for {
		var n int
		err := again(func() (err error) { n, err = ask(room); return err })
		switch {
		case err == unix.ERANGE:
			room = nil
		case err != nil:
			return nil, err
		case room != nil || n == 0:
			return room[:n], nil
		default:
			room = make([]byte, n)
		}
	}
}

func (f *file) SetAttr(a Attr) error {
	err := again(func() error { return unix.Fsetxattr(f.fd, a.Name, a.Value, 0) })
	switch err {
	case nil:
		return nil
	case unix.EINVAL, unix.E2BIG, unix.ERANGE: // this file system does not take it
		err = unix.EOPNOTSUPP
	}
	return f.dir.fail("set attribute "+a.Name, f.name, err)
}

func (f *file) Chown(uid, gid int64) error {
	err := again(func() error { return unix.Fchown(f.fd, int(uid), int(gid)) })
	if err == unix.EINVAL {
		err = unix.EPERM // one that this user namespace does not have
	}
	if err != nil {
		return f.dir.fail("change owner", f.name, err)
	}
	return nil
}

func (f *file) Hole(n int64) error {
	end, err := unix.Seek(f.fd, n, 1)
	if err == nil {
		err = again(func() error { return unix.Ftruncate(f.fd, end) })
	}
	if err != nil {
		return f.dir.fail("write", f.name, err)
	}
	return nil
}

func (d *dir) Chgrp(gid uint32) error {
	if d.git {
		return d.refuse("change group", "", errDotGit)
	}
	if err := again(func() error { return unix.Fchown(d.fd, -1, int(gid)) }); err != nil {
		return d.fail("change group", "", err)
	}
	return nil
}

func (d *dir) NoDefaultACL() error {
	if err := dropDefaultACL(d.fd); err != nil {
		return d.fail("drop the default access control list", "", err)
	}
	return nil
}
