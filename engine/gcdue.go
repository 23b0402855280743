package engine

import (
	"context"
	"errors"
	"time"
)

const (
	// gcEvery is how often gc runs by itself, at most; gcUrgent, where the store is too large or the disk nearly full.
	gcEvery  = 24 * time.Hour
	gcUrgent = time.Hour
	// gcRan is a file in the store's directory that says by its time when gc ran by itself last. A hint: without it gc is due.
	gcRan = "gc-ran"
)

// Tidy runs gc if it is due: once a day, or once an hour while the store is larger than it may be or the disk nearly full. It takes its time, and
// a doubt about the clock, or another gc, is no error: it is not the moment. nil: it was not due.
func (e *Engine) Tidy(ctx context.Context) (*Collected, error) {
	if !e.config.get("gc.auto").(bool) || !e.gcDue() {
		return nil, nil
	}
	r, err := e.GC(ctx, GCOptions{Resting: true})
	if errors.Is(err, ErrClock) || errors.Is(err, ErrCollecting) || errors.Is(err, errReplan) {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, errors.Join(err, e.db.Touch(gcRan, e.now()))
}

func (e *Engine) gcDue() bool {
	ran, err := e.db.Touched(gcRan)
	if err != nil {
		return true
	}
	age := e.now().Sub(ran)
	if age < 0 || age >= gcEvery {
		return true
	}
	if age < gcUrgent {
		return false
	}
	if least := e.config.get("gc.min_free").(int64); least > 0 {
		if free, ok := e.db.FreeBytes(); ok && free < uint64(least) {
			return true
		}
	}
	most := e.config.get("gc.max_size").(int64)
	size, err := e.db.DiskBytes()
	return most > 0 && err == nil && size > most
}
