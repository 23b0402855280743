// Command run times a floor: run first DIR, or run stat DIR. The first call warms the page cache and does not count.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"rewind/bench/floor"
)

func main() {
	threads := flag.Int("threads", 2, "how many")
	rounds := flag.Int("rounds", 3, "that count")
	flag.Parse()
	if err := run(flag.Arg(0), flag.Arg(1), *threads, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(what, dir string, threads, rounds int) error {
	tmp, err := os.MkdirTemp("", "floor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var once func() (string, error)
	switch what {
	case "first":
		once = func() (string, error) {
			t, err := floor.FirstSnapshot(dir, filepath.Join(tmp, "out"), threads)
			return fmt.Sprintf("%d files, %d bytes read, %d written", t.Files, t.Bytes, t.Stored), err
		}
	case "stat":
		known, err := floor.List(dir)
		if err != nil {
			return err
		}
		once = func() (string, error) {
			n, err := floor.StatKnown(known, threads)
			return fmt.Sprintf("%d names", n), err
		}
	default:
		return fmt.Errorf("want first or stat and a directory, not %q", what)
	}
	for i := range rounds + 1 {
		start, cpu := time.Now(), cpuTime()
		said, err := once()
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Printf("%8.1f ms, %8.1f ms of CPU  %s\n", ms(time.Since(start)), ms(cpuTime()-cpu), said)
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// cpuTime is the processor time of this process so far.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
