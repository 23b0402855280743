package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rewind/internal/torture"
)

// runMatrix runs what the report does not have yet, one test at a time, and prints the table. The error names the rows that are not whole.
func (o *options) runMatrix() error {
	tests, err := torture.Tests(".")
	if err != nil {
		return err
	}
	if o.report, err = filepath.Abs(o.report); err != nil {
		return err
	}
	done, err := torture.ReadReport(o.report)
	if err != nil {
		return err
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().Unix())
	}
	for i, w := range torture.Plan(tests, done) {
		if o.rows != nil && !o.rows[w.Row] || w.Whole() {
			continue
		}
		points := min(w.Left(), int(math.Ceil(float64(w.Size.Full)*o.share)))
		fmt.Printf("%s %s: %s, about %v\n", time.Now().Format(time.TimeOnly), w.ID(), amount(w, points), w.Estimate(points).Round(time.Second))
		if o.list {
			continue
		}
		if err := o.runTest(w, points, o.seed+uint64(i)); err != nil {
			return err
		}
	}
	if o.list {
		return nil
	}
	if done, err = torture.ReadReport(o.report); err != nil {
		return err
	}
	lines := torture.Sum(tests, done)
	fmt.Printf("\n%s\n", torture.Header)
	for _, l := range lines {
		if o.rows == nil || o.rows[l.Name] {
			fmt.Println(l)
		}
	}
	return torture.Verdict(lines, o.rows)
}

func amount(w torture.Work, points int) string {
	if w.Size.Full == 0 {
		return "all"
	}
	return fmt.Sprintf("%d of %d %s", points, w.Size.Full, w.Size.Unit)
}

// runTest runs one test in a process of its own. One that has no size does not write to the report: it is done here, a point for each of its cases.
func (o *options) runTest(w torture.Work, points int, seed uint64) error {
	before, err := torture.ReadReport(o.report)
	if err != nil {
		return err
	}
	began := time.Now()
	cmd := exec.Command("go", "test", "-count=1", "-timeout", "0", "-v", "-run", "^"+w.Name+"$", "./"+w.Package)
	cmd.Env = append(os.Environ(), torture.EnvFull+"=1", torture.EnvReport+"="+o.report, torture.EnvSeed+"="+strconv.FormatUint(seed, 10))
	if points > 0 {
		cmd.Env = append(cmd.Env, torture.EnvPoints+"="+strconv.Itoa(points))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Printf("%s\n%s: %v; to repeat: %s=%d %s=%d %s=1 go test -count=1 -run '^%s$' ./%s\n", tail(out), w.ID(), err,
			torture.EnvSeed, seed, torture.EnvPoints, points, torture.EnvFull, w.Name, w.Package)
	}
	after, rerr := torture.ReadReport(o.report)
	if rerr != nil {
		return rerr
	}
	if len(after) > len(before) { // the test has written its figures itself
		return nil
	}
	f := torture.Figures{
		Row: w.Row, Test: w.ID(), Seed: seed, Points: int64(bytes.Count(out, []byte("--- PASS"))),
		Failed: err != nil || !bytes.Contains(out, []byte("--- PASS: "+w.Name)), Seconds: time.Since(began).Seconds(),
	}
	if f.Failed && err == nil {
		fmt.Printf("%s was not run:\n%s\n", w.ID(), tail(out))
	}
	return torture.Append(o.report, f)
}

// tail is the end of what a test printed.
func tail(out []byte) string {
	const most = 6000
	if len(out) > most {
		out = out[len(out)-most:]
	}
	return strings.TrimSpace(string(out))
}
