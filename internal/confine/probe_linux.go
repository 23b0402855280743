package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// probeTime bounds one try.
const probeTime = 5 * time.Second

// Probe finds out how far a command can be kept from a project: it makes the views one after the other in a process of
// its own. scratch is a directory on the disk on which the command will work, which is made, but not what is above it;
// root is one of the project.
func Probe(ctx context.Context, root, scratch string) Level {
	if err := os.Mkdir(scratch, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return None
	}
	dir, err := os.MkdirTemp(scratch, "probe-")
	if err != nil {
		return None
	}
	defer removeLayers(dir)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return None
	}
	for _, level := range []Level{Overlay, ReadOnly} {
		if try(ctx, level, root, filepath.Join(dir, level.String())) {
			return level
		}
	}
	return None
}

func try(ctx context.Context, level Level, root, dir string) bool {
	tree := filepath.Join(dir, "tree")
	if os.MkdirAll(tree, 0o700) != nil {
		return false
	}
	v := &View{Root: root, Tree: tree, Layers: filepath.Join(dir, "layers")}
	p, err := supervise(order{Probe: true, Level: level, View: v}, namespaced(level), nil, nil)
	if err != nil {
		return false
	}
	timer := time.NewTimer(probeTime)
	defer timer.Stop()
	last := report{}
	for {
		select {
		case r, more := <-p.reports:
			if !more {
				p.finish(last.Ended == nil)
				return last.Ended != nil
			}
			last = r
		case <-ctx.Done():
			_ = p.cmd.Process.Kill()
		case <-timer.C:
			_ = p.cmd.Process.Kill()
		}
	}
}

// removeLayers removes a directory in which there were overlays: they leave one without any permission.
func removeLayers(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
