package worktreefs

import (
	"errors"
	"strings"
)

// OpenRoot opens the directory at path, which is resolved as the system does. A path that leads through a spelling of
// .git gives a directory that refuses writes.
func OpenRoot(path string) (Dir, error) { return openRoot(path) }

// StatRoot is OpenRoot, Stat and Close in one call.
func StatRoot(path string) (Stat, error) { return statRoot(path) }

// SyncFS makes everything written to d's file system durable with one call.
func SyncFS(d Dir) error { return d.SyncFS() }

// OpenPath opens the directory at a slash-separated path below root, component by component; "" is root itself. The
// error names the component that is not a directory. The caller closes what it gets, which leaves root open in any
// case.
func OpenPath(root Dir, path string) (Dir, error) {
	if path == "" {
		return keepOpen{root}, nil
	}
	cur, own := root, false
	for rest := path; ; {
		name, tail, more := strings.Cut(rest, "/")
		next, err := cur.OpenDir(name)
		if own {
			cur.Close()
		}
		if err != nil {
			return nil, err
		}
		if !more {
			return next, nil
		}
		cur, own, rest = next, true, tail
	}
}

// OpenParent opens the directory that holds the last component of a slash-separated path, walking every component with
// OpenDir, and gives that last component. The caller closes parent, which leaves root open in any case.
func OpenParent(root Dir, path string) (parent Dir, name string, err error) {
	i := strings.LastIndexByte(path, '/')
	parent, err = OpenPath(root, path[:max(i, 0)])
	return parent, path[i+1:], err
}

// MoveOrRename is Move, and Rename where the file system has none. Nothing else may call Rename.
func MoveOrRename(d Dir, name string, to Dir, toName string) error {
	err := d.Move(name, to, toName)
	if errors.Is(err, ErrUnsupported) {
		return d.Rename(name, to, toName)
	}
	return err
}

// keepOpen is a Dir that its holder may close without closing the directory.
type keepOpen struct{ Dir }

func (keepOpen) Close() error { return nil }

// Unwrap gives the directory below, for Move and Exchange.
func (k keepOpen) Unwrap() Dir { return k.Dir }

// unwrap finds the directory that a wrapper of this package or of another stands for.
func unwrap(d Dir) Dir {
	for {
		w, ok := d.(interface{ Unwrap() Dir })
		if !ok {
			return d
		}
		d = w.Unwrap()
	}
}
