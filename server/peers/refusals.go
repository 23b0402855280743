package peers

import (
	"log/slog"
	"sync"
	"time"
)

// Refusals writes into a log what was refused: the first of a kind at once, those after it as one count a minute. So
// nobody fills a log by asking. Safe for concurrent use.
type Refusals struct {
	log   *slog.Logger
	every time.Duration

	mu    sync.Mutex
	kinds map[refusal]int // how many since the last line of the kind
	timer *time.Timer     // nil: nothing was refused lately
}

// refusal is a kind: who or what was refused, and why.
type refusal struct{ what, who, why string }

const (
	refusalsEvery = time.Minute
	maxKinds      = 64 // kept apart; others are counted together
)

// NewRefusals returns an empty count that is written into log.
func NewRefusals(log *slog.Logger) *Refusals {
	return &Refusals{log: log, every: refusalsEvery, kinds: map[refusal]int{}}
}

// Add counts one refusal: what was refused to whom, and why.
func (r *Refusals) Add(what, who, why string) {
	k := refusal{what, who, why}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.kinds[k]; !ok && len(r.kinds) >= maxKinds {
		k = refusal{what: what, who: "others"}
	}
	n, ok := r.kinds[k]
	if ok {
		r.kinds[k] = n + 1
		return
	}
	r.kinds[k] = 0
	k.write(r.log, 1)
	if r.timer == nil {
		r.timer = time.AfterFunc(r.every, r.minute)
	}
}

// minute writes what came since, and forgets the kinds of which nothing came.
func (r *Refusals) minute() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	for k, n := range r.kinds {
		if n == 0 {
			delete(r.kinds, k)
			continue
		}
		k.write(r.log, n)
		r.kinds[k] = 0
	}
	if len(r.kinds) > 0 {
		r.timer = time.AfterFunc(r.every, r.minute)
	}
}

// End writes what was not written yet.
func (r *Refusals) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	for k, n := range r.kinds {
		if n > 0 {
			k.write(r.log, n)
		}
	}
	clear(r.kinds)
}

func (k refusal) write(log *slog.Logger, n int) {
	log.Warn("refused: "+k.what, "who", k.who, "why", k.why, "count", n)
}
