package gc

import (
	"context"
	"time"

	"rewind/engine/model"
)

const (
	// gcBatch is how many operations or squash records are written at once, while events wait.
	gcBatch = 256
	// gcSlice is how long gc works before it looks whether events wait.
	gcSlice = 2 * time.Millisecond
)

// pacer has gc stand back while events are taken in, for at most a tenth of a second at a time; with throttle gc also
// rests as long as it works.
type pacer struct {
	ctx      context.Context
	e        *Collector
	throttle bool
	n        int
	from     time.Time

	progress model.Progress // nil: nobody asks
}

// pause is called after each small piece of work. It returns the error of ctx.
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
	if p.throttle {
		time.Sleep(worked)
	}
	p.e.log.StandBack()
	p.from = time.Now()
	return nil
}
