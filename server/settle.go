package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"rewind/engine"
)

// settleSoon is how long after an event what it leaves to be done is begun: other events of the same moment go first.
const settleSoon = 50 * time.Millisecond

// settling has each project's engine do what an event leaves to be done when the agent does not wait any more. A timer runs only while
// there is something to come.
type settling struct {
	run func(*engine.Project) (again time.Duration)

	mu     sync.Mutex
	timers map[string]*time.Timer // by store id
	ended  bool
}

func newSettling(run func(*engine.Project) time.Duration) *settling {
	return &settling{run: run, timers: map[string]*time.Timer{}}
}

// soon settles a project in a moment; one that is to be settled later is settled then.
func (s *settling) soon(p *engine.Project) { s.in(settleSoon, p) }

// by settles a project after d, or earlier if that is to be.
func (s *settling) by(d time.Duration, p *engine.Project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timers[p.ID] == nil {
		s.arm(d, p)
	}
}

func (s *settling) in(d time.Duration, p *engine.Project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arm(d, p)
}

// arm is called with mu held.
func (s *settling) arm(d time.Duration, p *engine.Project) {
	if s.ended {
		return
	}
	if t := s.timers[p.ID]; t != nil {
		t.Stop()
	}
	at := *p
	at.Notices = nil
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		s.mu.Lock()
		mine := s.timers[at.ID] == t
		if mine {
			delete(s.timers, at.ID)
		}
		s.mu.Unlock()
		if !mine {
			return
		}
		if again := s.run(&at); again > 0 {
			s.in(again, &at)
		}
	})
	s.timers[p.ID] = t
}

// end begins nothing more.
func (s *settling) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, t := range s.timers {
		t.Stop()
	}
}

// settle is what settling runs.
func (d *daemon) settle(p *engine.Project) (again time.Duration) {
	s := d.server
	if !s.work.begin() {
		return 0
	}
	defer s.work.done()
	if c, err := s.configs.Load(s.home, p.Root); err != nil || !c.HooksEnabled() {
		return 0
	}
	err := s.opened(s.base, p, false, func(e *engine.Engine) (err error) {
		again, err = e.Settle(s.base)
		return err
	})
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled), errors.Is(err, engine.ErrHalfDone):
	default:
		s.degraded.note(p, err)
		d.log.Error("settle", "error", clean(err))
	}
	return again
}
