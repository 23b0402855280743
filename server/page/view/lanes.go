package view

import (
	"cmp"
	"slices"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// Measures of the lanes, in pixels.
const (
	lanesLeft   = 4
	lanesNames  = 180  // the width of names, which stay in sight
	lanesWidth  = 1030 // of what is beside them
	lanesStep   = 6    // between two moments at least, where there is room
	laneHeight  = 30
	lanesTop    = 30 // the clock
	lanesTick   = 80 // a time on it
	lanesLetter = 8  // of one
	stripHeight = 36
	gapWidth    = 26
	minGap      = 3 // of a strip

	laneWords    = 120 // the weight of what a dot says
	laneRestores = 100 // of the newest so many those are drawn that lie in the time
)

// longGap is a pause that is drawn as a gap: its length says nothing.
const longGap = 15 * time.Minute

// Lanes are sessions beside each other in time: who changed what when, and when somebody went back.
type Lanes struct {
	Width, Height int
	Names         int    // their width
	Strip         *Strip // nil: it is to come
	StripHref     string // where it is
	Lanes         []lane
	Gaps          []gap
	Restores      []dot
	Ticks         []tick
	Turns         int
	Older         string // the address of the turns before them; "": there are none
	Newest        string // that of the newest; "": these are
}

// Strip is how many checkpoints were taken when, in all of a project's time.
type Strip struct {
	Width, Height int
	Bars          []bar
	From, To      moment
	Checkpoints   int
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

// bar is how much happened in a stretch of the strip. It leads to the lanes of that time.
type bar struct {
	X, Y, Width, Height int
	Href, Words         string
}

// gap is a pause.
type gap struct {
	X     int
	Words string
}

// tick is a time on the scale.
type tick struct {
	X    int
	Text string
	Left bool // of X: there is no room on its right
}

// DrawStrip lays out when checkpoints were taken. Pauses are short in it.
func (f Frame) DrawStrip(d *api.DensityResponse) *Lanes {
	out := &Strip{Width: lanesLeft + lanesWidth, Height: stripHeight}
	if len(d.Spans) == 0 {
		return &Lanes{Strip: out}
	}
	out.From, out.To = f.moment(d.Spans[0].Time), f.moment(d.Spans[len(d.Spans)-1].Time)
	most, columns := 0, 0
	for i, s := range d.Spans {
		most = max(most, s.Checkpoints)
		out.Checkpoints += s.Checkpoints
		if columns++; i > 0 && s.Time.Sub(d.Spans[i-1].Time) > time.Duration(d.Seconds)*time.Second {
			columns += minGap
		}
	}
	width := min(max(lanesWidth/columns, 2), 24)
	x := lanesLeft + 8
	for i, s := range d.Spans {
		if i > 0 && s.Time.Sub(d.Spans[i-1].Time) > time.Duration(d.Seconds)*time.Second {
			x += minGap * width
		}
		height := max(s.Checkpoints*(stripHeight-4)/most, 2)
		out.Bars = append(out.Bars, bar{
			x, stripHeight - height, max(width-1, 1), height, f.Path("lanes") + "?before=" + itoa(s.Next),
			f.moment(s.Time).Text + ": " + count(s.Checkpoints, "checkpoint"),
		})
		x += width
	}
	return &Lanes{Strip: out}
}

// DrawLanes lays out turns, newest first, and restores. Those before an operation are older ones, 0: they are the
// newest; next is what older ones are before, 0: there are none.
func (f Frame) DrawLanes(rows []api.Row, restores []api.Operation, before, next uint64) *Lanes {
	out := &Lanes{Width: lanesLeft + lanesWidth, Names: lanesNames, Turns: len(rows), StripHref: f.Path("lanes")}
	if before > 0 {
		out.Newest = f.Path("lanes")
	}
	if next > 0 {
		out.Older = f.Path("lanes") + "?before=" + itoa(next)
	}
	if len(rows) == 0 {
		return out
	}
	newest := rows[0].Time
	var times []time.Time
	for i := range rows {
		times = append(times, rows[i].Time)
	}
	oldest := times[len(times)-1]
	for _, o := range restores {
		if !o.Time.Before(oldest) && (before == 0 || !o.Time.After(newest)) {
			times = append(times, o.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	scale := newScale(times)
	out.Width = min(out.Width, max(scale.end+lanesTick/4, 3*lanesTick))
	first := f.moment(times[0])
	out.Ticks = append(out.Ticks, tick{X: lanesLeft, Text: first.Text})
	for _, g := range scale.gaps {
		out.Gaps = append(out.Gaps, gap{g.x + gapWidth/2, "nothing for " + g.length.Round(time.Minute).String()})
		x, last := g.x+gapWidth, out.Ticks[len(out.Ticks)-1]
		if x-last.X > lanesLetter*len(last.Text) { // else they would lie on each other
			out.Ticks = append(out.Ticks, tick{x, f.moment(g.until).Text, x > out.Width-lanesTick})
		}
	}
	lanes, names := map[string]int{}, api.NameRows(rows)
	for i := len(rows) - 1; i >= 0; i-- { // the session that began first is on top
		r := &rows[i]
		n, ok := lanes[r.Session]
		if !ok {
			n = len(out.Lanes)
			title, own := forkWords(r.Title, r.ForkName)
			lanes[r.Session] = n
			out.Lanes = append(out.Lanes, lane{
				Y: lanesTop + n*laneHeight + laneHeight/2, Name: term.Truncate(cmp.Or(title, short(r.Session)), 24),
				Title: clip(joined(": ", short(r.Session), title, own), laneWords),
				Href:  f.Path("s", r.Session), From: scale.x(r.Time),
			})
			if r.Agent == "" {
				l := &out.Lanes[n]
				l.Name, l.Title, l.Href = "no agent", "saved by hand, and changed outside of any agent", f.Path()
			}
		}
		l, files := &out.Lanes[n], r.Added+r.Modified+r.Deleted
		words := f.moment(r.Time).Text + "  " + clip(rowText(r), laneWords) + " (" + count(files, "file") + ")"
		d := dot{X: scale.x(r.Time), Y: l.Y, R: radius(files), Href: f.row(names[i], ""), Words: words, Class: "turn"}
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
	}
	out.Height = lanesTop + len(out.Lanes)*laneHeight + 10
	for i := range restores[:min(len(restores), laneRestores)] {
		o := &restores[i]
		if o.Time.Before(oldest) || before > 0 && o.Time.After(newest) {
			continue
		}
		to, href := f.moments(o.To)
		out.Restores = append(out.Restores, dot{X: scale.x(o.Time), Y: out.Height, Href: href, Words: clip(o.Kind+" "+to, laneWords)})
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

// scale maps moments to a line on which pauses are short, and those that follow each other at once are apart all the
// same.
type scale struct {
	times []time.Time
	xs    []int
	end   int // of the last one
	gaps  []pause
}

type pause struct {
	x      int
	length time.Duration
	until  time.Time
}

// newScale is of times in ascending order, at least one.
func newScale(times []time.Time) *scale {
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
	room := float64(max(lanesWidth-16-pauses*gapWidth, lanesWidth/2))
	step := min(lanesStep, room/2/float64(max(steps, 1)))
	per := (room - step*float64(steps)) / max(busy.Seconds(), 1) // pixels a second
	at := float64(lanesLeft + 8)
	for i := range times {
		if i > 0 {
			switch d := times[i].Sub(times[i-1]); {
			case d > longGap:
				s.gaps = append(s.gaps, pause{int(at), d, times[i]})
				at += gapWidth
			case d > 0:
				at += step + d.Seconds()*per
			}
		}
		s.xs = append(s.xs, min(int(at), lanesLeft+lanesWidth-8))
	}
	s.end = s.xs[len(s.xs)-1]
	return s
}

// x is the place of a time, or of the one before it.
func (s *scale) x(t time.Time) int {
	i, found := slices.BinarySearchFunc(s.times, t, time.Time.Compare)
	if !found {
		i--
	}
	return s.xs[max(i, 0)]
}

// Time is the document of the lanes.
func Time(f Frame, l *Lanes) Page {
	f.At = "lanes"
	return Page{Frame: f, Title: "Lanes · " + f.Name, Data: l, name: "lanes"}
}
