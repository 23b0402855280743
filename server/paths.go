package server

import (
	"path/filepath"
	"strings"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/internal/value"
)

// relative makes paths that were given in dir relative to the project's root.
func relative(e *engine.Engine, dir string, paths []api.Text) ([]string, error) {
	var out []string
	for _, p := range paths {
		if p == "" {
			return nil, model.Usagef("path \"\": it is empty")
		}
		r, err := relativePath(e, dir, string(p))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func relativePath(e *engine.Engine, dir, path string) (string, error) {
	root := e.Project().Root
	if !filepath.IsAbs(path) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", &value.OpError{Op: "resolve", Subject: dir, Err: err}
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		path = abs + string(filepath.Separator) + path
	} else if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	rel, err := filepath.Rel(root, filepath.Clean(path))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &value.OpError{Op: "path", Subject: path, Typed: true, Err: model.Usagef("it is outside the project %s", root)}
	}
	return filepath.ToSlash(rel), nil
}
