package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"rewind/internal/torture"
)

// job is a work that is run now, or a piece of it.
type job struct {
	torture.Work
	points int // 0: it has no size
	seed   uint64
}

func (j job) amount() string {
	if j.Size.Full == 0 {
		return "all"
	}
	return fmt.Sprintf("%d of %d %s", j.points, j.Size.Full, j.Size.Unit)
}

// runMatrix runs what the reports do not have yet, and prints the table. The error names the rows that are not whole.
func (o *options) runMatrix() error {
	works, done, err := o.read()
	if err != nil {
		return err
	}
	if !o.table {
		todo := o.jobs(torture.Plan(works, done))
		if o.list {
			for _, j := range todo {
				fmt.Printf("%s: %s, about %v\n", j.ID(), j.amount(), j.Estimate(j.points).Round(time.Second))
			}
			fmt.Println(remains(todo, o.atOnce))
			return nil
		}
		if err := o.runAll(todo); err != nil {
			return err
		}
		if works, done, err = o.read(); err != nil {
			return err
		}
	}
	lines := torture.Sum(works, done)
	fmt.Printf("\n%s\n", torture.Header)
	for _, l := range lines {
		if o.rows == nil || o.rows[l.Name] {
			fmt.Println(l)
		}
	}
	if o.rows == nil || o.rows["bugs"] {
		fmt.Printf("\n%s", torture.FaultTable(done))
	}
	return torture.Verdict(lines, o.rows)
}

// read gives all that there is to run and all that was, but for what was not asked for by name.
func (o *options) read() (works []torture.Work, done []torture.Figures, err error) {
	if works, err = torture.Works(o.dir); err != nil {
		return nil, nil, err
	}
	if done, err = torture.ReadReports(o.reports...); err != nil || len(o.only) == 0 {
		return works, done, err
	}
	works = slices.DeleteFunc(works, func(w torture.Work) bool { return !slices.Contains(o.only, w.Name) })
	done = slices.DeleteFunc(done, func(f torture.Figures) bool {
		return !slices.ContainsFunc(works, func(w torture.Work) bool { return w.ID() == f.Test })
	})
	return works, done, nil
}

// jobs are what is missing of the works that were asked for.
func (o *options) jobs(works []torture.Work) (list []job) {
	for i, w := range works {
		if o.rows != nil && !o.rows[w.Row] || w.Whole() {
			continue
		}
		list = append(list, job{w, min(w.Left(), int(math.Ceil(float64(w.Size.Full)*o.share))), o.seed + uint64(i)})
	}
	return list
}

// runAll runs jobs, so many at once, in their order; each adds its figures to the first report when it ends.
func (o *options) runAll(todo []job) error {
	var (
		all   sync.WaitGroup
		apart sync.RWMutex // held for writing by what has to be alone
		mu    sync.Mutex   // of next, left and errs
		next  int
		left  = slices.Clone(todo)
		errs  error
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= len(todo) && errs == nil
	}
	for range o.atOnce {
		all.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				j := todo[i]
				lock, unlock := apart.RLock, apart.RUnlock
				if j.Alone() {
					lock, unlock = apart.Lock, apart.Unlock
				}
				lock()
				say("%d of %d %s: %s, about %v", i+1, len(todo), j.ID(), j.amount(), j.Estimate(j.points).Round(time.Second))
				f := o.runJob(j)
				unlock()
				mu.Lock()
				if err := torture.Append(o.reports[0], f); err != nil {
					errs = err
				}
				left = slices.DeleteFunc(left, func(l job) bool { return l.ID() == j.ID() })
				say("%d of %d %s: %s; %s", i+1, len(todo), j.ID(), outcome(f), remains(left, o.atOnce))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return errs
}

func say(format string, args ...any) {
	fmt.Println(time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func outcome(f torture.Figures) string {
	word := "ok"
	if f.Failed {
		word = "FAILED"
	}
	return strings.TrimSpace(fmt.Sprintf("%s in %.0f s %s", word, f.Seconds, f.Note))
}

// remains tells how much is left, and how long it takes when so much is run at once.
func remains(left []job, atOnce int) string {
	var alone, rest time.Duration
	for _, j := range left {
		if d := j.Estimate(j.points); j.Alone() {
			alone += d
		} else {
			rest += d
		}
	}
	return fmt.Sprintf("%d left, about %v", len(left), (alone + rest/time.Duration(atOnce)).Round(10*time.Second))
}
