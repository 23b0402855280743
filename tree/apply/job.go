package apply

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// Limits of Run.
const (
	// syncEach is up to how many files or directories are synced one by one; more are synced with their file system.
	syncEach = 64
	// flushEach is the bytes after which the disk is asked to write what was staged so far.
	flushEach = 64 << 20
	// keyOfSize is the bytes of a path's hash that name its files in the stage.
	keySize = 16
	// copyBuffer is the bytes copied at a time.
	copyBuffer = 128 << 10
	// holeBlock is the bytes that a file system gives room to at once; so many zeros, where a multiple of it begins, are written as a hole.
	holeBlock = 4 << 10
)

// jobState is where a step stands.
type jobState byte

const (
	jobAct      jobState = iota // to be carried out
	jobPlaced                   // carried out, not yet checked
	jobDone                     // the path is what the step wants
	jobConflict                 // left to the user, and reported
	jobKept                     // a directory that is not empty, and reported
)

// job is a step being carried out.
type job struct {
	tree.Step
	key     string // names its files in the stage
	state   jobState
	stage   *stage
	staged  worktreefs.Stat // of the new content, once it is in the stage
	hasTmp  bool            // key.tmp is being written
	hasNew  bool            // key.new holds something
	hasOld  bool            // key.old holds something
	ready   bool            // an earlier run left in key.new what the step wants
	swept   bool            // what an earlier run left was dealt with
	present bool            // From is at the path, as far as the survey saw
	inside  *newDir         // the new directory that it comes into the tree with; nil: it comes by itself

	was   worktreefs.Stat   // what the survey saw at the path
	now   uint16            // its permissions, a directory's apart from our widening
	attrs []worktreefs.Attr // of the file that is replaced
	perm  uint16            // what the path gets, or has when it is done
	lost  []string          // what it does not get
}

// leaves: the entry at the path goes before anything comes.
func (j *job) leaves() bool {
	return j.present && j.From != nil && (j.To == nil || (j.To.Type == tree.TypeDir) != (j.From.Type == tree.TypeDir))
}

// permOnly: the content stays.
func (j *job) permOnly() bool {
	return j.present && j.From != nil && j.To != nil && j.From.Type == j.To.Type && (j.From.Type == tree.TypeDir || j.From.ID == j.To.ID)
}

// comes: something new is put at the path.
func (j *job) comes() bool { return j.To != nil && !j.permOnly() }

// applier carries out one list of steps. Not safe for concurrent use; its own goroutines write into the stage and sync, nothing else.
type applier struct {
	Options
	ctx    context.Context
	jobs   []*job // by ComparePaths
	byPath map[string]*job

	stages  []*stage // the first is Options.Stage
	volumes map[string]worktreefs.Volume
	setgid  map[string]uint32 // directories that give their group to what is made in them

	perms   map[string]uint16 // directory path to its true permissions, while it is wider
	markers map[string]uint16 // path key to the permissions in a marker of an earlier run
	usable  map[string]bool   // directories known to be writable and searchable
	blocked map[string]bool   // new directories whose name means another entry on this file system
	touched map[string]bool   // directories to sync

	tops []*newDir // the new directories that come into the tree by themselves

	mu        sync.Mutex // guards conflicts while several goroutines write into the stage
	conflicts []value.Conflict
	kept      []string
	patience  int // how often a held file is still waited for

	w walker

	phase   string // what is being done
	total   int
	reached atomic.Int64
}

func newApplier(ctx context.Context, o Options) (*applier, error) {
	a := &applier{
		Options: o, ctx: ctx,
		byPath:  make(map[string]*job, len(o.Steps)),
		volumes: map[string]worktreefs.Volume{},
		setgid:  map[string]uint32{},
		perms:   map[string]uint16{},
		markers: map[string]uint16{},
		usable:  map[string]bool{"": true},
		blocked: map[string]bool{},
		touched: map[string]bool{},

		patience: 20,
	}
	a.w.a = a
	for _, s := range o.Steps {
		j := &job{Step: s, key: keyOf(s.Path)}
		if err := j.check(); err != nil {
			return nil, err
		}
		if a.byPath[s.Path] != nil {
			return nil, fmt.Errorf("%w: %q twice", errBadSteps, s.Path)
		}
		a.byPath[s.Path] = j
		a.jobs = append(a.jobs, j)
	}
	slices.SortFunc(a.jobs, func(x, y *job) int { return tree.ComparePaths(x.Path, y.Path) })
	for _, j := range a.jobs {
		if reason := refused(j.Path); reason != "" {
			a.conflict(j, reason)
		}
	}
	return a, nil
}

// check refuses what is no step.
func (j *job) check() error {
	if j.From == nil && j.To == nil {
		return fmt.Errorf("%w: %q from nothing to nothing", errBadSteps, j.Path)
	}
	for _, e := range []*tree.Entry{j.From, j.To} {
		if e != nil && e.Type != tree.TypeFile && e.Type != tree.TypeSymlink && e.Type != tree.TypeDir {
			return fmt.Errorf("%w: %q has type %q", errBadSteps, j.Path, e.Type)
		}
	}
	return nil
}

// refused gives the reason why a path is never written: git's directory and our own, under any spelling, and what is no path.
func refused(path string) string {
	parts := strings.Split(path, "/")
	for _, p := range parts {
		switch {
		case p == "" || p == "." || p == ".." || strings.IndexByte(p, 0) >= 0:
			return "not a path inside the tree"
		case worktreefs.IsDotGit(p):
			return "git's own directory, under this or another spelling"
		}
	}
	if len(parts) > 1 && worktreefs.SameName(parts[0], ".agent") && worktreefs.SameName(parts[1], "rewind") {
		return "rewind's own directory"
	}
	return ""
}

// keyOf names a path in the stage; steps may change order between runs, and paths are longer than names.
func keyOf(path string) string {
	h := objstore.Sum(objstore.Blob, []byte(path))
	return hex.EncodeToString(h[:keySize])
}

// conflict leaves a step to the user.
func (a *applier) conflict(j *job, reason string) {
	j.state = jobConflict
	a.conflicts = append(a.conflicts, value.Conflict{Path: value.Text(j.Path), Reason: reason})
}

// asConflict turns an error about one path into a conflict, when it concerns that path alone, and passes others on.
func (a *applier) asConflict(j *job, err error) error {
	if err == nil || !worktreefs.IsLocal(err) {
		return err
	}
	a.conflict(j, err.Error())
	return nil
}

// each calls fn for the jobs still to be carried out for which want holds.
func (a *applier) each(jobs func(yield func(int, *job) bool), want func(*job) bool, fn func(*job) error) error {
	for _, j := range jobs {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if j.state != jobAct || !want(j) {
			continue
		}
		if dir := a.blockedBy(j.Path); dir != "" {
			a.conflict(j, "its directory "+quotePath(dir)+" has the name of another entry on this file system")
			continue
		}
		a.step()
		if err := a.asConflict(j, fn(j)); err != nil {
			return err
		}
	}
	return nil
}

// blockedBy gives the directory above path that must not be used.
func (a *applier) blockedBy(path string) string {
	if len(a.blocked) == 0 {
		return ""
	}
	for i, c := range []byte(path) {
		if c == '/' && a.blocked[path[:i]] {
			return path[:i]
		}
	}
	return ""
}

func quotePath(p string) string {
	if q := fmt.Sprintf("%q", p); len(q) != len(p)+2 {
		return q
	}
	return p
}

func (a *applier) close() {
	a.w.close()
	for _, s := range a.stages {
		s.close()
	}
}
