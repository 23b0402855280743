package torture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// ReadReport reads the figures of a report file; one that is not there has none.
func ReadReport(file string) ([]Figures, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []Figures
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var x Figures
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("torture: report %s: %w", file, err)
		}
		list = append(list, x)
	}
	return list, lines.Err()
}

// A Work is a test that is to be run, and how much of it.
type Work struct {
	Test
	Size Size // zero: the test has none
	Done int  // points that a report has
}

// Left is how many points are missing to the full size.
func (w Work) Left() int { return max(0, w.Size.Full-w.Done) }

// Whole reports whether there is nothing left to run.
func (w Work) Whole() bool { return w.Size.Full > 0 && w.Left() == 0 || w.Size.Full == 0 && w.Done > 0 }

// Estimate is how long so many points take.
func (w Work) Estimate(points int) time.Duration {
	if w.Size.Full == 0 {
		return 5 * time.Second
	}
	return time.Duration(float64(points) * w.Size.Each * float64(time.Second))
}

// Plan lists what there is to run of the tests, given what was run.
func Plan(tests []Test, done []Figures) []Work {
	var list []Work
	for _, t := range tests {
		if t.Row == "" {
			continue
		}
		w := Work{Test: t}
		w.Size, _ = sizeOf(t.ID())
		for _, f := range done {
			if f.Test == t.ID() && !f.Failed {
				w.Done += int(f.Points)
			}
		}
		list = append(list, w)
	}
	return list
}

// A Line is a row of the table of figures.
type Line struct {
	Row
	Tests   int
	Run     int // of these, so many came to their full size
	Figures Figures
	Seeds   []uint64
	Failed  []string
}

// Sum adds figures up by row.
func Sum(tests []Test, done []Figures) []Line {
	work := Plan(tests, done)
	var lines []Line
	for _, r := range Rows {
		l := Line{Row: r}
		for _, w := range work {
			if w.Row != r.Name {
				continue
			}
			l.Tests++
			if w.Whole() {
				l.Run++
			}
		}
		for _, f := range done {
			if f.Row != r.Name {
				continue
			}
			if f.Failed || f.Lost > 0 {
				l.Failed = append(l.Failed, f.Test)
			}
			if f.Unit == r.Unit {
				l.Figures.Points += f.Points
			}
			l.Figures.Fired, l.Figures.Acked, l.Figures.Lost = l.Figures.Fired+f.Fired, l.Figures.Acked+f.Acked, l.Figures.Lost+f.Lost
			l.Figures.Seconds += f.Seconds
			if f.Unit != "" && !slices.Contains(l.Seeds, f.Seed) {
				l.Seeds = append(l.Seeds, f.Seed)
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// String is the line of the table.
func (l Line) String() string {
	points, asked := "all", "all"
	if l.Full > 0 {
		points, asked = fmt.Sprint(l.Figures.Points), fmt.Sprintf("%d %s", l.Full, l.Unit)
	}
	seeds := make([]string, len(l.Seeds))
	for i, s := range l.Seeds {
		seeds[i] = fmt.Sprint(s)
	}
	if len(seeds) > 3 {
		seeds = append(seeds[:3], fmt.Sprintf("and %d more", len(l.Seeds)-3))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %d of %d | %d | %d | %d | %d | %s |", l.Name, l.What, asked, points, l.Run, l.Tests,
		l.Figures.Fired, l.Figures.Acked, l.Figures.Lost, int(l.Figures.Seconds), strings.Join(seeds, ", "))
}

// Header is the head of the table.
const Header = "| row | what | asked | points | tests whole | faults fired | acknowledged | lost | seconds | seeds |\n|--|--|--|--|--|--|--|--|--|--|"

// Verdict says what is wrong with the lines of the rows that were asked for; nil: nothing.
func Verdict(lines []Line, asked map[string]bool) error {
	var errs []error
	for _, l := range lines {
		if asked != nil && !asked[l.Name] {
			continue
		}
		switch {
		case len(l.Failed) > 0:
			errs = append(errs, fmt.Errorf("%s: failed: %s", l.Name, strings.Join(l.Failed, ", ")))
		case l.Tests == 0:
			errs = append(errs, fmt.Errorf("%s: there is no test", l.Name))
		case l.Run < l.Tests:
			errs = append(errs, fmt.Errorf("%s: %d of %d tests did not come to their full size", l.Name, l.Tests-l.Run, l.Tests))
		}
	}
	return errors.Join(errs...)
}
