package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"time"

	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/internal/kv"
	"rewind/objstore"
)

// The shape of the store: a step edits two files, since many an agent's does and objects are to be ten a checkpoint.
const (
	stepFiles    = 2
	turnSteps    = 10
	sessionSteps = 500
	workedOn     = 5
	turnTo       = 20 // one step in so many turns to another file
)

// A clock is what the engine takes for the time. Safe for concurrent use.
type clock struct{ at atomic.Int64 }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.at.Store(at.UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

// A filled store is what was made.
type filled struct {
	Files       int           `json:"files"`
	Checkpoints int           `json:"checkpoints"`
	Objects     int           `json:"objects"`
	Disk        int64         `json:"disk_bytes"` // compacted
	Took        time.Duration `json:"took_ns"`
}

// fill makes the tree and its store: every checkpoint by the events of an agent, as its hooks send them, in this process and with a clock that runs fast: the
// history takes span and ends now.
func (b *bench) fill(ctx context.Context) (f filled, err error) {
	began := time.Now()
	b.say("a tree of %d files", b.opt.files)
	if err := workload.Generate(ctx, b.tree, workload.Spec{Files: b.opt.files, Seed: 1}); err != nil {
		return f, err
	}
	time.Sleep(4 * time.Second) // younger files are read twice
	at := newClock(began.Add(-b.opt.span))
	err = withEngine(ctx, b.home, b.tree, at, func(e *engine.Engine) error { return b.work(ctx, e, at, began) })
	if err != nil {
		return f, err
	}
	if f, err = b.count(ctx); err == nil {
		f.Files, f.Checkpoints, f.Took = b.opt.files, b.opt.checkpoints, time.Since(began)
	}
	return f, err
}

// withEngine sets a project up, if it is not yet, and has it watched, as in the daemon, which must not run.
func withEngine(ctx context.Context, home, tree string, at *clock, fn func(*engine.Engine) error) (err error) {
	e, _, err := engine.Init(ctx, engine.Home{Dir: home}, tree, engine.ModeGlobal, engine.Options{Now: at.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if _, err := e.FirstCheckpoint(ctx, nil); err != nil {
		return err
	}
	if err := e.Watch(); err != nil {
		return err
	}
	return fn(e)
}

// work makes the checkpoints.
func (b *bench) work(ctx context.Context, e *engine.Engine, at *clock, end time.Time) error {
	h, err := newHand(b.tree, 1)
	if err != nil {
		return err
	}
	a, err := history.NewAgent(e, b.tree)
	if err != nil {
		return err
	}
	step := b.opt.span / time.Duration(b.opt.checkpoints)
	for i := range b.opt.checkpoints {
		if i%(b.opt.checkpoints/20) == 0 {
			b.say("%d of %d checkpoints", i, b.opt.checkpoints)
		}
		if i%sessionSteps == 0 {
			err = a.Begin(ctx, fmt.Sprintf("5e551070-0000-4000-8000-%012x", i))
		}
		if err == nil && i%turnSteps == 0 {
			err = a.Prompt(ctx, fmt.Sprintf("change number %d", i))
		}
		if err == nil {
			err = h.step(ctx, a, stepFiles)
		}
		if err == nil && i%turnSteps == turnSteps-1 {
			err = a.Stop(ctx)
		}
		if err != nil {
			return err
		}
		at.advance(min(step, max(end.Sub(at.now()), 0)))
	}
	return nil
}

// A hand picks the files that are worked on: it comes back to the same few, and now and then turns to another.
type hand struct {
	r        *rand.Rand
	all, few []string
	editor   *workload.Editor
}

func newHand(tree string, seed uint64) (*hand, error) {
	all, err := workload.Files(tree)
	if err != nil {
		return nil, err
	}
	files := workload.Editable(all)
	editor, err := workload.NewEditor(tree, files, seed)
	if err != nil {
		return nil, err
	}
	h := &hand{r: rand.New(rand.NewPCG(seed, 'g')), all: files, editor: editor}
	for range workedOn {
		h.few = append(h.few, h.any())
	}
	return h, nil
}

func (h *hand) any() string { return h.all[h.r.IntN(len(h.all))] }

// pick gives n files.
func (h *hand) pick(n int) []string {
	if h.r.IntN(turnTo) == 0 {
		h.few[h.r.IntN(len(h.few))] = h.any()
	}
	files := make([]string, n)
	for i, k := range h.r.Perm(len(h.few))[:n] {
		files[i] = h.few[k]
	}
	return files
}

// edit changes a line of each.
func (h *hand) edit(files []string) error {
	for _, path := range files {
		if _, err := h.editor.In(path); err != nil {
			return err
		}
	}
	return nil
}

// step is a call of an agent's tool that edits some files. An edit that changes nothing, now and then, makes no checkpoint: it goes on until there is one.
func (h *hand) step(ctx context.Context, a *history.Agent, files int) error {
	for made := false; !made; {
		var err error
		paths := h.pick(files)
		if made, err = a.Edit(ctx, paths, func() error { return h.edit(paths) }); err != nil {
			return err
		}
	}
	return nil
}

// count compacts the store and counts what is in it.
func (b *bench) count(ctx context.Context) (f filled, err error) {
	store, err := storeOf(b.home)
	if err != nil {
		return f, err
	}
	db, err := kv.Open(ctx, store, kv.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Compact(ctx); err != nil {
		return f, err
	}
	err = objstore.New(db).Walk(ctx, func(objstore.Kind, objstore.Key, objstore.Info) error {
		f.Objects++
		return nil
	})
	if err != nil {
		return f, err
	}
	f.Disk, err = diskOf(store)
	return f, err
}

// storeOf finds the only store of a home.
func storeOf(home string) (string, error) {
	stores, err := filepath.Glob(filepath.Join(home, "storage", "*", "format"))
	if err != nil || len(stores) != 1 {
		return "", errors.Join(err, fmt.Errorf("%s has %d stores", home, len(stores)))
	}
	return filepath.Dir(stores[0]), nil
}

// diskOf is what a store takes of the disk, as du counts, without its ballast.
func diskOf(store string) (int64, error) {
	d, err := workload.DiskOf(store, nil)
	return d.Blocks, err
}
