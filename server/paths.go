package server

import (
	"context"
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

// pathIn is a path in a checkpoint: one that begins with "./" or "../" is relative to dir, any other to the root.
func pathIn(e *engine.Engine, dir, path string) (string, error) {
	if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") {
		return relativePath(e, dir, path)
	}
	return path, nil
}

// dirIn is pathIn of a directory; "" is the root.
func dirIn(e *engine.Engine, dir, path string) (string, error) {
	path, err := pathIn(e, dir, path)
	return strings.Trim(filepath.ToSlash(filepath.Clean("/"+path)), "/"), err
}

// How many paths that checkpoints changed are looked at, and of how many: who waits for them has pressed a key.
const (
	touchedPaths       = 4000
	touchedCheckpoints = 500
)

func (s states) entries(
	ctx context.Context, req api.EntriesRequest, _ model.Progress,
) (out api.EntriesResponse, err error) {
	at, err := s.placeOf(ctx, req.ProjectDir(), req.Checkpoint)
	if err != nil {
		return out, err
	}
	err = s.read(ctx, at.root, func(e *engine.Engine) error {
		out.Root = api.Text(e.Project().Root)
		if req.Touched {
			list, err := e.History.Touched(ctx, touchedPaths, touchedCheckpoints)
			out.Entries = value.Texts(list)
			return err
		}
		name := at.name
		if at.there {
			name = at.at()
		}
		name, err := e.History.Named(req.Walk, name)
		if err != nil {
			return err
		}
		dir, err := dirIn(e, at.dir, string(req.Path))
		if err != nil {
			return err
		}
		list, err := e.History.Entries(name, dir)
		out.Entries = value.Texts(list)
		return err
	})
	return out, err
}
