package server

import (
	"context"
	"errors"
	"time"

	"rewind/engine"
	"rewind/engine/project"
)

const (
	// lookAfter is how long after an event or a command new contents are looked at for secrets: edits that follow each other are one look.
	lookAfter = 2 * time.Second
	// lookFor is how long one look takes at most; the store may be wanted by who has to have it alone.
	lookFor = 5 * time.Second
	// lookInCommand is how long a command that has the store to itself looks before it ends; the next goes on.
	lookInCommand = time.Second
)

// lookForSecrets looks at what came to a project since the last look. The end of the daemon ends it; the next one goes on.
func (d *daemon) lookForSecrets(p *project.Project) (again time.Duration) {
	s := d.server
	if !s.work.Begin() {
		return 0
	}
	defer s.work.Done()
	ctx, cancel := context.WithTimeout(s.base, lookFor)
	defer cancel()
	go func() {
		select {
		case <-d.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.opened(ctx, p, false, func(e *engine.Engine) error { return e.Leaks.LookForSecrets(ctx, true) })
	switch {
	case err == nil, errors.Is(err, context.Canceled):
	case errors.Is(err, context.DeadlineExceeded):
		return settleSoon
	default:
		d.log.Error("look for secrets", "error", clean(err))
	}
	return 0
}

// lookSoon has what a request may have stored looked at, by the daemon.
func (s *Server) lookSoon(p *project.Project) {
	if s.daemon != nil {
		s.daemon.looking.By(lookAfter, p)
	}
}

// lookNow looks at what a command has stored, where there is no daemon to do it later. What it cannot look at is left to the next command.
func (s *Server) lookNow(ctx context.Context, e *engine.Engine) {
	if s.daemon != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookInCommand)
	defer cancel()
	if err := e.Leaks.LookForSecrets(ctx, false); err != nil && ctx.Err() == nil {
		s.log.Error("look for secrets", "error", clean(err))
	}
}
