package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rewind/internal/kv"
)

// A peer keeps states of the tree.
type peer interface {
	name() string
	what() string                                              // one line for the reader
	forget() error                                             // removes everything it has
	first(ctx context.Context) (sample, error)                 // makes its store and takes the first state
	save(ctx context.Context) (id string, s sample, err error) // takes a state
	restore(ctx context.Context, id string) (sample, error)    // gives one back
	store() string                                             // where it keeps them; "": nowhere
	tidy(ctx context.Context, copied string) error             // gathers the garbage of a copy of the store
}

// allPeers lists the peers in the order of the report. The first is the unit, an empty process.
func allPeers(b *bench, empty, rewind string) []peer {
	quiet, tuned := quietGit(), tunedGit()
	durable := append([]string{"core.fsync=all", "core.fsyncMethod=batch"}, quiet...)
	git := func(name, what string, commit bool, conf []string) peer {
		return &gitPeer{bench: b, label: name, text: what, commit: commit, conf: conf, dir: filepath.Join(b.dir, name)}
	}
	return []peer{
		&emptyPeer{b, empty},
		git("git-tree", "git add -A; git write-tree", false, quiet),
		git("git-commit", "git add -A; git commit", true, quiet),
		git("git-tuned", "git-tree with "+strings.Join(tuned[:4], " "), false, tuned),
		git("git-fsync", "git-commit with "+strings.Join(durable[:2], " "), true, durable),
		&rewindPeer{bench: b, bin: rewind, home: filepath.Join(b.dir, "rewind-home")},
	}
}

// quietGit keeps git from a background gc, which would run during the turn of another.
func quietGit() []string { return []string{"gc.auto=0", "maintenance.auto=false"} }

// tunedGit is git as fast as settings make it.
func tunedGit() []string {
	return append([]string{"feature.manyFiles=true", "core.untrackedCache=true", "core.preloadIndex=true", "core.looseCompression=1"}, quietGit()...)
}

// emptyPeer is the unit: a Go program that does nothing.
type emptyPeer struct {
	*bench
	bin string
}

func (p *emptyPeer) name() string                                          { return "empty" }
func (p *emptyPeer) what() string                                          { return "a Go program that does nothing: the unit" }
func (p *emptyPeer) forget() error                                         { return nil }
func (p *emptyPeer) store() string                                         { return "" }
func (p *emptyPeer) tidy(context.Context, string) error                    { return nil }
func (p *emptyPeer) first(ctx context.Context) (sample, error)             { return p.act(ctx) }
func (p *emptyPeer) restore(ctx context.Context, _ string) (sample, error) { return p.act(ctx) }

func (p *emptyPeer) save(ctx context.Context) (string, sample, error) {
	s, err := p.act(ctx)
	return "", s, err
}

func (p *emptyPeer) act(ctx context.Context) (sample, error) {
	s, _, err := p.command().run(ctx, p.bin)
	return s, err
}

// gitPeer is a shadow repository: its own directory, the user's files as its worktree.
type gitPeer struct {
	*bench
	label, text string
	commit      bool
	conf        []string
	dir         string
}

func (p *gitPeer) name() string  { return p.label }
func (p *gitPeer) what() string  { return p.text }
func (p *gitPeer) forget() error { return os.RemoveAll(p.dir) }
func (p *gitPeer) store() string { return p.dir }

func (p *gitPeer) git(dir string, args ...string) []string {
	return append([]string{"git", "--git-dir=" + dir, "--work-tree=" + p.tree}, args...)
}

func (p *gitPeer) first(ctx context.Context) (sample, error) {
	c := p.command()
	sum, _, err := c.run(ctx, p.git(p.dir, "init", "-q")...)
	for _, kv := range p.conf {
		if err != nil {
			return sum, err
		}
		key, value, _ := strings.Cut(kv, "=")
		_, _, err = c.run(ctx, p.git(p.dir, "config", key, value)...) // once for ever: not timed
	}
	if err != nil {
		return sum, err
	}
	_, s, err := p.save(ctx)
	sum.add(s)
	return sum, err
}

func (p *gitPeer) save(ctx context.Context) (string, sample, error) {
	c := p.command()
	end := p.git(p.dir, "write-tree")
	if p.commit {
		end = p.git(p.dir, "commit", "-q", "--no-verify", "--allow-empty", "-m", "checkpoint")
	}
	s, out, err := c.all(ctx, p.git(p.dir, "add", "-A"), end)
	if err == nil && p.commit {
		_, out, err = c.run(ctx, p.git(p.dir, "rev-parse", "HEAD")...)
	}
	return strings.TrimSpace(out), s, err
}

func (p *gitPeer) restore(ctx context.Context, id string) (sample, error) {
	s, _, err := p.command().run(ctx, p.git(p.dir, "read-tree", "-u", "--reset", id)...)
	return s, err
}

func (p *gitPeer) tidy(ctx context.Context, copied string) error {
	_, _, err := p.command().run(ctx, p.git(copied, "gc", "-q")...)
	return err
}

// rewindPeer is the program.
type rewindPeer struct {
	*bench
	bin, home string
}

func (p *rewindPeer) name() string  { return "rewind" }
func (p *rewindPeer) what() string  { return "rewind init, save and checkout, without a daemon" }
func (p *rewindPeer) store() string { return p.home }

func (p *rewindPeer) forget() error {
	return errors.Join(os.RemoveAll(p.home), os.RemoveAll(filepath.Join(p.tree, ".agent")))
}

func (p *rewindPeer) run(ctx context.Context, into any, args ...string) (sample, error) {
	c := p.command()
	c.env = append(c.env[:len(c.env):len(c.env)], "REWIND_HOME="+p.home, "REWIND_DAEMON=off")
	s, out, err := c.run(ctx, append([]string{p.bin, "--json"}, args...)...)
	if err == nil {
		err = json.Unmarshal([]byte(out), into)
	}
	return s, err
}

// answer is the part of an answer that is looked at.
type answer struct {
	Checkpoint struct{ ID string } `json:"checkpoint"`
	Unchanged  bool                `json:"unchanged"`
	Partial    bool                `json:"partial"`
}

func (p *rewindPeer) first(ctx context.Context) (sample, error) { return p.run(ctx, &answer{}, "init") }

func (p *rewindPeer) save(ctx context.Context) (string, sample, error) {
	var a answer
	s, err := p.run(ctx, &a, "save")
	return a.Checkpoint.ID, s, err
}

func (p *rewindPeer) restore(ctx context.Context, id string) (sample, error) {
	var a answer
	s, err := p.run(ctx, &a, "checkout", id)
	if err == nil && a.Partial {
		err = fmt.Errorf("rewind checkout %s: partial", id)
	}
	return s, err
}

// tidy compacts every store.
func (p *rewindPeer) tidy(ctx context.Context, copied string) error {
	stores, err := filepath.Glob(filepath.Join(copied, "storage", "*", "format"))
	if err == nil && len(stores) != 1 {
		err = fmt.Errorf("%d stores in %s", len(stores), copied)
	}
	if err != nil {
		return err
	}
	db, err := kv.Open(ctx, filepath.Dir(stores[0]), kv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Compact(ctx), db.Close())
}
