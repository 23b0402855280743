package capture

import (
	"context"
	"errors"
	"time"
)

// A scan of a whole tree takes a second where there are a million files, and an agent whose hook comes meanwhile would
// wait for it. So it is preempted when an event comes, and begun anew a moment later. After MaxPreemptions in a row it
// is not, since what only a scan can see must not wait for ever.
const (
	MaxPreemptions = 8
	RetryAfter     = 2 * time.Second
)

// ErrPreempted is returned by work that was preempted for an event. What the work did until then has no effect.
var ErrPreempted = errors.New("an event goes first")

// Preemptible runs fn with a context that ends as soon as an event waits, and then returns ErrPreempted. fn must have
// no effect before it returns nil.
func (w *queue) Preemptible(ctx context.Context, fn func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.mu.Lock()
	if w.log.TakesIn() {
		stop(ErrPreempted)
	}
	w.yield = func() { stop(ErrPreempted) }
	w.mu.Unlock()
	err := fn(ctx)
	w.mu.Lock()
	w.yield = nil
	w.mu.Unlock()
	if err != nil && errors.Is(context.Cause(ctx), ErrPreempted) {
		return ErrPreempted
	}
	return err
}

// ScanWhole is rescan, preemptible. again is when to call it once more; 0: nothing is left to do. It takes the log's
// lock.
func (wt *Worktree) ScanWhole(ctx context.Context) (again time.Duration, err error) {
	wt.log.Lock()
	defer wt.log.Unlock()
	if wt.preemptions >= MaxPreemptions {
		err = wt.rescan(ctx)
	} else {
		err = wt.Waiting.Preemptible(ctx, wt.rescan)
	}
	if errors.Is(err, ErrPreempted) {
		wt.preemptions++
		return RetryAfter, nil
	}
	wt.preemptions = 0
	return 0, err
}
