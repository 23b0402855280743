package engine

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/refs"
)

// Glance returns the part of Status that needs no look at the worktree or the disk, and waits for nobody. A prompt can
// show it each time it is drawn. Activity says that something is under way.
func (e *Engine) Glance() (*Status, error) {
	s, _, err := e.glance()
	if err != nil {
		return nil, err
	}
	if !e.Log.TryLock() {
		s.Activity = e.activity()
		if s.Activity.What != "" {
			s.HalfDone = nil // it is being done
		}
		return s, nil
	}
	e.Log.Unlock()
	return s, nil
}

// CanUndo reports whether the newest operation can be taken back now; while somebody is at the project it is not known,
// and false.
func (e *Engine) CanUndo(ctx context.Context, newest *refs.Operation, env value.AgentEnv) bool {
	if !e.Log.TryLock() {
		return false
	}
	defer e.Log.Unlock()
	return e.Restorer.CanUndo(ctx, newest, env)
}

// glance also gives the session along whose steps undo and redo walk.
func (e *Engine) glance() (s *Status, branch string, err error) {
	s = &Status{Project: e.Log.Project}
	if s.Checkpoints, s.Safety, s.LastOp, err = e.Log.Counted(); err != nil {
		return nil, "", err
	}
	j, err := e.Log.ReadJournal()
	if err != nil {
		return nil, "", err
	}
	if j != nil {
		s.HalfDone = &j.Target
	}
	at, err := e.Sessions.Position()
	if err != nil {
		return nil, "", err
	}
	s.Position = at.Session
	cur, err := e.Sessions.Current(at.Session)
	if err != nil || cur == nil {
		return s, at.Branch, err
	}
	l, err := e.History.Listing(cur)
	if err != nil {
		return nil, "", err
	}
	s.Current = &l
	ahead, err := e.Restorer.Ahead(at.Branch, cur.ID, nil)
	s.Ahead = len(ahead)
	return s, at.Branch, err
}

// current is the checkpoint on which the project stands; nil before the first.
func (s *Status) current() *model.Checkpoint {
	if s.Current == nil {
		return nil
	}
	return s.Current.Checkpoint
}

// activity says what holds the log's lock.
func (e *Engine) activity() *value.Activity {
	now := e.Worktree.Busy.Load()
	if now == nil {
		return &value.Activity{}
	}
	return &value.Activity{
		Since: now.Since.UTC(), What: now.What, Process: now.Process,
		Files: int(now.Files.Load()), Total: int(now.Total.Load()), Bytes: now.Bytes.Load(),
	}
}
