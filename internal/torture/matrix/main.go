// Command matrix runs the matrix of proofs at its full size, in pieces if that is wanted, and prints its figures; or has the matrix find the
// deliberate faults. `make torture` and `make bugs` call it.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"rewind/internal/torture"
)

type options struct {
	rows   map[string]bool
	share  float64
	seed   uint64
	report string
	list   bool
	faults bool
	only   string
	dir    string // of the module; empty: the working directory
	flags  string // GOFLAGS for builds that can be wrong
}

func main() {
	var o options
	rows := flag.String("rows", "", "only these rows, as T1,T6")
	share := flag.String("share", "100%", "how much of the full sizes is run now; what a report has already counts for the whole")
	seed := flag.Uint64("seed", 0, "seed of the first test; 0: of the clock")
	flag.StringVar(&o.report, "report", "torture.jsonl", "file that the figures are added to, and that is gone on with")
	flag.BoolVar(&o.list, "list", false, "print what there is to run and how long it takes, and end")
	flag.BoolVar(&o.faults, "bugs", false, "have the matrix find the deliberate faults")
	flag.StringVar(&o.only, "only", "", "with -bugs: only these faults, by name")
	flag.Parse()
	err := o.set(*rows, *share, *seed)
	if err == nil {
		err = o.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix: error:", err)
		os.Exit(1)
	}
}

func (o *options) set(rows, share string, seed uint64) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	if err != nil || n <= 0 || n > 100 {
		return fmt.Errorf("share %q: from 0 to 100 %%", share)
	}
	o.share, o.seed = n/100, seed
	for row := range strings.SplitSeq(rows, ",") {
		if row == "" {
			continue
		}
		if _, ok := torture.RowOf(row); !ok {
			return fmt.Errorf("no row %q", row)
		}
		if o.rows == nil {
			o.rows = map[string]bool{}
		}
		o.rows[row] = true
	}
	return nil
}

func (o *options) run() error {
	if o.faults {
		return o.findFaults(torture.Faults)
	}
	return o.runMatrix()
}
