package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/register"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/server/work"
)

func (s upkeep) gc(ctx context.Context, req api.GCRequest, p model.Progress) (out api.GCResponse, err error) {
	o := gc.Options{DryRun: req.DryRun, Keep: req.Keep, Progress: p}
	if req.MaxSize != "" {
		if o.MaxSize, err = project.ParseSize(req.MaxSize); err != nil {
			return out, err
		}
	}
	if req.Older != "" {
		if o.Older, err = project.ParseAge(req.Older); err != nil {
			return out, err
		}
	}
	if more := o.Keep > 0 || o.MaxSize > 0 || o.Older > 0; more && !req.DryRun { // than the settings let go
		if err := s.fromPerson(ctx, req.ProjectDir()); err != nil {
			return out, err
		}
	}
	if !req.DryRun {
		if err := s.home.EmptyTrash(ctx, s.engineOptions().Clock(), s.o.lockWait); err != nil {
			return out, err
		}
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		defer work.TightHeap()()
		r, err := e.Collector.GC(ctx, o)
		if err != nil {
			return err
		}
		out = api.GCResponse{DryRun: req.DryRun, Collected: *r, Notices: e.Project().Notices}
		return nil
	})
	return out, err
}

func (s upkeep) purge(ctx context.Context, req api.PurgeRequest, p model.Progress) (out api.PurgeResponse, err error) {
	if !req.DryRun {
		if err := s.fromPerson(ctx, req.ProjectDir()); err != nil {
			return out, err
		}
	}
	var asked *purge.Options // of here, with paths from the root
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		o := purge.Options{Paths: paths, Blobs: req.Blobs, DryRun: req.DryRun, Progress: p}
		if req.Env.Home != "" {
			o.Folders = register.Folders(req.Env)
		}
		if req.Text != "" {
			o.Texts = append(o.Texts, []byte(req.Text))
		}
		for _, found := range req.Found {
			secret, err := e.Leaks.SaidSecret(ctx, found)
			if err != nil {
				return fmt.Errorf("purge: %w", err)
			}
			o.Texts = append(o.Texts, []byte(secret[:min(len(secret), purge.MaxNeedle)]))
		}
		r, err := e.Purger.Purge(ctx, o)
		if err != nil {
			return err
		}
		out = api.PurgeResponse{DryRun: req.DryRun, Purged: *r, Notices: e.Project().Notices}
		o.DryRun, o.Progress, o.Folders = true, nil, nil
		asked = &o
		return nil
	})
	if err != nil {
		return out, err
	}
	if out.Operation > 0 && out.Words > 0 {
		if err := s.renewed(ctx, req.ProjectDir()); err != nil {
			return out, fmt.Errorf("purge: it is out of the store, but its files may have names until purge was run again: %w", err)
		}
	}
	return out, s.purgeBeside(ctx, req.ProjectDir(), *asked, &out)
}

// renewed closes a project's store and opens it again: what its MANIFEST has of keys, in which names were, is gone
// then.
func (s upkeep) renewed(ctx context.Context, dir string) error {
	p, err := s.find(ctx, dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	if err := s.stores.Without(ctx, p.Store, func() error { return nil }); err != nil {
		return err
	}
	return s.opened(ctx, p, false, func(e *engine.Engine) error { return e.Log.DB.Scrub(ctx) })
}

// renewWait is how long is waited for those who have a store open.
const renewWait = 20 * time.Second

// purgeBeside looks for what was purged in the other worktrees of the family: their stores began with all that this one
// had.
func (s upkeep) purgeBeside(ctx context.Context, dir string, o purge.Options, out *api.PurgeResponse) error {
	p, err := s.find(ctx, dir)
	if err != nil {
		return err
	}
	for _, w := range s.home.Family(p.ID) {
		if w.Here {
			continue
		}
		found := api.PurgeElsewhere{Worktree: w.Root, Store: w.ID, Why: w.Wrong}
		if w.Wrong == "" {
			err := s.beside(ctx, w, func(e *engine.Engine) error {
				r, err := e.Purger.Purge(ctx, o)
				if err == nil {
					found.Contents = r.Contents + len(r.Sessions)
				}
				return err
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil && !errors.Is(err, model.ErrNotFound) && !errors.Is(err, objstore.ErrNotFound) {
				found.Why = api.Text(clean(err))
			}
		}
		if found.Contents > 0 || found.Why != "" {
			out.Elsewhere = append(out.Elsewhere, found)
		}
	}
	return nil
}

// tidyAfter is for how long a project must have had no event before its gc runs by itself.
const tidyAfter = 5 * time.Minute

// tidy puts what only the log of a project that rests holds into tables, deletes forks that nobody uses, if the
// settings say so, and runs
// gc, if it is due. The end of the daemon ends it; the next one goes on.
func (d *daemon) tidy(p *project.Project) (again time.Duration) {
	s := d.server
	if !s.work.Begin() {
		return 0
	}
	defer s.work.Done()
	ctx, cancel := context.WithCancel(s.base)
	defer cancel()
	go func() {
		select {
		case <-d.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.opened(ctx, p, false, func(e *engine.Engine) error {
		if e.Log.Damage() == nil {
			if err := e.FlushLog(); err != nil {
				return err
			}
		}
		d.prune(ctx, e)
		defer work.TightHeap()()
		r, err := e.Collector.Tidy(ctx)
		if r != nil && r.Checkpoints+r.Safety+r.Objects > 0 {
			d.log.Info("gc", "checkpoints", r.Checkpoints+r.Safety, "objects", r.Objects, "before", r.DiskBefore, "after", r.DiskAfter)
		}
		return err
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		d.log.Error("gc", "error", clean(err))
	}
	return 0
}

// emptyTrash takes away what has lain in the trash for its time.
func (d *daemon) emptyTrash() {
	o := d.server.engineOptions()
	if !d.home.TrashDue(o.Clock()) || !d.server.work.Begin() {
		return
	}
	defer d.server.work.Done()
	if err := d.home.EmptyTrash(d.server.base, o.Clock(), o.LockWait); err != nil {
		d.log.Warn("trash", "error", clean(err))
	}
}

// prune deletes forks that nobody uses, if the settings say so, of the agents' folders in the home directory of whose
// daemon it is.
func (d *daemon) prune(ctx context.Context, e *engine.Engine) {
	home, err := os.UserHomeDir()
	var r *restore.Managed
	if err == nil {
		r, err = e.Restorer.PruneByItself(ctx, value.AgentEnv{Home: value.Text(home)})
	}
	switch {
	case err == nil && r == nil, errors.Is(err, context.Canceled), errors.Is(err, model.ErrHalfDone):
	case err != nil:
		d.log.Error("prune", "error", clean(err))
	default:
		for _, l := range r.Losses {
			d.log.Info("prune", "session", l.Session, "operation", r.Operation.Seq)
		}
	}
}
