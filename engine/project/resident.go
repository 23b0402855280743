package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Configs keeps settings until a file they come from changes. Safe for concurrent use; the zero value is ready.
type Configs struct {
	mu   sync.Mutex
	read map[string]readConfig // by project root
}

type readConfig struct {
	config Config
	files  [2]fs.FileInfo // nil: was not there
	// Whether the project's file counts depends on git's index too: its stat, and where it is. "": what it said holds.
	index string
	says  fs.FileInfo
}

// maxConfigs bounds how many projects' settings are kept.
const maxConfigs = 256

// holds reports whether nothing has changed that was read.
func (r readConfig) holds(files [2]fs.FileInfo) bool {
	if !unchanged(r.files[0], files[0]) || !unchanged(r.files[1], files[1]) {
		return false
	}
	return r.index == "" || unchanged(r.says, lstatOrNil(r.index))
}

// Load is LoadConfig.
func (c *Configs) Load(home Home, root string) (Config, error) {
	files := [2]fs.FileInfo{statOrNil(home.configFile()), lstatOrNil(filepath.Join(Marker(root), ConfigName))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.read[root]; ok && r.holds(files) {
		return r.config, nil
	}
	now := readConfig{files: files}
	if files[1] != nil {
		now.index = indexOf(root)
		now.says = lstatOrNil(now.index)
	}
	cfg, err := LoadConfig(home, root)
	if err != nil {
		return cfg, err
	}
	// A commit that brings the file is in the index when git is done: until the index has changed after the file it is
	// looked at again.
	if now.says != nil && cfg.Passed() == "" && now.says.ModTime().After(files[1].ModTime()) {
		now.index = ""
	}
	if c.read == nil || len(c.read) >= maxConfigs {
		c.read = map[string]readConfig{}
	}
	now.config = cfg // stat before reading: a change in between is seen the next time
	c.read[root] = now
	return cfg, nil
}

// statOrNil is nil where there is no file; one that cannot be looked at is told by LoadConfig.
func statOrNil(path string) fs.FileInfo {
	fi, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return fi
}

// unchanged relies on SetConfig replacing the file: even within one tick of the clock the inode differs.
func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// StoreStamp identifies the directory of a store: one that was deleted, replaced or moved away has another.
type StoreStamp struct{ dir fs.FileInfo }

// StampStore reads the stamp; errors: the directory cannot be looked at.
func StampStore(p *Project) (StoreStamp, error) {
	fi, err := os.Stat(p.Store)
	return StoreStamp{fi}, err
}

// Same reports whether the store is still there and the same.
func (s StoreStamp) Same(p *Project) bool {
	now, err := StampStore(p)
	return err == nil && s.dir != nil && os.SameFile(s.dir, now.dir)
}
