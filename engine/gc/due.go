package gc

import (
	"context"
	"errors"
	"time"

	"rewind/internal/value"
)

const (
	// gcEvery is how long gc waits after a run by itself; gcUrgent, where the store is too large or the disk nearly
	// full.
	gcEvery  = 24 * time.Hour
	gcUrgent = time.Hour
	// GcRan is a file in the store's directory whose time is that of the last gc by itself. Without it gc is due.
	GcRan = "gc-ran"
)

// Tidy runs gc if it is due: once a day, or once an hour while the store is too large or the disk nearly full. It rests
// as long as it works. A doubt about the clock, or another gc under way, is no error. nil: gc was not due.
func (co *Collector) Tidy(ctx context.Context) (*value.Collected, error) {
	if !co.log.Config.Get("gc.auto").(bool) || !co.gcDue() {
		return nil, nil
	}
	r, err := co.GC(ctx, Options{resting: true})
	if errors.Is(err, ErrClock) || errors.Is(err, ErrCollecting) || errors.Is(err, ErrReplan) {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, errors.Join(err, co.log.DB.Touch(GcRan, co.log.Now()))
}

func (co *Collector) gcDue() bool {
	ran, err := co.log.DB.Touched(GcRan)
	if err != nil {
		return true
	}
	age := co.log.Now().Sub(ran)
	if age < 0 || age >= gcEvery {
		return true
	}
	if age < gcUrgent {
		return false
	}
	if least := co.log.Config.Get("gc.min_free").(int64); least > 0 {
		if free, ok := co.log.DB.FreeBytes(); ok && free < uint64(least) {
			return true
		}
	}
	most := co.log.Config.Get("gc.max_size").(int64)
	size, err := co.log.DB.DataBytes()
	return most > 0 && err == nil && size > most
}
