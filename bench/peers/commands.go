package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"

	"rewind/api"
	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/internal/kv"
	"rewind/objstore"
)

// checkout goes to and fro between two states of a large tree.
func (t *table) checkout(s *site) {
	sw := s.newSwing()
	rewind := part{"rewind", func(round int) float64 { return sw.goes(s.rewind, round%2) }}
	got := t.race(0, t.opt.checkouts, rewind, s.gitPart(func(round int) float64 {
		took := s.git.restore(sw.inGit[round%2])
		sw.check(s.tree, round%2)
		return took
	}))
	s.align(sw, (t.opt.checkouts-1)%2) // beside the files that differ nothing has changed, in either tree
	t.tell("checkout", fmt.Sprintf("%d of %s", len(sw.states[0]), s.at()), s.stats.Files, got)
}

// wholeTree lays out a whole tree where nothing is. git waits until what it wrote is on the disk, as rewind does before
// it says that it is done.
func (t *table) wholeTree(s *site) {
	s.settle()
	full, _ := s.saved()
	same := get(workload.HashTree(t.ctx, s.rewind.tree))
	sync := []string{"sync"}
	if runtime.GOOS == "linux" {
		sync = []string{"sync", "-f", s.tree}
	}
	got := t.race(0, t.opt.trees, part{"rewind", func(int) float64 {
		empty(s.rewind.tree)
		s.rewind.save()
		flushDisk()
		took := s.rewind.checkout(full)
		must(workload.SameTree(t.ctx, s.rewind.tree, same))
		return took
	}}, s.gitPart(func(int) float64 {
		empty(s.tree)
		flushDisk()
		took, _ := s.git.c.all(s.git.in(s.git.dir, "checkout-index", "-a"), sync)
		must(workload.SameTree(t.ctx, s.tree, same))
		return took
	}))
	t.tell("tree", s.at()+", "+inBytes.format(float64(s.stats.Bytes)), s.stats.Files, got)
}

// start is what a user waits for when no daemon runs: the command starts one, which opens the store. Once more with a
// store of many objects.
func (t *table) start(s *site) {
	t.tell("start", s.at(), 0, t.cold(s.rewind))
	dir := filepath.Join(t.dir, "objects")
	w := t.newWorld(dir, filepath.Join(dir, "tree"))
	defer func() { _ = w.stop() }()
	get(workload.BigFile(w.tree, 1))
	w.first()
	t.say("start: a store of %s objects", thousands(t.opt.objects))
	w.fill(t.opt.objects)
	t.tell("objects", thousands(t.opt.objects)+" objects", 0, t.cold(w))
}

// fill puts so many small objects into a world's store, which is compacted then.
func (w *world) fill(n int) {
	w.end()
	withStore(w.ctx, w.home, func(db *kv.DB) {
		store := objstore.New(db)
		for i := 0; i < n; {
			tx := store.Begin()
			defer tx.Discard()
			for range min(20_000, n-i) {
				i++
				get(tx.Put(objstore.Blob, fmt.Appendf(nil, "an object that nothing names, one of many: %d\n", i), objstore.ID{}))
			}
			must(tx.Commit(w.ctx, kv.Written))
		}
		must(db.Compact(w.ctx))
	})
}

func (t *table) cold(w *world) series {
	return t.race(0, t.opt.starts, part{"rewind", func(int) float64 {
		w.end()
		flushDisk()
		var l api.ListResponse
		took := w.ask(&l, "list", "--limit", "1")
		want(len(l.Checkpoints) == 1, "a cold list has %d checkpoints", len(l.Checkpoints))
		w.pid()
		return took
	}})
}

// A reading is a command that only reads, and what its answer must have behind so many checkpoints.
type reading struct {
	args  []string
	right func(a *answer, n int) bool
	git   []string // what a user would ask git; nil: the shadow repository cannot tell
}

// answer is the part that is looked at, of all that only read.
type answer struct {
	Files       []json.RawMessage
	Changes     []json.RawMessage
	Checkpoints json.RawMessage // a list, or how many
}

func (a *answer) checkpoints() (n int) {
	var list []json.RawMessage
	if json.Unmarshal(a.Checkpoints, &n) != nil && json.Unmarshal(a.Checkpoints, &list) == nil {
		n = len(list)
	}
	return n
}

var readings = []reading{
	{[]string{"diff"}, func(a *answer, _ int) bool { return len(a.Files) == 1 }, []string{"diff"}},
	{[]string{"list"}, func(a *answer, n int) bool { return a.checkpoints() >= min(n/5, 100) }, nil},
	{[]string{"show", "@~2"}, func(a *answer, _ int) bool { return len(a.Changes) == 1 }, nil},
	{[]string{"status"}, func(a *answer, n int) bool {
		return len(a.Changes) == 1 && a.checkpoints() >= n
	}, []string{"status", "--porcelain"}},
}

// read has the commands that look at a long history, with a daemon that runs.
func (t *table) read(s *site) {
	t.say("history: %d checkpoints", t.opt.history)
	s.rewind.watched(func(e *engine.Engine) { must(history.Fill(t.ctx, e, s.rewind.tree, t.opt.history, nil)) })
	s.settle()
	s.saved() // a daemon has looked at the tree from here on
	s.both()
	got := series{}
	for round := range t.opt.reads + 2 {
		for _, r := range readings {
			git := part{}
			if s.git != nil && r.git != nil {
				git = part{"git " + r.args[0], func(int) float64 {
					took, _ := s.git.run(r.git...)
					return took
				}}
			}
			t.turn(round, got.from(round, 2), part{r.args[0], func(int) float64 {
				var a answer
				took := s.rewind.ask(&a, r.args...)
				want(r.right(&a, t.opt.history), "%d files, %d changes, %d checkpoints", len(a.Files), len(a.Changes), a.checkpoints())
				return took
			}}, git)
		}
	}
	t.tell("read", fmt.Sprintf("%s, %s checkpoints", thousands(s.stats.Files), thousands(t.opt.history)), s.stats.Files, got)
}

const largeTree = 1_000_000 // files

// limits are a generated tree of a million files, where everything has to work.
func (t *table) limits(_ *site) {
	inner := &table{bench: t.bench, sites: []*site{t.generated("large", largeTree)}}
	err := caught(func() { inner.large(inner.sites[0]) })
	t.lines, t.notes = append(t.lines, inner.lines...), append(t.notes, inner.notes...)
	if stop := inner.stop(); stop != nil {
		t.say("large: %v", stop)
	}
	must(err)
}

func (t *table) large(s *site) {
	s.begin()
	s.settle()
	got := series{}
	for round := range warmCalls + max(5, t.opt.rounds/2) {
		s.round(round, got.from(round, warmCalls), s.talkers())
	}
	s.rewind.counted()
	t.tell("large", s.at(), s.stats.Files, got)
	t.memory("large memory", s, s.rewind.resident())
	sw := s.newSwing()
	works := t.race(0, 4, part{"checkout", func(round int) float64 { return sw.goes(s.rewind, round%2) }})
	s.align(sw, 1)
	t.tell("large checkout", fmt.Sprintf("%d of %s", changedFiles, s.at()), s.stats.Files, works)
	for _, args := range [][]string{{"diff"}, {"list"}, {"show", "@"}, {"status"}, {"undo"}, {"redo"}} {
		took, _ := s.rewind.do(args...)
		works[args[0]] = []float64{took}
	}
	t.tell("large works", s.at(), s.stats.Files, works)
	var status api.StatusResponse
	s.rewind.ask(&status, "status")
	right := len(status.Changes) == 0 && status.Current != nil && status.Current.Files == s.stats.Files
	want(right, "after all the tree of %d files is not as it was: %d changes", s.stats.Files, len(status.Changes))
	t.verify(s)
}
