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
	"strconv"
	"strings"
	"syscall"

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
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.corpus, "corpus", "", "`directory` to measure on; it is copied and never changed (default: Go's own source);\ngenerated:N makes a tree of N files")
	f.IntVar(&o.n, "n", 15, "checkpoints, one after each edit")
	f.IntVar(&o.first, "first", 3, "first snapshots of each peer")
	f.IntVar(&o.restores, "restores", 5, "restores of each peer")
	f.StringVar(&o.peers, "peers", "", "only these peers, separated by commas")
	f.StringVar(&o.rewind, "rewind", "", "`binary` to measure (default: built from ./cmd/rewind)")
	f.StringVar(&o.scratch, "scratch", "", "`directory` to work in, on the file system to measure (default: the system's temporary one)")
	f.StringVar(&o.json, "json", "", "write every single time to this `file` too")
	f.BoolVar(&o.repo, "repo", false, "make the tree a git repository of the user's first, as most projects are")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.n < 1 || o.first < 1 || o.restores < 0 {
		return o, errors.New("-n and -first must be at least 1, -restores at least 0")
	}
	return o, nil
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
	b := &bench{opt: o, dir: scratch, tree: filepath.Join(scratch, "tree"), say: func(format string, a ...any) { fmt.Fprintf(stderr, format+"\n", a...) }}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	b.report(stdout)
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

// prepare copies the corpus and builds what is run.
func (b *bench) prepare(ctx context.Context) error {
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
	if b.editor, err = workload.NewEditor(b.tree, workload.Editable(files), 1); err != nil {
		return err
	}
	b.say("building")
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	empty := filepath.Join(b.dir, "empty"+suffix)
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	if err := build(ctx, empty, source); err != nil {
		return err
	}
	rewind := b.opt.rewind
	if rewind == "" {
		rewind = filepath.Join(b.dir, "rewind"+suffix)
		if err := build(ctx, rewind, "rewind/cmd/rewind"); err != nil {
			return err
		}
	}
	if rewind, err = filepath.Abs(rewind); err != nil {
		return err
	}
	if b.env, err = cleanEnv(filepath.Join(b.dir, "user")); err != nil {
		return err
	}
	if b.opt.repo {
		if err := b.makeRepo(ctx); err != nil {
			return err
		}
	}
	b.machine = describe(ctx, b.dir)
	return b.choose(allPeers(b, empty, rewind))
}

// choose keeps the peers that were asked for.
func (b *bench) choose(all []peer) error {
	if b.opt.peers == "" {
		b.peers = all
		return nil
	}
	var names []string
	for _, want := range strings.Split(b.opt.peers, ",") {
		found := false
		for _, p := range all {
			if p.name() == want {
				b.peers, found = append(b.peers, p), true
			}
		}
		if !found {
			for _, p := range all {
				names = append(names, p.name())
			}
			return fmt.Errorf("-peers: no peer %q; there are %s", want, strings.Join(names, ", "))
		}
	}
	return nil
}
