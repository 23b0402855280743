package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"rewind/api"
	"rewind/internal/relay"
)

// A world is a home of its own with its daemon, and a tree that it keeps.
type world struct {
	*hookRun
	home, tree string
	env        []string
}

// A daemonFact is what was seen of a daemon besides the time that it takes.
type daemonFact struct {
	Watcher   *api.Watcher  `json:"watcher,omitempty"`   // as the daemon tells; absent: it looks at every file
	Watches   int           `json:"watched_directories"` // as the system tells; -1: it does not
	Resident  int64         `json:"resident_bytes"`      // after the run; 0: this system does not tell
	Peak      int64         `json:"peak_resident_bytes"`
	Idle      time.Duration `json:"idle_cpu_ns"` // used while nothing was asked, to 10 ms
	IdleFor   time.Duration `json:"idle_for_ns"`
	Cold      []sample      `json:"cold_start"`        // no daemon, to the answer
	Single    int           `json:"single_captures"`   // checkpoints that the calls one after the other led to
	Together  int           `json:"together_captures"` // and those that came together: one capture serves all that wait
	Late      int           `json:"late"`              // of all checkpoints, taken after the answer
	Unchanged bool          `json:"newest_is_tree"`    // at the end nothing differs from the newest checkpoint
}

func newWorld(h *hookRun, label string, env ...string) *world {
	w := &world{hookRun: h, home: filepath.Join(h.dir, label, "home"), tree: filepath.Join(h.dir, label, "tree")}
	w.env = append(append(h.env[:len(h.env):len(h.env)], "REWIND_HOME="+w.home), env...)
	return w
}

func (w *world) command() command {
	return command{dir: w.tree, env: w.env, out: filepath.Join(w.dir, "output")}
}

// ask runs rewind and reads its answer.
func (w *world) ask(ctx context.Context, into any, args ...string) error {
	_, out, err := w.command().run(ctx, append([]string{w.rewind, "--json"}, args...)...)
	if err == nil {
		err = json.Unmarshal([]byte(out), into)
	}
	if err != nil {
		return fmt.Errorf("rewind %s: %w", args[0], err)
	}
	return nil
}

// start makes the tree, and the store with its first checkpoint; a daemon runs from then on.
func (w *world) start(ctx context.Context) error {
	if err := w.lay(ctx, w.tree); err != nil {
		return err
	}
	if err := w.ask(ctx, &answer{}, "init"); err != nil {
		return err
	}
	_, err := w.pid(ctx)
	return err
}

// pid is the daemon's process.
func (w *world) pid(ctx context.Context) (int, error) {
	var status struct{ Daemon api.Daemon }
	err := w.ask(ctx, &status, "daemon", "status")
	if err == nil && !status.Daemon.Running {
		err = errors.New("no daemon runs")
	}
	return status.Daemon.PID, err
}

// end ends the daemon when it has done what it has begun.
func (w *world) end(ctx context.Context) error { return w.ask(ctx, &struct{}{}, "daemon", "stop") }

// stop ends the daemon for good, of a run that was interrupted too.
func (w *world) stop() error {
	if _, err := os.Stat(w.home); err != nil {
		return nil //nolint:nilerr // it never began
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := w.end(ctx)
	socket, serr := relay.SocketPath(w.home) // of a long path it lies elsewhere
	if serr == nil {
		serr = os.RemoveAll(filepath.Dir(socket))
	}
	return errors.Join(err, serr)
}

// captures counts the checkpoints that hooks led to.
func (w *world) captures(ctx context.Context) (all, late int, err error) {
	var list api.ListResponse
	if err := w.ask(ctx, &list, "list", "--all", "--limit", "0"); err != nil {
		return 0, 0, err
	}
	for _, c := range list.Checkpoints {
		if c.Event == hookEvent {
			all++
		}
		if c.Late {
			late++
		}
	}
	return all, late, nil
}

// isTree reports whether the newest checkpoint is the tree, to a process that has never seen either.
func (w *world) isTree(ctx context.Context) (bool, error) {
	alone := *w
	alone.env = append(w.env[:len(w.env):len(w.env)], "REWIND_DAEMON=off")
	var d api.DiffResponse
	err := alone.ask(ctx, &d, "diff", "--name-only")
	return err == nil && len(d.Files) == 0, err
}

// look reads what the daemon says of itself, and what the system knows of it.
func (w *world) look(ctx context.Context, f *daemonFact) error {
	pid, err := w.pid(ctx)
	if err != nil {
		return err
	}
	var status api.StatusResponse
	if err := w.ask(ctx, &status, "status"); err != nil {
		return err
	}
	f.Watcher = status.Watcher
	if f.Watches, err = watches(pid); errors.Is(err, errors.ErrUnsupported) {
		f.Watches = -1
		return nil
	}
	if err == nil {
		f.Resident, f.Peak, err = memory(pid)
	}
	return err
}

// unwatched tells why the tree, of so many directories, is not watched; "" when it is.
func (f *daemonFact) unwatched(dirs int) string {
	switch {
	case f.Watcher == nil:
		return "no watcher: it looks at every file"
	case !f.Watcher.Healthy:
		return "the watcher is not healthy: " + f.Watcher.Reason
	case f.Watches >= 0 && f.Watches < dirs:
		return fmt.Sprintf("it watches %d directories of %d", f.Watches, dirs)
	case f.Watcher.Missed > 0:
		return fmt.Sprintf("the watcher has missed %d changes", f.Watcher.Missed)
	}
	return ""
}

// rest measures what the daemons use while nobody asks them anything.
func rest(ctx context.Context, facts map[*world]*daemonFact, wait time.Duration) error {
	if runtime.GOOS != "linux" || wait == 0 {
		return nil
	}
	begun := map[*world]time.Duration{}
	pids := map[*world]int{}
	for w := range facts {
		pid, err := w.pid(ctx)
		if err == nil {
			pids[w] = pid
			begun[w], err = cpuTime(pid)
		}
		if err != nil {
			return err
		}
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return ctx.Err()
	}
	for w, f := range facts {
		used, err := cpuTime(pids[w])
		if err != nil {
			return err
		}
		f.Idle, f.IdleFor = used-begun[w], wait
	}
	return nil
}
