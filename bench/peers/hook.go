package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rewind/bench/workload"
)

// A hookRun is the operation hook on a tree of one size: the whole process that an agent waits for after a tool call.
type hookRun struct {
	*bench
	dir    string                                      // scratch of this run
	tree   string                                      // gets every edit first; so do the trees of peers that have their own
	label  string                                      // of the tree
	lay    func(ctx context.Context, dir string) error // makes a copy of the tree
	pause  time.Duration                               // after every call
	stats  workload.Stats
	editor *workload.Editor
	files  []string // to edit, one after the other
	edited int
	peers  []hookPeer
	result []*hookResult
}

// A hookResult is what one peer did.
type hookResult struct {
	Name    string      `json:"name"`
	What    string      `json:"what"`
	Calls   []sample    `json:"calls"`
	AtOnce  []sample    `json:"at_once,omitempty"` // every call of every burst
	Daemon  *daemonFact `json:"daemon,omitempty"`
	Note    string      `json:"note,omitempty"` // why it was not measured, or not as it should
	Failure string      `json:"failure,omitempty"`
	// What hooks said instead of being silent, and how often: that they could not do their work in time.
	Complaints map[string]int `json:"complaints,omitempty"`
	edits      int
	out        bool // it does not take part any more
}

const (
	warmCalls  = 5  // of each peer, before those that count
	burst      = 64 // calls at once
	editDepth  = 3  // folders above a file that is edited
	coldStarts = 3
	fewFiles   = 10 // too few to edit
)

// hooks measures a tree of size files.
func (b *bench) hooks(ctx context.Context, size int) (err error) {
	h := b.newHookRun("hook", size, func(ctx context.Context, dir string) error {
		return workload.Generate(ctx, dir, workload.Spec{Files: size, Seed: 1})
	})
	if h.peers = pick(hookPeers(h), b.opt.peers); len(h.peers) == 0 {
		return nil
	}
	defer func() { err = errors.Join(err, h.stop(), os.RemoveAll(h.dir)) }()
	b.say("hook: a tree of %d files", size)
	if err := h.prepare(ctx); err != nil {
		return err
	}
	if err := h.measure(ctx); err != nil {
		return err
	}
	h.report(b.out)
	b.hookRuns = append(b.hookRuns, h)
	return nil
}

// newHookRun is a run on a tree of so many files, which lay makes.
func (b *bench) newHookRun(kind string, files int, lay func(ctx context.Context, dir string) error) *hookRun {
	h := &hookRun{bench: b, dir: filepath.Join(b.dir, fmt.Sprintf("%s-%d", kind, files)), label: fmt.Sprintf("%d files", files), lay: lay}
	h.tree = filepath.Join(h.dir, "tree")
	return h
}

func (h *hookRun) prepare(ctx context.Context) error {
	err := h.lay(ctx, h.tree)
	if err == nil {
		h.stats, err = workload.Measure(ctx, h.tree)
	}
	if err != nil {
		return err
	}
	files, err := workload.Files(h.tree)
	if err != nil {
		return err
	}
	all := workload.Editable(files)
	if h.files = slices.DeleteFunc(slices.Clone(all), func(path string) bool { return strings.Count(path, "/") != editDepth }); len(h.files) < fewFiles {
		h.files = all // a flat tree
	}
	r := rand.New(rand.NewPCG(1, 'h'))
	r.Shuffle(len(h.files), func(i, j int) { h.files[i], h.files[j] = h.files[j], h.files[i] })
	h.editor, err = workload.NewEditor(h.tree, h.files, 1)
	return err
}

// stop ends what runs. A peer that has no part in it any more may run still.
func (h *hookRun) stop() error {
	var errs []error
	for _, p := range h.peers {
		errs = append(errs, p.stop())
	}
	return errors.Join(errs...)
}

// edit changes a line of a file that was not edited for as long as possible.
func (h *hookRun) edit() (workload.Edit, error) {
	path := h.files[h.edited%len(h.files)]
	h.edited++
	return h.editor.In(path)
}

// each calls fn for every peer that takes part, beginning with another one every round.
func (h *hookRun) each(ctx context.Context, round int, fn func(hookPeer, *hookResult) error) error {
	for i := range h.peers {
		p, r := h.peers[(i+round)%len(h.peers)], h.result[(i+round)%len(h.peers)]
		if r.out {
			continue
		}
		err := fn(p, r)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			r.Failure, r.out = err.Error(), true
			h.say("%s: %v", r.Name, err)
		}
	}
	return nil
}

func (h *hookRun) measure(ctx context.Context) error {
	h.results()
	for _, step := range []func(context.Context) error{h.start, h.warm, h.calls, h.bursts, h.rest, h.cold, h.verify} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// results makes room for what is measured.
func (h *hookRun) results() {
	for _, p := range h.peers {
		r := &hookResult{Name: p.name(), What: p.what()}
		if _, ok := p.(*daemonPeer); ok {
			r.Daemon = &daemonFact{}
		}
		h.result = append(h.result, r)
	}
}

func (h *hookRun) start(ctx context.Context) error {
	return h.each(ctx, 0, func(p hookPeer, r *hookResult) error {
		h.say("hook: starting %s", r.Name)
		return p.start(ctx)
	})
}

// warm makes the first calls, and finds out who watches.
func (h *hookRun) warm(ctx context.Context) error {
	for range warmCalls {
		if err := h.round(ctx, 0, false); err != nil {
			return err
		}
	}
	return h.each(ctx, 0, func(p hookPeer, r *hookResult) error {
		d, ok := p.(*daemonPeer)
		if !ok {
			return nil
		}
		err := d.look(ctx, r.Daemon)
		if slices.Contains(d.env, noWatcher) {
			if r.Daemon.Watches > 0 || r.Daemon.Watcher != nil {
				r.Note, r.out = noWatcher+" has no effect: skipped", true
			}
		} else {
			r.Note = r.Daemon.unwatched(h.stats.Dirs + 1)
		}
		if r.Note != "" {
			h.say("%s: %s", r.Name, r.Note)
		}
		return err
	})
}

func (h *hookRun) calls(ctx context.Context) error {
	for round := range h.opt.calls {
		if round%20 == 0 {
			h.say("hook: call %d of %d", round+1, h.opt.calls)
		}
		if err := h.round(ctx, round, true); err != nil {
			return err
		}
	}
	return h.counted(ctx)
}

// counted holds the checkpoints against the edits, one call after the other.
func (h *hookRun) counted(ctx context.Context) error {
	return h.count(ctx, func(r *hookResult, n int) error {
		r.Daemon.Single = n
		if n > r.edits || n < r.edits-r.Daemon.Late { // one that was late may have found the next edit too
			return fmt.Errorf("%d edits led to %d checkpoints", r.edits, n)
		}
		return nil
	})
}

// round lets every peer see one edit, made just before its call.
func (h *hookRun) round(ctx context.Context, round int, timed bool) error {
	ed, err := h.edit()
	if err != nil {
		return err
	}
	return h.each(ctx, round, func(p hookPeer, r *hookResult) error {
		flushDisk()
		if p.edits() {
			if err := workload.Write(p.root(), ed); err != nil {
				return err
			}
			r.edits++
		}
		s, err := p.call(ctx, 0, ed)
		if err = r.heard(err); timed && err == nil {
			r.Calls = append(r.Calls, s)
		}
		time.Sleep(h.pause)
		return err
	})
}

// bursts starts calls together, each after an edit of a file of its own.
func (h *hookRun) bursts(ctx context.Context) error {
	for round := range h.opt.bursts {
		h.say("hook: burst %d of %d", round+1, h.opt.bursts)
		eds := make([]workload.Edit, min(burst, len(h.files)))
		for i := range eds {
			var err error
			if eds[i], err = h.edit(); err != nil {
				return err
			}
		}
		err := h.each(ctx, round, func(p hookPeer, r *hookResult) error {
			if !p.together() {
				return nil
			}
			flushDisk()
			list, err := h.atOnce(ctx, p, r, eds)
			r.AtOnce = append(r.AtOnce, list...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return h.count(ctx, func(r *hookResult, n int) error {
		r.Daemon.Together = n - r.Daemon.Single
		if r.Daemon.Together < h.opt.bursts {
			return fmt.Errorf("%d bursts led to %d checkpoints", h.opt.bursts, r.Daemon.Together)
		}
		return nil
	})
}

func (h *hookRun) atOnce(ctx context.Context, p hookPeer, r *hookResult, eds []workload.Edit) ([]sample, error) {
	list, errs := make([]sample, len(eds)), make([]error, len(eds))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i, ed := range eds {
		wg.Go(func() {
			<-begin
			if errs[i] = workload.Write(p.root(), ed); errs[i] == nil {
				list[i], errs[i] = p.call(ctx, i, ed)
			}
		})
	}
	close(begin)
	wg.Wait()
	for i, err := range errs {
		errs[i] = r.heard(err)
	}
	return list, errors.Join(errs...)
}

// heard counts a complaint; other errors it passes on.
func (r *hookResult) heard(err error) error {
	var c complaint
	if !errors.As(err, &c) {
		return err
	}
	if r.Complaints == nil {
		r.Complaints = map[string]int{}
	}
	r.Complaints[string(c)]++
	return nil
}

// count tells the checkpoints of every peer that has a daemon.
func (h *hookRun) count(ctx context.Context, fn func(r *hookResult, n int) error) error {
	return h.each(ctx, 0, func(p hookPeer, r *hookResult) error {
		d, ok := p.(*daemonPeer)
		if !ok {
			return nil
		}
		n, late, err := d.captures(ctx)
		if err != nil {
			return err
		}
		r.Daemon.Late = late
		return fn(r, n)
	})
}

// rest looks at the daemons while nothing happens.
func (h *hookRun) rest(ctx context.Context) error {
	facts := map[*world]*daemonFact{}
	err := h.each(ctx, 0, func(p hookPeer, r *hookResult) error {
		d, ok := p.(*daemonPeer)
		if !ok {
			return nil
		}
		facts[d.world] = r.Daemon
		if err := d.look(ctx, r.Daemon); err != nil || slices.Contains(d.env, noWatcher) {
			return err
		}
		if r.Note == "" {
			r.Note = r.Daemon.unwatched(h.stats.Dirs + 1)
		}
		return nil
	})
	if err != nil || len(facts) == 0 {
		return err
	}
	h.say("hook: the daemons at rest")
	return rest(ctx, facts, h.opt.idle)
}

func (h *hookRun) cold(ctx context.Context) error {
	for round := range coldStarts {
		ed, err := h.edit()
		if err != nil {
			return err
		}
		err = h.each(ctx, round, func(p hookPeer, r *hookResult) error {
			d, ok := p.(*daemonPeer)
			if !ok {
				return nil
			}
			s, err := d.cold(ctx, ed)
			r.Daemon.Cold = append(r.Daemon.Cold, s)
			return r.heard(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verify ends the daemons and compares the trees with what they have kept.
func (h *hookRun) verify(ctx context.Context) error {
	err := h.count(ctx, func(r *hookResult, n int) error {
		if want := r.Daemon.Single + r.Daemon.Together + len(r.Daemon.Cold); n != want {
			return fmt.Errorf("%d checkpoints after %d cold starts, want %d", n, len(r.Daemon.Cold), want)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.each(ctx, 0, func(p hookPeer, r *hookResult) (err error) {
		if f, ok := p.(*floorPeer); ok {
			return f.verify(r.edits + len(r.AtOnce))
		}
		d, ok := p.(*daemonPeer)
		if !ok {
			return nil
		}
		if err := d.end(ctx); err != nil {
			return err
		}
		if r.Daemon.Unchanged, err = d.isTree(ctx); err == nil && !r.Daemon.Unchanged {
			err = errors.New("the newest checkpoint is not the tree")
		}
		return err
	})
}

// failed tells what makes the run a failure.
func (h *hookRun) failed() error {
	var errs []error
	for _, r := range h.result {
		if r.Failure != "" {
			errs = append(errs, fmt.Errorf("hook, %s: %s: %s", h.label, r.Name, r.Failure))
		}
	}
	return errors.Join(errs...)
}

// pick keeps the peers that were asked for, all when none was.
func pick[P interface{ name() string }](all []P, asked string) []P {
	if asked == "" {
		return all
	}
	names := strings.Split(asked, ",")
	return slices.DeleteFunc(all, func(p P) bool { return !slices.Contains(names, p.name()) })
}

func names[P interface{ name() string }](all []P) (list []string) {
	for _, p := range all {
		list = append(list, p.name())
	}
	return list
}
