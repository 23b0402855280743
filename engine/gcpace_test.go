package engine

import (
	"testing"
	"time"
)

// Among events gc rests half as long as it has worked, by itself as long, and else not at all; while one is taken in it waits.
func TestGCRests(t *testing.T) {
	const worked = time.Minute // what a slow test adds does not matter
	for _, c := range []struct {
		name  string
		event time.Duration // how long ago; 0: none
		rest  bool
		want  time.Duration
	}{
		{"nobody else", 0, false, 0},
		{"an agent that rests", time.Hour, false, 0},
		{"an agent at work", time.Millisecond, false, worked / 2},
		{"not asked for", 0, true, worked},
		{"not asked for, an agent at work", time.Millisecond, true, worked},
	} {
		e := Engine{shared: &shared{}}
		if c.event > 0 {
			e.waiting.newest = time.Now().Add(-c.event)
		}
		var slept time.Duration
		p := &pacer{ctx: t.Context(), e: &e, rest: c.rest, sleep: func(d time.Duration) { slept += d }}
		for i := range 16 {
			if slept > 0 {
				t.Errorf("%s: after %d pieces it rested", c.name, i)
			}
			p.from = time.Now().Add(-worked)
			if err := p.pause(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := slept.Round(time.Second); got != c.want {
			t.Errorf("%s: rested %v, want %v", c.name, got, c.want)
		}
	}

	e := Engine{shared: &shared{}}
	e.waiting.active = true
	n := 0
	p := &pacer{ctx: t.Context(), e: &e, n: 15, from: time.Now().Add(-worked), sleep: func(time.Duration) {
		if n++; n == 3 {
			e.waiting.next()
		}
	}}
	if err := p.pause(t.Context()); err != nil || n != 3 {
		t.Errorf("waited %d times for an event that took 3, %v", n, err)
	}
}
