package view

import (
	"slices"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// Measures of the lanes, in pixels.
const (
	lanesLeft   = 150 // of names
	lanesWidth  = 1180
	laneHeight  = 30
	lanesTop    = 64 // the strip, and the clock
	stripHeight = 30
	gapWidth    = 26
	stripBins   = 118
)

// longGap is a pause that is drawn as a gap: its length says nothing.
const longGap = 45 * time.Minute

// Lanes are sessions beside each other in time: who changed what when, and when somebody went back.
type Lanes struct {
	Width, Height int
	Strip         []bar
	Lanes         []lane
	Gaps          []gap
	Restores      []dot
	Ticks         []tick
	Turns         int
	More          bool
}

// lane is a session.
type lane struct {
	Y        int
	Name     string
	Title    string
	Href     string
	Dots     []dot
	From, To int // of its line
	Current  bool
}

// dot is a turn, or a going back.
type dot struct {
	X, Y, R int
	Href    string
	Words   string
	Class   string
}

// bar is how much happened in a stretch of the strip.
type bar struct{ X, Y, Width, Height int }

// gap is a pause.
type gap struct {
	X     int
	Words string
}

// tick is a time on the scale.
type tick struct {
	X    int
	Text string
}

// DrawLanes lays out turns, newest first, and restores.
func (f Frame) DrawLanes(rows []api.Row, restores []api.Operation, more bool) *Lanes {
	out := &Lanes{Width: lanesLeft + lanesWidth, Turns: len(rows), More: more}
	if len(rows) == 0 {
		return out
	}
	var times []time.Time
	for i := range rows {
		times = append(times, rows[i].Time)
	}
	oldest := times[len(times)-1]
	for _, o := range restores {
		if !o.Time.Before(oldest) {
			times = append(times, o.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	scale := newScale(times)
	for _, g := range scale.gaps {
		out.Gaps = append(out.Gaps, gap{g.x + gapWidth/2, "nothing for " + g.length.Round(time.Minute).String()})
		at := f.moment(g.until)
		out.Ticks = append(out.Ticks, tick{g.x + gapWidth, at.Text})
	}
	first := f.moment(times[0])
	out.Ticks = append([]tick{{lanesLeft, first.Text}}, out.Ticks...)
	lanes := map[string]int{}
	bins := make([]int, stripBins)
	for i := len(rows) - 1; i >= 0; i-- { // the session that began first is on top
		r := &rows[i]
		n, ok := lanes[r.Session]
		if !ok {
			n = len(out.Lanes)
			lanes[r.Session] = n
			out.Lanes = append(out.Lanes, lane{
				Y: lanesTop + n*laneHeight + laneHeight/2, Name: term.Truncate(short(r.Session), 20), Title: short(r.Session),
				Href: f.Path("s", r.Session), From: scale.x(r.Time),
			})
		}
		l, files := &out.Lanes[n], r.Added+r.Modified+r.Deleted
		words := f.moment(r.Time).Text + "  " + rowText(r) + " (" + count(files, "file") + ")"
		d := dot{X: scale.x(r.Time), Y: l.Y, R: radius(files), Href: f.Path("c", r.Checkpoint.ID), Words: words, Class: "turn"}
		if r.Deleted > r.Added+r.Modified {
			d.Class = "turn loss"
		}
		if r.Aside {
			d.Class += " aside"
		}
		if r.Current {
			d.Class, l.Current = d.Class+" here", true
		}
		l.To = d.X
		l.Dots = append(l.Dots, d)
		bins[min((d.X-lanesLeft)*stripBins/lanesWidth, stripBins-1)] += max(files, 1)
	}
	out.Height = lanesTop + len(out.Lanes)*laneHeight + 10
	most := slices.Max(bins)
	for i, n := range bins {
		if n > 0 {
			h := max(n*stripHeight/most, 2)
			out.Strip = append(out.Strip, bar{lanesLeft + i*lanesWidth/stripBins, stripHeight - h, lanesWidth/stripBins - 1, h})
		}
	}
	for i := range restores {
		o := &restores[i]
		if o.Time.Before(oldest) {
			continue
		}
		to, href := f.moments(o.To)
		out.Restores = append(out.Restores, dot{X: scale.x(o.Time), Y: out.Height, Href: href, Words: o.Kind + " " + to})
	}
	return out
}

func radius(files int) int {
	switch {
	case files == 0:
		return 2
	case files < 3:
		return 4
	case files < 15:
		return 5
	}
	return 7
}

// scale maps times to a line on which pauses are short.
type scale struct {
	times []time.Time // where a stretch begins
	xs    []int
	per   float64 // pixels a second
	gaps  []pause
}

type pause struct {
	x      int
	length time.Duration
	until  time.Time
}

// newScale is of times in ascending order, at least one.
func newScale(times []time.Time) *scale {
	s := &scale{}
	var busy time.Duration
	pauses := 0
	for i := 1; i < len(times); i++ {
		if d := times[i].Sub(times[i-1]); d > longGap {
			pauses++
		} else {
			busy += d
		}
	}
	room := max(lanesWidth-16-pauses*gapWidth, lanesWidth/2)
	s.per = float64(room) / max(busy.Seconds(), 1)
	at := float64(lanesLeft + 8)
	s.times, s.xs = append(s.times, times[0]), append(s.xs, int(at))
	for i := 1; i < len(times); i++ {
		d := times[i].Sub(times[i-1])
		if d > longGap {
			s.gaps = append(s.gaps, pause{int(at), d, times[i]})
			at += gapWidth
			s.times, s.xs = append(s.times, times[i]), append(s.xs, int(at))
			continue
		}
		at += d.Seconds() * s.per
	}
	return s
}

func (s *scale) x(t time.Time) int {
	i, found := slices.BinarySearchFunc(s.times, t, time.Time.Compare)
	if !found {
		i--
	}
	i = max(i, 0)
	return min(s.xs[i]+int(t.Sub(s.times[i]).Seconds()*s.per), lanesLeft+lanesWidth-8)
}

// Time is the document of the lanes.
func Time(f Frame, l *Lanes) Page {
	f.At = "lanes"
	return Page{Frame: f, Title: "Lanes · " + f.Name, Data: l, name: "lanes"}
}
