package engine

import (
	"context"
	"errors"
	"time"
)

// A look at a whole tree takes a second where there are a million files, and an agent whose hook comes meanwhile would wait for it. So it gives
// way: it is left off when an event comes, and begun anew a moment later; after giveWayTimes in a row it is brought to its end all the same,
// since what only it can see must not wait for ever.
const (
	giveWayTimes = 8
	lookAgain    = 2 * time.Second
)

var errGaveWay = errors.New("engine: an event goes first")

// giveWay runs fn with a context that ends as soon as an event waits; its error is then errGaveWay. What fn has done until then must be
// nothing to anybody.
func (w *arrivals) giveWay(ctx context.Context, fn func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.mu.Lock()
	if w.taking.Load() {
		stop(errGaveWay)
	}
	w.yield = func() { stop(errGaveWay) }
	w.mu.Unlock()
	err := fn(ctx)
	w.mu.Lock()
	w.yield = nil
	w.mu.Unlock()
	if err != nil && errors.Is(context.Cause(ctx), errGaveWay) {
		return errGaveWay
	}
	return err
}

// lookWhole is rescan for who can wait: again is when to ask once more, 0 when there was nothing to do or it is done.
func (e *Engine) lookWhole(ctx context.Context) (again time.Duration, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gaveWay >= giveWayTimes {
		err = e.rescan(ctx)
	} else {
		err = e.waiting.giveWay(ctx, e.rescan)
	}
	if errors.Is(err, errGaveWay) {
		e.gaveWay++
		return lookAgain, nil
	}
	e.gaveWay = 0
	return 0, err
}
