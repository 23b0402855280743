package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/engine/restore"
	"rewind/internal/gitworktree"
	"rewind/internal/kv"
	"rewind/internal/value"
)

func (s *server) listStores(context.Context, api.StoresRequest, model.Progress) (api.StoresResponse, error) {
	out := api.StoresResponse{Stores: []api.Store{}}
	out.Stores = append(out.Stores, s.home.Stores()...)
	for _, t := range s.home.Trash(s.engineOptions().Clock()) {
		out.Trash = append(out.Trash, t.Info(s.home))
	}
	return out, nil
}

// inTrash is what people are told of a store in the trash; nil: it is not there.
func (s *server) inTrash(t *project.Trashed) *api.Removed {
	if t == nil {
		return nil
	}
	info := t.Info(s.home)
	return &info
}

// restoreStore brings a store back from the trash, and the hooks that went with it.
func (s *server) restoreStore(ctx context.Context, req api.RestoreStoreRequest, _ model.Progress) (out api.RestoreStoreResponse,
	err error,
) {
	t, err := s.home.FindTrashed(req.Store, s.engineOptions().Clock())
	if err != nil {
		return out, err
	}
	out.Removed = t.Info(s.home)
	if req.DryRun {
		return out, nil
	}
	if out.Store, err = s.home.Restore(ctx, t, s.o.lockWait); err != nil {
		return out, err
	}
	if out.Store.Wrong == "" {
		err = s.project(ctx, string(out.Store.Root), func(e *engine.Engine) error {
			out.Notices = e.Project().Notices
			return e.RecordRestored(ctx, t.Removed)
		})
	}
	if err != nil || len(t.Hooks) == 0 {
		return out, err
	}
	hooks, err := register.SetHooks(ctx, s.home, req.Env,
		register.Options{Agents: t.Hooks, Root: string(out.Store.Root)})
	done := hooksResponse(hooks)
	out.Hooks = &done
	return out, tellHooks(hooks, err)
}

// removeTrashed takes a store out of the trash for good.
func (s *server) removeTrashed(ctx context.Context, req api.RemoveStoreRequest) (out api.RemoveStoreResponse, err error) {
	o := s.engineOptions()
	t, err := s.home.FindTrashed(req.Store, o.Clock())
	if err != nil {
		return out, err
	}
	info := t.Info(s.home)
	out.Store = api.Store{ID: info.ID, Root: info.Root, Mode: info.Mode, DiskBytes: info.DiskBytes, Orphan: true}
	out.InTrash = true
	if req.DryRun {
		return out, nil
	}
	if err := s.fromPersonAnywhere(ctx, req.ProjectDir()); err != nil {
		return out, err
	}
	return out, s.home.Discard(ctx, t, o.LockWait)
}

func (s *server) joinStore(ctx context.Context, req api.JoinRequest, _ model.Progress) (out api.JoinResponse, err error) {
	j, err := s.home.JoinStore(ctx, req.ProjectDir(), req.Store, s.o.lockWait)
	if err != nil {
		return out, err
	}
	out = api.JoinResponse{Join: *j}
	err = s.project(ctx, string(j.Store.Root), func(e *engine.Engine) error {
		out.Notices = e.Project().Notices
		return e.RecordJoin(ctx, j)
	})
	return out, err
}

func (s *server) removeStore(ctx context.Context, req api.RemoveStoreRequest, _ model.Progress) (out api.RemoveStoreResponse, err error) {
	info, err := s.home.FindStore(req.Store)
	if errors.Is(err, project.ErrNoStore) {
		if out, errTrash := s.removeTrashed(ctx, req); !errors.Is(errTrash, project.ErrNoStore) {
			return out, errTrash
		}
	}
	if err != nil {
		return out, err
	}
	out.Store = *info
	if !info.Orphan && info.Wrong == "" {
		return out, &api.Error{
			Code: api.CodeOf(api.WordUsage), Word: api.WordUsage,
			Message: "store " + info.ID + " is that of " + printable(string(info.Root)) + ", which is there",
			Hint:    "'rewind init --remove' there takes it away",
		}
	}
	if req.DryRun {
		return out, nil
	}
	if err := s.fromPersonAnywhere(ctx, req.ProjectDir()); err != nil {
		return out, err
	}
	o := s.engineOptions()
	return out, s.stores.Without(ctx, string(info.Store), func() error {
		t, err := s.home.RemoveStore(ctx, info, req.Now, o)
		out.Trash = s.inTrash(t)
		return err
	})
}

func (s *server) adopt(ctx context.Context, req api.AdoptRequest, p model.Progress) (out api.AdoptResponse, err error) {
	var a *value.Adoption
	err = s.withLockWait(ctx, func(wait time.Duration) error {
		a, err = project.PlanAdopt(ctx, s.home, req.ProjectDir(), wait)
		return err
	})
	if err != nil {
		return out, err
	}
	out.Adoption = *a
	if req.DryRun {
		return out, nil
	}
	if err := project.Adopt(ctx, s.home, a, s.o.lockWait); err != nil {
		return out, err
	}
	err = s.project(ctx, string(a.Root), func(e *engine.Engine) error {
		if err := e.RecordAdoption(ctx, a); err != nil {
			return err
		}
		first, err := e.Worktree.FirstCheckpoint(ctx, p)
		if err != nil {
			return err
		}
		out.Notices = e.Project().Notices
		out.Checkpoint, err = listed(e, first.Checkpoint)
		return err
	})
	if errors.Is(err, kv.ErrForeign) || errors.Is(err, kv.ErrCorrupt) {
		told := *tell(err)
		told.Message = "it is this user's now, and does not open: " + told.Message
		return out, &told
	}
	return out, err
}

// forkWorktree makes a directory with the state of a moment, a project of it with a clone of the store, and there a
// session of the conversation up to that moment. What an error leaves is taken away again.
func (s *server) forkWorktree(ctx context.Context, req api.ForkRequest, p model.Progress) (out api.ForkResponse, err error) {
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

// bring gives a worktree the directories that were asked for.
func bring(ctx context.Context, e *engine.Engine, req api.ForkRequest) (told []api.Linked, brought []string, err error) {
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

func (s *server) worktrees(ctx context.Context, req api.WorktreesRequest, progress model.Progress) (out api.WorktreesResponse, err error) {
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

func (s *server) removeWorktree(ctx context.Context, req api.RemoveWorktreeRequest, p model.Progress) (out api.RemoveWorktreeResponse,
	err error,
) {
	at, err := s.find(ctx, req.ProjectDir())
	if err != nil {
		return out, err
	}
	w, err := s.home.FindWorktree(at.ID, string(req.Worktree))
	if err != nil {
		return out, err
	}
	root := string(w.Root)
	out.Worktree, out.Notices = *w, at.Notices
	refuse := func(word, message, hint string) error {
		return &api.Error{
			Code: api.CodeOf(word), Word: word, Message: "worktree " + printable(root) + ": " + message,
			Hint: hint,
		}
	}
	switch {
	case w.Of == "":
		return out, refuse(api.WordUsage, "it is the project that the worktrees were made of",
			"'rewind init --remove' there takes its store away, and leaves its files")
	case w.Here:
		return out, refuse(api.WordUsage, "it is the directory that this was asked from",
			"ask from another one of 'rewind worktrees'")
	}
	if w.Wrong == "" {
		err = s.project(ctx, root, func(e *engine.Engine) error {
			left, err := e.Leave(ctx, !req.DryRun, p)
			if err != nil {
				return err
			}
			if len(left.AtWork) > 0 && !req.Force {
				return refuse(api.WordBusy, "an agent is at work there: "+left.AtWork[0].Session,
					"end its session, or add --force")
			}
			if left.OwnGit {
				return refuse(api.WordUnsaved, "it has a git repository of its own, which no checkpoint has",
					"move it away first")
			}
			if left.Saved != nil {
				if out.Checkpoint, err = listed(e, left.Saved); err != nil {
					return err
				}
			}
			out.Lost = value.Texts(left.Lost)
			if n := len(left.Lost); n > 0 && req.Force && !req.DryRun {
				return s.fromPerson(ctx, req.ProjectDir())
			} else if n > 0 && !req.Force {
				text := fmt.Sprintf("%d paths are in no checkpoint and would be lost, first %s", n,
					printable(left.Lost[0]))
				return refuse(api.WordUnsaved, text, "move them away, or add --force")
			}
			return nil
		})
	}
	if err != nil || req.DryRun {
		return out, err
	}
	if _, gone := os.Lstat(root); w.Wrong == "" || errors.Is(gone, fs.ErrNotExist) {
		switch err := gitworktree.RemoveFrom(at.Root, root); {
		case errors.Is(err, gitworktree.ErrLocked):
			return out, refuse(api.WordBusy, "git has it locked", "'git worktree unlock' ends that")
		case err != nil:
			return out, err
		}
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil && w.Wrong == "" {
		return out,
			refuse(api.WordUnsaved, "its .git leads to another repository than the project's", "move it away first")
	}
	err = s.stores.Without(ctx, filepath.Join(s.home.Storage(), w.ID), func() error {
		if w.Wrong == "" {
			if err := project.RemoveWorktreeDir(root); err != nil {
				return err
			}
		}
		return s.home.OrphanWorktree(ctx, w.ID, s.o.lockWait)
	})
	return out, err
}
