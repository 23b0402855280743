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

// found is what is at a name.
type found struct {
	exists bool
	st     worktreefs.Stat
	id     objstore.ID // of a file or symlink, when hashed
	hashed bool
	sealed bool // a file that may not be read
	// permless: the file system does not keep permissions, so they say nothing.
	permless bool
	attrs    []worktreefs.Attr
	head     []byte // what a file that was read begins with
}

// inspect looks at a name as far as comparing it with the entries takes: a file is read only if it has type and size of
// one.
func inspect(d worktreefs.Dir, name string, with ...*tree.Entry) (found, error) {
	return inspectWith(d, name, false, with...)
}

// inspectWith is inspect; with attrs it reads the extended attributes of a file that it reads.
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
			return f, nil // changed meanwhile: equal to no entry
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

// hash reads a file and sets its id.
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
	f.id, f.head, err = hashOf(r)
	f.hashed = err == nil
	return err
}

// errChanged reports whether an error says that the entry is not what it was a moment ago.
func errChanged(err error) bool {
	return errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotRegular) || errors.Is(err, worktreefs.ErrUnsupported)
}

var buffers = sync.Pool{New: func() any { b := make([]byte, copyBuffer); return &b }}

// hashOf is the blob id of the bytes of r, and what they begin with.
func hashOf(r io.Reader) (id objstore.ID, head []byte, err error) {
	h := objstore.NewHasher()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := r.Read(*buf)
		_, _ = h.Write((*buf)[:n])
		head = append(head, (*buf)[:min(n, tree.DatabaseHead-len(head))]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return id, nil, err
		}
	}
	return h.Sum(), head, nil
}

// sameBytes reports whether f has the type and content of e. Directories have no content. A file that may not be read
// counts as equal if its size is.
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

// equals reports whether f is e; nil stands for nothing there. perm are the permissions of f, for a directory those
// without our widening.
func (f found) equals(e *tree.Entry, perm uint16) bool {
	if e == nil {
		return !f.exists
	}
	return f.sameBytes(e) && (e.Type == tree.TypeSymlink || f.permless || perm == e.Perm)
}

// resembles reports whether f is e, or what a run made of e that could not give it all rights.
func (f found) resembles(e *tree.Entry, perm uint16) bool {
	return e != nil && f.sameBytes(e) && resemblingPerm(e.Type, perm, e.Perm)
}

// walker opens directories for reading, one after the other in path order, and keeps the last one open: never more than
// two handles, however deep.
type walker struct {
	a    *applier
	path string
	dir  worktreefs.Dir // nil: none

	listedIn string // the directory of listed
	listed   map[string]bool
}

// open opens the directory at path, which the walker closes. With an error that is ErrNotExist or ErrNotDir it returns
// the path of the component that the error is about.
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

// hasExactName reports whether the open directory lists exactly that name: on a file system that folds names, Lstat
// finds others, too.
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

// forgetNames drops the listing: names have changed.
func (w *walker) forgetNames() { w.listed = nil }

// noteVolume notes which file system a directory is on, and whether it gives its group to what is made in it.
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
