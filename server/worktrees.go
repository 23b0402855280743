package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/gitworktree"
	"rewind/internal/value"
)

// worktrees answers which worktrees of git's hold forks; it makes and removes them.
type worktrees struct{ *server }

func (s worktrees) routes() {
	handle(s.server, api.Worktrees, s.worktrees)
	handle(s.server, api.RemoveTree, s.removeWorktree)
}

// fork makes a directory with the state of a moment, a project of it with a clone of the store, and there a
// session of the conversation up to that moment. What an error leaves is taken away again.
func (s worktrees) fork(ctx context.Context, req api.ForkRequest, p model.Progress) (out api.ForkResponse, err error) {
	root, err := s.home.PlanWorktree(string(req.Worktree))
	if err != nil {
		return out, err
	}
	o := restore.Options{Session: req.Walk, Title: string(req.Title), DryRun: true, Env: req.Env, Progress: p}
	id, name, paths := "", "", 0
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		f, err := e.Restorer.Fork(ctx, string(req.Checkpoint), o)
		if err != nil {
			return err
		}
		if out, err = forkResponse(e, true, f); err != nil || req.DryRun {
			return err
		}
		if name, err = e.History.Named(req.Walk, string(req.Checkpoint)); err != nil {
			return err
		}
		laid, err := e.Layouts.LayOut(ctx, name, root, nil)
		if err != nil {
			return err
		}
		paths = laid.Paths
		of := e.Project()
		if id, err = s.home.MakeWorktree(ctx, &of, root, e.Log.DB, true, s.o.lockWait); err != nil {
			return errors.Join(err, project.RemoveWorktreeDir(root))
		}
		return nil
	})
	if err != nil || req.DryRun {
		out.Worktree = api.Text(root)
		return out, err
	}
	var brought []string
	err = s.project(ctx, root, func(e *engine.Engine) error {
		if err := e.RecordWorktree(ctx); err != nil {
			return err
		}
		o.DryRun, o.Checkout, o.LaidOut, o.Exact = false, true, true, true
		f, err := e.Restorer.Fork(ctx, name, o)
		if err != nil {
			return err
		}
		notices := out.Notices
		if out, err = forkResponse(e, false, f); err != nil {
			return err
		}
		out.Restore, out.Notices = nil, notices // what the directory has is told by itself
		if made := e.Log.Session(f.Session); made != nil {
			out.Cwd = api.Text(made.Cwd)
		}
		out.Linked, brought, err = bring(ctx, e, req)
		return err
	})
	if err != nil {
		undo := context.WithoutCancel(ctx)
		gone := s.stores.Without(undo, filepath.Join(s.home.Storage(), id), func() error {
			return s.home.DropWorktree(undo, id, s.o.lockWait)
		})
		return out, errors.Join(err, gone, project.RemoveWorktreeDir(root))
	}
	out.Worktree, out.Paths = api.Text(root), paths
	return out, s.home.FinishWorktree(id, brought)
}

func (s worktrees) worktrees(
	ctx context.Context, req api.WorktreesRequest, progress model.Progress,
) (out api.WorktreesResponse, err error) {
	p, err := s.find(ctx, req.ProjectDir())
	if err != nil {
		return out, err
	}
	out = api.WorktreesResponse{Worktrees: append([]api.Worktree{}, s.home.Worktrees(p.ID)...), Notices: p.Notices}
	if !req.State || len(out.Worktrees) < 2 {
		return out, nil
	}
	for i := range out.Worktrees {
		w := &out.Worktrees[i]
		if w.Wrong != "" || w.Unfinished {
			continue
		}
		err := s.beside(ctx, *w, func(e *engine.Engine) (err error) {
			w.State, err = e.Stands(ctx, progress)
			return err
		})
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			w.Wrong = "it cannot be read now"
			out.Notices = append(out.Notices, fmt.Sprintf("worktree %s: %s", printable(string(w.Root)), clean(err)))
		}
	}
	return out, nil
}

func (s worktrees) removeWorktree(
	ctx context.Context, req api.RemoveWorktreeRequest, p model.Progress,
) (out api.RemoveWorktreeResponse, err error) {
	at, err := s.find(ctx, req.ProjectDir())
	if err != nil {
		return out, err
	}
	w, err := s.home.FindWorktree(at.ID, string(req.Worktree))
	if err != nil {
		return out, err
	}
	out.Worktree, out.Notices = *w, at.Notices
	switch {
	case w.Of == "":
		err = keepWorktree(w, api.WordUsage, "it is the project that the worktrees were made of",
			"'rewind init --remove' there takes its store away, and leaves its files")
	case w.Here:
		err = keepWorktree(w, api.WordUsage, "it is the directory that this was asked from",
			"ask from another one of 'rewind worktrees'")
	case w.Wrong == "":
		err = s.project(ctx, string(w.Root), func(e *engine.Engine) error { return s.leave(ctx, e, w, req, p, &out) })
	}
	if err != nil || req.DryRun {
		return out, err
	}
	if err := dropFromGit(at.Root, w); err != nil {
		return out, err
	}
	return out, s.stores.Without(ctx, filepath.Join(s.home.Storage(), w.ID), func() error {
		if w.Wrong == "" {
			if err := project.RemoveWorktreeDir(string(w.Root)); err != nil {
				return err
			}
		}
		return s.home.OrphanWorktree(ctx, w.ID, s.o.lockWait)
	})
}

// keepWorktree is the error that says why a worktree is not removed.
func keepWorktree(w *value.Worktree, word, message, hint string) error {
	return &api.Error{
		Code: api.CodeOf(word), Word: word, Message: "worktree " + printable(string(w.Root)) + ": " + message,
		Hint: hint,
	}
}

// leave keeps what the worktree has that no checkpoint has, and refuses where something would be lost all the same.
func (s worktrees) leave(
	ctx context.Context, e *engine.Engine, w *value.Worktree, req api.RemoveWorktreeRequest, p model.Progress,
	out *api.RemoveWorktreeResponse,
) error {
	left, err := e.Leave(ctx, !req.DryRun, p)
	if err != nil {
		return err
	}
	if len(left.AtWork) > 0 && !req.Force {
		return keepWorktree(w, api.WordBusy, "an agent is at work there: "+left.AtWork[0].Session,
			"end its session, or add --force")
	}
	if left.OwnGit {
		return keepWorktree(w, api.WordUnsaved, "it has a git repository of its own, which no checkpoint has",
			"move it away first")
	}
	if left.Saved != nil {
		if out.Checkpoint, err = listed(e, left.Saved); err != nil {
			return err
		}
	}
	out.Lost = value.Texts(left.Lost)
	switch n := len(left.Lost); {
	case n == 0:
		return nil
	case !req.Force:
		text := fmt.Sprintf("%d paths are in no checkpoint and would be lost, first %s", n, printable(left.Lost[0]))
		return keepWorktree(w, api.WordUnsaved, text, "move them away, or add --force")
	case req.DryRun:
		return nil
	}
	return s.fromPerson(ctx, req.ProjectDir())
}

// dropFromGit takes a worktree out of the list of the repository around root.
func dropFromGit(root string, w *value.Worktree) error {
	if _, gone := os.Lstat(string(w.Root)); w.Wrong == "" || errors.Is(gone, fs.ErrNotExist) {
		switch err := gitworktree.RemoveFrom(root, string(w.Root)); {
		case errors.Is(err, gitworktree.ErrLocked):
			return keepWorktree(w, api.WordBusy, "git has it locked", "'git worktree unlock' ends that")
		case err != nil:
			return err
		}
	}
	if _, err := os.Lstat(filepath.Join(string(w.Root), ".git")); err == nil && w.Wrong == "" {
		return keepWorktree(w, api.WordUnsaved, "its .git leads to another repository than the project's",
			"move it away first")
	}
	return nil
}

// bring gives a worktree the directories that were asked for.
func bring(
	ctx context.Context, e *engine.Engine, req api.ForkRequest,
) (told []api.Linked, brought []string, err error) {
	for _, ask := range []struct {
		paths []api.Text
		copy  bool
	}{{req.Link, false}, {req.Copy, true}} {
		for _, path := range ask.paths {
			clean := filepath.ToSlash(filepath.Clean(string(path)))
			why, err := e.Layouts.Bring(ctx, clean, ask.copy)
			if err != nil {
				return nil, nil, err
			}
			told = append(told, api.Linked{Path: api.Text(clean), Copy: ask.copy, Why: api.Text(why)})
			if why == "" {
				brought = append(brought, clean)
			}
		}
	}
	return told, brought, nil
}
