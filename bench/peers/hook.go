package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"rewind/api"
	"rewind/bench/floor"
	"rewind/bench/workload"
)

const (
	hookEvent  = "post-tool-use" // of all calls, in the words of the command line
	warmCalls  = 5               // of each party, before those that count
	burst      = 64              // calls at once
	coldStarts = 3
	// restTime is how long the machine is left alone after a call: what a daemon does when it has answered is not to
	// fall into the turn of another.
	restTime = 20 * time.Millisecond
)

// event runs the client as an agent does. It always exits with 0 and is silent; what it has to complain about is on
// standard error, and is given.
func (b *bench) event(c command, event string, in []byte) (took float64, said string) {
	c.in = in
	took, out := c.run(b.client, event, "--agent", "claude")
	return took, strings.TrimSpace(string(get(os.ReadFile(c.out+".err"))) + out)
}

// hook tells of an edit as an agent does; calls at the same time have different slots.
func (s *site) hook(c command, slot int, ed workload.Edit) (took float64, said string) {
	c.out += strconv.Itoa(slot)
	return s.event(c, hookEvent, payload(c.dir, ed))
}

// A party takes part in the rounds of the hook.
type party struct {
	name string
	tree string // where the edit is made before its call; "": nowhere
	call func(slot int, ed workload.Edit) (took float64, said string)
	made func(n int) // n calls were made at once
}

// talkers are those whose calls can be made at once: the client with the daemon that does nothing, and with each
// world's.
func (s *site) talkers() []party {
	with := func(name string, c command, made func(int)) party {
		return party{
			name, c.dir,
			func(slot int, ed workload.Edit) (float64, string) { return s.hook(c, slot, ed) }, made,
		}
	}
	list := []party{with("floor", s.floor, func(n int) { s.calls += n })}
	for i, w := range s.worlds() {
		list = append(list,
			with([]string{"rewind", "scan"}[i], w.c, func(n int) { w.least, w.most = w.least+1, w.most+n }))
	}
	return list
}

// parties are all: also a hook of rewind's that has nothing to find, git, and the least that a look at every file can
// be.
func (s *site) parties() []party {
	list := s.talkers()
	add := func(name, tree string, call func() float64) {
		list = append(list,
			party{name, tree, func(int, workload.Edit) (float64, string) { return call(), "" }, func(int) {}})
	}
	if s.wants("unchanged") {
		list = append(list, party{"unchanged", "", list[1].call, func(int) {}})
	}
	if s.git != nil {
		add("git", s.tree, func() float64 {
			_, took := s.git.save()
			return took
		})
	}
	if s.scan == nil || s.n < bigTree {
		return list
	}
	if s.git != nil {
		add("status", "", func() float64 {
			took, _ := s.git.run("status", "--porcelain")
			return took
		})
	}
	known := get(floor.List(s.tree))
	add("stat", "", func() float64 {
		began := time.Now()
		n := get(floor.StatKnown(known, threads()))
		took := ms(time.Since(began))
		want(n >= s.stats.Files, "%d of %d files are known", n, s.stats.Files)
		return took
	})
	return list
}

// threads is what floors work with.
func threads() int { return min(2, runtime.NumCPU()) }

// round lets every party see one edit, made just before its call.
func (s *site) round(round int, into series, parties []party) {
	ed := s.edit()
	var parts []part
	for _, p := range parties {
		parts = append(parts, part{p.name, func(int) float64 {
			if p.tree != "" {
				must(workload.Write(p.tree, ed))
			}
			took, said := p.call(0, ed)
			p.made(1)
			s.heard(p.name, said)
			time.Sleep(restTime)
			return took
		}})
	}
	s.turn(round, into, parts...)
}

// heard counts what a hook has said.
func (s *site) heard(who, said string) {
	if said != "" {
		s.said[fmt.Sprintf("%s said %.300q", who, said)]++
	}
}

// hooks are the rows of the hook after a call of a tool: all sizes at once, so that they can be held against each
// other, too.
func (t *table) hooks(_ *site) {
	parties, got := make([][]party, len(t.sites)), make([]series, len(t.sites))
	for i, s := range t.sites {
		s.begin()
		parties[i], got[i] = s.parties(), series{}
	}
	t.settle()
	for i, s := range t.sites {
		for range warmCalls {
			s.round(0, nil, parties[i])
		}
		t.watching(s)
	}
	for round := range t.opt.rounds {
		if round%10 == 0 {
			t.say("hook: round %d of %d", round+1, t.opt.rounds)
		}
		for i := range t.sites {
			i = (i + round) % len(t.sites)
			t.sites[i].round(round, got[i], parties[i])
		}
	}
	t.tellHooks(got)
	if t.wants("memory") {
		t.memory("memory", t.last(), t.last().rewind.resident())
	}
	for _, s := range t.sites {
		if t.wants("daemon") {
			t.daemon(s)
		}
		t.verify(s)
	}
}

// tellHooks are the rows of what was measured, by site.
func (t *table) tellHooks(got []series) {
	for i, s := range t.sites {
		t.tell("hook", s.at(), s.stats.Files, got[i])
	}
	if small, large := t.sites[0], t.last(); small != large && t.wants("hook") {
		t.add("hook", "the same by the size of the tree", thousands(large.n)+" beside "+thousands(small.n), inMillis,
			got[len(got)-1]["rewind"], "the hook with "+small.at(), got[0]["rewind"], within(1.1))
	}
	if t.wants("scan") && t.last().n < bigTree {
		t.note("hook, watcher off: skipped, no tree is large enough for it")
	}
	for i, s := range t.sites {
		if s.n >= bigTree && s.scan != nil {
			t.tell("scan", s.at(), s.stats.Files, got[i])
		}
	}
}

// watching notes who does not watch that should. REWIND_WATCH=off is believed only if nothing is watched.
func (t *table) watching(s *site) {
	for _, w := range s.worlds() {
		var status struct{ Watcher *api.Watcher }
		w.ask(&status, "status")
		seen := watches(w.pid())
		if w == s.scan {
			want(seen <= 0 && status.Watcher == nil, "%s has no effect", noWatcher)
		} else if why := unwatched(status.Watcher, seen, s.stats.Dirs+1); why != "" {
			t.note("%s: rewind: %s", s.at(), why)
		}
	}
}

// memory tells what the daemon of a tree has when it is left alone.
func (t *table) memory(name string, s *site, got series) {
	if got == nil {
		t.note("memory of the daemon: skipped, this system does not tell")
		return
	}
	t.tell(name, s.at(), s.stats.Files, got)
}

// daemon is what else a hook can meet: many at once, and no daemon. And what the daemon does when it is left alone.
func (t *table) daemon(s *site) {
	got := series{}
	for round := range t.opt.bursts {
		t.say("daemon: burst %d of %d", round+1, t.opt.bursts)
		eds := make([]workload.Edit, min(burst, len(s.files)))
		for i := range eds {
			eds[i] = s.edit()
		}
		var parts []part
		for _, p := range s.talkers() {
			parts = append(parts, part{p.name, func(int) float64 {
				list := s.atOnce(p, eds)
				got[p.name], got[p.name+" 99"] = append(got[p.name], list...),
					append(got[p.name+" 99"], highest(list, 99))
				return 0
			}})
		}
		t.turn(round, nil, parts...)
	}
	w := s.rewind
	if runtime.GOOS == "linux" {
		pid := w.pid()
		begun := cpuTime(pid)
		t.wait(t.opt.idle)
		got["idle"] = []float64{cpuTime(pid) - begun}
		got["most"] = w.resident()["most"]
	}
	for range coldStarts {
		ed := s.edit()
		w.end()
		flushDisk()
		must(workload.Write(w.tree, ed))
		took, said := s.hook(w.c, 0, ed)
		s.heard("rewind", said)
		w.least, w.most = w.least+1, w.most+1
		w.pid() // else it was no daemon that answered
		got["cold"] = append(got["cold"], took)
	}
	t.tell("daemon", s.at(), s.stats.Files, got)
}

// atOnce starts calls together, each after an edit of a file of its own.
func (s *site) atOnce(p party, eds []workload.Edit) []float64 {
	list, said, errs := make([]float64, len(eds)), make([]string, len(eds)), make([]error, len(eds))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i, ed := range eds {
		wg.Go(func() {
			<-begin
			errs[i] = caught(func() {
				must(workload.Write(p.tree, ed))
				list[i], said[i] = p.call(i, ed)
			})
		})
	}
	close(begin)
	wg.Wait()
	must(errors.Join(errs...))
	p.made(len(eds))
	for _, what := range said {
		s.heard(p.name, what)
	}
	return list
}

// verify holds the calls against what came of them, ends the daemons, and compares the trees with what they have kept.
func (t *table) verify(s *site) {
	n := s.echo.calls()
	// one may have been sent twice
	want(n >= s.calls, "%d of %d calls came to the daemon that does nothing", n, s.calls)
	for _, w := range s.worlds() {
		w.counted()
		w.end()
		w.isTree()
	}
	for said, n := range s.said {
		t.note("%s: %d times: %s", s.at(), n, said)
	}
}
