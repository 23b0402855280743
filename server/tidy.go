package server

import (
	"context"
	"errors"
	"time"

	"rewind/engine"
	"rewind/engine/project"
	"rewind/server/work"
)

// tidyAfter is for how long a project must have had no event before its gc runs by itself.
const tidyAfter = 5 * time.Minute

// tidy puts what only the log of a project that rests holds into tables, and runs its gc, if it is due. The end of the daemon ends it; the
// next one goes on.
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
