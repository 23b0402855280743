package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"rewind/bench/workload"
)

// A table is the run that holds the program against what it has to reach: a line for each claim, whole processes, on trees of real files.
type table struct {
	*bench
	corpus *workload.Corpus
	sites  []*site // by size; made when a row needs them
	lines  []line
	notes  []string // what the reader has to know besides
	broken []error  // of trees that are gone
}

// A rowStep measures the lines of one name of -rows.
type rowStep struct {
	name string
	run  func(*table, context.Context) error
}

// rowSteps are all rows in the order in which they are measured. Those of the hook share one run.
var rowSteps = []rowStep{
	{"hook", (*table).hookRows},
	{"unchanged", nil},
	{"scan", nil},
	{"memory", nil},
	{"checkout", (*table).checkoutRows},
	{"tree", (*table).treeRow},
	{"start", (*table).startRows},
	{"read", (*table).readRows},
	{"prompt", (*table).promptRow}, // after the checkouts: with a second session at work they would have to say which one goes back
	{"first", (*table).firstRows},
	{"packed", nil},
	{"edits", (*table).editRows},
	{"large", (*table).largeRows},
}

// sharing are the rows that are measured with the first.
var sharing = map[string][]string{"hook": {"unchanged", "scan", "memory"}, "first": {"packed", "memory"}}

func rowNames() (list []string) {
	for _, s := range rowSteps {
		list = append(list, s.name)
	}
	return list
}

// wants reports whether a row was asked for.
func (b *bench) wants(row string) bool {
	if row == "large" {
		return b.opt.large
	}
	return len(b.opt.rows) == 0 || slices.Contains(b.opt.rows, row)
}

func (b *bench) wantsAny(row string) bool {
	return b.wants(row) || slices.ContainsFunc(sharing[row], b.wants)
}

// measureTable measures all rows that were asked for, and prints them.
func (b *bench) measureTable(ctx context.Context) (err error) {
	t := &table{bench: b}
	b.tables = t
	defer func() { err = errors.Join(err, t.stop()) }()
	if err := t.assemble(ctx); err != nil {
		return err
	}
	if !t.has("git") {
		t.note("git is not here: what is beside it is skipped")
	}
	for _, step := range rowSteps {
		if step.run == nil || !b.wantsAny(step.name) {
			continue
		}
		began := time.Now()
		if err := step.run(t, ctx); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			b.say("%s: %v", step.name, err)
			t.lines = append(t.lines, line{Row: step.name, What: step.name, Failure: err.Error()})
			if err := t.renew(); err != nil {
				return err
			}
		}
		b.say("%s took %v", step.name, time.Since(began).Round(time.Second))
	}
	t.report(b.out)
	return nil
}

func (t *table) note(format string, a ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, a...))
	t.say(format, a...)
}

// assemble chooses the files of all trees.
func (t *table) assemble(ctx context.Context) error {
	roots := filepath.SplitList(t.opt.corpus)
	if len(roots) == 0 {
		var err error
		if roots, err = workload.DefaultCorpus(ctx); err != nil {
			return err
		}
	}
	t.say("reading the corpus")
	var err error
	if t.corpus, err = workload.Assemble(ctx, roots, slices.Max(t.opt.files)); err != nil {
		return err
	}
	t.note("corpus: %s", t.corpus)
	if t.corpus.Len() == 0 {
		return errors.New("the corpus has no files")
	}
	for _, n := range slices.Sorted(slices.Values(t.opt.files)) {
		have := t.corpus.Len()
		if n > have {
			t.note("the corpus has no %s distinct files: %s instead", thousands(n), thousands(have))
			n = have
		}
		if len(t.sites) > 0 && t.sites[len(t.sites)-1].n == n {
			continue
		}
		t.sites = append(t.sites, t.newSite(n))
	}
	return nil
}

// big are the trees where looking at every file would be felt.
func (t *table) big() []*site {
	var list []*site
	for _, s := range t.sites {
		if s.n >= bigTree {
			list = append(list, s)
		}
	}
	if list == nil {
		list = t.sites[len(t.sites)-1:]
	}
	return list
}

// middle is the tree for rows that are measured on one: the largest that is no more than usual.
func (t *table) middle() *site {
	s := t.sites[0]
	for _, other := range t.sites {
		if other.n <= usualTree {
			s = other
		}
	}
	return s
}

const (
	bigTree   = 10_000 // files
	usualTree = 30_000
)

// settled waits until files are so old that nobody has to read them twice: one that was written in the last moments may be written again without its
// time telling.
func (t *table) settled(ctx context.Context) error {
	flushDisk()
	select {
	case <-time.After(t.opt.age):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// turns calls the parts of a round, beginning with another one every round, with everything unwritten flushed before.
func turns(ctx context.Context, round int, parts ...func() error) error {
	for i := range parts {
		flushDisk()
		if err := parts[(i+round)%len(parts)](); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// has tells whether a program that a peer needs is here.
func (t *table) has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// stop ends everything that runs.
func (t *table) stop() error {
	var errs []error
	for _, s := range t.sites {
		errs = append(errs, s.hookRun.stop(), os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// renew gives the rows that come new trees: what a row that failed has left behind is nobody's.
func (t *table) renew() error {
	for _, s := range t.sites {
		t.broken = append(t.broken, s.hookRun.failed())
	}
	err := t.stop()
	for i, s := range t.sites {
		t.sites[i] = t.newSite(s.n)
	}
	return err
}

// failed tells what makes the run a failure: a result that is not right. What is right and slow is none.
func (t *table) failed() error {
	errs := t.broken
	for _, s := range t.sites {
		errs = append(errs, s.hookRun.failed())
	}
	for _, l := range t.lines {
		if l.Failure != "" {
			errs = append(errs, fmt.Errorf("%s: %s", strings.TrimSpace(l.What+" "+l.At), l.Failure))
		}
	}
	return errors.Join(errs...)
}

// threads is what floors work with.
func threads() int { return min(2, runtime.NumCPU()) }
