package server

import (
	"context"
	"errors"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/kv"
	"rewind/internal/value"
)

// stores answers which stores there are, and removes, brings back and adopts them.
type stores struct{ *server }

func (s stores) routes() {
	handle(s.server, api.Stores, s.listStores)
	handle(s.server, api.JoinStore, s.joinStore)
	handle(s.server, api.RemoveStore, s.removeStore)
	handle(s.server, api.RestoreStore, s.restoreStore)
	handle(s.server, api.Adopt, s.adopt)
}

func (s stores) listStores(context.Context, api.StoresRequest, model.Progress) (api.StoresResponse, error) {
	out := api.StoresResponse{Stores: []api.Store{}}
	out.Stores = append(out.Stores, s.home.Stores()...)
	for _, t := range s.home.Trash(s.engineOptions().Clock()) {
		out.Trash = append(out.Trash, t.Info(s.home))
	}
	return out, nil
}

// inTrash is what people are told of a store in the trash; nil: it is not there.
func (s stores) inTrash(t *project.Trashed) *api.Removed {
	if t == nil {
		return nil
	}
	info := t.Info(s.home)
	return &info
}

// restoreStore brings a store back from the trash, and the hooks that went with it.
func (s stores) restoreStore(ctx context.Context, req api.RestoreStoreRequest, _ model.Progress) (out api.RestoreStoreResponse,
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
func (s stores) removeTrashed(
	ctx context.Context, req api.RemoveStoreRequest,
) (out api.RemoveStoreResponse, err error) {
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

func (s stores) joinStore(
	ctx context.Context, req api.JoinRequest, _ model.Progress,
) (out api.JoinResponse, err error) {
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

func (s stores) removeStore(
	ctx context.Context, req api.RemoveStoreRequest, _ model.Progress,
) (out api.RemoveStoreResponse, err error) {
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

func (s stores) adopt(ctx context.Context, req api.AdoptRequest, p model.Progress) (out api.AdoptResponse, err error) {
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
