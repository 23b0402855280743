package main

import (
	"fmt"
	"io"
	"strconv"

	"rewind/bench/chart"
)

// A line of the table is one claim: what was measured, beside one peer or none, and what it has to reach.
type line struct {
	Row       string    `json:"row"` // its name for -rows
	What      string    `json:"what"`
	At        string    `json:"at,omitempty"`
	Unit      unit      `json:"unit"`
	Value     float64   `json:"measured"` // the median
	Peer      string    `json:"peer,omitempty"`
	PeerValue float64   `json:"peer_measured,omitempty"` // the median
	Ratio     float64   `json:"ratio,omitempty"`         // the median of Value by PeerValue, round by round
	Reach     string    `json:"reach,omitempty"`
	Reached   string    `json:"reached,omitempty"` // yes or no; absent: nothing to reach
	Goal      float64   `json:"goal,omitempty"`    // Reach as a value of Unit; 0: it has none
	Failure   string    `json:"failure,omitempty"` // why it was not measured, or what was not right
	Values    []float64 `json:"all_measured,omitempty"`
	Peers     []float64 `json:"all_peer,omitempty"`
}

// A unit is what values are in.
type unit string

const (
	inMillis unit = "ms"
	inBytes  unit = "B"
)

// format writes a value for people, three digits of it.
func (u unit) format(v float64) string {
	steps := []struct {
		over  float64
		by    float64
		named string
	}{{1e9, 1e9, "GB"}, {1e6, 1e6, "MB"}, {1e4, 1e3, "KB"}, {0, 1, "B"}}
	if u == inMillis {
		steps = steps[2:]
		steps[0].named, steps[1].named = "s", "ms"
	}
	for _, s := range steps {
		if v >= s.over {
			v /= s.by
			digits := 0
			if v < 9.995 {
				digits = 2
			} else if v < 99.95 {
				digits = 1
			}
			if u == inBytes && s.by == 1 {
				digits = 0
			}
			return strconv.FormatFloat(v, 'f', digits, 64) + " " + s.named
		}
	}
	return "0 " + string(u)
}

// A reach is what a line has to reach.
type reach struct {
	text string
	met  func(value, ratio float64) bool
	goal func(peer float64) float64 // as a value; the peer's is known
	each float64                    // more than the peer for each file of the tree; else 0
}

// within is a ratio that must not be exceeded.
func within(ratio float64) reach {
	return reach{
		text: "<= " + short(ratio) + " x",
		met:  func(_, r float64) bool { return r <= ratio },
		goal: func(p float64) float64 { return p * ratio },
	}
}

// lessBy is how many times less it must be.
func lessBy(times float64) reach {
	return reach{
		text: ">= " + short(times) + " x less",
		met:  func(_, r float64) bool { return r*times <= 1 },
		goal: func(p float64) float64 { return p / times },
	}
}

// atLeast is a ratio that must be reached.
func atLeast(ratio float64) reach {
	return reach{
		text: ">= " + short(ratio) + " x",
		met:  func(_, r float64) bool { return r >= ratio },
		goal: func(p float64) float64 { return p * ratio },
	}
}

// under is a value that must not be exceeded; text tells where it comes from, "": from itself.
func under(value float64, u unit, text string) reach {
	if text == "" {
		text = "<= " + u.format(value)
	}
	return reach{text: text, met: func(v, _ float64) bool { return v <= value }, goal: func(float64) float64 { return value }}
}

// perFile is what the peer takes, and so much for each file of the tree.
func perFile(each float64, text string) reach { return reach{text: text, each: each} }

// nothing has to be reached: the peer is beside it for the reader.
var nothing = reach{}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// add adds a line. of and by are of the same rounds; by may be longer or shorter, or absent.
func (t *table) add(row, what, at string, u unit, of []float64, peer string, by []float64, r reach) {
	l := line{Row: row, What: what, At: at, Unit: u, Value: median(of), Values: of, Reach: r.text}
	l.Peer, l.PeerValue, l.Peers, l.Ratio = peer, median(by), by, median(ratios(of, by))
	switch {
	case len(of) == 0:
		l.Failure = "it was not measured"
	case peer != "" && len(by) == 0:
		t.note("%s, %s: skipped beside %s", what, at, peer)
		return
	}
	if r.met != nil && l.Failure == "" {
		l.Reached, l.Goal = "no", r.goal(l.PeerValue)
		if r.met(l.Value, l.Ratio) {
			l.Reached = "yes"
		}
	}
	t.lines = append(t.lines, l)
}

// ratioText writes a ratio so that it can be read from either side.
func ratioText(r float64) string {
	switch {
	case r == 0:
		return "-"
	case r < 0.5:
		return "1/" + strconv.FormatFloat(1/r, 'f', digitsOf(1/r), 64)
	}
	return strconv.FormatFloat(r, 'f', digitsOf(r), 64)
}

func digitsOf(v float64) int {
	if v < 10 {
		return 2
	}
	return min(1, int(100/v))
}

// report prints the table.
func (t *table) report(w io.Writer) {
	fmt.Fprintln(w)
	for _, n := range t.notes {
		fmt.Fprintln(w, n)
	}
	const format = "%-37s %-28s %9s  %-46s %9s %7s  %-20s %s\n"
	fmt.Fprintf(w, "\n"+format, "what", "at", "measured", "peer", "measured", "ratio", "reach", "reached")
	for _, l := range t.lines {
		if l.Failure != "" {
			fmt.Fprintf(w, "%-37s %-28s FAILED: %s\n", l.What, l.At, l.Failure)
			continue
		}
		peer := "-"
		if l.Peer != "" {
			peer = l.Unit.format(l.PeerValue)
		}
		fmt.Fprintf(w, format, l.What, l.At, l.Unit.format(l.Value), l.Peer, peer, ratioText(l.Ratio), l.Reach, l.Reached)
	}
	fmt.Fprint(w, `
Whole processes from start to end but for floors, which are a loop in this one; medians; ratio: the median of measured by peer, round by
round. The order turns by one every round, what is unwritten is flushed between turns, the page cache is warm. Before anything is measured,
files are left alone until they are older than 3 s: younger ones are read twice on purpose. F is the same client with a daemon that does
nothing. A result that is not right, byte for byte, makes a row FAILED.
`)
}

// picture draws the lines, those of one figure together.
func (t *table) picture() []byte {
	d := chart.Dots{Title: "rewind beside what you would use instead", Note: t.machine.String()}
	panels := map[unit]*chart.Panel{
		inMillis: {Name: "time", Unit: "ms", Format: inMillis.format},
		inBytes:  {Name: "size", Unit: "B", Format: inBytes.format},
	}
	at := map[string]int{}
	for _, l := range t.lines {
		if l.Failure != "" || l.Value <= 0 {
			continue
		}
		p := panels[l.Unit]
		key := l.What + "\x00" + l.At
		i, ok := at[key]
		if !ok {
			i = len(p.Rows)
			at[key] = i
			p.Rows = append(p.Rows, chart.Row{Label: l.What, At: l.At, Value: l.Value})
		}
		if l.Goal > 0 && (p.Rows[i].Goal == 0 || l.Goal < p.Rows[i].Goal) {
			p.Rows[i].Goal = l.Goal
		}
		if l.Peer != "" {
			p.Rows[i].Peers = append(p.Rows[i].Peers, chart.Peer{Name: l.Peer, Value: l.PeerValue})
		}
	}
	d.Panels = []chart.Panel{*panels[inMillis], *panels[inBytes]}
	return d.SVG()
}
