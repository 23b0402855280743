package capture

import (
	"context"
	"errors"
	"time"
)

// A look at a whole tree takes a second where there are a million files, and an agent whose hook comes meanwhile would wait for it. So it
// gives way: it is left off when an event comes, and begun anew a moment later; after MaxPreemptions in a row it is brought to its end all
// the same, since what only it can see must not wait for ever.
const (
	MaxPreemptions = 8
	RetryAfter     = 2 * time.Second
)

// ErrPreempted ends work that left the worktree to an event; what was done until then is nothing to anybody.
var ErrPreempted = errors.New("an event goes first")

// Preemptible runs fn with a context that ends as soon as an event waits; its error is then ErrPreempted. What fn has done until then must
// be nothing to anybody.
func (w *queue) Preemptible(ctx context.Context, fn func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.mu.Lock()
	if w.taking.Load() {
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

// ScanWhole is rescan for who can wait: again is when to ask once more, 0 when there was nothing to do or it is done.
func (wt *Worktree) ScanWhole(ctx context.Context) (again time.Duration, err error) {
	wt.log.Mu.Lock()
	defer wt.log.Mu.Unlock()
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
