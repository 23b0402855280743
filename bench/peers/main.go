// Command peers runs rewind beside what a user would pick instead, a shadow git repository as other tools keep one, on
// the same tree and the same edits in one run: hooks of an agent, commands, stores. Whole processes are timed, in an
// order that turns by one every round, so that a ratio of two of them travels to other machines although a time does
// not.
//
// The measurements are data (rows.go). A stage names the trees on which it runs, and gives the values of all
// participants, each under a name. A claim says which of these are compared, and which ratio must be reached. There is
// one way to take turns (race.go).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "peers:", err)
		}
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	corpus, rewind, scratch string
	json, svg, draw, out    string
	table, growth           bool
	quick, large, repo      bool
	files                   []int // of the trees
	rows, axes              []string

	rounds, bursts, n, first, restores, edits, history, objects, checkpoints int
	transcript                                                               int64
	idle, age                                                                time.Duration
	checkouts, trees, reads, starts                                          int // less with -quick
}

// less are the options that -quick has where they are not said.
var less = map[string]string{
	"rounds": "15", "edits": "300", "history": "1000", "objects": "200000", "files": "750,28k", "first": "2",
	"transcript": "20000000",
}

// setUnsaid sets the flags that the command line does not have.
func setUnsaid(f *flag.FlagSet, values map[string]string) error {
	said := map[string]bool{}
	f.Visit(func(f *flag.Flag) { said[f.Name] = true })
	for name, value := range values {
		if said[name] {
			continue
		}
		if err := f.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// tooLow says which numbers nothing could be measured with.
func (o options) tooLow() error {
	if min(o.restores, o.bursts, int(o.idle)) < 0 || min(o.n, o.first, o.rounds, o.edits, o.objects) < 1 {
		return errors.New("-n, -first, -rounds, -edits and -objects must be at least 1, -restores, -bursts and -idle 0")
	}
	if o.history < 10 || o.checkpoints < 100 || o.transcript < 10_000 {
		return errors.New("-history must be at least 10, -checkpoints 100, -transcript 10,000")
	}
	return nil
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	var ops, sizes, rows, axes string
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.corpus, "corpus", "",
		"`directory` that the trees are made of, several with the list separator between; it is copied and never"+
			" changed\n(default: Go's own source and the module cache); generated: files from a seed")
	f.StringVar(&o.rewind, "rewind", "",
		"`binary` to measure, rewindd and smart-checkpoint beside it (default: built from ./cmd)")
	f.StringVar(&o.scratch, "scratch", os.TempDir(), "`directory` to work in, on the file system to measure")
	f.StringVar(&o.json, "json", "", "write every single value to this `file` too")
	f.StringVar(&o.svg, "svg", "", "draw the table into this `file`")
	f.StringVar(&o.draw, "draw", "",
		"measure nothing: draw the table of this `file`, which -json has written, into -svg")
	f.StringVar(&o.out, "out", "bench/results", "`directory` where growth keeps its figures")
	f.StringVar(&ops, "ops", "table", "what is measured: table, growth")
	f.StringVar(&sizes, "files", "750,28k,79k", "`files` of the trees of the table")
	f.StringVar(&rows, "rows", "", "only these rows of the table, separated by commas: "+strings.Join(rowNames(), ", ")+
		"\n(default: all but "+strings.Join(asked, ", ")+")")
	f.StringVar(&axes, "axes", "", "only these axes of growth, separated by commas: "+strings.Join(allAxes, ", "))
	f.BoolVar(&o.quick, "quick", false, "fewer rounds, and no tree above 30,000 files: some minutes")
	f.BoolVar(&o.large, "large", false,
		"a tree of 1,000,000 files too; growth: sizes ten times as large. Needs 20 GB of disk")
	f.BoolVar(&o.repo, "repo", false,
		"commands: make the tree a git repository of the user's first, as most projects are")
	f.IntVar(&o.rounds, "rounds", 40, "rounds of hooks of the table and of growth")
	f.IntVar(&o.bursts, "bursts", 5, "daemon: how often 64 hooks are started at once")
	f.IntVar(&o.n, "n", 15, "commands: checkpoints, one after each edit")
	f.IntVar(&o.first, "first", 3, "first snapshots of each peer")
	f.IntVar(&o.restores, "restores", 5, "commands: restores of each peer")
	f.IntVar(&o.edits, "edits", 1000, "edits for what one takes on disk")
	f.IntVar(&o.history, "history", 10_000, "checkpoints of a long history")
	f.IntVar(&o.objects, "objects", 1_000_000, "objects of a large store")
	f.IntVar(&o.checkpoints, "checkpoints", 100_000, "gc: how many the store has, of half a year")
	f.Int64Var(&o.transcript, "transcript", 100<<20, "`bytes` of a long conversation")
	f.DurationVar(&o.idle, "idle", 20*time.Second, "how long daemons are watched at rest")
	f.DurationVar(&o.age, "age", 3500*time.Millisecond,
		"how old files are before anything is measured; younger than 3 s, and they are read twice on purpose")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	o.checkouts, o.trees, o.reads, o.starts = 20, 3, 15, 7
	if o.quick {
		o.checkouts, o.trees, o.reads, o.starts = 8, 2, 7, 3
		if err := setUnsaid(f, less); err != nil {
			return o, err
		}
	}
	if err := o.tooLow(); err != nil {
		return o, err
	}
	if o.draw != "" && o.svg == "" {
		return o, errors.New("-draw needs -svg")
	}
	if o.files, err = parseSizes(sizes); err != nil {
		return o, fmt.Errorf("-files: %w", err)
	}
	if o.rows, err = choose("rows", rows, rowNames()); err != nil {
		return o, err
	}
	o.large = o.large || slices.Contains(o.rows, "large")
	if o.axes, err = choose("axes", axes, allAxes); err != nil {
		return o, err
	}
	which, err := choose("ops", ops, []string{"table", "growth"})
	o.table, o.growth = slices.Contains(which, "table"), slices.Contains(which, "growth")
	return o, err
}

// choose splits a list of names, each of which there must be; none for an empty one.
func choose(flag, list string, from []string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, n := range names {
		if !slices.Contains(from, n) {
			return nil, fmt.Errorf("-%s: no %q; there are %s", flag, n, strings.Join(from, ", "))
		}
	}
	return names, nil
}

// parseSizes reads numbers of files: 500, 28k.
func parseSizes(s string) (list []int, err error) {
	for _, word := range strings.Split(s, ",") {
		digits, thousands := strings.CutSuffix(word, "k")
		n, err := strconv.Atoi(digits)
		most := 1_000_000
		if thousands {
			most = 1000
		}
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("%q: want numbers of files such as 500 or 28k", s)
		}
		if thousands {
			n *= 1000
		}
		list = append(list, n)
	}
	return list, nil
}

func run(args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.draw != "" {
		return draw(o.draw, o.svg)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The real path: a peer may see through a symlink and then find another tree than the one it knows.
	base, err := filepath.EvalSymlinks(o.scratch)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(base, "rewind-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	b := &bench{
		ctx: ctx, opt: o, dir: scratch, out: stdout,
		say: func(format string, a ...any) { fmt.Fprintf(stderr, format+"\n", a...) },
	}
	if err := caught(b.prepare); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "machine: %s\n", b.machine)
	t := &table{bench: b}
	if o.table {
		if err := t.measure(); err != nil {
			return err
		}
		if o.svg != "" {
			if err := os.WriteFile(o.svg, t.picture(), 0o644); err != nil {
				return err
			}
		}
	}
	if o.growth {
		if err := caught(b.measureGrowth); err != nil {
			return err
		}
	}
	if o.json != "" {
		if err := writeJSON(o.json, kept{b.machine, t.lines, t.notes}); err != nil {
			return err
		}
	}
	return t.failed()
}

// kept is what a file of the table has.
type kept struct {
	Machine machine  `json:"machine"`
	Table   []line   `json:"table,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

func writeJSON(path string, v any) error {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(out, '\n'), 0o644)
}

// draw makes the picture of a table that was measured before.
func draw(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	t := &table{bench: &bench{machine: k.Machine}, lines: k.Table}
	return os.WriteFile(to, t.picture(), 0o644)
}

// A bench is one run.
type bench struct {
	ctx     context.Context // ends when it is interrupted
	opt     options
	dir     string // scratch: everything that is written lies here
	env     []string
	machine machine
	say     func(format string, a ...any)
	out     io.Writer // of the report

	rewind, client string // what is measured: the program, and what agents' hooks call
	echoing, empty string // the daemon and the program that do nothing
}

// prepare builds what is run: rewind and the programs beside it, as they are installed, and those that do nothing.
func (b *bench) prepare() {
	b.say("building")
	b.empty, b.echoing, b.rewind = filepath.Join(b.dir, "empty"), filepath.Join(b.dir, "echo"),
		get(filepath.Abs(b.opt.rewind))
	source := filepath.Join(b.dir, "empty.go")
	must(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	programs := map[string]string{b.empty: source, b.echoing: "rewind/bench/floor/echo"}
	if b.opt.rewind == "" {
		b.rewind = filepath.Join(b.dir, "rewind")
		for _, name := range []string{"rewind", "rewindd", "smart-checkpoint"} {
			programs[filepath.Join(b.dir, name)] = "rewind/cmd/" + name
		}
	}
	b.client = filepath.Join(filepath.Dir(b.rewind), "smart-checkpoint")
	for to, source := range programs {
		must(build(b.ctx, to, source))
	}
	b.env = get(cleanEnv(filepath.Join(b.dir, "user")))
	b.machine = describe(b.ctx, b.dir)
}
