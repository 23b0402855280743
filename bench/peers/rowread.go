package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"rewind/api"
	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/internal/kv"
	"rewind/objstore"
)

// watched runs fn with the engine of a world's project and its tree watched, as in the daemon, which does not run meanwhile.
func (w *world) watched(ctx context.Context, fn func(*engine.Engine) error) (err error) {
	if err := w.end(ctx); err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Home{Dir: w.home}, w.tree, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := e.Watch(); err != nil {
		return err
	}
	return fn(e)
}

// worked gives a world's project n checkpoints more, by the events of agents at work.
func (w *world) worked(ctx context.Context, n int) error {
	w.say("history: %d checkpoints", n)
	return w.watched(ctx, func(e *engine.Engine) error { return history.Fill(ctx, e, w.tree, n) })
}

// history gives a world's project more checkpoints of a person's, one after each edit, until there are n. Each looks at the whole tree.
func (w *world) history(ctx context.Context, files []string, n int) error {
	return w.watched(ctx, func(e *engine.Engine) error {
		list, err := e.List(ctx, engine.ListOptions{})
		if err != nil {
			return err
		}
		editor, err := workload.NewEditor(w.tree, files, 7)
		if err != nil {
			return err
		}
		for i := len(list.Checkpoints); i < n; i++ {
			if i%2000 == 0 {
				w.say("history: %d of %d checkpoints", i, n)
			}
			if _, err := editor.Next(); err != nil {
				return err
			}
			r, err := e.Save(ctx, "", "", nil)
			if err != nil {
				return err
			}
			if r.Unchanged {
				return errors.New("an edit was not saved")
			}
		}
		return nil
	})
}

// A reading is a command that only reads, and what its answer must have.
type reading struct {
	args  []string
	right func(out []byte) error
	git   []string // what a user would ask git; nil: the shadow repository cannot tell
}

func readings(n int) []reading {
	return []reading{
		{[]string{"diff"}, func(out []byte) error {
			var d api.DiffResponse
			err := json.Unmarshal(out, &d)
			if err == nil && len(d.Files) != 1 {
				err = fmt.Errorf("%d files differ, one does", len(d.Files))
			}
			return err
		}, []string{"diff"}},
		{[]string{"list"}, func(out []byte) error {
			var l api.ListResponse
			err := json.Unmarshal(out, &l)
			if want := min(n/5, 100); err == nil && len(l.Checkpoints) < want {
				err = fmt.Errorf("%d checkpoints, want %d", len(l.Checkpoints), want)
			}
			return err
		}, nil},
		{[]string{"show", "@~2"}, func(out []byte) error {
			var s api.ShowResponse
			err := json.Unmarshal(out, &s)
			if err == nil && len(s.Changes) != 1 {
				err = fmt.Errorf("%d changes, want one", len(s.Changes))
			}
			return err
		}, nil},
		{[]string{"status"}, func(out []byte) error {
			var s api.StatusResponse
			err := json.Unmarshal(out, &s)
			if err == nil && (len(s.Changes) != 1 || s.Checkpoints < n) {
				err = fmt.Errorf("%d changes and %d checkpoints, want 1 and %d", len(s.Changes), s.Checkpoints, n)
			}
			return err
		}, []string{"status", "--porcelain"}},
	}
}

// readRows are the commands that look at a long history, with a daemon that runs.
func (t *table) readRows(ctx context.Context) error {
	s := t.middle()
	if err := s.begin(ctx); err != nil {
		return err
	}
	w := s.rewind.world
	if err := w.worked(ctx, t.opt.history); err != nil {
		return err
	}
	if err := t.settled(ctx); err != nil {
		return err
	}
	if _, err := w.save(ctx); err != nil { // a daemon has looked at the tree from here on
		return err
	}
	if s.git != nil {
		if _, _, err := s.git.save(ctx); err != nil {
			return err
		}
	}
	if _, err := s.both(); err != nil {
		return err
	}
	list := readings(t.opt.history)
	mine, shadow := make([][]float64, len(list)), make([][]float64, len(list))
	for round := range t.opt.reads + 2 {
		for i, r := range list {
			own := func() error {
				took, out, err := w.do(ctx, r.args...)
				if err == nil {
					err = r.right([]byte(out))
				}
				if round >= 2 {
					mine[i] = append(mine[i], ms(took.Wall))
				}
				return err
			}
			git := func() error {
				if s.git == nil || r.git == nil {
					return nil
				}
				took, _, err := s.git.command().run(ctx, s.git.git(s.git.dir, r.git...)...)
				if round >= 2 {
					shadow[i] = append(shadow[i], ms(took.Wall))
				}
				return err
			}
			if err := turns(ctx, round, own, git); err != nil {
				return fmt.Errorf("%s: %w", r.args[0], err)
			}
		}
	}
	at := fmt.Sprintf("%s, %s checkpoints", thousands(s.stats.Files), thousands(t.opt.history))
	for i, r := range list {
		t.add("read", r.args[0], at, inMillis, mine[i], "", nil, under(50, inMillis, ""))
		if r.git != nil && s.git != nil {
			t.add("read", r.args[0], at, inMillis, mine[i], "git "+r.args[0], shadow[i], nothing)
		}
	}
	return nil
}

// startRows are what a user waits for when no daemon runs: the command starts one, which opens the store.
func (t *table) startRows(ctx context.Context) error {
	s := t.middle()
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := t.startOf(ctx, s.rewind.world, s.at(), 30); err != nil {
		return err
	}
	h := t.newHookRun("objects", 0, func(_ context.Context, dir string) error {
		_, err := workload.BigFile(dir, 1)
		return err
	})
	w := newWorld(h, "rewind")
	defer func() { _ = w.stop() }()
	if err := w.start(ctx); err != nil {
		return err
	}
	t.say("start: a store of %s objects", thousands(t.opt.objects))
	if err := w.fill(ctx, t.opt.objects); err != nil {
		return err
	}
	return t.startOf(ctx, w, thousands(t.opt.objects)+" objects", 150)
}

// fill puts so many small objects into a world's store, which is compacted then.
func (w *world) fill(ctx context.Context, n int) (err error) {
	if err := w.end(ctx); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(w.home, "storage", "*", "format"))
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("%d stores in %s", len(found), w.home))
	}
	db, err := kv.Open(ctx, filepath.Dir(found[0]), kv.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store := objstore.New(db)
	for i := 0; i < n; {
		tx := store.Begin()
		for range 20_000 {
			if i++; i > n {
				break
			}
			if _, err := tx.Put(objstore.Blob, fmt.Appendf(nil, "an object that nothing names, one of many: %d\n", i), objstore.ID{}); err != nil {
				tx.Discard()
				return err
			}
		}
		if err := tx.Commit(ctx, kv.Written); err != nil {
			return err
		}
	}
	return db.Compact(ctx)
}

func (t *table) startOf(ctx context.Context, w *world, at string, limit float64) error {
	var mine []float64
	for range t.opt.starts {
		if err := w.end(ctx); err != nil {
			return err
		}
		flushDisk()
		took, out, err := w.do(ctx, "list", "--limit", "1")
		if err != nil {
			return err
		}
		var l api.ListResponse
		if err := json.Unmarshal([]byte(out), &l); err != nil || len(l.Checkpoints) != 1 {
			return errors.Join(err, fmt.Errorf("a cold list has %d checkpoints", len(l.Checkpoints)))
		}
		if _, err := w.pid(ctx); err != nil {
			return err
		}
		mine = append(mine, ms(took.Wall))
	}
	t.add("start", "a cold daemon's first answer", at, inMillis, mine, "", nil, under(limit, inMillis, ""))
	return nil
}
