package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// RecordWorktree writes into the log of a worktree's store what it was made of.
func (e *Engine) RecordWorktree(ctx context.Context) error {
	return e.Log.Record(ctx, refs.Operation{Kind: refs.KindCopy, Message: "worktree of " + e.Log.Project.From.Roots[0]})
}

// Leaving is what the removal of a worktree's directory finds there.
type Leaving struct {
	Saved  *model.Checkpoint // its last state; nil: it was not asked for
	Lost   []string          // paths that no checkpoint has and that were not brought by Bring
	AtWork []value.AtWork    // the agents at work there
	OwnGit bool              // it has a repository of git of its own, which rewind never removes
}

// Leave says what would go with the directory of a worktree, and with save makes its state a checkpoint.
func (e *Engine) Leave(ctx context.Context, save bool, p model.Progress) (*Leaving, error) {
	out := &Leaving{}
	err := func() (err error) {
		defer e.Log.Hold()()
		out.AtWork, err = e.atWork()
		return err
	}()
	if err != nil || !save {
		return out, err
	}
	if e.Log.Project.From.Unfinished && errors.Is(e.checkWhole(), model.ErrHalfDone) {
		// it was killed while its session was made: what is there is the project's, and some of it may be missing
		return out, nil
	}
	r, err := e.Worktree.Save(ctx, "", "before the worktree was removed", p)
	if err != nil {
		return out, err
	}
	out.Saved = r.Checkpoint
	if fi, err := os.Lstat(filepath.Join(e.Log.Project.Root, ".git")); err == nil && fi.IsDir() {
		out.OwnGit = true
	}
	for _, s := range r.Skips {
		notOurs := s.Path != project.MarkerDir && s.Path != ".agent"
		if notOurs && s.Path != ".git" && !e.brought(s) {
			out.Lost = append(out.Lost, s.Path)
		}
	}
	return out, nil
}

// atWork are the agents at work in the worktree. The log's lock is held.
func (e *Engine) atWork() (list []value.AtWork, err error) {
	if err := e.Log.LoadSessions(); err != nil {
		return nil, err
	}
	for _, s := range e.Log.EachSession() {
		if s.Cwd != e.Log.Project.Root && !project.Within(s.Cwd, e.Log.Project.Root) {
			continue
		}
		if w, ok := e.Sessions.AtWork(s, e.Log.Processes()); ok {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b value.AtWork) int { return strings.Compare(a.Session, b.Session) })
	return list, nil
}

// Stands says how the worktree stands. Nothing is stored.
func (e *Engine) Stands(ctx context.Context, p model.Progress) (*value.WorktreeState, error) {
	out := &value.WorktreeState{}
	from, to, err := e.sinceMade(out)
	if err != nil {
		return nil, err
	}
	if from != nil {
		err = e.diff(e.Log.Objs, from.Tree, to, nil, DiffOptions{}, func(f FileDiff) error {
			added, removed := textdiff.Stat(f.Text.Hunks)
			out.Files, out.Added, out.Removed = out.Files+1, out.Added+added, out.Removed+removed
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	_, err = e.Diff(ctx, DiffOptions{NoText: true, Progress: p}, func(FileDiff) error {
		out.Unsaved++
		return ctx.Err()
	})
	return out, err
}

// sinceMade fills in what the log says of a worktree. from is the state that it began with, to the tree of its newest;
// nil: it was not made of another.
func (e *Engine) sinceMade(out *value.WorktreeState) (from *model.Checkpoint, to objstore.ID, err error) {
	defer e.Log.Hold()()
	running, err := e.atWork()
	if err != nil {
		return nil, to, err
	}
	for _, w := range running {
		out.Running = append(out.Running, w.Session)
	}
	at, err := e.Sessions.Position()
	if err != nil {
		return nil, to, err
	}
	if out.Session = at.Session; e.Log.Session(at.Session) != nil {
		out.Title = value.Text(e.Log.Session(at.Session).Title)
	}
	cp, err := e.Sessions.Current(at.Branch)
	if err != nil || cp == nil {
		return nil, to, err
	}
	out.Checkpoint = cp.ID.String()
	of := e.Log.Project.From
	if of == nil {
		return nil, to, nil
	}
	var began objstore.ID
	err = e.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= of.Since {
			return kv.ErrStop
		}
		if op.Kind == refs.KindCheckpoint {
			out.Checkpoints++
		}
		if op.Restore != nil && !op.Restore.ContextOnly {
			began = op.Restore.Target
		}
		return nil
	})
	if err != nil || began.IsZero() {
		return nil, to, err
	}
	head, err := e.Log.Head()
	if err != nil {
		return nil, to, err
	}
	from, err = e.Log.Checkpoint(began)
	return from, head.Tree, err
}

func (e *Engine) checkWhole() error {
	defer e.Log.Hold()()
	return e.Log.CheckWhole()
}

// brought reports whether what no checkpoint has came by Bring, so that the project has it.
func (e *Engine) brought(s tree.Skip) bool {
	return e.Log.Project.From != nil && slices.Contains(e.Log.Project.From.Brought, s.Path)
}
