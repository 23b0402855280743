package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// hookRows are the rows of the hook after a call of a tool: all sizes at once, so that they can be held against each other, too.
func (t *table) hookRows(ctx context.Context) error {
	for _, s := range t.sites {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	if err := t.settled(ctx); err != nil {
		return err
	}
	for _, s := range t.sites {
		if err := s.warm(ctx); err != nil {
			return err
		}
	}
	for round := range t.opt.rounds {
		if round%10 == 0 {
			t.say("hook: round %d of %d", round+1, t.opt.rounds)
		}
		for i := range t.sites {
			if err := t.sites[(i+round)%len(t.sites)].round(ctx, round, true); err != nil {
				return err
			}
		}
	}
	for _, s := range t.sites {
		if err := s.counted(ctx); err != nil {
			return err
		}
	}
	t.hookLines()
	if t.wants("memory") {
		if err := t.memoryLine(ctx); err != nil {
			return err
		}
	}
	for _, s := range t.sites {
		if err := s.verify(ctx); err != nil {
			return err
		}
		for _, r := range s.result {
			if r.Note != "" {
				t.note("%s: %s: %s", s.at(), r.Name, r.Note)
			}
			for said, n := range r.Complaints {
				t.note("%s: %s said %d times: %q", s.at(), r.Name, n, said)
			}
		}
	}
	return nil
}

const (
	emptyHook = "F: the same hook, a daemon that does nothing"
	shadowGit = "git add -A; git write-tree"
)

func (t *table) hookLines() {
	for _, s := range t.sites {
		f, one := s.times("floor"), s.times("rewind")
		if t.wants("hook") {
			t.add("hook", "hook, one file edited", s.at(), inMillis, one, emptyHook, f, within(1.5))
			if s.git != nil {
				t.add("hook", "hook, one file edited", s.at(), inMillis, one, shadowGit, s.times("git-tree"), nothing)
			}
		}
		if t.wants("unchanged") {
			t.add("unchanged", "hook, nothing changed", s.at(), inMillis, s.times("rewind-unchanged"), emptyHook, f, within(1.2))
		}
	}
	if small, large := t.sites[0], t.sites[len(t.sites)-1]; small != large && t.wants("hook") {
		t.add("hook", "the same by the size of the tree", thousands(large.n)+" beside "+thousands(small.n), inMillis, large.times("rewind"), "the hook with "+small.at(), small.times("rewind"), within(1.1))
	}
	if !t.wants("scan") {
		return
	}
	for _, s := range t.big() {
		f, scan := s.times("floor"), s.times("rewind-scan")
		if s.n < bigTree {
			t.note("hook, watcher off: skipped, no tree is large enough for it")
			return
		}
		limit := median(f) + scanCost*float64(s.stats.Files)
		t.add("scan", "hook, watcher off", s.at(), inMillis, scan, emptyHook, f, under(limit, inMillis, "<= F + 1.3 us a file"))
		t.add("scan", "hook, watcher off", s.at(), inMillis, scan, "lstat of every known file, 2 threads", s.times("stat"), nothing)
		if s.git != nil {
			t.add("scan", "hook, watcher off", s.at(), inMillis, scan, "git status", s.times("git-status"), nothing)
		}
	}
}

// scanCost is what a file may cost a hook that looks at all, in ms.
const scanCost = 1.3e-3

const maxResident = 60e6 // bytes that the daemon may have in memory

// memoryLine looks at the daemon of the largest tree when it has been left alone.
func (t *table) memoryLine(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		t.note("memory of the daemon: skipped, this system does not tell")
		return nil
	}
	s := t.sites[len(t.sites)-1]
	now, err := s.rewind.resident(ctx)
	if err != nil {
		return err
	}
	t.add("memory", "memory after hooks", s.at(), inBytes, []float64{now}, "", nil, under(maxResident, inBytes, ""))
	return nil
}

// resident is what a daemon has in memory at rest: the least within half the time that daemons are watched for.
func (w *world) resident(ctx context.Context) (float64, error) {
	pid, err := w.pid(ctx)
	if err != nil {
		return 0, err
	}
	var seen []float64
	for end := time.Now().Add(w.opt.idle / 2); ; time.Sleep(min(time.Second, w.opt.idle/2)) {
		now, _, err := memory(pid)
		if err != nil {
			return 0, fmt.Errorf("memory of the daemon: %w", err)
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if seen = append(seen, float64(now)); time.Now().After(end) {
			break
		}
	}
	return slices.Min(seen), nil
}
