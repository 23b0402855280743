package server

import (
	"context"
	"errors"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
)

func (s *server) listStores(context.Context, api.StoresRequest, model.Progress) (api.StoresResponse, error) {
	out := api.StoresResponse{Stores: []api.Store{}}
	out.Stores = append(out.Stores, s.home.Stores()...)
	return out, nil
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
	o := s.engineOptions()
	return out, s.stores.Without(ctx, string(info.Store), func() error { return s.home.RemoveStore(ctx, info, o) })
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
