package gc

import (
	"fmt"
	"time"

	"rewind/engine/project"
)

const (
	// maxGap is how much a pause in the log counts at most. So a clock that jumps forward ages nothing by more than a
	// week, and a project that nobody touched for a year comes back with what it had.
	maxGap = 7 * 24 * time.Hour
	// maxAhead is how far the newest operation may lie in the future.
	maxAhead = 10 * time.Minute
	// maxRest is how long ago the newest operation may be for a person's --older to believe the clock.
	maxRest = 30 * 24 * time.Hour
)

// ClockError says that gc does not trust the clock.
type ClockError struct {
	newest, now time.Time
}

func (e *ClockError) Error() string {
	d := e.now.Sub(e.newest)
	if d < 0 {
		return fmt.Sprintf("gc: %v: it says %s, %s before the newest operation", ErrClock, e.now.UTC().Format(time.RFC3339),
			(-d).Round(time.Second))
	}
	return fmt.Sprintf("gc: %v: it says %s, %d days after the newest operation", ErrClock, e.now.UTC().Format(time.RFC3339),
		d/(24*time.Hour))
}

// Is makes it an ErrClock.
func (e *ClockError) Is(target error) bool { return target == ErrClock }

// clock tells how old operations are. Their order is the log's. Of two that follow each other only the time between
// counts, at least 0 and at most maxGap.
type clock struct {
	now    time.Time
	newest time.Time
	age    []time.Duration // of each operation, oldest first
	wall   []time.Duration
}

// newClock makes a clock of the operations' times in unix milliseconds, oldest first.
func newClock(now time.Time, times []int64) *clock {
	n := len(times)
	c := &clock{now: now, age: make([]time.Duration, n), wall: make([]time.Duration, n)}
	if n == 0 {
		return c
	}
	c.newest = time.UnixMilli(times[n-1])
	next, age := now, time.Duration(0)
	for i := n - 1; i >= 0; i-- {
		at := time.UnixMilli(times[i])
		if age += min(max(next.Sub(at), 0), maxGap); age < 0 {
			age = project.Forever
		}
		c.age[i], next = age, at
	}
	latest := int64(0)
	for i, t := range times {
		latest = max(latest, t)
		c.wall[i] = max(now.Sub(time.UnixMilli(latest)), 0)
	}
	return c
}

// trusted fails with a *ClockError where the clock and the log cannot both be right. What is kept by number alone needs
// no clock.
func (c *clock) trusted(r retention) error {
	if c.newest.IsZero() {
		return nil
	}
	if c.newest.Sub(c.now) > maxAhead || r.older > 0 && c.now.Sub(c.newest) > maxRest {
		return &ClockError{c.newest, c.now}
	}
	return nil
}
