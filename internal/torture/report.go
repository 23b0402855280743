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
)

// ReadReports reads the figures of report files; one that is not there has none.
func ReadReports(files ...string) ([]Figures, error) {
	var all []Figures
	for _, file := range files {
		list, err := readReport(file)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func readReport(file string) ([]Figures, error) {
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
func Sum(works []Work, done []Figures) []Line {
	work := Plan(works, done)
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
				l.Failed = append(l.Failed, strings.TrimSpace(f.Test+" "+f.Note))
			}
			if f.Unit == r.Unit {
				l.Figures.Points += f.Points
			}
			l.Figures.Fired, l.Figures.Acked, l.Figures.Lost = l.Figures.Fired+f.Fired, l.Figures.Acked+f.Acked,
				l.Figures.Lost+f.Lost
			l.Figures.Seconds += f.Seconds
			l.Figures.Execs += f.Execs
			if f.Unit != "" && f.Seed != 0 && !slices.Contains(l.Seeds, f.Seed) {
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
	} else if l.Figures.Execs > 0 {
		points = fmt.Sprintf("all, %d executions", l.Figures.Execs)
	}
	seeds := make([]string, len(l.Seeds))
	for i, s := range l.Seeds {
		seeds[i] = fmt.Sprint(s)
	}
	if len(seeds) > 3 {
		seeds = append(seeds[:3], fmt.Sprintf("and %d more", len(l.Seeds)-3))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %d of %d | %d | %d | %d | %d | %s |", l.Name, l.What, asked, points,
		l.Run, l.Tests,
		l.Figures.Fired, l.Figures.Acked, l.Figures.Lost, int(l.Figures.Seconds), strings.Join(seeds, ", "))
}

// Header is the head of the table.
const Header = "| row | what | asked | points | tests whole | faults fired | acknowledged | lost | seconds | seeds |\n" +
	"|--|--|--|--|--|--|--|--|--|--|"

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
			errs = append(errs,
				fmt.Errorf("%s: %d of %d tests did not come to their full size", l.Name, l.Tests-l.Run, l.Tests))
		}
	}
	return errors.Join(errs...)
}

// FaultTable is a table of the deliberate faults that the figures have, in the order of the list; empty if they have
// none.
func FaultTable(done []Figures) string {
	var b strings.Builder
	for _, fault := range Faults {
		for _, f := range done {
			if f.Row != "bugs" || f.Test != fault.Package+"."+fault.Name {
				continue
			}
			found := fmt.Sprintf("`%s` (%s)", f.Note, fault.Package)
			if f.Failed {
				found = "**nothing**"
			}
			if b.Len() == 0 {
				b.WriteString("| fault | what is wrong | promise | found by | s |\n|--|--|--|--|--|\n")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %.0f |\n", fault.Name, fault.What, fault.Promise, found, f.Seconds)
		}
	}
	return b.String()
}
