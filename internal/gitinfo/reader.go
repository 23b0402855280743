package gitinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Facts is what the repository of a working tree tells. What cannot be read is absent, and among the faults.
type Facts struct {
	Repo     bool     // there is one, be it broken
	Files    []File   // rules files outside of the working tree, as of Excludes
	FoldCase bool     // core.ignoreCase
	Tracked  *Tracked // what is in the index; nil: there is no repository, or it is not known
	Head     Head
	Dirs     []string // git's directories in the working tree that are not called .git, relative to its top, with slashes
	Faults   []Fault
}

// Fault is a part of a repository that cannot be read.
type Fault struct {
	What string // one of the words below
	Path string // of the part, as it stands in a working tree, from its top; "": it lies elsewhere
	Err  error
}

// What can be broken.
const (
	Repository    = "repository"
	HEAD          = "HEAD"
	Index         = "index"
	configuration = "configuration"
	excludeFile   = "exclude file"
)

// Reader looks at one repository again and again. It never fails and does not wait: what does not answer in a second is
// a fault. The zero value is ready; it is safe for concurrent use.
type Reader struct {
	mu   sync.Mutex
	repo *Repo // as it was found last; nil: it was not
}

// Read tells how the repository of the working tree at root is now. Root is absolute. In a hurry, for an agent waits,
// git has less than half a second.
func (r *Reader) Read(root string, hurry bool) Facts {
	at, err := find(root)
	if errors.Is(err, errNoDotGit) {
		r.keep(nil)
		return Facts{}
	}
	f := Facts{Repo: true}
	if err != nil && !(at.common != "" && isHead(err)) { // of HEAD it is said below
		f.Faults = append(f.Faults, Fault{What: Repository, Path: ".git", Err: err})
	}
	doubtful := err != nil // what is not there may be gone
	repo := r.of(root, at)
	repo.hurry.Store(hurry)
	f.Dirs = repo.inside()
	var faults []Fault
	f.Files, f.FoldCase, faults = repo.excludes()
	f.Faults = append(f.Faults, faults...)
	if at.gitDir == "" {
		return f
	}
	if f.Head, err = repo.head(); err != nil && at.common != "" {
		doubtful = true
		f.Faults = append(f.Faults, Fault{What: HEAD, Path: ".git/HEAD", Err: err})
	}
	f.Tracked, err = repo.tracked()
	empty := err == nil && f.Tracked.Len() == 0
	if empty && (f.Head.Commit != "" || doubtful) {
		err = repo.indexThere()
	}
	if err != nil {
		f.Tracked = nil
		f.Faults = append(f.Faults, Fault{What: Index, Path: ".git/index", Err: err})
	}
	return f
}

// isHead reports whether a place is no repository because of its HEAD alone.
func isHead(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && filepath.Base(p.Path) == "HEAD"
}

// of gives the repository, the one that was kept if it is the same.
func (r *Reader) of(root string, at layout) *Repo {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.repo; old != nil && old.root == root {
		if old.gitDir == at.gitDir && old.common == at.common {
			return old
		}
	}
	r.repo = repoAt(root, at)
	return r.repo
}

func (r *Reader) keep(repo *Repo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repo = repo
}

// indexThere is an error where there is no index. With commits there should be one, unless the repository has no
// working tree of its own: its directory is beside the worktrees that are linked to it, and a file .git names it.
func (r *Repo) indexThere() error {
	_, err := os.Stat(filepath.Join(r.gitDir, "index"))
	if absent(err) && r.isBare() {
		return nil
	}
	return err
}

// isBare reports whether the repository's own configuration says core.bare; git clone --bare and git init --bare write
// it so.
func (r *Repo) isBare() bool {
	data, err := readFile(filepath.Join(r.common, "config"), maxConfigFile)
	if err != nil || r.gitDir != r.common {
		return false
	}
	for line := range strings.Lines(string(data)) {
		key, value, set := strings.Cut(line, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "bare") {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "true", "yes", "on", "1":
			return true
		}
		return !set
	}
	return false
}

// State is what is unfinished in the working tree at root, as of Repo.state; "" where there is no repository, or none
// of which that can be read.
func (r *Reader) State(root string) (string, error) {
	at, err := find(root)
	if errors.Is(err, errNoDotGit) {
		return "", nil
	}
	if at.gitDir == "" {
		return "", err
	}
	return r.of(root, at).state()
}
