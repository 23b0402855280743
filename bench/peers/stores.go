package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewind/api"
	"rewind/bench/floor"
	"rewind/bench/workload"
)

// first are first snapshots of a large tree: by commands as a user gives them, beside the floor and git, each by a peer
// that has never seen it.
func (t *table) first(s *site) {
	alone := !t.wants("first") && !t.wants("packed") // only the daemon is looked at
	if alone && s != t.last() {
		return
	}
	w := t.newWorld(filepath.Join(s.dir, "first"), s.tree)
	defer func() { _ = w.stop() }()
	git := s.shadow("git-first", quietGit)
	must(os.RemoveAll(filepath.Join(s.tree, ".agent")))
	s.settle()
	n := t.opt.first
	if s.n > usualTree {
		n = max(1, n-1) // it takes minutes
	}
	var memory series
	disk := series{}
	keep := func(k keeper, name string, round int) {
		if round == n-1 {
			lies, tidied := t.stores(k)
			disk[name], disk[name+" gc"] = []float64{float64(lies.Blocks)}, []float64{float64(tidied.Blocks)}
		}
		k.forget()
	}
	parts := []part{{"floor", func(int) float64 {
		out := filepath.Join(s.dir, "floor.out")
		began := time.Now()
		met := get(floor.FirstSnapshot(s.tree, out, threads()))
		took := ms(time.Since(began))
		want(met.Files == s.stats.Files, "it met %d of %d files", met.Files, s.stats.Files)
		must(os.Remove(out))
		return took
	}}, {"rewind", func(round int) float64 { // the daemon that it starts is part of it
		var r api.InitResponse
		took := w.ask(&r, "init", "--agents", "none")
		want(r.Checkpoint != nil && r.Checkpoint.Files == s.stats.Files, "of %d files not all were captured", s.stats.Files)
		if round == n-1 {
			memory = w.resident()
		}
		w.end()
		w.isTree()
		keep(w, "rewind", round)
		return took
	}}, s.gitPart(func(round int) float64 {
		took := git.first()
		keep(git, "git", round)
		return took
	})}
	if alone {
		n, parts = 1, parts[1:2]
	}
	t.tell("first", s.at(), s.stats.Files, t.race(0, n, parts...))
	if s == t.middle()[0] || len(t.big()) == 1 {
		t.tell("packed", s.at(), s.stats.Files, disk)
	}
	if s == t.last() && memory != nil {
		t.tell("first memory", s.at(), s.stats.Files, memory)
	}
}

// oneLine is what a checkpoint of a one-line edit costs on disk: of a file of 100 KiB three folders deep, again and
// again.
func (t *table) oneLine(_ *site) {
	s := t.generated("edits", 0)
	w := t.newWorld(filepath.Join(s.dir, "rewind"), s.tree)
	defer func() { _ = w.stop() }()
	git := s.shadow("git", quietGit)
	git.commit = true
	keepers := map[string]keeper{"rewind": w}
	if t.hasGit() {
		keepers["git"] = git
	}
	file := get(workload.BigFile(s.tree, 1))
	for _, k := range keepers {
		k.first()
	}
	measure := func() map[string]workload.Disk {
		w.end()
		sizes := map[string]workload.Disk{}
		for name, k := range keepers {
			sizes[name], sizes[name+" gc"] = t.stores(k)
		}
		return sizes
	}
	before := measure()
	editor := get(workload.NewEditor(s.tree, []string{file}, 1))
	some := map[string]workload.Edit{}
	for i := range t.opt.edits {
		if i%200 == 0 {
			t.say("edits: %d of %d", i+1, t.opt.edits)
		}
		ed := get(editor.Next())
		for name, k := range keepers {
			if id, _ := k.save(); name == "rewind" && i%max(1, t.opt.edits/5) == 0 {
				some[id] = ed
			}
		}
	}
	got := series{}
	for name, size := range measure() {
		got[name] = []float64{float64(size.Sub(before[name]).Blocks) / float64(t.opt.edits)}
	}
	// There is a checkpoint for every edit, and those that were looked out can be read.
	var list api.ListResponse
	w.ask(&list, "list", "--all", "--limit", "0")
	want(len(list.Checkpoints) == t.opt.edits+1, "%d edits led to %d checkpoints", t.opt.edits, len(list.Checkpoints)-1)
	if keepers["git"] != nil {
		_, out := git.run("rev-list", "--count", "HEAD")
		want(strings.TrimSpace(out) == fmt.Sprint(t.opt.edits+1), "%d edits led to commits: %s", t.opt.edits, out)
	}
	for id, ed := range some {
		_, out := w.c.run(w.rewind, "cat", id+":"+ed.Path)
		want(out == string(ed.Data), "checkpoint %s has another %s", id, ed.Path)
	}
	t.tell("edits", "mean of "+thousands(t.opt.edits), 0, got)
}

// A state is what the tree was after an edit.
type state struct {
	sums  map[string]workload.Digest
	edits map[string]workload.Edit // all files that differ from the first state
}

// gits are the ways in which git can keep the same, beside a process that does nothing.
var gits = []struct {
	name   string
	commit bool
	conf   []string
}{
	{"git add -A; git write-tree", false, quietGit},
	{"git add -A; git commit", true, quietGit},
	{"the first with " + strings.Join(tunedGit[:4], " "), false, tunedGit},
	{"the second with " + strings.Join(durableGit[:2], " "), true, durableGit},
}

// makeRepository makes the tree a git repository of the user's, with all of it committed.
func (c command) makeRepository() {
	for _, args := range []string{"init -q", "config gc.auto 0", "add -A", "commit -q -m all", "gc -q"} {
		c.run(append([]string{"git"}, strings.Fields(args)...)...)
	}
}

// commands are checkpoints by commands without a daemon, each of which opens the store itself: the same tree, the same
// edits. All that a restore has to give back is compared, and the tree brought to the last state again: each begins at
// rest.
func (t *table) commands(like *site) {
	s := t.newSite(like.n)
	s.dir = filepath.Join(t.dir, "commands")
	s.tree = filepath.Join(s.dir, "tree")
	s.prepare()
	c := s.shadow("", nil).c
	names := []string{"rewind", "a program that does nothing"}
	keepers := []keeper{t.newWorld(filepath.Join(s.dir, "rewind"), s.tree, "REWIND_DAEMON=off"), &nobody{c, t.empty}}
	if t.hasGit() {
		for _, g := range gits {
			k := s.shadow(fmt.Sprintf("git%d", len(names)), g.conf)
			k.commit = g.commit
			names, keepers = append(names, g.name), append(keepers, k)
		}
		if t.opt.repo {
			c.makeRepository()
		}
	}
	each := func(what string, rounds int, fn func(k keeper, name string, round int) float64) {
		var parts []part
		for i, k := range keepers {
			parts = append(parts, part{names[i], func(round int) float64 { return fn(k, names[i], round) }})
		}
		got := t.race(0, rounds, parts...)
		for _, name := range names[1:] {
			t.add("commands", what, s.at(), inMillis, got["rewind"], name, got[name], nothing)
		}
	}
	disks := func() map[string]workload.Disk {
		sizes := map[string]workload.Disk{}
		for i, k := range keepers {
			if k.store() != "" {
				sizes[names[i]], sizes[names[i]+" tidied"] = t.stores(k)
			}
		}
		return sizes
	}
	each("command: first snapshot", t.opt.first, func(k keeper, _ string, _ int) float64 {
		k.forget()
		flushDisk()
		return k.first()
	})
	before := disks()
	exec := map[string]bool{}
	for _, f := range get(workload.Files(s.tree)) {
		exec[f.Path] = f.Exec
	}
	now := state{get(workload.HashTree(t.ctx, s.tree)), map[string]workload.Edit{}}
	var states []state
	ids := map[string][]string{}
	each("command: checkpoint after an edit", t.opt.n, func(k keeper, name string, round int) float64 {
		if len(states) == round { // who comes first in a round
			ed := get(s.editor.Next())
			now = state{maps.Clone(now.sums), maps.Clone(now.edits)}
			now.sums[ed.Path], now.edits[ed.Path] = workload.Hash(workload.File{Exec: exec[ed.Path]}, ed.Data), ed
			states = append(states, now)
			flushDisk()
		}
		id, took := k.save()
		ids[name] = append(ids[name], id)
		return took
	})
	after := disks()
	for _, tidied := range []string{"", " tidied"} {
		grown := func(name string) []float64 {
			return []float64{float64(after[name+tidied].Sub(before[name+tidied]).Blocks) / float64(t.opt.n)}
		}
		for _, name := range names[2:] {
			t.add("commands", "command: disk, a checkpoint"+tidied, s.at(), inBytes, grown("rewind"), name, grown(name), nothing)
		}
	}
	if t.opt.restores == 0 {
		return
	}
	each("command: restore", t.opt.restores, func(k keeper, name string, round int) float64 {
		at := round * max(1, len(states)/2) / t.opt.restores // of the older half
		k.save()
		flushDisk()
		took := k.restore(ids[name][at])
		if k.store() != "" {
			must(workload.SameTree(t.ctx, s.tree, states[at].sums))
		}
		for _, ed := range now.edits {
			must(workload.Write(s.tree, ed))
		}
		return took
	})
	must(workload.SameTree(t.ctx, s.tree, now.sums))
}
