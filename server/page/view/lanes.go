package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// Measures of the lanes, in pixels.
const (
	lanesWidth  = 960 // of all the time, at zoom 1
	lanesEdge   = 12  // before the first moment, and behind the last
	lanesStep   = 6   // between two moments at least, where there is room
	laneHeight  = 30
	lanesFoot   = 14 // below the lanes, for the marks of going back
	stripHeight = 36
	gapWidth    = 26
	leastGap    = 12 // where there are many
	minGap      = 3  // of a strip

	laneWords    = 120 // the weight of what a lane, a dot or a going back says
	legendWords  = 40  // of a session's name in the legend
	legendNames  = 4   // an agent's sessions that the legend names; of more it says how many
	laneFiles    = 3   // that a dot names
	fileWeight   = 40  // of each of them
	laneRestores = 100 // of the newest so many those are drawn that lie in the time
)

// longGap is a pause that is drawn as a gap: its length says nothing.
const longGap = 15 * time.Minute

// zooms are how much wider than the narrowest the time may be drawn.
var zooms = []int{1, 2, 4, 8}

// Window says which turns lanes are of, and how wide the time is.
type Window struct {
	Before uint64 // the operation that the turns are before; 0: they are the newest
	Next   uint64 // what older ones are before; 0: there are none
	Zoom   int    // one of zooms, as Zoom makes it
}

// Zoom is the zoom that an address asks for: the nearest one that there is below it.
func Zoom(asked string) int {
	n, _ := strconv.Atoi(asked)
	return zooms[max(sortedIndex(zooms, n), 0)]
}

// sortedIndex is the index of the last value that is not above n; -1: all are.
func sortedIndex(values []int, n int) int {
	i, found := slices.BinarySearch(values, n)
	if found {
		return i
	}
	return i - 1
}

// Lanes are sessions beside each other in time: who changed what when, and when somebody went back.
type Lanes struct {
	Width, Height int
	Strip         *Strip // nil: it is to come
	StripHref     string // where it is
	Lanes         []lane
	Gaps          []gap
	Restores      []dot
	Ticks         []tick
	Agents        []agentKey // those that are drawn
	Loss, Aside   bool       // a turn is drawn as such
	Here          bool       // so is the one that the project is at
	Turns         int
	Older         string // the address of the turns before them; "": there are none
	Newest        string // that of the newest; "": these are
	In, Out       string // the addresses of a wider and a narrower drawing; "": there is none
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
	Agent    string // "": no agent did it
	Class    string // of its agent's colour, and of its own shade of it
	Shape    shape  // of its turns
	Dots     []dot
	From, To int // of its line
	Current  bool
}

// nobody is the class of what no agent did.
const nobody = "by-nobody"

// agentKey is a line of the legend: how turns of an agent, or of one of its sessions, are drawn.
type agentKey struct {
	Class, Name string
	Shape       shape
}

// Sessions of one agent have its colour, each in a shade and with a shape of its own: shapes tell them apart without
// colours, too. The two numbers have no common divisor. So the first twelve sessions of an agent differ, and two that
// follow each other differ in both.
var shades = []string{"", "deep", "pale"}

// shape is how turns of a session are drawn.
type shape int

const (
	circle shape = iota
	square
	diamond
	triangle
	shapes
)

// Path is the outline of a shape, about as large as a circle of the radius; "": it is a circle.
func (s shape) Path(x, y, r int) string {
	side, tip := r-r/6, r+(r+1)/3
	switch s {
	case square:
		return fmt.Sprintf("M%d %dh%dv%dh%dz", x-side, y-side, 2*side, 2*side, -2*side)
	case diamond:
		return fmt.Sprintf("M%d %dl%d %dl%d %dl%d %dz", x-tip, y, tip, -tip, tip, tip, -tip, tip)
	case triangle: // its tip is below: one of a going back is above
		return fmt.Sprintf("M%d %dh%dl%d %dz", x-tip, y-side, 2*tip, -tip, 2*side+1)
	}
	return ""
}

// dot is a turn, in the middle of its lane, or a going back.
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

// DrawStrip lays out when checkpoints were taken. Pauses are short in it.
func (f Frame) DrawStrip(d *api.DensityResponse) *Lanes {
	out := &Strip{Width: lanesWidth, Height: stripHeight}
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
	width := min(max((lanesWidth-2*lanesEdge)/columns, 2), 24)
	x := lanesEdge
	for i, s := range d.Spans {
		if i > 0 && s.Time.Sub(d.Spans[i-1].Time) > time.Duration(d.Seconds)*time.Second {
			x += minGap * width
		}
		height := max(s.Checkpoints*(stripHeight-4)/most, 2)
		out.Bars = append(out.Bars, bar{
			x, stripHeight - height, max(width-1, 1), height, f.lanes(Window{Before: s.Next, Zoom: 1}),
			f.moment(s.Time).Text + ": " + count(s.Checkpoints, "checkpoint"),
		})
		x += width
	}
	return &Lanes{Strip: out}
}

// lanes is the address of lanes.
func (f Frame) lanes(w Window) string {
	href := f.Path("lanes")
	if w.Before > 0 {
		href = with(href, "before", itoa(w.Before))
	}
	if w.Zoom > 1 {
		href = with(href, "zoom", strconv.Itoa(w.Zoom))
	}
	return href
}

// DrawLanes lays out the turns of a window, newest first, and the restores between them.
func (f Frame) DrawLanes(rows []api.Row, restores []api.Operation, w Window) *Lanes {
	out := &Lanes{Turns: len(rows), StripHref: f.lanes(Window{})}
	if w.Before > 0 {
		out.Newest = f.lanes(Window{Zoom: w.Zoom})
	}
	if w.Next > 0 {
		out.Older = f.lanes(Window{Before: w.Next, Zoom: w.Zoom})
	}
	if i := slices.Index(zooms, w.Zoom); i >= 0 && i+1 < len(zooms) {
		out.In = f.lanes(Window{Before: w.Before, Zoom: zooms[i+1]})
	}
	if i := slices.Index(zooms, w.Zoom); i > 0 {
		out.Out = f.lanes(Window{Before: w.Before, Zoom: zooms[i-1]})
	}
	if len(rows) == 0 {
		return out
	}
	restores = meanwhile(rows, restores, w)
	var times []time.Time
	for i := range rows {
		times = append(times, rows[i].Time)
	}
	for i := range restores {
		times = append(times, restores[i].Time)
	}
	slices.SortFunc(times, time.Time.Compare)
	scale := newScale(times, lanesWidth*max(w.Zoom, 1))
	for _, p := range scale.gaps {
		words := "nothing for " + p.length.Round(time.Minute).String()
		out.Gaps = append(out.Gaps, gap{p.x + scale.gap/2, words})
	}
	f.drawTurns(out, rows, scale)
	out.Agents = legend(out.Lanes)
	out.Height = len(out.Lanes)*laneHeight + lanesFoot
	for i := range restores[:min(len(restores), laneRestores)] {
		o := &restores[i]
		d := dot{X: scale.x(o.Time), Y: out.Height - lanesFoot}
		d.Words, d.Href = f.wentBack(o)
		out.Restores = append(out.Restores, d)
	}
	out.Ticks = f.ticks(scale)
	out.Width = scale.end + lanesEdge
	if n := len(out.Ticks); n > 0 {
		out.Width = max(out.Width, out.Ticks[n-1].X+tickRoom)
	}
	return out
}

// meanwhile are the restores in the time of some turns.
func meanwhile(rows []api.Row, restores []api.Operation, w Window) []api.Operation {
	newest, oldest := rows[0].Time, rows[0].Time
	for i := range rows {
		if t := rows[i].Time; t.Before(oldest) {
			oldest = t
		} else if t.After(newest) {
			newest = t
		}
	}
	var out []api.Operation
	for _, o := range restores {
		if !o.Time.Before(oldest) && (w.Before == 0 || !o.Time.After(newest)) {
			out = append(out, o)
		}
	}
	return out
}

// drawTurns puts each turn into the lane of its session. The session that began last is on top, where the newest is in
// sight at first.
func (f Frame) drawTurns(out *Lanes, rows []api.Row, scale *scale) {
	lanes, names := map[string]int{}, api.NameRows(rows)
	begun := map[string]int{} // the sessions that have a colour, up to now
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		n, ok := lanes[r.Session]
		if !ok {
			n = len(out.Lanes)
			lanes[r.Session] = n
			l := f.lane(r)
			l.From = scale.x(r.Time)
			colour := l.Class
			l.Class = joined(" ", colour, shades[begun[colour]%len(shades)])
			l.Shape = shape(begun[colour]) % shapes
			begun[colour]++
			out.Lanes = append(out.Lanes, l)
		}
		l, files := &out.Lanes[n], r.Added+r.Modified+r.Deleted
		d := dot{X: scale.x(r.Time), R: radius(files), Href: f.row(names[i], ""), Words: f.did(r), Class: l.Class}
		if r.Deleted > r.Added+r.Modified {
			d.Class, out.Loss = d.Class+" loss", true
		}
		if r.Aside {
			d.Class, out.Aside = d.Class+" aside", true
		}
		if r.Current {
			d.Class, l.Current, out.Here = d.Class+" here", true, true
		}
		l.To = d.X
		l.Dots = append(l.Dots, d)
	}
	slices.Reverse(out.Lanes)
	for i := range out.Lanes {
		out.Lanes[i].Y = i*laneHeight + laneHeight/2
	}
}

// lane is the one of a row's session.
func (f Frame) lane(r *api.Row) lane {
	if r.Agent == "" {
		return lane{
			Name: "no agent", Title: "Saved by hand, and changed outside of any agent", Href: f.Path(), Class: nobody,
		}
	}
	title, own := forkWords(r.Title, r.ForkName)
	name := cmp.Or(joined(": ", title, own), string(r.Prompt), short(r.Session))
	return lane{
		Name: clip(name, laneWords), Title: clip(joined(": ", string(r.Agent), name), laneWords),
		Href: f.Path("s", r.Session), Agent: string(r.Agent), Class: agentClass(r.Agent),
	}
}

// agentClass is the class that gives an agent its colour.
func agentClass(a api.Agent) string {
	known := map[api.Agent]string{
		"claude": "by-claude", "codex": "by-codex", "gemini": "by-gemini", "droid": "by-droid",
	}
	return cmp.Or(known[a], "by-other")
}

// legend says which agent, and which of its sessions, is drawn how: the agents by the time they came, and then what no
// agent did.
func legend(lanes []lane) (out []agentKey) {
	of := map[string][]*lane{}
	var agents []string
	for i := range slices.Backward(lanes) { // the one that began first
		l := &lanes[i]
		if of[l.Agent] == nil && l.Agent != "" {
			agents = append(agents, l.Agent)
		}
		of[l.Agent] = append(of[l.Agent], l)
	}
	for _, agent := range agents {
		sessions := of[agent]
		if n := len(sessions); n == 1 || n > legendNames {
			words := agent
			if n > 1 {
				words += ", " + count(n, "session") + ": each has its sign beside its name"
			}
			out = append(out, agentKey{Class: sessions[0].Class, Name: words, Shape: sessions[0].Shape})
			continue
		}
		for _, l := range sessions {
			out = append(out, agentKey{Class: l.Class, Name: agent + ": " + clip(l.Name, legendWords), Shape: l.Shape})
		}
	}
	if nobodys := of[""]; len(nobodys) > 0 {
		out = append(out, agentKey{Class: nobodys[0].Class, Name: "no agent"})
	}
	return out
}

// did says what a turn did, as a person tells it: when, who, what was asked, and which files.
func (f Frame) did(r *api.Row) string {
	who := string(r.Agent)
	if r.Turn > 0 {
		who = joined(" ", who, "turn", itoa(r.Turn))
	}
	files := count(r.Added+r.Modified+r.Deleted, "file")
	var names []string
	for _, ch := range r.Changes[:min(len(r.Changes), laneFiles)] {
		names = append(names, clip(term.Quote(string(ch.Path)), fileWeight))
	}
	if more := len(r.Changes) + r.Left - len(names); len(names) > 0 && more > 0 {
		names = append(names, "…")
	}
	words := joined(", ", f.clock(r.Time), who) + ": " + clip(rowText(r), laneWords)
	return words + " (" + joined(": ", files, joined(", ", names...)) + ")"
}

// wentBack says what a restore was, and leads to where it went.
func (f Frame) wentBack(o *api.Operation) (words, href string) {
	words = o.Kind
	if m := o.To; m != nil {
		href = f.Path("c", m.ID)
		to := string(cmp.Or(m.Prompt, m.Message))
		if m.Turn > 0 {
			to = joined(": ", "turn "+itoa(m.Turn), to)
		}
		words = joined(" to ", words, to)
	}
	return f.clock(o.Time) + ", " + clip(words, laneWords), href
}

func radius(files int) int {
	switch {
	case files == 0:
		return 3
	case files < 3:
		return 4
	case files < 15:
		return 6
	}
	return 8
}

// Time is the document of the lanes.
func Time(f Frame, l *Lanes) Page {
	f.At = "lanes"
	return Page{Frame: f, Title: "Lanes · " + f.Name, Data: l, name: "lanes"}
}
