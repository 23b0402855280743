package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Status is the state of a project.
type Status struct {
	Project     project.Project
	Current     *history.Listed   // nil before the first checkpoint
	Position    string            // the session that goes on from here
	Standing    *history.Standing // the turn of it; nil: it is no agent's, or it was not looked for
	Checkpoints int               // steps in the log
	Safety      int               // safety checkpoints in the log
	DiskBytes   int64             // all files of the store
	Changes     []tree.Change     // of the worktree against the newest state known
	Skips       []tree.Skip       // of the worktree
	Ahead       int               // steps that redo can go
	HalfDone    *objstore.ID      // the target of an unfinished restore
	LastOp      *refs.Operation
	Pruned      *refs.Operation // deleted sessions by itself within pruneTold; nil: none did
	Stages      []string        // files with the bytes of racing edits, which restores kept
	Sessions    []model.Session
	AtWork      []value.AtWork   // of those, with a call or a turn under way
	Watching    *value.Watcher   // nil: nobody watches
	Activity    *value.Activity  // nil: nothing is under way
	Leaks       []value.Leak     // files that look like they hold a secret
	Said        []value.SaidLeak // places in conversations that do
}

// pruneTold is for how long Status tells that sessions were deleted by themselves.
const pruneTold = 7 * 24 * time.Hour

// statusWait is how long Status waits for work that is nearly done.
const statusWait = 300 * time.Millisecond

// lockSoon takes the log's lock, or says what holds it for longer.
func (e *Engine) lockSoon(ctx context.Context) *value.Activity {
	until := time.Now().Add(statusWait)
	for !e.Log.TryLock() {
		if time.Now().After(until) || ctx.Err() != nil {
			return e.activity()
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// Status says how the project stands and compares the worktree with the newest state that is known; it stores nothing.
// It does not wait for
// a capture or a restore that takes long: then Activity is what is under way, and the worktree is not compared.
func (e *Engine) Status(ctx context.Context, p model.Progress) (*Status, error) {
	s, branch, err := e.glance()
	if err != nil {
		return nil, err
	}
	if op := e.Log.Pruned(); op != nil && e.Log.Now().Sub(time.UnixMilli(op.Time)) < pruneTold {
		s.Pruned = op
	}
	if s.HalfDone == nil {
		if s.Stages, err = e.stages(); err != nil {
			return nil, err
		}
	}
	if s.DiskBytes, err = e.Log.DB.DiskBytes(); err != nil {
		return nil, err
	}
	cur := s.current()
	s.Leaks, _ = e.Leaks.Leaks(capture.TreeOf(cur)) // hints: that they cannot be read is no reason to say nothing else
	s.Said, _ = e.Leaks.Said()
	if s.Activity = e.lockSoon(ctx); s.Activity != nil {
		if s.Activity.What != "" {
			s.HalfDone = nil // it is being done
		}
		return s, nil
	}
	defer e.Log.Unlock()
	if s.HalfDone != nil { // by somebody who has ended meanwhile
		if j, err := e.Log.ReadJournal(); err == nil && j == nil {
			s.HalfDone = nil
		}
	}
	if e.Worktree.WatchState != nil {
		w := e.Worktree.WatchState.Status()
		s.Watching = &w
	}
	if err := e.statusSessions(s); err != nil {
		return nil, err
	}
	if s.Ahead > 0 { // now with what is no step of this session's
		j, err := e.Authors.Judge(authorship.Going{Session: branch, Way: authorship.ByStep})
		if err != nil {
			return nil, err
		}
		ahead, err := e.Restorer.Ahead(branch, cur.ID, j)
		if err != nil {
			return nil, err
		}
		s.Ahead = len(ahead)
	}
	was, err := e.Log.Head()
	if err != nil || cur == nil {
		return s, err
	}
	c, err := e.captureToCompare(ctx, p)
	if err != nil {
		return nil, err
	}
	defer e.Worktree.EndCompare(c)
	s.Skips = c.Res.Skips
	err = tree.Diff(c.Get, was.Tree, c.Res.Root, func(ch tree.Change) error {
		s.Changes = append(s.Changes, ch)
		return nil
	})
	return s, err
}

// statusSessions fills in the sessions, and the turn in which the project stands.
func (e *Engine) statusSessions(s *Status) (err error) {
	if err := e.Log.LoadSessions(); err != nil {
		return err
	}
	e.Restorer.TellManyForks()
	s.Project = e.Log.Project
	s.Sessions = slices.DeleteFunc(e.Log.ListSessions(), func(s model.Session) bool { return e.History.Unseen(&s) })
	s.AtWork = e.Sessions.UnderWay(s.Sessions)
	s.Standing, err = e.History.Standing()
	return err
}

// Tidy removes what killed restores left and nobody needs: temporary files beside session files, and empty stages.
func (e *Engine) Tidy(env value.AgentEnv) {
	_, _ = e.Talks.Sweep(register.Folders(env)) // tried again by the next who asks
	e.Restorer.DropEmptyStages()
}

// stages lists what restores left in their stages.
func (e *Engine) stages() ([]string, error) {
	root, err := e.Log.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, err := e.Restorer.StageDirs(root)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, stages := range list {
		kept, kerr := stages.Leftovers()
		stages.Close()
		out, err = append(out, kept...), errors.Join(err, kerr)
	}
	slices.Sort(out)
	return out, err
}

// captureToCompare captures the worktree in order to compare it: nothing is stored.
func (e *Engine) captureToCompare(ctx context.Context, p model.Progress) (*capture.Capture, error) {
	root, err := e.Log.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return e.Worktree.Capture(ctx, root, capture.Options{Compare: true, Progress: p})
}

// TellManyForks makes a notice of the project's forks, if there are many.
func (e *Engine) TellManyForks() {
	defer e.Log.Hold()()
	if err := e.Log.LoadSessions(); err == nil {
		e.Restorer.TellManyForks()
	}
}
