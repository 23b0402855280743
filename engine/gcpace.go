package engine

import (
	"context"
	"time"
)

const (
	// gcBatch is how many operations or grafts are written while events wait.
	gcBatch = 256
	// gcPercent is by how much the heap may grow meanwhile between two collections of Go's: what is large in it, lists of objects and operations, has no pointers, and
	// costs the collector nothing.
	gcPercent = 25
	// gcSlice is for how long gc works without looking whether somebody waits.
	gcSlice = 2 * time.Millisecond
	// gcAmong is for how long after an event others are expected: an agent is at work.
	gcAmong = 2 * time.Second
)

// pacer has gc stand back while events are taken in. When nobody has asked for it, it rests as long as it works; when somebody has, it rests half as long among
// events: a hook is more than what the daemon does for it, and the processors are its client's and the agent's too.
type pacer struct {
	ctx   context.Context
	e     *Engine
	rest  bool
	n     int
	from  time.Time
	sleep func(time.Duration)

	progress Progress // nil: nobody asks
}

// pause is called after each small piece of work.
func (p *pacer) pause(ctx context.Context) error {
	if p.n++; p.n%16 != 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.progress != nil {
		p.progress(p.n, 0)
	}
	now := time.Now()
	if p.from.IsZero() {
		p.from = now
	}
	worked := now.Sub(p.from)
	if worked < gcSlice {
		return nil
	}
	taking, newest := p.e.waiting.taking()
	switch {
	case p.rest:
		p.sleep(worked)
	case now.Sub(newest) < gcAmong:
		p.sleep(worked / 2)
	}
	for i := 0; i < 100 && taking; i++ {
		p.sleep(time.Millisecond)
		taking, _ = p.e.waiting.taking()
	}
	p.from = time.Now()
	return nil
}

// taking reports whether events are being taken in, and when the newest came.
func (w *arrivals) taking() (active bool, newest time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.active, w.newest
}
