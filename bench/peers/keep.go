package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"rewind/api"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/relay"
)

// A keeper has a store of states of a tree. What they give are ms.
type keeper interface {
	forget()                             // removes everything it has
	first() float64                      // makes its store and takes the first state
	save() (id string, took float64)     // takes a state
	restore(id string) float64           // gives one back
	store() string                       // where it keeps them; "": nowhere
	tidy(ctx context.Context, at string) // gathers the garbage of a copy of the store
}

// stores measures a store as it lies, and a copy of it after gc or compaction.
func (b *bench) stores(k keeper) (asItLies, tidied workload.Disk) {
	copied := filepath.Join(b.dir, "copy")
	defer os.RemoveAll(copied)
	must(os.CopyFS(copied, os.DirFS(k.store())))
	k.tidy(b.ctx, copied)
	return get(workload.DiskOf(k.store(), nil)), get(workload.DiskOf(copied, nil))
}

// nobody is the unit: a program that does nothing.
type nobody struct {
	c       command
	program string
}

func (n *nobody) forget()                      {}
func (n *nobody) store() string                { return "" }
func (n *nobody) tidy(context.Context, string) {}
func (n *nobody) restore(string) float64       { return n.first() }
func (n *nobody) save() (string, float64)      { return "", n.first() }

func (n *nobody) first() float64 {
	took, _ := n.c.run(n.program)
	return took
}

// A shadow is a git repository beside the tree: its own directory, the user's files as its worktree.
type shadow struct {
	c      command
	tree   string
	dir    string
	commit bool // states are commits, not only trees
	conf   []string
}

// quietGit keeps git from a background gc, which would run during the turn of another; tunedGit is git as fast as
// settings make it.
var (
	quietGit = []string{"gc.auto=0", "maintenance.auto=false"}
	tunedGit = append([]string{"feature.manyFiles=true", "core.untrackedCache=true", "core.preloadIndex=true", "core.looseCompression=1"},
		quietGit...)
	durableGit = append([]string{"core.fsync=all", "core.fsyncMethod=batch"}, quietGit...)
)

func (g *shadow) in(dir string, args ...string) []string {
	return append([]string{"git", "--git-dir=" + dir, "--work-tree=" + g.tree}, args...)
}

func (g *shadow) run(args ...string) (float64, string) { return g.c.run(g.in(g.dir, args...)...) }

func (g *shadow) forget()                           { must(os.RemoveAll(g.dir)) }
func (g *shadow) store() string                     { return g.dir }
func (g *shadow) tidy(_ context.Context, at string) { g.c.run(g.in(at, "gc", "-q")...) }

func (g *shadow) first() float64 {
	sum, _ := g.run("init", "-q")
	for _, kv := range g.conf {
		key, value, _ := strings.Cut(kv, "=")
		g.run("config", key, value) // once for ever: not timed
	}
	_, took := g.save()
	return sum + took
}

func (g *shadow) save() (id string, took float64) {
	end := g.in(g.dir, "write-tree")
	if g.commit {
		end = g.in(g.dir, "commit", "-q", "--no-verify", "--allow-empty", "-m", "checkpoint")
	}
	took, id = g.c.all(g.in(g.dir, "add", "-A"), end)
	if g.commit {
		_, id = g.run("rev-parse", "HEAD")
	}
	return strings.TrimSpace(id), took
}

func (g *shadow) restore(id string) float64 {
	took, _ := g.run("read-tree", "-u", "--reset", id)
	return took
}

// A world is a home of its own with its daemon, and a tree that it keeps.
type world struct {
	*bench
	c          command // in the tree, with the home
	home, tree string
	least      int // checkpoints that hooks have to have led to
	most       int
}

// newWorld has its home in dir, and keeps tree.
func (b *bench) newWorld(dir, tree string, env ...string) *world {
	w := &world{bench: b, home: filepath.Join(dir, "home"), tree: tree}
	w.c = command{ctx: b.ctx, dir: tree, out: dir + ".out", env: b.env}.with(append(env, "REWIND_HOME="+w.home)...)
	return w
}

// do runs rewind as a user does at the shell.
func (w *world) do(args ...string) (float64, string) {
	return w.c.run(append([]string{w.rewind, "--json"}, args...)...)
}

// ask runs rewind and reads its answer.
func (w *world) ask(into any, args ...string) float64 {
	took, out := w.do(args...)
	must(json.Unmarshal([]byte(out), into))
	return took
}

func (w *world) store() string { return w.home }

// forget removes what the world has of the tree.
func (w *world) forget() {
	must(errors.Join(w.stop(), os.RemoveAll(w.home), os.RemoveAll(filepath.Join(w.tree, ".agent"))))
}

// first makes the store with its first checkpoint; a daemon runs from then on.
func (w *world) first() float64 {
	took, _ := w.do("init")
	return took
}

// save takes a checkpoint of the tree as it is.
func (w *world) save() (id string, took float64) {
	var a struct{ Checkpoint struct{ ID string } }
	took = w.ask(&a, "save")
	want(a.Checkpoint.ID != "", "rewind save: it gives no checkpoint")
	return a.Checkpoint.ID, took
}

func (w *world) restore(id string) float64 { return w.checkout(id) }

// checkout goes to a checkpoint at the shell.
func (w *world) checkout(id string, more ...string) float64 {
	var a struct{ Partial bool }
	took := w.ask(&a, append([]string{"checkout", id, "--code-only"}, more...)...)
	want(!a.Partial, "rewind checkout %s: partial", id)
	return took
}

// tidy compacts the one store of a home.
func (w *world) tidy(ctx context.Context, at string) {
	withStore(ctx, at, func(db *kv.DB) { must(db.Compact(ctx)) })
}

// withStore opens the one store of a home, in which no daemon runs.
func withStore(ctx context.Context, home string, fn func(*kv.DB)) {
	found := get(filepath.Glob(filepath.Join(home, "storage", "*", "format")))
	want(len(found) == 1, "%d stores in %s", len(found), home)
	db := get(kv.Open(ctx, filepath.Dir(found[0]), kv.Options{}))
	err := caught(func() { fn(db) })
	must(errors.Join(err, db.Close()))
}

// watched runs fn with the engine of a world's project and its tree watched, as in the daemon, which does not run
// meanwhile.
func (w *world) watched(fn func(*engine.Engine)) {
	w.end()
	e := get(engine.Open(w.ctx, project.Home{Dir: w.home}, w.tree, project.Options{}))
	err := caught(func() {
		must(e.Worktree.Watch())
		fn(e)
	})
	must(errors.Join(err, e.Close()))
}

// pid is the daemon's process.
func (w *world) pid() int {
	var status struct{ Daemon api.Daemon }
	w.ask(&status, "daemon", "status")
	want(status.Daemon.Running, "no daemon runs")
	return status.Daemon.PID
}

// end ends the daemon when it has done what it has begun.
func (w *world) end() { w.do("daemon", "stop") }

// stop ends the daemon for good, of a run that was interrupted too.
func (w *world) stop() error {
	if _, err := os.Stat(w.home); err != nil {
		return nil //nolint:nilerr // it never began
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	last := *w
	last.c.ctx = ctx
	err := caught(last.end)
	socket, serr := relay.SocketPath(w.home) // of a long path it lies elsewhere
	if serr == nil {
		serr = os.RemoveAll(filepath.Dir(socket))
	}
	return errors.Join(err, serr)
}

// counted holds the checkpoints that hooks led to against the edits: one for each, but for those that came together,
// and one that was late may have found the next edit too.
func (w *world) counted() {
	var list api.ListResponse
	w.ask(&list, "list", "--all", "--limit", "0")
	n, late := 0, 0
	for _, c := range list.Checkpoints {
		if c.Event == hookEvent {
			n++
		}
		if c.Late {
			late++
		}
	}
	want(n <= w.most && n >= w.least-late, "%d to %d checkpoints wanted, %d of them late, and there are %d", w.least, w.most, late, n)
}

// isTree fails unless the newest checkpoint is the tree, to a process that has never seen either.
func (w *world) isTree() {
	alone := *w
	alone.c = w.c.with("REWIND_DAEMON=off")
	var d api.DiffResponse
	alone.ask(&d, "diff", "--name-only")
	want(len(d.Files) == 0, "the newest checkpoint is not the tree")
}

// unwatched tells why the tree, of so many directories, is not watched; "" when it is. seen are those that the system
// tells of, -1 where it does not.
func unwatched(said *api.Watcher, seen, dirs int) string {
	switch {
	case said == nil:
		return "no watcher: it looks at every file"
	case !said.Healthy:
		return "the watcher is not healthy: " + said.Reason
	case seen >= 0 && seen < dirs:
		return fmt.Sprintf("it watches %d directories of %d", seen, dirs)
	case said.Missed > 0:
		return fmt.Sprintf("the watcher has missed %d changes", said.Missed)
	}
	return ""
}

// resident is what a daemon has in memory at rest: the least within half the time that daemons are watched for. Nothing
// where the system does not tell.
func (w *world) resident() series {
	if runtime.GOOS != "linux" {
		return nil
	}
	pid := w.pid()
	var seen []float64
	for end := time.Now().Add(w.opt.idle / 2); ; w.wait(min(time.Second, w.opt.idle/2)) {
		now, most := memory(pid)
		if seen = append(seen, now); time.Now().After(end) {
			return series{"rest": {slices.Min(seen)}, "most": {most}}
		}
	}
}
