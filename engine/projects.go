package engine

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Projects finds projects as Find does, and remembers what it found while the files that say so are the same. Safe for concurrent use; the zero value is ready.
type Projects struct {
	mu    sync.Mutex
	found map[string]foundProject // by the directory that was asked for
}

// foundProject is a settled project, and what told it.
type foundProject struct {
	project Project
	start   string         // the directory that was asked for, links followed
	files   [2]fs.FileInfo // of the marker's id, and of the store's record of the project
	own     bool           // the store is in the marker
}

// maxProjects bounds how many directories are remembered.
const maxProjects = 256

// Find is Find.
func (ps *Projects) Find(ctx context.Context, home Home, dir string, lockWait time.Duration) (*Project, error) {
	ps.mu.Lock()
	known, ok := ps.found[dir]
	ps.mu.Unlock()
	if ok && known.still(dir) {
		p := known.project
		return &p, nil
	}
	p, err := Find(ctx, home, dir, lockWait)
	if err != nil || len(p.Notices) > 0 {
		return p, err
	}
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	f := foundProject{project: *p, start: start, own: p.Mode == ModeProject}
	f.files = f.stat()
	// What the files say is read again, for they may have changed before they were looked at.
	if p, err = Find(ctx, home, dir, lockWait); err == nil && p.same(&f.project) && f.still(dir) {
		ps.remember(dir, f)
	}
	return p, err
}

func (ps *Projects) remember(dir string, f foundProject) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.found == nil || len(ps.found) >= maxProjects {
		ps.found = map[string]foundProject{}
	}
	ps.found[dir] = f
}

func (p *Project) same(o *Project) bool {
	return p.Root == o.Root && p.ID == o.ID && p.Mode == o.Mode && p.Store == o.Store && p.Created.Equal(o.Created) && len(p.Notices) == 0
}

func (f *foundProject) stat() [2]fs.FileInfo {
	return [2]fs.FileInfo{statOrNil(filepath.Join(marker(f.project.Root), markerID)), statOrNil(filepath.Join(f.project.Store, projectFile))}
}

// still reports whether everything is as it was: the name leads to the same directory, no other project is nearer, and both files say what they said.
func (f *foundProject) still(dir string) bool {
	start, err := resolve(dir)
	if err != nil || start != f.start {
		return false
	}
	now := f.stat()
	for i := range now {
		if now[i] == nil || !unchanged(now[i], f.files[i]) {
			return false
		}
	}
	m := marker(f.project.Root)
	if !isDir(filepath.Dir(m)) || !isDir(m) || isDir(filepath.Join(m, markerStore)) != f.own {
		return false
	}
	for d := f.start; d != f.project.Root; d = filepath.Dir(d) {
		if isDir(filepath.Dir(marker(d))) {
			return false // it may be a nearer project's
		}
	}
	return true
}

// isDir reports whether there is a directory, and no link to one.
func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}
