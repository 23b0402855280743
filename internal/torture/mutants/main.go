// Command mutants makes random faults of one line in a package and runs the package's own tests on each. It prints
// those that no test finds. `make mutants` calls it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	o := options{dir: ".", least: 30 * time.Second, out: os.Stdout}
	flag.StringVar(&o.pkg, "pkg", "", "the package, as engine/oplog")
	flag.IntVar(&o.n, "n", 300, "how many faults are drawn")
	flag.Uint64Var(&o.seed, "seed", 0, "what the draw comes from; 0: the clock")
	flag.IntVar(&o.jobs, "jobs", 1, "faults that are built and tested side by side")
	flag.StringVar(&o.at, "at", "", "only faults in these lines, as head.go:66,head.go:71")
	flag.StringVar(&o.tests, "run", "", "only these tests, as go test -run takes them")
	flag.StringVar(&o.slow, "slow", "", "tests that run last, as go test -run takes them; not with -run")
	flag.Parse()
	if o.seed == 0 {
		o.seed = uint64(time.Now().Unix())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants: error:", err)
		os.Exit(1)
	}
}
