package apply

import (
	"context"
	"encoding/hex"
	"errors"
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
	// syncEach is how many files or directories are synced one by one at most; more are synced with their file system.
	syncEach = 64
	// flushEach is how many staged bytes start a sync in the background.
	flushEach = 64 << 20
	// keySize is how many bytes of a path's hash name its files in the stage.
	keySize = 16
	// copyBuffer is how many bytes are copied at a time.
	copyBuffer = 128 << 10
	// holeBlock is the block of a file system, in bytes. A block of zeros, at a multiple of its size, is written as a
	// hole.
	holeBlock = 4 << 10
)

// jobState is how far a step is.
type jobState byte

const (
	jobPending  jobState = iota // to be carried out
	jobPlaced                   // carried out, not yet checked
	jobDone                     // the path is what the step wants
	jobConflict                 // left to the user, and reported
	jobKept                     // a directory that is not empty, and reported
)

// job is a step that is being carried out.
type job struct {
	tree.Change
	key       string // names its files in the stage
	state     jobState
	stage     *stage
	staged    worktreefs.Stat // stat of the new content, once it is in the stage
	hasTmp    bool            // key.tmp is being written
	hasNew    bool            // key.new holds something
	hasOld    bool            // key.old holds something
	newReady  bool            // key.new, left by an earlier run, is what the step wants
	recovered bool            // recover has dealt with what an earlier run left
	present   bool            // the survey found something at the path
	database  *database       // the database that it is part of; nil: none
	head      []byte          // what the file that the survey saw begins with; nil: it was not read
	exchanged bool            // of a database: key.new holds what was at the path
	isOut     bool            // an earlier run had moved out what was at the path: it is in the stage, and nothing is at the path
	movedIn   bool            // of a database: the new content was moved to a free path
	inside    *newDir         // the new directory that brings it into the tree; nil: none

	was   worktreefs.Stat   // stat of what the survey saw at the path
	now   uint16            // permissions at the path, a directory's without our widening
	attrs []worktreefs.Attr // attributes of the file that is replaced
	perm  uint16            // permissions that the path gets, or has when it is done
	lost  []string          // what the path does not get

	cannot value.KeptReason // of a conflict: what the file system cannot hold
}

// removesFirst reports whether the entry at the path is removed before anything else is placed.
func (j *job) removesFirst() bool {
	return j.present && j.Old != nil && (j.New == nil || (j.New.Type == tree.TypeDir) != (j.Old.Type == tree.TypeDir))
}

// permOnly reports whether only permissions change, and the content stays.
func (j *job) permOnly() bool {
	if !j.present || j.Old == nil || j.New == nil {
		return false
	}
	return j.Old.Type == j.New.Type && (j.Old.Type == tree.TypeDir || j.Old.ID == j.New.ID)
}

// placesNew reports whether new content is put at the path.
func (j *job) placesNew() bool { return j.New != nil && !j.permOnly() }

// applier carries out one list of steps. Not safe for concurrent use; its own goroutines write into the stage and sync,
// nothing else.
type applier struct {
	Options
	ctx    context.Context
	jobs   []*job // by ComparePaths
	byPath map[string]*job

	stages  []*stage // the first is Options.Stage
	volumes map[string]worktreefs.Volume
	setgid  map[string]uint32 // group by directory, of those that give theirs to what is made in them

	perms   map[string]uint16 // true permissions of directories that are widened, by path
	markers map[string]uint16 // permissions in markers of an earlier run, by key
	usable  map[string]bool   // directories that are known to be writable and searchable
	blocked map[string]bool   // new directories whose name means another entry on this file system
	touched map[string]bool   // directories to sync

	tops      []*newDir // the topmost new directories
	databases []*database

	mu          sync.Mutex // guards conflicts while several goroutines write into the stage
	conflicts   []value.Conflict
	kept        []string
	writerWaits int // how many more times a writer is waited for

	w walker

	phase string // what is being done
	total int
	done  atomic.Int64
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

		writerWaits: 20,
	}
	a.w.a = a
	for _, s := range o.Steps {
		j := &job{Change: s, key: keyOf(s.Path)}
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
		if reason := refusedPath(j.Path); reason != "" {
			a.conflict(j, reason)
		}
	}
	return a, nil
}

// check returns errBadSteps for what is no step.
func (j *job) check() error {
	if j.Old == nil && j.New == nil {
		return fmt.Errorf("%w: %q from nothing to nothing", errBadSteps, j.Path)
	}
	for _, e := range []*tree.Entry{j.Old, j.New} {
		if e != nil && e.Type != tree.TypeFile && e.Type != tree.TypeSymlink && e.Type != tree.TypeDir {
			return fmt.Errorf("%w: %q has type %q", errBadSteps, j.Path, e.Type)
		}
	}
	return nil
}

// refusedPath is why a path is never written: it is git's directory or ours, under any spelling, or no path; "": it may
// be.
func refusedPath(path string) string {
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

// keyOf is a path's name in the stage: it is the same in every run, and shorter than paths can be.
func keyOf(path string) string {
	h := objstore.Sum(objstore.Blob, []byte(path))
	return hex.EncodeToString(h[:keySize])
}

// conflict leaves a step to the user, for a reason in lower case.
func (a *applier) conflict(j *job, reason string) {
	j.state = jobConflict
	a.conflicts = append(a.conflicts, value.Conflict{Path: value.Text(j.Path), Reason: reason})
}

// cannotHold leaves a step undone since the file system cannot hold what it wants.
func (a *applier) cannotHold(j *job, why value.KeptReason) {
	reason := "this file system cannot have its name"
	if why == value.KeptNoLinks {
		reason = "this file system has no symbolic links"
	}
	a.conflictLocked(j, reason)
	j.cannot = why
}

// asConflict makes a conflict of an error that concerns the step's path alone, and passes others on.
func (a *applier) asConflict(j *job, err error) error {
	if err == nil || !worktreefs.IsLocal(err) {
		return err
	}
	if errors.Is(err, worktreefs.ErrBadName) {
		a.cannotHold(j, value.KeptNoName)
		return nil
	}
	a.conflict(j, err.Error())
	return nil
}

// each calls fn for the pending jobs for which want holds.
func (a *applier) each(jobs func(yield func(int, *job) bool), want func(*job) bool, fn func(*job) error) error {
	for _, j := range jobs {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if j.state != jobPending || !want(j) {
			continue
		}
		if dir := a.blockedBy(j.Path); dir != "" {
			a.conflict(j, "its directory "+quotePath(dir)+" has the name of another entry on this file system")
			continue
		}
		a.advance()
		if err := a.asConflict(j, fn(j)); err != nil {
			return err
		}
	}
	return nil
}

// blockedBy is the directory above path that is blocked; "": none.
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

// quotePath quotes a path that has to be.
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
