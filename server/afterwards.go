package server

import (
	"context"
	"errors"
	"time"

	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
)

// What events and requests leave to be done when nobody waits any more.

// followUpDelay is how long after an event what it leaves to be done is begun: other events of the same moment go
// first.
const followUpDelay = 50 * time.Millisecond

// followUp has a project's engine do what an event leaves to be done when the agent does not wait any more.
func (d *daemon) followUp(p *project.Project) (again time.Duration) {
	s := d.server
	if !s.work.Begin() {
		return 0
	}
	defer s.work.Done()
	if c, err := s.configs.Load(s.home, p.Root); err != nil || !c.HooksEnabled() {
		return 0
	}
	err := s.opened(s.base, p, false, func(e *engine.Engine) (err error) {
		again, err = e.Worktree.FollowUp(s.base)
		return err
	})
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled), errors.Is(err, model.ErrHalfDone):
	default:
		s.degraded.add(p, err)
		d.log.Error("settle", "error", clean(err))
	}
	return again
}

const (
	// scanDelay is how long after an event or a command new contents are looked at for secrets: edits that follow each
	// other are one look.
	scanDelay = 2 * time.Second
	// scanBudget is how long one scan takes at most; the store may be wanted by who has to have it alone.
	scanBudget = 5 * time.Second
	// scanBudgetInCommand is how long a command that has the store to itself looks before it ends; the next goes on.
	scanBudgetInCommand = time.Second
)

// scanForSecrets looks at what came to a project since the last scan. The end of the daemon ends it; the next one goes
// on.
func (d *daemon) scanForSecrets(p *project.Project) (again time.Duration) {
	s := d.server
	if !s.work.Begin() {
		return 0
	}
	defer s.work.Done()
	ctx, cancel := context.WithTimeout(s.base, scanBudget)
	defer cancel()
	go func() {
		select {
		case <-d.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.opened(ctx, p, false, func(e *engine.Engine) error { return e.Leaks.ScanForSecrets(ctx, true) })
	switch {
	case err == nil, errors.Is(err, context.Canceled):
	case errors.Is(err, context.DeadlineExceeded):
		return followUpDelay
	default:
		d.log.Error("look for secrets", "error", clean(err))
	}
	return 0
}

// scanSoon has what a request may have stored looked at, by the daemon.
func (s *server) scanSoon(p *project.Project) {
	if s.daemon != nil {
		s.daemon.looking.By(scanDelay, p)
	}
}

// scanNow looks at what a command has stored, where there is no daemon to do it later. What it cannot look at is left
// to the next command.
func (s *server) scanNow(ctx context.Context, e *engine.Engine) {
	if s.daemon != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, scanBudgetInCommand)
	defer cancel()
	if err := e.Leaks.ScanForSecrets(ctx, false); err != nil && ctx.Err() == nil {
		s.log.Error("look for secrets", "error", clean(err))
	}
}
