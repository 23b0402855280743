package kv

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// backoff spaces out compactions that fail: over a damaged table, pebble would try the same one again at once, for
// ever.
type backoff struct {
	again   func()      // called when a wait is over
	waiting atomic.Bool // no compaction is to begin

	mu    sync.Mutex
	count int // failures in a row
	cause error
	timer *time.Timer
	ended bool
}

// after is told how each compaction ended. Failures of a full disk and those that pebble makes itself have an end of
// their own.
func (s *backoff) after(err error) {
	if errors.Is(err, pebble.ErrCancelledCompaction) || isNoSpace(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.count, s.cause = 0, nil
		return
	}
	s.count, s.cause = s.count+1, err
	if s.ended {
		return
	}
	s.waiting.Store(true)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(min(backoffFirst<<min(s.count-1, 16), backoffLimit), func() {
		s.waiting.Store(false)
		s.again()
	})
}

// stuck is why compactions get nowhere: several failed, and none went well since; nil: they do.
func (s *backoff) stuck() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count < backoffStuck {
		return nil
	}
	var own *CorruptError
	if errors.As(s.cause, &own) {
		return fmt.Errorf("compactions keep failing: %w", own)
	}
	return fmt.Errorf("compactions keep failing: %w", s.cause)
}

func (s *backoff) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
}
