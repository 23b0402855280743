package worktreefs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// dir is a directory below an os.Root. Names are used one component at a time; os.Root would follow a link inside the root,
// so what was opened is compared with what Lstat saw.
type dir struct {
	root *os.Root // this directory
	top  *os.Root // the directory OpenRoot opened: renames go through it, for os.Root has none between two roots
	path string   // below top, slash-separated; "" for top
	name string   // for messages
	git  bool
}

func openRoot(path string) (Dir, error) {
	git := false
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		git = git || IsDotGit(part)
	}
	d := &dir{name: path, git: git}
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, d.fail("open directory", "", err)
	}
	d.root, d.top = r, r
	return d, nil
}

func (d *dir) Name() string { return d.name }

func (d *dir) Close() error { return d.root.Close() }

func (d *dir) Stat() (Stat, error) {
	fi, err := d.root.Stat(".")
	if err != nil {
		return Stat{}, d.fail("stat", "", err)
	}
	return statOf(fi), nil
}

// Volume: everything below one OpenRoot counts as one, since mounts below a directory are links here and are not entered.
func (d *dir) Volume() (Volume, error) { return Volume{}, nil }

// checkLocal refuses what Windows reads as something else than one name.
func checkLocal(name string) error {
	if strings.ContainsAny(name, "\\:") {
		return ErrBadName
	}
	return checkName(name)
}

func (d *dir) lstat(name string) (fs.FileInfo, error) {
	if err := checkLocal(name); err != nil {
		return nil, d.refuse("stat", name, err)
	}
	fi, err := d.root.Lstat(name)
	if err != nil {
		return nil, d.fail("stat", name, err)
	}
	return fi, nil
}

// StampsNames: it is not known of any file system here.
func (d *dir) StampsNames() bool { return false }

func (d *dir) Lstat(name string) (Stat, error) {
	fi, err := d.lstat(name)
	if err != nil {
		return Stat{}, err
	}
	return statOf(fi), nil
}

func (d *dir) OpenDir(name string) (Dir, error) {
	seen, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, d.refuse("open directory", name, ErrNotDir)
	}
	r, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, d.fail("open directory", name, err)
	}
	if got, err := r.Stat("."); err != nil || !os.SameFile(seen, got) {
		r.Close()
		return nil, d.refuse("open directory", name, ErrNotDir)
	}
	return &dir{root: r, top: d.top, path: join(d.path, name), name: join(d.name, name), git: d.git || IsDotGit(name)}, nil
}

func (d *dir) ReadDir() ([]Dirent, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, d.fail("list", "", err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, d.fail("list", "", err)
	}
	list := make([]Dirent, 0, len(entries))
	for _, e := range entries {
		list = append(list, Dirent{Name: e.Name(), Type: typeOf(e.Type())})
	}
	return list, nil
}

func (d *dir) Open(name string) (File, Stat, error) {
	seen, err := d.lstat(name)
	if err != nil {
		return nil, Stat{}, err
	}
	if !seen.Mode().IsRegular() {
		return nil, Stat{}, d.refuse("open", name, ErrNotRegular)
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, Stat{}, d.fail("open", name, err)
	}
	got, err := f.Stat()
	if err != nil || !os.SameFile(seen, got) || !got.Mode().IsRegular() {
		f.Close()
		return nil, Stat{}, d.refuse("open", name, ErrNotRegular)
	}
	return &file{f, d, name}, statOf(got), nil
}

func (d *dir) Readlink(name string) (string, error) {
	if err := checkLocal(name); err != nil {
		return "", d.refuse("read link", name, err)
	}
	target, err := d.root.Readlink(name)
	if err != nil {
		return "", d.fail("read link", name, err)
	}
	return target, nil
}

func (d *dir) mayWrite(op, name string) error {
	if err := checkWrite(name); err != nil {
		return d.refuse(op, name, err)
	}
	if err := checkLocal(name); err != nil {
		return d.refuse(op, name, err)
	}
	if d.git {
		return d.refuse(op, name, ErrDotGit)
	}
	return nil
}

func (d *dir) CreateFile(name string, perm uint16) (WFile, error) {
	if err := d.mayWrite("create", name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeOf(perm))
	if err != nil {
		return nil, d.fail("create", name, err)
	}
	return &file{f, d, name}, nil
}

func (d *dir) Mkdir(name string, perm uint16) error {
	if err := d.mayWrite("make directory", name); err != nil {
		return err
	}
	if err := d.root.Mkdir(name, modeOf(perm)); err != nil {
		return d.fail("make directory", name, err)
	}
	return nil
}

func (d *dir) Symlink(target, name string) error {
	if err := d.mayWrite("link", name); err != nil {
		return err
	}
	if err := d.root.Symlink(target, name); err != nil {
		return d.fail("link", name, err)
	}
	return nil
}

// Move gives a file its second name first, which never replaces, and then takes the first away. A directory's rename never
// replaces here.
func (d *dir) Move(name string, to Dir, toName string) error {
	if err := d.mayWrite("move", name); err != nil {
		return err
	}
	t, ok := unwrap(to).(*dir)
	if !ok || t.top != d.top {
		return d.refuse("move", name, ErrCrossDevice)
	}
	if err := t.mayWrite("move to", toName); err != nil {
		return err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return err
	}
	if _, err := t.lstat(toName); err == nil {
		return t.refuse("move to", toName, ErrExist)
	}
	if err := errors.Join(d.still(), t.still()); err != nil {
		return err
	}
	from, dest := join(d.path, name), join(t.path, toName)
	if fi.Mode().IsRegular() {
		if err := d.top.Link(from, dest); err != nil {
			return d.fail("move", name, err)
		}
		return d.Remove(name)
	}
	if err := d.top.Rename(from, dest); err != nil {
		return d.fail("move", name, err)
	}
	return nil
}

// still checks that the directory is where it was opened.
func (d *dir) still() error {
	if d.path == "" {
		return nil
	}
	seen, err := d.top.Lstat(d.path)
	if err != nil {
		return d.fail("stat", "", err)
	}
	own, err := d.root.Stat(".")
	if err != nil {
		return d.fail("stat", "", err)
	}
	if !os.SameFile(seen, own) {
		return d.refuse("open directory", "", ErrNotDir)
	}
	return nil
}

// Exchange: Windows has none.
func (d *dir) Exchange(name string, _ Dir, _ string) error {
	if err := d.mayWrite("exchange", name); err != nil {
		return err
	}
	return d.refuse("exchange", name, ErrUnsupported)
}

func (d *dir) Remove(name string) error {
	if err := d.mayWrite("remove", name); err != nil {
		return err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return d.refuse("remove", name, ErrIsDir)
	}
	if err := d.root.Remove(name); err != nil {
		return d.fail("remove", name, err)
	}
	return nil
}

func (d *dir) Rmdir(name string) error {
	if err := d.mayWrite("remove directory", name); err != nil {
		return err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return d.refuse("remove directory", name, ErrNotDir)
	}
	err = d.root.Remove(name)
	if errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) {
		return d.refuse("remove directory", name, ErrNotEmpty)
	}
	if err != nil {
		return d.fail("remove directory", name, err)
	}
	return nil
}

func (d *dir) Chmod(name string, perm uint16) error {
	if err := d.mayWrite("change permissions", name); err != nil {
		return err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return d.refuse("change permissions", name, ErrUnsupported)
	}
	if err := d.root.Chmod(name, modeOf(perm)); err != nil {
		return d.fail("change permissions", name, err)
	}
	return nil
}

// Sync: NTFS journals its directories; there is nothing to ask for.
func (d *dir) Sync() error { return nil }

// SyncFS: there is no such call for an unprivileged process; files are synced one by one.
func (d *dir) SyncFS() error { return d.refuse("sync file system", "", ErrUnsupported) }

func (d *dir) fail(op, name string, err error) error {
	var kind error
	switch {
	case errors.Is(err, windows.ERROR_DISK_FULL), errors.Is(err, windows.ERROR_HANDLE_DISK_FULL):
		kind = ErrNoSpace
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		kind = ErrBusy
	case errors.Is(err, windows.ERROR_NOT_SAME_DEVICE):
		kind = ErrCrossDevice
	case errors.Is(err, windows.ERROR_DIRECTORY):
		kind = ErrNotDir
	}
	return &opError{op: op, dir: d, name: name, kind: kind, err: err}
}

func (d *dir) refuse(op, name string, kind error) error {
	return &opError{op: op, dir: d, name: name, kind: kind}
}

// file is an open regular file.
type file struct {
	*os.File
	dir  *dir
	name string
}

func (f *file) Stat() (Stat, error) {
	fi, err := f.File.Stat()
	if err != nil {
		return Stat{}, f.dir.fail("stat", f.name, err)
	}
	return statOf(fi), nil
}

func (f *file) Chmod(perm uint16) error { return f.File.Chmod(modeOf(perm)) }

// WriteOut: there is nothing short of Sync.
func (f *file) WriteOut() {}

// Writers: a file that somebody has open cannot be moved in the first place, mostly.
func (f *file) Writers() (bool, error) {
	return false, f.dir.refuse("ask for writers", f.name, ErrUnsupported)
}

func typeOf(m fs.FileMode) Type {
	switch {
	case m.IsRegular():
		return TypeFile
	case m.IsDir():
		return TypeDir
	case m&fs.ModeSymlink != 0:
		return TypeSymlink
	case m&fs.ModeNamedPipe != 0:
		return TypePipe
	case m&fs.ModeSocket != 0:
		return TypeSocket
	}
	return TypeDevice
}

func statOf(fi fs.FileInfo) Stat {
	return Stat{Type: typeOf(fi.Mode()), Perm: uint16(fi.Mode().Perm()), Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Nlink: 1}
}

func modeOf(perm uint16) fs.FileMode { return fs.FileMode(perm & 0o777) }

// ACLAttr and CapabilityAttr are of Linux.
const (
	ACLAttr        = ""
	CapabilityAttr = ""
)

// Attrs gives none: what a file has besides its bytes is not handed on.
func (f *file) Attrs() ([]Attr, error) { return nil, nil }

// SetAttr is never asked for.
func (f *file) SetAttr(Attr) error { return ErrUnsupported }

// Chown does nothing: a Stat has no owners here.
func (f *file) Chown(int64, int64) error { return nil }

// Hole writes zeros as the system does: a file is not sparse unless it is made so.
func (f *file) Hole(n int64) error {
	end, err := f.File.Seek(n, io.SeekCurrent)
	if err == nil {
		err = f.File.Truncate(end)
	}
	return err
}

// Chgrp does nothing, as Chown.
func (d *dir) Chgrp(uint32) error { return nil }

// NoDefaultACL does nothing.
func (d *dir) NoDefaultACL() error { return nil }
