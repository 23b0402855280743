package model

import (
	"path"
	"path/filepath"
	"strings"
)

// CleanPath makes a path relative to the project's root canonical; "" is the root.
func CleanPath(p string) (string, error) {
	if p == "" {
		return "", Usagef("path \"\": it is empty")
	}
	if filepath.Separator != '/' {
		p = filepath.ToSlash(p)
	}
	if strings.ContainsRune(p, 0) || path.IsAbs(p) {
		return "", Usagef("path %q: not inside the project", p)
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", Usagef("path %q: not inside the project", p)
	}
	if p == "." {
		p = ""
	}
	return p, nil
}

// PathSet is a set of paths, each standing for itself and all below it, "" for the root. The empty set stands for
// everything, without being a restriction.
type PathSet []string

// NewPathSet checks and cleans paths that a person gave; the error is ErrUsage.
func NewPathSet(paths []string) (PathSet, error) {
	var s PathSet
	for _, p := range paths {
		c, err := CleanPath(p)
		if err != nil {
			return nil, err
		}
		s = append(s, c)
	}
	return s, nil
}

// Has reports whether a path, or a directory above it, is in the set.
func (s PathSet) Has(p string) bool {
	if len(s) == 0 {
		return true
	}
	for _, q := range s {
		if Below(p, q) {
			return true
		}
	}
	return false
}

// HasBelow reports whether some path of the set lies below dir.
func (s PathSet) HasBelow(dir string) bool {
	for _, q := range s {
		if q != dir && Below(q, dir) {
			return true
		}
	}
	return false
}

// Below reports whether p is dir or lies in it.
func Below(p, dir string) bool {
	return p == dir || dir == "" || (len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir)
}
