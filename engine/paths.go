package engine

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"rewind/tree"
)

// cleanPath makes a path relative to the project's root canonical; "" is the root.
func cleanPath(p string) (string, error) {
	if p == "" {
		return "", fmt.Errorf("engine: path \"\": %w: it is empty", ErrUsage)
	}
	if filepath.Separator != '/' {
		p = filepath.ToSlash(p)
	}
	if strings.ContainsRune(p, 0) || path.IsAbs(p) {
		return "", fmt.Errorf("engine: path %q: %w: not inside the project", p, ErrUsage)
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", fmt.Errorf("engine: path %q: %w: not inside the project", p, ErrUsage)
	}
	if p == "." {
		p = ""
	}
	return p, nil
}

// pathSet is a set of paths, each standing for itself and all below it, "" for the root. The empty set stands for
// everything, without being a restriction.
type pathSet []string

func newPathSet(paths []string) (pathSet, error) {
	var s pathSet
	for _, p := range paths {
		c, err := cleanPath(p)
		if err != nil {
			return nil, err
		}
		s = append(s, c)
	}
	return s, nil
}

func (s pathSet) has(p string) bool {
	if len(s) == 0 {
		return true
	}
	for _, q := range s {
		if below(p, q) {
			return true
		}
	}
	return false
}

// hasBelow reports whether some path of the set lies below dir.
func (s pathSet) hasBelow(dir string) bool {
	for _, q := range s {
		if q != dir && below(q, dir) {
			return true
		}
	}
	return false
}

// below reports whether p is dir or lies in it.
func below(p, dir string) bool {
	return p == dir || dir == "" || (len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir)
}

// lookup finds a path in a checkpoint; *PathError when it is not there.
func (e *Engine) lookup(cp *Checkpoint, p string) (tree.Entry, error) {
	ent, err := tree.Lookup(e.objs, cp.Tree, p)
	if errors.Is(err, tree.ErrNotFound) {
		return ent, &PathError{Checkpoint: cp.ID, Path: p}
	}
	return ent, err
}
