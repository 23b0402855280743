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
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "gc:", err)
		}
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	ops                []string
	files, checkpoints int
	span               time.Duration
	hooks, calls       int
	repo               string
	days, daily        int
	scratch, keep, at  string
	json, profile      string
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	var ops string
	f := flag.NewFlagSet("gc", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&ops, "ops", "", "what is measured, of store, replay and collect; default: store, and replay if there is a -repo")
	f.IntVar(&o.files, "files", 2000, "`files` of the tree")
	f.IntVar(&o.checkpoints, "checkpoints", 100_000, "how many the store has; each has about ten objects")
	f.DurationVar(&o.span, "span", 180*24*time.Hour, "how long the history took; gc removes the older half")
	f.IntVar(&o.hooks, "hooks", 200, "hooks before and after gc")
	f.IntVar(&o.calls, "calls", 30, "calls of each command")
	f.StringVar(&o.repo, "repo", "", "git `repository` whose history is replayed; it is only read")
	f.IntVar(&o.days, "days", 30, "how long the replay takes")
	f.IntVar(&o.daily, "daily", 500, "checkpoints a day of it")
	f.StringVar(&o.scratch, "scratch", "", "`directory` to work in, on the file system to measure (default: the system's temporary one)")
	f.StringVar(&o.keep, "keep", "", "make the store in this `directory`, and leave it there")
	f.StringVar(&o.at, "at", "", "measure the store that was kept in this `directory`")
	f.StringVar(&o.json, "json", "", "write the figures to this `file` too, beside those of other operations that it has")
	f.StringVar(&o.profile, "profile", "", "`directory` for profiles of gc, of collect and replay")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.files < 10 || o.checkpoints < 100 || o.hooks < 1 || o.calls < 1 || o.days < 1 || o.daily < 1:
		return o, errors.New("-files must be at least 10, -checkpoints 100, the other numbers 1")
	case o.keep != "" && o.at != "":
		return o, errors.New("-keep and -at exclude each other")
	}
	switch {
	case ops != "":
		o.ops = strings.Split(ops, ",")
	case o.repo != "":
		o.ops = []string{"store", "replay"}
	default:
		o.ops = []string{"store"}
	}
	return o, nil
}

// bench is one run.
type bench struct {
	opt        options
	dir        string // scratch
	home, tree string // of the store that was made
	rewind     string // the programs
	client     string
	say        func(format string, a ...any)
	found      figures
}

func run(args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	base, err := filepath.EvalSymlinks(or(o.scratch, os.TempDir()))
	if err != nil {
		return err
	}
	b := &bench{opt: o, say: func(format string, a ...any) {
		fmt.Fprintf(stderr, time.Now().Format("15:04:05 ")+format+"\n", a...)
	}}
	if b.dir, err = os.MkdirTemp(base, "rewind-gc-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if o.json != "" {
		if err := b.found.read(o.json); err != nil {
			return err
		}
	}
	b.found.Machine = describe()
	for _, op := range o.ops {
		if err := b.measure(ctx, op); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	b.found.print(stdout, o.ops)
	if o.json == "" {
		return nil
	}
	out, err := json.MarshalIndent(b.found, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(out, '\n'), 0o644)
}

func (b *bench) measure(ctx context.Context, op string) error {
	measures := map[string]func(context.Context) error{"store": b.measureStore, "collect": b.profileCollect, "replay": b.measureReplay}
	fn := measures[op]
	if fn == nil {
		return errors.New("there are store, replay and collect")
	}
	if op == "replay" {
		return fn(ctx)
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	return fn(ctx)
}

// prepare makes the store, or takes the one that is there.
func (b *bench) prepare(ctx context.Context) error {
	if b.home != "" {
		return nil
	}
	dir := or(b.opt.at, or(b.opt.keep, b.dir))
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	b.home, b.tree = filepath.Join(dir, "home"), filepath.Join(dir, "tree")
	made := filepath.Join(dir, "made.json")
	if b.opt.at != "" {
		raw, err := os.ReadFile(made)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &b.found.Made)
	}
	if b.found.Made, err = b.fill(ctx); err != nil {
		return err
	}
	raw, err := json.Marshal(b.found.Made)
	if err != nil {
		return err
	}
	return os.WriteFile(made, raw, 0o600)
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// median of times; 0: there are none.
func median(d []time.Duration) time.Duration { return quantile(d, 50) }

// quantile gives the time that so many of a hundred do not exceed.
func quantile(d []time.Duration, percent int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[min(len(d)*percent/100, len(d)-1)]
}
