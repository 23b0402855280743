package history_test

import (
	"fmt"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/history"
)

// TestDensity: every checkpoint is counted once, in at most so many spans that do not overlap; a list from a span's
// newest on begins with it.
func TestDensity(t *testing.T) {
	p := enginetest.NewProject(t)
	gaps := []time.Duration{time.Minute, time.Second, 40 * time.Hour, time.Second, -time.Hour, 3 * time.Minute, 400 * 24 * time.Hour}
	for i := range 40 {
		p.E.Log.Now = func() time.Time { return p.Tick }
		p.Tick = p.Tick.Add(gaps[i%len(gaps)])
		p.Write("a", fmt.Sprint(i))
		p.Save("again")
	}
	all, err := p.E.History.List(enginetest.Bg, history.ListOptions{})
	p.Must(err)
	for _, most := range []int{1, 2, 7, 1000} {
		d, err := p.E.History.Density(enginetest.Bg, most)
		p.Must(err)
		sum := 0
		for i, s := range d.Spans {
			sum += s.Checkpoints
			if i > 0 && s.At.Sub(d.Spans[i-1].At) < d.Length {
				t.Errorf("at most %d: two spans overlap: %v, %v", most, d.Spans[i-1], s)
			}
			first, err := p.E.History.List(enginetest.Bg, history.ListOptions{Before: s.Newest + 1, Limit: 1})
			p.Must(err)
			if len(first.Checkpoints) != 1 || first.Checkpoints[0].Seq != s.Newest {
				t.Errorf("at most %d: no list begins with %d", most, s.Newest)
			}
		}
		if len(d.Spans) > most || len(d.Spans) == 0 || sum != len(all.Checkpoints) {
			t.Errorf("at most %d: %d spans with %d checkpoints of %d", most, len(d.Spans), sum, len(all.Checkpoints))
		}
	}
}
