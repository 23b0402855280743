package snapshot

import (
	"sync/atomic"

	"rewind/internal/worktreefs"
)

// watched is a working tree that counts how files are opened and calls a hook at each step of reading them.
type watched struct {
	opens, reads atomic.Int64
	onRead       func(name string, nth int64) // before every read of a file
	onOpenDir    func(name string)
	onLstat      func(name string)
	onLink       func(name string)
	fail         func(op, name string) error                     // the error of a call; nil: none
	stat         func(d worktreefs.Dir) (worktreefs.Stat, error) // of a directory
}

type watchedDir struct {
	worktreefs.Dir
	w *watched
}

type watchedFile struct {
	worktreefs.File
	w    *watched
	name string
}

func (w *watched) wrap(d worktreefs.Dir) worktreefs.Dir { return watchedDir{d, w} }

func (d watchedDir) OpenDir(name string) (worktreefs.Dir, error) {
	if d.w.onOpenDir != nil {
		d.w.onOpenDir(name)
	}
	if err := d.w.err("opendir", name); err != nil {
		return nil, err
	}
	sub, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return watchedDir{sub, d.w}, nil
}

func (d watchedDir) Lstat(name string) (worktreefs.Stat, error) {
	st, err := d.Dir.Lstat(name)
	if d.w.onLstat != nil {
		d.w.onLstat(name)
	}
	if err := d.w.err("lstat", name); err != nil {
		return st, err
	}
	return st, err
}

func (d watchedDir) Readlink(name string) (string, error) {
	if d.w.onLink != nil {
		d.w.onLink(name)
	}
	if err := d.w.err("readlink", name); err != nil {
		return "", err
	}
	return d.Dir.Readlink(name)
}

func (d watchedDir) Open(name string) (worktreefs.File, worktreefs.Stat, error) {
	d.w.opens.Add(1)
	if err := d.w.err("open", name); err != nil {
		return nil, worktreefs.Stat{}, err
	}
	f, st, err := d.Dir.Open(name)
	if err != nil {
		return nil, st, err
	}
	return &watchedFile{f, d.w, name}, st, nil
}

func (f *watchedFile) Read(p []byte) (int, error) {
	if nth := f.w.reads.Add(1); f.w.onRead != nil {
		f.w.onRead(f.name, nth)
	}
	if err := f.w.err("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.w.err("readat", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (w *watched) err(op, name string) error {
	if w.fail == nil {
		return nil
	}
	return w.fail(op, name)
}

func (d watchedDir) Stat() (worktreefs.Stat, error) {
	if d.w.stat != nil {
		return d.w.stat(d.Dir)
	}
	return d.Dir.Stat()
}

func (d watchedDir) ReadDir() ([]worktreefs.Dirent, error) {
	if err := d.w.err("readdir", ""); err != nil {
		return nil, err
	}
	return d.Dir.ReadDir()
}
