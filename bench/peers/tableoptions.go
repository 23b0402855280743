package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// tableOptions are those of the table and of growth.
type tableOptions struct {
	table, growth bool
	quick, large  bool
	axisList      string
	axes          []string // of growth
	files         []int    // of the trees
	rows          []string // none: all
	svg           string
	out           string // directory for what growth keeps

	rounds     int // of hooks
	checkouts  int
	trees      int // whole trees that are laid out
	edits      int // for what one takes on disk
	history    int // checkpoints that are listed
	reads      int
	starts     int
	objects    int   // in a large store
	transcript int64 // bytes of a long conversation
	age        time.Duration

	sizeList, rowList string
}

func (o *tableOptions) flags(f *flag.FlagSet) {
	f.BoolVar(&o.quick, "quick", false, "fewer rounds, and no tree above 30,000 files: some minutes")
	f.BoolVar(&o.large, "large", false, "a tree of 1,000,000 files too; growth: sizes ten times as large. Needs 20 GB of disk")
	f.StringVar(&o.sizeList, "files", "750,28k,79k", "`files` of the trees of the table")
	f.StringVar(&o.rowList, "rows", "", "only these rows of the table, separated by commas: "+strings.Join(rowNames(), ", "))
	f.StringVar(&o.svg, "svg", "", "draw the table into this `file`")
	f.StringVar(&o.out, "out", "bench/results", "`directory` where growth keeps its figures and charts")
	f.IntVar(&o.rounds, "rounds", 40, "rounds of hooks of the table and of growth")
	f.IntVar(&o.edits, "edits", 1000, "edits for what one takes on disk")
	f.IntVar(&o.history, "history", 10_000, "checkpoints of a long history")
	f.StringVar(&o.axisList, "axes", "", "only these axes of growth, separated by commas: files, checkpoints, conversation")
	f.IntVar(&o.objects, "objects", 1_000_000, "objects of a large store")
	f.DurationVar(&o.age, "age", 3500*time.Millisecond, "how old files are before anything is measured; younger than 3 s, and they are read twice on purpose")
	f.Int64Var(&o.transcript, "transcript", 100<<20, "`bytes` of a long conversation")
}

// settle makes the options that follow from others. What was said by name stays.
func (o *tableOptions) settle(f *flag.FlagSet) (err error) {
	said := map[string]bool{}
	f.Visit(func(f *flag.Flag) { said[f.Name] = true })
	o.checkouts, o.trees, o.reads, o.starts = 20, 3, 15, 7
	if o.quick {
		o.checkouts, o.trees, o.reads, o.starts = 8, 2, 7, 3
		for name, less := range map[string]string{"rounds": "15", "edits": "300", "history": "1000", "objects": "200000", "files": "750,28k", "first": "2", "transcript": "20000000"} {
			if !said[name] {
				if err := f.Set(name, less); err != nil {
					return err
				}
			}
		}
	}
	if o.files, err = parseSizes(o.sizeList); err != nil {
		return fmt.Errorf("-files: %w", err)
	}
	if o.rowList != "" {
		o.rows = strings.Split(o.rowList, ",")
		for _, r := range o.rows {
			if !slices.Contains(rowNames(), r) {
				return fmt.Errorf("-rows: no row %q; there are %s", r, strings.Join(rowNames(), ", "))
			}
		}
		o.large = o.large || slices.Contains(o.rows, "large")
	}
	o.axes = allAxes
	if o.axisList != "" {
		o.axes = strings.Split(o.axisList, ",")
		for _, a := range o.axes {
			if !slices.Contains(allAxes, a) {
				return fmt.Errorf("-axes: no axis %q; there are %s", a, strings.Join(allAxes, ", "))
			}
		}
	}
	if o.rounds < 1 || o.edits < 1 || o.history < 10 || o.objects < 1 || o.transcript < 10_000 {
		return errors.New("-rounds, -edits and -objects must be at least 1, -history 10, -transcript 10,000")
	}
	return nil
}
