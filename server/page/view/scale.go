package view

import (
	"cmp"
	"slices"
	"time"
)

// tickRoom is how many pixels a time on the scale needs.
const tickRoom = 84

// scale maps moments to a line on which pauses are short, and those that follow each other at once are apart all the
// same.
type scale struct {
	times []time.Time
	xs    []int
	end   int // of the last one
	gap   int // the width of a pause
	gaps  []pause
}

type pause struct {
	x      int
	length time.Duration
	until  time.Time
}

// newScale is of times in ascending order, at least one, on so many pixels. With very many pauses it is wider.
func newScale(times []time.Time, width int) *scale {
	s := &scale{times: times}
	var busy time.Duration
	pauses, steps := 0, 0
	for i := 1; i < len(times); i++ {
		switch d := times[i].Sub(times[i-1]); {
		case d > longGap:
			pauses++
		case d > 0:
			steps++
			busy += d
		}
	}
	zoom := max(width/lanesWidth, 1)
	s.gap = min(gapWidth*zoom, max(width/2/max(pauses, 1), leastGap*zoom))
	room := float64(max(width-2*lanesEdge-pauses*s.gap, width/2))
	step := min(lanesStep, room/2/float64(max(steps, 1)))
	per := (room - step*float64(steps)) / max(busy.Seconds(), 0.1) // pixels a second
	at := float64(lanesEdge)
	for i := range times {
		if i > 0 {
			switch d := times[i].Sub(times[i-1]); {
			case d > longGap:
				s.gaps = append(s.gaps, pause{int(at), d, times[i]})
				at += float64(s.gap)
			case d > 0:
				at += step + d.Seconds()*per
			}
		}
		s.xs = append(s.xs, int(at))
	}
	s.end = s.xs[len(s.xs)-1]
	return s
}

// x is the place of a time: between two moments in proportion, in a pause where it begins.
func (s *scale) x(t time.Time) int {
	i, found := slices.BinarySearchFunc(s.times, t, time.Time.Compare)
	if found || i == 0 {
		return s.xs[min(i, len(s.xs)-1)]
	}
	if i == len(s.times) {
		return s.end
	}
	before, length := s.times[i-1], s.times[i].Sub(s.times[i-1])
	if length > longGap {
		return s.xs[i-1]
	}
	return s.xs[i-1] + int(float64(s.xs[i]-s.xs[i-1])*float64(t.Sub(before))/float64(length))
}

// tick is a time on the scale.
type tick struct {
	X    int
	Text string
}

// round are times between two ticks.
var round = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute,
	time.Hour, 3 * time.Hour, 12 * time.Hour,
}

// ticks are times on a scale: where it begins, behind each pause, and at round times between. None lies on another. A
// day is told where it is another one than before, at first another one than today.
func (f Frame) ticks(s *scale) []tick {
	var out []tick
	day := ""
	add := func(t time.Time, x int, layout string) {
		if n := len(out); n > 0 && x-out[n-1].X < tickRoom {
			return
		}
		text := t.In(f.zone()).Format(layout)
		if of := f.day(t); of != day {
			text, day = joined(" ", cmp.Or(of, "today"), text), of
		}
		out = append(out, tick{x, text})
	}
	begin := s.times[0]
	for _, p := range append(slices.Clone(s.gaps), pause{x: s.end, until: s.times[len(s.times)-1]}) {
		x := s.x(begin)
		add(begin, x, "15:04")
		last := p.until.Add(-p.length)
		every, layout := s.every(last.Sub(begin), p.x-x)
		for t := begin.Truncate(every).Add(every); every > 0 && t.Before(last); t = t.Add(every) {
			if at := s.x(t); p.length == 0 || p.x+s.gap-at >= tickRoom { // else it lies on the one behind the pause
				add(t, at, layout)
			}
		}
		begin = p.until
	}
	return out
}

// every is how much time is between two ticks of a stretch, and how a time is written there; 0: there is no room.
func (s *scale) every(length time.Duration, pixels int) (time.Duration, string) {
	for _, r := range round {
		if ticks := int(length / r); ticks*tickRoom <= pixels {
			if r < time.Minute {
				return r, "15:04:05"
			}
			return r, "15:04"
		}
	}
	return 0, ""
}

func (f Frame) zone() *time.Location {
	if f.Zone == nil {
		return time.UTC
	}
	return f.Zone
}

// day is which day a time is of, short; "": today.
func (f Frame) day(t time.Time) string {
	t, now := t.In(f.zone()), f.Now.In(f.zone())
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, f.zone())
	switch {
	case !t.Before(midnight):
		return ""
	case !t.Before(midnight.AddDate(0, 0, -6)):
		return t.Format("Mon")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format("2006-01-02")
}

// clock is a time with its day, where that is not today.
func (f Frame) clock(t time.Time) string {
	return joined(" ", f.day(t), t.In(f.zone()).Format("15:04"))
}
