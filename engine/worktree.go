package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/value"
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
	err := func() error {
		defer e.Log.Hold()()
		if err := e.Log.LoadSessions(); err != nil {
			return err
		}
		for _, s := range e.Log.Records {
			if s.Cwd != e.Log.Project.Root && !project.Within(s.Cwd, e.Log.Project.Root) {
				continue
			}
			if w, ok := e.Sessions.AtWork(s, e.Log.Processes()); ok {
				out.AtWork = append(out.AtWork, w)
			}
		}
		return nil
	}()
	if err != nil || !save {
		return out, err
	}
	if e.Log.Project.From.Unfinished && errors.Is(e.checkWhole(), model.ErrHalfDone) {
		return out, nil // it was killed while its session was made: what is there is the project's, and some of it may be missing
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
		if s.Path != project.MarkerDir && s.Path != ".agent" && s.Path != ".git" && !e.brought(s) {
			out.Lost = append(out.Lost, s.Path)
		}
	}
	return out, nil
}

func (e *Engine) checkWhole() error {
	defer e.Log.Hold()()
	return e.Log.CheckWhole()
}

// brought reports whether what no checkpoint has came by Bring, so that the project has it.
func (e *Engine) brought(s tree.Skip) bool {
	return e.Log.Project.From != nil && slices.Contains(e.Log.Project.From.Brought, s.Path)
}
