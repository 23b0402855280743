package server

import (
	"sync"
	"time"
)

// work counts what runs: requests, and captures that outlive theirs. Idle, if set, is called when nothing has run for a while.
type work struct {
	after  time.Duration
	idle   func()
	memory *memory // nil: the process lives for one command

	mu      sync.Mutex
	n       int
	closed  bool
	timer   *time.Timer
	waiters []chan struct{}
}

// begin counts one in; false: no new work is taken.
func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.add()
	return true
}

// more counts in what belongs to work that runs.
func (w *work) more() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add()
}

func (w *work) add() {
	w.n++
	if w.memory != nil {
		w.memory.working()
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *work) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n--; w.n > 0 {
		return
	}
	for _, c := range w.waiters {
		close(c)
	}
	w.waiters = nil
	if w.memory != nil {
		w.memory.quiet()
	}
	w.arm()
}

// arm starts the wait for idle; also at the very beginning, since nobody may ever come.
func (w *work) arm() {
	if w.idle == nil || w.closed || w.n > 0 {
		return
	}
	w.timer = time.AfterFunc(w.after, func() {
		w.mu.Lock()
		quiet := w.n == 0 && !w.closed
		w.mu.Unlock()
		if quiet {
			w.idle()
		}
	})
}

func (w *work) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arm()
}

// close takes no new work.
func (w *work) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// quiet is closed when nothing runs.
func (w *work) quiet() <-chan struct{} {
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
