package model

import (
	"path"
	"path/filepath"
	"strings"

	"rewind/internal/value"
	"rewind/refs"
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
		return "", &value.OpError{Op: "path", Subject: p, Typed: true, Err: Usagef("not inside the project")}
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", &value.OpError{Op: "path", Subject: p, Typed: true, Err: Usagef("not inside the project")}
	}
	if p == "." {
		p = ""
	}
	return p, nil
}

// NewPathSet checks and cleans paths that a person gave; the error is ErrUsage.
func NewPathSet(paths []string) (refs.PathSet, error) {
	var s refs.PathSet
	for _, p := range paths {
		c, err := CleanPath(p)
		if err != nil {
			return nil, err
		}
		s = append(s, c)
	}
	return s, nil
}
