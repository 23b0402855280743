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
	"rewind/bench/workload"
)

// A firstRun takes first snapshots of one tree, each by a peer that has never seen it.
type firstRun struct {
	*site
	w                   *world
	git                 *gitPeer
	mine, shadow, floor []float64
	resident            float64
	disk, tidied        workload.Disk // of the last snapshot: as it lies, and compacted
	gitDisk, gitTidied  workload.Disk
}

func (t *table) newFirstRun(s *site) *firstRun {
	f := &firstRun{site: s, w: newWorld(s.hookRun, "first")}
	f.w.tree = s.tree
	if s.git != nil {
		f.git = &gitPeer{bench: s.git.bench, label: "git-first", conf: quietGit(), dir: filepath.Join(s.dir, "git-first")}
	}
	return f
}

// forget removes what the world has of the tree.
func (f *firstRun) forget() error {
	return errors.Join(f.w.stop(), os.RemoveAll(f.w.home), f.clean())
}

// rewind sets the project up, as a user does: the daemon that it starts is part of it.
func (f *firstRun) rewindOnce(ctx context.Context, last bool) error {
	s, out, err := f.w.do(ctx, "init", "--agents", "none")
	if err != nil {
		return err
	}
	f.mine = append(f.mine, ms(s.Wall))
	var r api.InitResponse
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return err
	}
	if r.Checkpoint == nil || r.Checkpoint.Files != f.stats.Files {
		return fmt.Errorf("of %d files not all were captured: %.300s", f.stats.Files, out)
	}
	if last && runtime.GOOS == "linux" {
		if f.resident, err = f.w.resident(ctx); err != nil {
			return err
		}
	}
	if err := f.w.end(ctx); err != nil {
		return err
	}
	if same, err := f.w.isTree(ctx); err != nil || !same {
		return errors.Join(err, errors.New("the first checkpoint is not the tree"))
	}
	if last {
		f.disk, f.tidied, err = stores(ctx, &rewindPeer{bench: f.bench, home: f.w.home}, f.dir)
	}
	return errors.Join(err, f.forget())
}

func (f *firstRun) gitOnce(ctx context.Context, last bool) error {
	if f.git == nil {
		return nil
	}
	s, err := f.git.first(ctx)
	if err != nil {
		return err
	}
	f.shadow = append(f.shadow, ms(s.Wall))
	if last {
		f.gitDisk, f.gitTidied, err = stores(ctx, f.git, f.dir)
	}
	return errors.Join(err, f.git.forget())
}

func (f *firstRun) floorOnce() error {
	out := filepath.Join(f.dir, "floor.out")
	began := time.Now()
	n, err := firstFloor(f.tree, out)
	took := time.Since(began)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err == nil && n != f.stats.Files:
		err = fmt.Errorf("the floor met %d of %d files", n, f.stats.Files)
	}
	f.floor = append(f.floor, ms(took))
	return errors.Join(err, os.Remove(out))
}

const leastFirst = "floor: read, BLAKE3, zstd, no sync"

// firstRows are first snapshots: by commands as a user gives them, beside the floor and git.
func (t *table) firstRows(ctx context.Context) error {
	for _, s := range t.big() {
		if err := s.begin(ctx); err != nil {
			return err
		}
		alone := !t.wants("first") && !t.wants("packed") // only its daemon is looked at
		if alone && s != t.sites[len(t.sites)-1] {
			continue
		}
		f := t.newFirstRun(s)
		if err := errors.Join(f.clean(), t.settled(ctx)); err != nil {
			return err
		}
		n := t.opt.first
		if s.n > usualTree {
			n = max(1, n-1) // it takes minutes
		}
		for round := range n {
			t.say("first snapshot %d of %d, %s", round+1, n, s.at())
			last := round == n-1
			if alone {
				if err := f.rewindOnce(ctx, true); err != nil {
					return errors.Join(err, f.forget())
				}
				break
			}
			err := turns(ctx, round, f.floorOnce, func() error { return f.rewindOnce(ctx, last) }, func() error { return f.gitOnce(ctx, last) })
			if err != nil {
				return errors.Join(err, f.forget())
			}
		}
		t.firstLines(f, s == t.middle() || len(t.big()) == 1, s == t.sites[len(t.sites)-1])
	}
	return nil
}

func (t *table) firstLines(f *firstRun, packed, memory bool) {
	if t.wants("first") {
		t.add("first", "first snapshot", f.at(), inMillis, f.mine, leastFirst, f.floor, within(1.3))
		if f.git != nil {
			t.add("first", "first snapshot", f.at(), inMillis, f.mine, "git init; "+shadowGit, f.shadow, lessBy(6))
		}
	}
	if t.wants("packed") && packed && f.git != nil {
		du := func(d workload.Disk) []float64 { return []float64{float64(d.Blocks)} }
		t.add("packed", "disk, first snapshot", f.at(), inBytes, du(f.disk), "shadow git after git gc", du(f.gitTidied), within(1.3))
		t.add("packed", "disk, first snapshot", f.at(), inBytes, du(f.disk), "shadow git as it lies", du(f.gitDisk), nothing)
		t.add("packed", "disk, first snapshot, compacted", f.at(), inBytes, du(f.tidied), "shadow git after git gc", du(f.gitTidied), nothing)
	}
	if t.wants("memory") && memory && f.resident > 0 {
		t.add("memory", "memory after a first snapshot", f.at(), inBytes, []float64{f.resident}, "", nil, under(maxResident, inBytes, ""))
	}
}
