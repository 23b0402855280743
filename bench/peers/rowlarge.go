package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"rewind/api"
	"rewind/bench/workload"
)

const (
	largeTree     = 1_000_000 // files
	largeResident = 1e9       // bytes that the daemon may have in memory then
)

// largeRows are the limits: a generated tree of a million files, where everything has to work.
func (t *table) largeRows(ctx context.Context) error {
	s := t.siteOn(largeTree, func(ctx context.Context, dir string) error {
		return workload.Generate(ctx, dir, workload.Spec{Files: largeTree, Seed: 1})
	})
	s.peers = s.peers[:0:0]
	for _, p := range hookPeers(s.hookRun) {
		if p.name() == "floor" || p.name() == "rewind" {
			s.peers = append(s.peers, p)
		}
		if d, ok := p.(*daemonPeer); ok && d.name() == "rewind" {
			s.rewind = d
		}
	}
	s.git = nil
	defer func(before []*site) { t.sites = before }(t.sites)
	t.sites = []*site{s}
	defer func() {
		if err := t.stop(); err != nil {
			t.say("large: %v", err)
		}
	}()
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := t.settled(ctx); err != nil {
		return err
	}
	if err := s.warm(ctx); err != nil {
		return err
	}
	for round := range max(5, t.opt.rounds/2) {
		if err := s.round(ctx, round, true); err != nil {
			return err
		}
	}
	if err := s.counted(ctx); err != nil {
		return err
	}
	t.add("large", "hook, one file edited", s.at(), inMillis, s.times("rewind"), emptyHook, s.times("floor"), within(3))
	if runtime.GOOS == "linux" {
		now, err := s.rewind.resident(ctx)
		if err != nil {
			return err
		}
		t.add("large", "memory after hooks", s.at(), inBytes, []float64{now}, "", nil, under(largeResident, inBytes, ""))
	}
	if err := t.largeWorks(ctx, s); err != nil {
		return err
	}
	if err := s.verify(ctx); err != nil {
		return err
	}
	return s.hookRun.failed()
}

// largeWorks goes through what a user does.
func (t *table) largeWorks(ctx context.Context, s *site) error {
	w := s.rewind.world
	sw, err := newSwing(s.hookRun, w.tree, func() (string, error) { return w.save(ctx) })
	if err != nil {
		return err
	}
	var times []float64
	for round := range 4 {
		took, err := w.checkout(ctx, sw.ids[round%2])
		if err := errors.Join(err, sw.check(w.tree, round%2)); err != nil {
			return err
		}
		times = append(times, ms(took.Wall))
	}
	t.add("large", "checkout of some files", fmt.Sprintf("%d of %s", changedFiles, s.at()), inMillis, times, "", nil, nothing)
	if err := s.align(ctx, sw, 1); err != nil {
		return err
	}
	for _, args := range [][]string{{"diff"}, {"list"}, {"show", "@"}, {"status"}, {"undo"}, {"redo"}} {
		took, _, err := w.do(ctx, args...)
		if err != nil {
			return err
		}
		t.add("large", args[0], s.at(), inMillis, []float64{ms(took.Wall)}, "", nil, nothing)
	}
	var status api.StatusResponse
	_, out, err := w.do(ctx, "status")
	if err == nil {
		err = json.Unmarshal([]byte(out), &status)
	}
	if err == nil && (len(status.Changes) > 0 || status.Current == nil || status.Current.Files != s.stats.Files) {
		err = fmt.Errorf("after all the tree of %d files is not as it was: %.300s", s.stats.Files, out)
	}
	return err
}
