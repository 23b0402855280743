package torture

import (
	"regexp"
	"time"
)

// A Kind is how a Work is run.
type Kind int

// The kinds.
const (
	Case   Kind = iota // a test
	Fuzz               // a target of fuzzing
	Broken             // a deliberate fault, with the tests that must find it
	Rest               // the tests of a package that are in no row
)

// A Work is one thing that a whole run does, and how much of it.
type Work struct {
	Kind     Kind
	Package  string // below the module: engine, cmd/rewind
	Name     string
	Row      string // empty: in none, it is not run by itself
	Promises []int  // that a test has in its name
	Size     Size   // zero: it has none
	Done     int    // points that a report has
}

// ID is how sizes and reports name it.
func (w Work) ID() string { return w.Package + "." + w.Name }

// Left is how many points are missing to the full size.
func (w Work) Left() int { return max(0, w.Size.Full-w.Done) }

// Whole reports whether there is nothing left to run.
func (w Work) Whole() bool { return w.Size.Full > 0 && w.Left() == 0 || w.Size.Full == 0 && w.Done > 0 }

// unmeasured is how long a work without a size takes, about.
var unmeasured = map[Kind]time.Duration{Case: 5 * time.Second, Broken: 25 * time.Second, Rest: time.Minute}

// Estimate is how long so many points take.
func (w Work) Estimate(points int) time.Duration {
	if w.Size.Full == 0 {
		return unmeasured[w.Kind]
	}
	return time.Duration(float64(points) * w.Size.Each * float64(time.Second))
}

// timed are the tests that measure deadlines, or need the machine for so many processes that others' load decides how
// they end.
var timed = regexp.MustCompile(`T3|T4|T7|Promise03|T13Promise13ManyFiles`)

// Alone reports whether nothing else may run beside it.
func (w Work) Alone() bool {
	return w.Kind == Rest || w.Kind == Case && timed.MatchString(w.Name) || w.Kind == Broken && timed.MatchString(FaultOf(w.Name).Tests)
}

// Plan fills in what was done of each work that has a row.
func Plan(works []Work, done []Figures) []Work {
	var list []Work
	for _, w := range works {
		if w.Row == "" {
			continue
		}
		for _, f := range done {
			if f.Test == w.ID() && !f.Failed {
				w.Done += int(f.Points)
			}
		}
		list = append(list, w)
	}
	return list
}
