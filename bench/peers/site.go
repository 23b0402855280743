package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"rewind/bench/workload"
)

// A site is a tree of one size with everything that works on it, for all rows of the table.
type site struct {
	*hookRun
	n       int // files
	started bool
	rewind  *daemonPeer
	git     *gitPeer // as fast as settings make it; nil: there is no git
}

// restTime is how long the machine is left alone after a call: what a daemon does when it has answered is not to fall into the turn of another.
const restTime = 20 * time.Millisecond

func (t *table) newSite(n int) *site {
	return t.siteOn(n, func(ctx context.Context, dir string) error { return t.corpus.Lay(ctx, dir, n) })
}

func (t *table) siteOn(n int, lay func(ctx context.Context, dir string) error) *site {
	s := &site{hookRun: t.newHookRun("site", n, lay), n: n}
	s.pause = restTime
	skip := func(name string) bool {
		switch name {
		case "rewind-scan", "git-status", "stat":
			return !t.wants("scan") || n < bigTree
		case "rewind-unchanged":
			return !t.wants("unchanged")
		}
		return false
	}
	for _, p := range hookPeers(s.hookRun) {
		if g, ok := p.(*gitHook); ok {
			if !t.has("git") {
				continue
			}
			s.git = g.gitPeer
		}
		if d, ok := p.(*daemonPeer); ok && d.name() == "rewind" {
			s.rewind = d
		}
		if !skip(p.name()) {
			s.peers = append(s.peers, p)
		}
	}
	if !skip("stat") {
		s.peers = append(s.peers, &statPeer{hookRun: s.hookRun})
		if s.git != nil {
			s.peers = append(s.peers, &statusPeer{gitHook{s.git}})
		}
	}
	return s
}

// at is the size as rows name it.
func (s *site) at() string { return thousands(s.stats.Files) + " files" }

// begin lays the tree out and starts everything, once.
func (s *site) begin(ctx context.Context) error {
	if s.started {
		return nil
	}
	s.started = true
	s.say("a tree of %s files", thousands(s.n))
	if err := s.prepare(ctx); err != nil {
		return err
	}
	s.results()
	if err := s.start(ctx); err != nil {
		return err
	}
	// Below everything works on these two.
	for _, r := range s.result {
		if (r.Name == "floor" || r.Name == "rewind") && r.Failure != "" {
			return fmt.Errorf("%s: %s: %s", s.label, r.Name, r.Failure)
		}
	}
	return nil
}

// times are one peer's in the rounds of the hook.
func (s *site) times(peer string) []float64 { return walls(s.find(peer).Calls) }

// both makes an edit in every tree that rows work on.
func (s *site) both() (workload.Edit, error) {
	ed, err := s.edit()
	if err == nil {
		err = workload.Write(s.rewind.tree, ed)
	}
	return ed, err
}

// statPeer is no process: it asks the system about every file that is known, with two threads. No scan can be faster.
type statPeer struct {
	*hookRun
	dirs []knownDir
}

func (p *statPeer) name() string { return "stat" }
func (p *statPeer) what() string {
	return "lstat of every known file by its directory's handle, 2 threads"
}
func (p *statPeer) root() string   { return p.tree }
func (p *statPeer) edits() bool    { return false }
func (p *statPeer) together() bool { return false }
func (p *statPeer) stop() error    { return nil }

func (p *statPeer) start(context.Context) (err error) {
	p.dirs, err = knownFiles(p.tree)
	return err
}

func (p *statPeer) call(context.Context, int, workload.Edit) (sample, error) {
	began := time.Now()
	n, err := statKnown(p.dirs)
	s := sample{Wall: time.Since(began)}
	if err == nil && n < p.stats.Files {
		err = fmt.Errorf("%d of %d files are known", n, p.stats.Files)
	}
	return s, err
}

// statusPeer is git's own look at every file.
type statusPeer struct{ gitHook }

func (p *statusPeer) name() string                { return "git-status" }
func (p *statusPeer) what() string                { return "git status in that shadow repository" }
func (p *statusPeer) edits() bool                 { return false }
func (p *statusPeer) start(context.Context) error { return nil }

func (p *statusPeer) call(ctx context.Context, _ int, _ workload.Edit) (sample, error) {
	s, _, err := p.command().run(ctx, p.gitPeer.git(p.dir, "status", "--porcelain")...)
	return s, err
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// empty removes what is in a tree, but for rewind's own.
func empty(tree string) error {
	names, err := os.ReadDir(tree)
	if err != nil {
		return err
	}
	for _, e := range names {
		if e.Name() == ".agent" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(tree, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// save takes a checkpoint of a world's tree as it is, untimed, and gives its id.
func (w *world) save(ctx context.Context) (string, error) {
	var a answer
	err := w.ask(ctx, &a, "save")
	if err == nil && a.Checkpoint.ID == "" {
		err = errors.New("rewind save: it gives no checkpoint")
	}
	return a.Checkpoint.ID, err
}

// do runs rewind as a user does at the shell, and times it.
func (w *world) do(ctx context.Context, args ...string) (sample, string, error) {
	return w.command().run(ctx, append([]string{w.rewind, "--json"}, args...)...)
}

// clean is the tree without anything that is being measured on it.
func (s *site) clean() error {
	return os.RemoveAll(filepath.Join(s.tree, ".agent"))
}
