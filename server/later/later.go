// Package later does the work that an event of a project leaves and nobody waits for. It does it once, however many
// events there were, when the project has been quiet for a while. A timer runs only while there is work.
package later

import (
	"sync"
	"time"

	"rewind/engine/project"
)

// Work is one kind of work, for any number of projects. Safe for concurrent use.
type Work struct {
	run func(*project.Project) (again time.Duration)

	mu     sync.Mutex
	timers map[string]*time.Timer // by store id
	ended  bool
}

// New returns the work that run does; it is done again after the time that run returns, if that is not 0.
func New(run func(*project.Project) time.Duration) *Work {
	return &Work{run: run, timers: map[string]*time.Timer{}}
}

// By has it done for a project after d, or earlier if that is to be.
func (w *Work) By(d time.Duration, p *project.Project) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timers[p.ID] == nil {
		w.arm(d, p)
	}
}

// In has it done for a project after d, and not before: what was to be done earlier or later is done then.
func (w *Work) In(d time.Duration, p *project.Project) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arm(d, p)
}

// arm is called with mu held.
func (w *Work) arm(d time.Duration, p *project.Project) {
	if w.ended {
		return
	}
	if t := w.timers[p.ID]; t != nil {
		t.Stop()
	}
	at := *p
	at.Notices = nil
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		w.mu.Lock()
		mine := w.timers[at.ID] == t
		if mine {
			delete(w.timers, at.ID)
		}
		w.mu.Unlock()
		if !mine {
			return
		}
		if again := w.run(&at); again > 0 {
			w.In(again, &at)
		}
	})
	w.timers[p.ID] = t
}

// End begins nothing more; what has begun goes on.
func (w *Work) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for _, t := range w.timers {
		t.Stop()
	}
}
