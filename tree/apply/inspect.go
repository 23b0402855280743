package apply

import (
	"errors"
	"io"
	"strings"
	"sync"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// found is what lies at a name.
type found struct {
	exists bool
	st     worktreefs.Stat
	id     objstore.ID // of a file or symlink, when hashed
	hashed bool
	sealed bool // a file that we may not read
	attrs  []worktreefs.Attr
}

// inspect reads a name as far as it takes to compare it with the entries: a file that equals none of them in type and size is
// not read.
func inspect(d worktreefs.Dir, name string, with ...*tree.Entry) (found, error) {
	return inspectWith(d, name, false, with...)
}

// inspectWith also reads the extended attributes, where it reads the file.
func inspectWith(d worktreefs.Dir, name string, attrs bool, with ...*tree.Entry) (found, error) {
	st, err := d.Lstat(name)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, err
	}
	f := found{exists: true, st: st}
	switch st.Type {
	case worktreefs.TypeSymlink:
		target, err := d.Readlink(name)
		if errChanged(err) {
			return f, nil // changed meanwhile: it equals nothing
		}
		if err != nil {
			return f, err
		}
		f.id, f.hashed = objstore.Sum(objstore.Blob, []byte(target)), true
	case worktreefs.TypeFile:
		for _, e := range with {
			if e != nil && e.Type == tree.TypeFile && e.Size == st.Size {
				err := f.hash(d, name, attrs)
				return f, err
			}
		}
	}
	return f, nil
}

// hash reads the file.
func (f *found) hash(d worktreefs.Dir, name string, attrs bool) error {
	r, st, err := d.Open(name)
	switch {
	case errors.Is(err, worktreefs.ErrPermission):
		f.sealed = true
		return nil
	case errChanged(err):
		return nil
	case err != nil:
		return err
	}
	defer r.Close()
	f.st = st
	if attrs {
		if f.attrs, err = r.Attrs(); err != nil {
			return err
		}
	}
	f.id, err = hashOf(r)
	f.hashed = err == nil
	return err
}

// errChanged: the entry is no longer what it was a moment ago.
func errChanged(err error) bool {
	return errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotRegular) || errors.Is(err, worktreefs.ErrUnsupported)
}

var buffers = sync.Pool{New: func() any { b := make([]byte, copyBuffer); return &b }}

// hashOf gives the blob id of what r gives.
func hashOf(r io.Reader) (objstore.ID, error) {
	h := objstore.NewHasher()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := r.Read(*buf)
		_, _ = h.Write((*buf)[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return objstore.ID{}, err
		}
	}
	return h.Sum(), nil
}

// sameBytes: f has the type and content of e. Directories have no content.
func (f found) sameBytes(e *tree.Entry) bool {
	if e == nil || !f.exists || tree.Type(f.st.Type) != e.Type {
		return false
	}
	switch e.Type {
	case tree.TypeDir:
		return true
	case tree.TypeFile:
		return f.st.Size == e.Size && (f.sealed || f.hashed && f.id == e.ID)
	}
	return f.hashed && f.id == e.ID
}

// equals: f is e. nil is absence. perm is f's, or a directory's true one.
func (f found) equals(e *tree.Entry, perm uint16) bool {
	if e == nil {
		return !f.exists
	}
	return f.sameBytes(e) && (e.Type == tree.TypeSymlink || perm == e.Perm)
}

// resembles: f is e, or what a run made of it that could not give it all rights.
func (f found) resembles(e *tree.Entry, perm uint16) bool {
	return e != nil && f.sameBytes(e) && resemblingPerm(e.Type, perm, e.Perm)
}

// walker opens directories for reading, one after the other in path order, and keeps the last one: never more than two handles,
// however deep.
type walker struct {
	a    *applier
	path string
	dir  worktreefs.Dir // nil: none

	listedIn string // the directory of listed
	listed   map[string]bool
}

// open gives the directory at path, which stays the walker's. An error that is ErrNotExist or ErrNotDir comes with the path of
// the component that it is about.
func (w *walker) open(path string) (worktreefs.Dir, string, error) {
	if w.dir != nil && w.path == path {
		return w.dir, "", nil
	}
	at, rest := "", path
	if w.dir != nil && w.path != "" && strings.HasPrefix(path, w.path+"/") {
		at, rest = w.path, path[len(w.path)+1:]
	} else {
		w.close()
		var err error
		if w.dir, err = worktreefs.OpenPath(w.a.Root, ""); err != nil {
			return nil, "", err
		}
		if err := w.a.noteVolume("", w.dir); err != nil {
			return nil, "", err
		}
	}
	w.path = at
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		at = tree.Join(at, name)
		next, err := w.dir.OpenDir(name)
		if errors.Is(err, worktreefs.ErrPermission) {
			if werr := w.a.widen(w.dir, w.path, name, 0o500); werr != nil {
				return nil, at, werr
			}
			next, err = w.dir.OpenDir(name)
		}
		if err != nil {
			return nil, at, err
		}
		w.dir.Close()
		w.dir, w.path = next, at
		if err := w.a.noteVolume(at, next); err != nil {
			return nil, at, err
		}
	}
	return w.dir, "", nil
}

func (w *walker) close() {
	if w.dir != nil {
		w.dir.Close()
	}
	w.dir, w.path = nil, ""
}

// hasExactName tells whether the directory that is open lists exactly that name: on a file system that folds names, Lstat also
// finds others.
func (w *walker) hasExactName(name string) (bool, error) {
	if w.listed == nil || w.listedIn != w.path {
		list, err := w.dir.ReadDir()
		if err != nil {
			return false, err
		}
		w.listed, w.listedIn = make(map[string]bool, len(list)), w.path
		for _, e := range list {
			w.listed[e.Name] = true
		}
	}
	return w.listed[name], nil
}

// forgetNames drops what was read of names.
func (w *walker) forgetNames() { w.listed = nil }

// noteVolume remembers which file system a directory is on.
func (a *applier) noteVolume(path string, d worktreefs.Dir) error {
	if _, ok := a.volumes[path]; ok {
		return nil
	}
	v, err := d.Volume()
	if err != nil {
		return err
	}
	a.volumes[path] = v
	return a.noteSetgid(path, d)
}
