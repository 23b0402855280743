package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rewind/bench/workload"
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
	corpus   string
	n        int
	first    int
	restores int
	peers    string
	rewind   string
	scratch  string
	json     string
	repo     bool

	checkpoint bool
	sizes      []int // of the trees for the operation hook, in files
	calls      int
	bursts     int
	idle       time.Duration

	tableOptions
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var ops, sizes string
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.corpus, "corpus", "", "`directory` to measure on, for the table several with the list separator between; it is copied and never changed\n(default: Go's own source, for the table the module cache too); generated:N makes a tree of N files, for checkpoint")
	f.IntVar(&o.n, "n", 15, "checkpoints, one after each edit")
	f.IntVar(&o.first, "first", 3, "first snapshots of each peer")
	f.IntVar(&o.restores, "restores", 5, "restores of each peer")
	f.StringVar(&o.peers, "peers", "", "only these peers, separated by commas")
	f.StringVar(&o.rewind, "rewind", "", "`binary` to measure, rewindd and smart-checkpoint beside it (default: built from ./cmd)")
	f.StringVar(&o.scratch, "scratch", "", "`directory` to work in, on the file system to measure (default: the system's temporary one)")
	f.StringVar(&o.json, "json", "", "write every single time to this `file` too")
	f.BoolVar(&o.repo, "repo", false, "make the tree a git repository of the user's first, as most projects are")
	f.StringVar(&ops, "ops", "table", "what is measured: table, growth, checkpoint, hook; the last two in all detail")
	o.flags(f)
	f.StringVar(&sizes, "sizes", "1k,28k,100k", "`files` of the generated trees for hook")
	f.IntVar(&o.calls, "calls", 100, "hooks, one after each edit")
	f.IntVar(&o.bursts, "bursts", 5, "how often 64 hooks are started at once")
	f.DurationVar(&o.idle, "idle", 20*time.Second, "how long daemons are watched at rest")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.n < 1 || o.first < 1 || o.restores < 0 || o.calls < 1 || o.bursts < 0 || o.idle < 0 {
		return o, errors.New("-n, -first and -calls must be at least 1, -restores, -bursts and -idle at least 0")
	}
	list, err := parseSizes(sizes)
	if err != nil {
		return o, fmt.Errorf("-sizes: %w", err)
	}
	if err := o.settle(f); err != nil {
		return o, err
	}
	for _, op := range strings.Split(ops, ",") {
		switch op {
		case "table":
			o.table = true
		case "growth":
			o.growth = true
		case "checkpoint":
			o.checkpoint = true
		case "hook":
			o.sizes = list
		default:
			return o, fmt.Errorf("-ops: no operation %q; there are table, growth, checkpoint and hook", op)
		}
	}
	return o, nil
}

// parseSizes reads numbers of files: 500, 28k.
func parseSizes(s string) (list []int, err error) {
	for _, word := range strings.Split(s, ",") {
		digits, thousands := strings.CutSuffix(word, "k")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 1_000_000 || thousands && n > 1000 {
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The real path: a peer may see through a symlink and then find another tree than the one it knows.
	base, err := filepath.EvalSymlinks(orTemp(o.scratch))
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(base, "rewind-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	b := &bench{opt: o, dir: scratch, tree: filepath.Join(scratch, "tree"), out: stdout, say: func(format string, a ...any) { fmt.Fprintf(stderr, format+"\n", a...) }}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "machine: %s\n", b.machine)
	if len(b.peers) > 0 {
		if err := b.measure(ctx); err != nil {
			return err
		}
		b.report(stdout)
	}
	for _, size := range o.sizes {
		if err := b.hooks(ctx, size); err != nil {
			return err
		}
	}
	if o.table {
		if err := b.measureTable(ctx); err != nil {
			return err
		}
	}
	if o.growth {
		if err := b.measureGrowth(ctx); err != nil {
			return err
		}
	}
	if o.svg != "" && b.tables != nil {
		if err := os.WriteFile(o.svg, b.tables.picture(), 0o644); err != nil {
			return err
		}
	}
	if o.json != "" {
		if err := b.writeJSON(o.json); err != nil {
			return err
		}
	}
	return b.failed()
}

func orTemp(dir string) string {
	if dir == "" {
		return os.TempDir()
	}
	return dir
}

// prepare builds what is run, chooses who takes part, and copies the corpus where one is needed.
func (b *bench) prepare(ctx context.Context) error {
	empty, err := b.programs(ctx)
	if err != nil {
		return err
	}
	if b.env, err = cleanEnv(filepath.Join(b.dir, "user")); err != nil {
		return err
	}
	b.machine = describe(ctx, b.dir)
	all := allPeers(b, empty, b.rewind)
	if err := b.check(append(names(all), names(hookPeers(&hookRun{bench: b}))...)); err != nil {
		return err
	}
	if !b.opt.checkpoint {
		return nil
	}
	if b.peers = pick(all, b.opt.peers); len(b.peers) == 0 {
		return nil
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	if b.opt.repo {
		return b.makeRepo(ctx)
	}
	return nil
}

// check refuses names of peers that nobody has.
func (b *bench) check(known []string) error {
	if b.opt.peers == "" {
		return nil
	}
	for _, want := range strings.Split(b.opt.peers, ",") {
		if !slices.Contains(known, want) {
			slices.Sort(known)
			return fmt.Errorf("-peers: no peer %q; there are %s", want, strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}

// load makes the tree that checkpoints are taken of.
func (b *bench) load(ctx context.Context) error {
	var err error
	b.say("copying the corpus")
	name, generated := strings.CutPrefix(b.opt.corpus, "generated:")
	switch {
	case generated:
		var n int
		if n, err = strconv.Atoi(name); err != nil || n < 1 {
			return fmt.Errorf("-corpus %s: want generated:N", b.opt.corpus)
		}
		b.corpus = fmt.Sprintf("generated tree of %d files", n)
		err = workload.Generate(ctx, b.tree, workload.Spec{Files: n, Seed: 1})
	default:
		b.corpus = b.opt.corpus
		if b.corpus == "" {
			if b.corpus, err = workload.GoSource(ctx); err != nil {
				return err
			}
		}
		err = workload.Copy(ctx, b.tree, b.corpus)
	}
	if err != nil {
		return err
	}
	if b.stats, err = workload.Measure(ctx, b.tree); err != nil {
		return err
	}
	files, err := workload.Files(b.tree)
	if err != nil {
		return err
	}
	b.exec = map[string]bool{}
	for _, f := range files {
		b.exec[f.Path] = f.Exec
	}
	b.editor, err = workload.NewEditor(b.tree, workload.Editable(files), 1)
	return err
}

// programs builds rewind and the hook's client beside it, as they are installed, the daemon that does nothing, and the empty program, whose path it
// gives.
func (b *bench) programs(ctx context.Context) (empty string, err error) {
	b.say("building")
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	empty = filepath.Join(b.dir, "empty"+suffix)
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	b.echoing = filepath.Join(b.dir, "echo"+suffix)
	if err := errors.Join(build(ctx, empty, source), build(ctx, b.echoing, "rewind/bench/floor/echo")); err != nil {
		return "", err
	}
	if b.rewind, err = filepath.Abs(b.opt.rewind); err != nil {
		return "", err
	}
	if b.opt.rewind == "" {
		b.rewind = filepath.Join(b.dir, "rewind"+suffix)
		err = build(ctx, b.rewind, "rewind/cmd/rewind")
	}
	b.client = filepath.Join(filepath.Dir(b.rewind), "smart-checkpoint"+suffix)
	if b.opt.rewind == "" && err == nil {
		err = errors.Join(build(ctx, b.client, "rewind/cmd/smart-checkpoint"), build(ctx, filepath.Join(b.dir, "rewindd"+suffix), "rewind/cmd/rewindd"))
	}
	return empty, err
}
