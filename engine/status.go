package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// Status is the state of a project.
type Status struct {
	Project     Project
	Current     *Listed       // nil before the first checkpoint
	Position    string        // the session that goes on from here
	Checkpoints int           // steps in the log
	Safety      int           // safety checkpoints in the log
	DiskBytes   int64         // all files of the store
	Changes     []tree.Change // of the worktree against the newest state known
	Skips       []tree.Skip   // of the worktree
	Ahead       int           // steps that redo can go
	HalfDone    *objstore.ID  // the target of an unfinished restore
	LastOp      *refs.Operation
	Stages      []string // files with the bytes of racing edits, which restores kept
	Sessions    []Session
	AtWork      []Work                // of those, with a call or a turn under way
	Watching    *snapshot.WatchStatus // nil: nobody watches
	Activity    *Activity             // nil: nothing is under way
	Leaks       []Leak                // files that look like they hold a secret
}

// Activity is work on the project that is under way.
type Activity struct {
	Since time.Time
	Files int // looked at so far, of a capture
	Bytes int64
}

// activity is an Activity as it goes on.
type activity struct {
	since time.Time
	files atomic.Int64
	bytes atomic.Int64
}

// statusWait is how long Status waits for work that is nearly done.
const statusWait = 300 * time.Millisecond

// lockSoon takes e.mu, or says what holds it for longer.
func (e *Engine) lockSoon(ctx context.Context) *Activity {
	until := time.Now().Add(statusWait)
	for !e.mu.TryLock() {
		if time.Now().After(until) || ctx.Err() != nil {
			a := &Activity{}
			if now := e.busy.Load(); now != nil {
				a = &Activity{Since: now.since, Files: int(now.files.Load()), Bytes: now.bytes.Load()}
			}
			return a
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// Status says how the project stands and compares the worktree with the newest state that is known; it stores nothing. It does not wait for a
// capture or a restore that takes long: then Activity is what is under way, and the worktree is not compared.
func (e *Engine) Status(ctx context.Context, p Progress) (*Status, error) {
	s := &Status{Project: e.project}
	var err error
	if s.Checkpoints, s.Safety, s.LastOp, err = e.counted(); err != nil {
		return nil, err
	}
	j, err := e.readJournal()
	if err != nil {
		return nil, err
	}
	if j != nil {
		s.HalfDone = &j.Target
	}
	if j == nil {
		if s.Stages, err = e.stages(); err != nil {
			return nil, err
		}
	}
	if s.DiskBytes, err = e.db.DiskBytes(); err != nil {
		return nil, err
	}
	at, err := e.position()
	if err != nil {
		return nil, err
	}
	s.Position = at.Session
	cur, err := e.current(at.Session)
	if err != nil {
		return nil, err
	}
	if cur != nil {
		l, err := e.Listing(cur)
		if err != nil {
			return nil, err
		}
		s.Current = &l
		ahead, err := e.ahead(at.Line, cur.ID, nil)
		if err != nil {
			return nil, err
		}
		s.Ahead = len(ahead)
	}
	s.Leaks, _ = e.Leaks(treeOf(cur)) // hints: that they cannot be read is no reason to say nothing else
	if s.Activity = e.lockSoon(ctx); s.Activity != nil {
		return s, nil
	}
	defer e.mu.Unlock()
	if e.watch != nil {
		w := e.watch.Status()
		s.Watching = &w
	}
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	s.Sessions = slices.DeleteFunc(e.listSessions(), func(s Session) bool { return e.unseen(&s) })
	s.AtWork = e.underWay(s.Sessions)
	if s.Ahead > 0 { // now with what is no step of this session's
		j, err := e.judge(at.Line)
		if err != nil {
			return nil, err
		}
		ahead, err := e.ahead(at.Line, cur.ID, j)
		if err != nil {
			return nil, err
		}
		s.Ahead = len(ahead)
	}
	was, err := e.head()
	if err != nil || cur == nil {
		return s, err
	}
	c, err := e.look(ctx, p)
	if err != nil {
		return nil, err
	}
	defer e.looked(c)
	s.Skips = c.res.Skips
	err = tree.Diff(c.get, was.tree, c.res.Root, func(ch tree.Change) error {
		s.Changes = append(s.Changes, ch)
		return nil
	})
	return s, err
}

// stages lists what restores left in their stages.
func (e *Engine) stages() ([]string, error) {
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, err := e.places(root)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, place := range list {
		kept, kerr := place.kept()
		place.close()
		out, err = append(out, kept...), errors.Join(err, kerr)
	}
	slices.Sort(out)
	return out, err
}

// kept lists what restores left in their stages.
func (s *stages) kept() (out []string, err error) {
	dir, err := s.open()
	if errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotDir) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("engine: status: %w", err)
	}
	defer dir.Close()
	ops, err := dir.ReadDir()
	if err != nil {
		return nil, fmt.Errorf("engine: status: %w", err)
	}
	for _, op := range ops {
		stage, err := dir.OpenDir(op.Name)
		if err != nil {
			continue // not one of ours
		}
		files, err := stage.ReadDir()
		stage.Close()
		if err != nil {
			return nil, fmt.Errorf("engine: status: %w", err)
		}
		for _, f := range files {
			out = append(out, s.name+"/"+op.Name+"/"+f.Name)
		}
	}
	return out, nil
}

// look captures the worktree in order to compare it: nothing is stored.
func (e *Engine) look(ctx context.Context, p Progress) (*capture, error) {
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return e.capture(ctx, root, captureOptions{compare: true, progress: p})
}
