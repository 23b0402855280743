package project

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rewind/internal/osfile"
)

// Projects finds projects as Find does, and remembers what it found while the files that say so are the same. Safe for
// concurrent use; the zero value is ready.
type Projects struct {
	mu    sync.Mutex
	Found map[string]foundProject // by the directory that was asked for
}

// foundProject is a settled project, and what told it.
type foundProject struct {
	project Project
	start   string         // the directory that was asked for, links followed
	files   [4]fs.FileInfo // of the record, of the marker's id, and in project mode of the store's seal and of git's index
	index   string         // where that is
	dirs    [4]fs.FileInfo // of the project's directory, .agent, the marker, and in project mode the store
}

// maxProjects bounds how many directories are remembered.
const maxProjects = 256

// Find is Find.
func (ps *Projects) Find(ctx context.Context, home Home, dir string, lockWait time.Duration) (*Project, error) {
	ps.mu.Lock()
	known, ok := ps.Found[dir]
	ps.mu.Unlock()
	if ok && known.valid(home, dir) {
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
	f := foundProject{project: *p, start: start}
	if p.Mode == ModeProject {
		f.index = indexOf(p.Root)
	}
	f.files = f.stat(home)
	f.dirs = f.statDirs()
	// What the files say is read again, for they may have changed before they were looked at.
	if p, err = Find(ctx, home, dir, lockWait); err == nil && p.same(&f.project) && f.valid(home, dir) {
		ps.remember(dir, f)
	}
	return p, err
}

func (ps *Projects) remember(dir string, f foundProject) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.Found == nil || len(ps.Found) >= maxProjects {
		ps.Found = map[string]foundProject{}
	}
	ps.Found[dir] = f
}

func (p *Project) same(o *Project) bool {
	same := p.Root == o.Root && p.ID == o.ID && p.Mode == o.Mode
	store := p.Store == o.Store && p.created.Equal(o.created)
	return same && store && len(p.Notices) == 0
}

func (f *foundProject) stat(home Home) (files [4]fs.FileInfo) {
	p := &f.project
	files[0] = lstatOrNil(home.recordPath(p.ID, p.Mode))
	files[1] = lstatOrNil(filepath.Join(Marker(p.Root), markerID))
	if p.Mode == ModeProject {
		files[2] = lstatOrNil(filepath.Join(p.Store, sealName))
		files[3] = lstatOrNil(f.index)
	}
	return files
}

// statDirs looks at the directories on the way to the store; what came into them is the files' to say.
func (f *foundProject) statDirs() (dirs [4]fs.FileInfo) {
	m := Marker(f.project.Root)
	dirs = [4]fs.FileInfo{lstatOrNil(f.project.Root), lstatOrNil(filepath.Dir(m)), lstatOrNil(m)}
	if f.project.Mode == ModeProject {
		dirs[3] = lstatOrNil(f.project.Store)
	}
	return dirs
}

// valid reports whether everything is as it was: the name leads to the same directory, no other project is nearer, and
// the files say what they said.
func (f *foundProject) valid(home Home, dir string) bool {
	start, err := resolve(dir)
	if err != nil || start != f.start {
		return false
	}
	now := f.stat(home)
	if now[0] == nil || f.project.Mode == ModeProject && now[2] == nil {
		return false
	}
	for i := range now {
		if !unchanged(now[i], f.files[i]) {
			return false
		}
	}
	for i, d := range f.statDirs() {
		if !sameDirectory(d, f.dirs[i]) {
			return false
		}
	}
	for d := f.start; d != f.project.Root; d = filepath.Dir(d) {
		if isDir(filepath.Dir(Marker(d))) || isLinkedTop(d) {
			return false // it may be a nearer project's, or a tree of its own
		}
	}
	return true
}

// sameDirectory reports whether two looks saw one directory, or none, with the same owner and rights, whatever came
// into it.
func sameDirectory(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Mode() == b.Mode() && osfile.SameOwner(a, b)
}

// lstatOrNil is nil where there is nothing.
func lstatOrNil(path string) fs.FileInfo {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return fi
}
