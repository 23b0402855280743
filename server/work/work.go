// Package work counts what a process is doing, and knows what there is to do when it does nothing: end (Count.Idle),
// give memory back (Memory). Whoever begins something counts it in, and out when it is done; who wants to end takes no
// new work, and waits until all is quiet.
package work

import (
	"sync"
	"time"
)

// Count is of what runs: requests, and captures that outlive theirs. The zero Count is ready; what is exported is set
// before anything is counted.
type Count struct {
	After  time.Duration // how long nothing has to have run
	Idle   func()        // is called then; may be nil
	Memory *Memory       // nil: the process lives for one command

	mu      sync.Mutex
	n       int
	stay    int // who keeps the process from being idle
	closed  bool
	timer   *time.Timer
	waiters []chan struct{}
}

// Begin counts one in; false: no new work is taken.
func (w *Count) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.add()
	return true
}

// More counts in what belongs to work that runs.
func (w *Count) More() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add()
}

func (w *Count) add() {
	w.n++
	if w.Memory != nil {
		w.Memory.working()
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// Done counts one out.
func (w *Count) Done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n--; w.n > 0 {
		return
	}
	for _, c := range w.waiters {
		close(c)
	}
	w.waiters = nil
	if w.Memory != nil {
		w.Memory.quiet()
	}
	w.arm()
}

// arm starts the wait for idle; Start does at the very beginning, since nobody may ever come.
func (w *Count) arm() {
	unasked := w.Idle == nil || w.closed
	if unasked || w.n > 0 || w.stay > 0 {
		return
	}
	w.timer = time.AfterFunc(w.After, func() {
		w.mu.Lock()
		quiet := w.n == 0 && w.stay == 0 && !w.closed
		w.mu.Unlock()
		if quiet {
			w.Idle()
		}
	})
}

// Stay keeps the process from being idle until Leave. It is for who only waits for something to happen: who wants to
// end does not wait for that one. Both are called by work that is counted.
func (w *Count) Stay() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stay++
}

// Leave ends one Stay.
func (w *Count) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stay--
}

// Start begins the wait for idle.
func (w *Count) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arm()
}

// Close takes no new work.
func (w *Count) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// Quiet is closed when nothing runs.
func (w *Count) Quiet() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{})
	if w.n == 0 {
		close(c)
	} else {
		w.waiters = append(w.waiters, c)
	}
	return c
}

// Running is how much runs.
func (w *Count) Running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}
