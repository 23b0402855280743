package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/refs"
)

// Init makes the store and the marker; an existing project is left as it is. The first checkpoint is the caller's.
func Init(
	ctx context.Context, home project.Home, dir string, mode project.Mode, o project.Options,
) (*Engine, *project.InitPlan, error) {
	plan, err := SetUp(ctx, home, dir, mode, o)
	if err != nil {
		return nil, nil, err
	}
	e, err := Open(ctx, home, plan.Root, o)
	if err != nil {
		return nil, nil, err
	}
	if err := e.RecordInit(ctx, plan); err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, plan, nil
}

// SetUp is the part of Init that makes things; the store is not open afterwards, and RecordInit is the caller's.
func SetUp(
	ctx context.Context, home project.Home, dir string, mode project.Mode, o project.Options,
) (*project.InitPlan, error) {
	plan, err := project.PlanInit(ctx, home, dir, mode, o.LockWait)
	if err != nil || plan.Exists && !plan.Accept {
		return plan, err
	}
	if plan.Accept {
		f := &project.Finder{Home: home, Wait: o.LockWait, Accept: true}
		_, err := project.FindWith(ctx, f, plan.Root)
		return plan, err
	}
	unlock, err := home.Lock(ctx, o.LockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r := home.ByRoot()[plan.Root]; r != nil && (r.Mode == project.ModeGlobal || project.IsStore(r.Store(home))) {
		if why, err := r.Sealed(plan.Root); r.Mode == project.ModeGlobal || err == nil && why == "" {
			plan.Exists, plan.Mode, plan.Store = true, r.Mode, r.Store(home) // another init was faster
			return plan, nil
		}
	}
	home.SweepRemoved(plan.Root)
	home.SweepTrash(o.Clock())
	return plan, create(ctx, home, plan, o)
}

// RecordInit writes into the log that SetUp made the project.
func (e *Engine) RecordInit(ctx context.Context, plan *project.InitPlan) error {
	if plan.Exists {
		return nil
	}
	return e.Log.Record(ctx, refs.Operation{Kind: refs.KindInit, Message: plan.Root})
}

func create(ctx context.Context, home project.Home, plan *project.InitPlan, o project.Options) error {
	r := (&project.Record{ID: project.NewStoreID(), Created: time.Now().UTC().Truncate(time.Second), Mode: plan.Mode}).At(plan.Root)
	plan.Store = r.Store(home)
	making := plan.Store
	if plan.Mode == project.ModeProject {
		r.Seal = project.NewSeal()
		// Under a name that the next removal sweeps, until Home says whose it is: a store that nothing names would be
		// nobody's.
		making = filepath.Join(project.Marker(plan.Root), project.RemovedName+r.ID)
		if err := project.MakeOwn(plan.Root, filepath.Base(making)); err != nil {
			return &value.OpError{Op: "init", Subject: plan.Root, Err: err}
		}
	} else if err := os.MkdirAll(making, 0o700); err != nil {
		return &value.OpError{Op: "init", Subject: plan.Root, Err: err}
	}
	db, err := kv.Open(ctx, making, o.StoreOptions())
	if err != nil {
		return &value.OpError{Op: "init", Subject: plan.Root, Err: err}
	}
	if err := db.Close(); err != nil {
		return &value.OpError{Op: "init", Subject: plan.Root, Err: err}
	}
	if plan.Mode == project.ModeProject {
		err = r.SealIn(plan.Root, filepath.Base(making))
	}
	if err == nil {
		err = r.Write(home)
	}
	if err == nil && making != plan.Store {
		err = project.RenameDir(making, plan.Store)
	}
	if err != nil {
		return &value.OpError{Op: "init", Subject: plan.Root, Err: err}
	}
	if err := project.WriteMarker(plan.Root, r.ID, ""); err != nil { // last, and only a hint
		plan.Unmarked = err.Error()
	}
	return nil
}
