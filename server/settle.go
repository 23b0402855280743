package server

import (
	"context"
	"errors"
	"time"

	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/project"
)

// followUpDelay is how long after an event what it leaves to be done is begun: other events of the same moment go first.
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
