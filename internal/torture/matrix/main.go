// Command matrix runs the matrix of proofs at its full size, in pieces if that is wanted, with the fuzzing and the
// deliberate faults, and prints its figures. `make torture` and `make bugs` call it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rewind/internal/torture"
)

type options struct {
	rows    map[string]bool // nil: all
	only    []string        // names of works; empty: all
	share   float64
	seed    uint64
	reports []string // the first is added to
	atOnce  int
	list    bool
	table   bool
	dir     string // of the module
}

func main() {
	o := options{dir: "."}
	rows := flag.String("rows", "", "only these rows, as T1,T6,fuzz,bugs,rest")
	only := flag.String("only", "", "only these tests, targets of fuzzing and faults, by name, as TestT9Clock,FuzzDelta")
	share := flag.String("share", "100%", "how much of the full sizes is run now; what a report has already counts for the whole")
	report := flag.String("report", "torture.jsonl", "files of figures that are gone on with, as a,b; the first is added to")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the first test; 0: of the clock")
	flag.IntVar(&o.atOnce, "jobs", 2, "tests at a time; those that others' load would disturb are alone all the same")
	flag.BoolVar(&o.list, "list", false, "print what there is to run and how long it takes, and end")
	flag.BoolVar(&o.table, "table", false, "print the table of what was run, and end")
	flag.Parse()
	err := o.set(*rows, *only, *share, *report)
	if err == nil {
		err = o.runMatrix()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix: error:", err)
		os.Exit(1)
	}
}

func (o *options) set(rows, only, share, report string) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	if err != nil || n <= 0 || n > 100 {
		return fmt.Errorf("share %q: from 0 to 100 %%", share)
	}
	o.share = n / 100
	for _, row := range words(rows) {
		if _, ok := torture.RowOf(row); !ok {
			return fmt.Errorf("no row %q", row)
		}
		if o.rows == nil {
			o.rows = map[string]bool{}
		}
		o.rows[row] = true
	}
	o.only = words(only)
	for _, file := range words(report) {
		abs, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		o.reports = append(o.reports, abs)
	}
	switch {
	case len(o.reports) == 0:
		return fmt.Errorf("report %q: no file", report)
	case o.atOnce < 1:
		return fmt.Errorf("jobs %d: at least 1", o.atOnce)
	case o.seed == 0:
		o.seed = uint64(time.Now().Unix())
	}
	return nil
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}
