package server

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/sessions"
	"rewind/internal/kv"
)

// opener gives requests the engines of projects. The daemon keeps them open (package registry), a process that lives
// for one command does not (oneShot).
type opener interface {
	// Open gives one request its engine, and what lets go of it. salvage: a damaged store is opened, too, only to be
	// read. p is as Find returned it for this request.
	Open(ctx context.Context, p *project.Project, salvage bool) (e *engine.Engine, release func() error, err error)
	// Without runs fn while nothing here has the store in dir open.
	Without(ctx context.Context, dir string, fn func() error) error
	// Sweep closes stores that are not where they were.
	Sweep()
}

// oneShot opens and closes with each request.
type oneShot struct {
	home project.Home
	o    project.Options
}

func (s oneShot) Open(ctx context.Context, p *project.Project, salvage bool) (*engine.Engine, func() error, error) {
	o := s.o
	o.Salvage = salvage
	e, err := engine.OpenProject(ctx, s.home, p, o)
	if err != nil {
		return nil, nil, err
	}
	return e, e.Close, nil
}

func (oneShot) Without(_ context.Context, _ string, fn func() error) error { return fn() }
func (oneShot) Sweep()                                                     {}

// withLockWait runs what finds a project, and on the way may have to copy a store, with the time to wait for another
// process. A store that this server has open is let go first.
func (s *server) withLockWait(ctx context.Context, fn func(wait time.Duration) error) error {
	err := fn(0)
	switch {
	case errors.Is(err, kv.ErrBusy):
		dir := ""
		var busy *kv.BusyError
		if errors.As(err, &busy) {
			dir = busy.Dir
		}
		return s.stores.Without(ctx, dir, func() error { return fn(s.o.lockWait) })
	case errors.Is(err, model.ErrNoProject), errors.Is(err, model.ErrStoreGone), errors.Is(err, project.ErrNotMounted):
		s.stores.Sweep()
	}
	return err
}

// absolute refuses a directory that is not: this process stands somewhere else.
func absolute(dir string) error {
	if !filepath.IsAbs(dir) {
		return model.Usagef("directory %q: want an absolute path", dir)
	}
	return nil
}

// find is the project of a directory.
func (s *server) find(ctx context.Context, dir string) (p *project.Project, err error) {
	if err := absolute(dir); err != nil {
		return nil, err
	}
	err = s.withLockWait(ctx, func(wait time.Duration) error {
		p, err = s.projects.Find(ctx, s.home, dir, wait)
		return err
	})
	return p, err
}

// project gives one request the project of dir.
func (s *server) project(ctx context.Context, dir string, fn func(*engine.Engine) error) error {
	p, err := s.find(ctx, dir)
	if err == nil {
		err = s.mayAct(ctx, p, dir)
	}
	if err != nil {
		return err
	}
	err = s.opened(ctx, p, false, fn)
	s.scanSoon(p)
	return err
}

// read is project for a request that changes nothing. A damaged store is opened to salvage what it still has: each
// object is checked when it is read.
func (s *server) read(ctx context.Context, dir string, fn func(*engine.Engine) error) error {
	p, err := s.find(ctx, dir)
	if err != nil {
		return err
	}
	begun := false
	err = s.opened(ctx, p, false, func(e *engine.Engine) error {
		begun = true
		return fn(e)
	})
	if begun && err != nil {
		if blind := s.mayAct(ctx, p, dir); blind != nil {
			return blind // what was asked for may be in the tree that one stands in
		}
	}
	if begun || !errors.Is(err, kv.ErrCorrupt) {
		return err
	}
	p.Notices = nil // they cannot be recorded
	var inside error
	serr := s.opened(ctx, p, true, func(e *engine.Engine) error {
		if e.Log.Damage() == nil {
			inside = err // not the check at open
		} else {
			inside = salvaged(ctx, e, fn)
		}
		return inside
	})
	if serr != nil && inside == nil {
		return err // it cannot be salvaged
	}
	return serr
}

func (s *server) opened(
	ctx context.Context, p *project.Project, salvage bool, fn func(*engine.Engine) error,
) (err error) {
	e, release, err := s.stores.Open(ctx, p, salvage)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, release())
		s.bells.ring(p.ID)
	}()
	if d := e.Log.Damage(); errors.Is(d, kv.ErrUnwritable) {
		e.Log.Notice(clean(d))
	} else if errors.Is(d, kv.ErrReadOnly) {
		e.Log.Notice("the store is opened only to read: " + clean(d))
	}
	if w := e.Warning(); w != "" {
		e.Log.Notice(w)
	}
	err = fn(e)
	var several *sessions.SeveralSessionsError
	if errors.As(err, &several) {
		e.History.Describe(ctx, several)
	}
	return nearTo(ctx, e, err)
}

// damageKey is the key of a request's place for the damage of the store that answered it.
type damageKey struct{}

// withDamage gives a request that place: who answers it from a damaged store says so there, and the answer carries it.
func withDamage(ctx context.Context) (context.Context, **api.Error) {
	place := new(*api.Error)
	return context.WithValue(ctx, damageKey{}, place), place
}

// withoutDamage is for what is asked of a store beside the answer.
func withoutDamage(ctx context.Context) context.Context {
	return context.WithValue(ctx, damageKey{}, new(*api.Error))
}

// salvaged runs fn on a store that is damaged and opened only to be read. What is not found there may be what is lost.
func salvaged(ctx context.Context, e *engine.Engine, fn func(*engine.Engine) error) error {
	told := tell(e.Log.Damage())
	text := told.Message
	told.Message = "the store is damaged, this is what it still has: " + text
	if place, ok := ctx.Value(damageKey{}).(**api.Error); ok {
		*place = told
	}
	err := fn(e)
	if err == nil {
		return nil
	}
	inside := tell(err)
	if inside.Word != api.WordNotFound {
		return err
	}
	return &api.Error{
		Code: told.Code, Word: told.Word, Message: inside.Message + ", and the store is damaged: " + text, Op: inside.Op,
		Subject: inside.Subject, Hint: told.Hint,
	}
}
