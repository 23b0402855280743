package faultfs

import (
	"fmt"
	"io"
	"io/fs"

	"rewind/internal/worktreefs"
)

// dir passes calls on, unless the script says otherwise.
type dir struct {
	worktreefs.Dir
	s    *Script
	path string
}

// Wrap gives a directory whose calls, and those of everything opened below it, go through the script.
func Wrap(d worktreefs.Dir, s *Script) worktreefs.Dir { return &dir{Dir: d, s: s} }

// Unwrap gives the directory below, for Move and Exchange.
func (d *dir) Unwrap() worktreefs.Dir { return d.Dir }

func (d *dir) at(name string) string {
	switch {
	case d.path == "":
		return name
	case name == "":
		return d.path
	}
	return d.path + "/" + name
}

func (d *dir) read(op, name string) error {
	_, err := d.s.call(false, Call{Op: op, Path: d.at(name)})
	return err
}

func (d *dir) write(op, name, rest string) error {
	_, err := d.s.call(true, Call{Op: op, Path: d.at(name), Rest: rest})
	return err
}

func octal(perm uint16) string { return fmt.Sprintf("%04o", perm) }

func (d *dir) Stat() (worktreefs.Stat, error) {
	if err := d.read("stat", ""); err != nil {
		return worktreefs.Stat{}, err
	}
	return d.Dir.Stat()
}

func (d *dir) ReadDir() ([]worktreefs.Dirent, error) {
	if err := d.read("readdir", ""); err != nil {
		return nil, err
	}
	return d.Dir.ReadDir()
}

func (d *dir) Lstat(name string) (worktreefs.Stat, error) {
	if err := d.read("lstat", name); err != nil {
		return worktreefs.Stat{}, err
	}
	return d.Dir.Lstat(name)
}

func (d *dir) OpenDir(name string) (worktreefs.Dir, error) {
	if err := d.read("opendir", name); err != nil {
		return nil, err
	}
	below, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &dir{Dir: below, s: d.s, path: d.at(name)}, nil
}

func (d *dir) Open(name string) (worktreefs.File, worktreefs.Stat, error) {
	if err := d.read("open", name); err != nil {
		return nil, worktreefs.Stat{}, err
	}
	f, st, err := d.Dir.Open(name)
	if err != nil {
		return nil, st, err
	}
	return &rfile{File: f, d: d, name: name}, st, nil
}

func (d *dir) Readlink(name string) (string, error) {
	if err := d.read("readlink", name); err != nil {
		return "", err
	}
	return d.Dir.Readlink(name)
}

func (d *dir) CreateFile(name string, perm uint16) (worktreefs.WFile, error) {
	if err := d.write("create", name, octal(perm)); err != nil {
		return nil, err
	}
	f, err := d.Dir.CreateFile(name, perm)
	if err != nil {
		return nil, err
	}
	if d.s.NoPerms {
		if err := f.Chmod(0o644); err != nil {
			return nil, err
		}
	}
	return &wfile{WFile: f, d: d, name: name}, nil
}

func (d *dir) Mkdir(name string, perm uint16) error {
	if err := d.write("mkdir", name, octal(perm)); err != nil {
		return err
	}
	if d.s.NoPerms {
		perm = 0o755
	}
	return d.Dir.Mkdir(name, perm)
}

func (d *dir) Symlink(target, name string) error {
	if err := d.write("symlink", name, target); err != nil {
		return err
	}
	if d.s.NoSymlinks {
		return &fs.PathError{Op: "symlink", Path: d.at(name), Err: worktreefs.ErrUnsupported}
	}
	return d.Dir.Symlink(target, name)
}

func (d *dir) Move(name string, to worktreefs.Dir, toName string) error {
	if err := d.write("move", name, place(to, toName)); err != nil {
		return err
	}
	if d.s.Plain {
		return &fs.PathError{Op: "move", Path: d.at(name), Err: worktreefs.ErrUnsupported}
	}
	return d.Dir.Move(name, to, toName)
}

func (d *dir) Rename(name string, to worktreefs.Dir, toName string) error {
	if err := d.write("rename", name, place(to, toName)); err != nil {
		return err
	}
	return d.Dir.Rename(name, to, toName)
}

func (d *dir) Exchange(name string, other worktreefs.Dir, otherName string) error {
	if err := d.write("exchange", name, place(other, otherName)); err != nil {
		return err
	}
	if d.s.Plain {
		return &fs.PathError{Op: "exchange", Path: d.at(name), Err: worktreefs.ErrUnsupported}
	}
	return d.Dir.Exchange(name, other, otherName)
}

func (d *dir) Lock(name string) (io.Closer, error) {
	if err := d.read("lock", name); err != nil {
		return nil, err
	}
	return d.Dir.Lock(name)
}

// place names the second side of a rename; other is a wrapped directory, or the handle of one.
func place(other worktreefs.Dir, name string) string {
	for {
		if d, ok := other.(*dir); ok {
			return d.at(name)
		}
		w, ok := other.(interface{ Unwrap() worktreefs.Dir })
		if !ok {
			return name
		}
		other = w.Unwrap()
	}
}

func (d *dir) Remove(name string) error {
	if err := d.write("remove", name, ""); err != nil {
		return err
	}
	return d.Dir.Remove(name)
}

func (d *dir) Rmdir(name string) error {
	if err := d.write("rmdir", name, ""); err != nil {
		return err
	}
	return d.Dir.Rmdir(name)
}

func (d *dir) Chmod(name string, perm uint16) error {
	if err := d.write("chmod", name, octal(perm)); err != nil {
		return err
	}
	if pass, err := d.s.changePerm(d.at(name)); !pass {
		return err
	}
	return d.Dir.Chmod(name, perm)
}

func (d *dir) Chgrp(gid uint32) error {
	if err := d.write("chgrp", "", fmt.Sprint(gid)); err != nil {
		return err
	}
	return d.Dir.Chgrp(gid)
}

func (d *dir) NoDefaultACL() error {
	if err := d.read("nodefaultacl", ""); err != nil { // changes what is made later alone
		return err
	}
	return d.Dir.NoDefaultACL()
}

func (d *dir) Sync() error {
	if err := d.write("syncdir", "", ""); err != nil || d.s.NoSync {
		return err
	}
	return d.Dir.Sync()
}

func (d *dir) SyncFS() error {
	if err := d.write("syncfs", "", ""); err != nil || d.s.NoSync {
		return err
	}
	return d.Dir.SyncFS()
}

// rfile is a file being read.
type rfile struct {
	worktreefs.File
	d    *dir
	name string
}

func (f *rfile) Read(p []byte) (int, error) {
	if err := f.d.read("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *rfile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.d.read("read", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *rfile) Attrs() ([]worktreefs.Attr, error) {
	if err := f.d.read("attrs", f.name); err != nil {
		return nil, err
	}
	return f.File.Attrs()
}

// wfile is a file being written.
type wfile struct {
	worktreefs.WFile
	d    *dir
	name string
}

func (f *wfile) Write(p []byte) (int, error) {
	half, err := f.d.s.call(true, Call{Op: "write", Path: f.d.at(f.name), Rest: fmt.Sprint(len(p))})
	if err == nil {
		return f.WFile.Write(p)
	}
	n := 0
	if half {
		n, _ = f.WFile.Write(p[:len(p)/2])
	}
	return n, err
}

func (f *wfile) Chmod(perm uint16) error {
	if err := f.d.write("chmod", f.name, octal(perm)); err != nil {
		return err
	}
	if pass, err := f.d.s.changePerm(f.d.at(f.name)); !pass {
		return err
	}
	return f.WFile.Chmod(perm)
}

func (f *wfile) Chown(uid, gid int64) error {
	if err := f.d.write("chown", f.name, fmt.Sprintf("%d:%d", uid, gid)); err != nil {
		return err
	}
	return f.WFile.Chown(uid, gid)
}

func (f *wfile) SetAttr(a worktreefs.Attr) error {
	if err := f.d.write("setattr", f.name, a.Name); err != nil {
		return err
	}
	return f.WFile.SetAttr(a)
}

func (f *wfile) Hole(n int64) error {
	if err := f.d.write("hole", f.name, fmt.Sprint(n)); err != nil {
		return err
	}
	return f.WFile.Hole(n)
}

func (f *wfile) Sync() error {
	if err := f.d.write("sync", f.name, ""); err != nil || f.d.s.NoSync {
		return err
	}
	return f.WFile.Sync()
}
