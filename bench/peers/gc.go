package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"rewind/api"
	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/engine/project"
	"rewind/objstore"
)

// The store that gc is measured on: the work of an agent in half a year, by a clock of its own. The older half goes.
const (
	gcFiles  = 2000
	gcSpan   = 180 * 24 * time.Hour
	keyBytes = 2 + len(objstore.Key{}) // what an object's key takes besides its envelope
)

// collect is gc on copies of one store: alone, and in the daemon while hooks come one after the other, with commands
// that look at the history before and after.
func (t *table) collect(_ *site) {
	s, n := t.generated("gc", gcFiles), t.opt.checkpoints
	s.prepare()
	t.say("gc: a store of %d checkpoints", n)
	var now atomic.Int64
	now.Store(time.Now().Add(-gcSpan).UnixNano())
	options := project.Options{Now: func() time.Time { return time.Unix(0, now.Load()) }}
	e, _, err := engine.Init(t.ctx, project.Home{Dir: s.rewind.home}, s.tree, project.ModeGlobal, options)
	must(err)
	err = caught(func() {
		get(e.Worktree.FirstCheckpoint(t.ctx, nil))
		must(e.Worktree.Watch())
		must(history.Fill(t.ctx, e, s.tree, n, func() { now.Add(int64(gcSpan) / int64(n+1)) }))
	})
	must(errors.Join(err, e.Close()))
	s.rewind.tidy(t.ctx, s.rewind.home) // what it takes before is what is in it

	at := thousands(n) + " checkpoints"
	t.tell("gc", at, 0, t.copyOf(s, "alone", "REWIND_DAEMON=off").collected(0, func(<-chan struct{}) {}))

	w, got := t.copyOf(s, "daemon"), series{}
	defer func() { _ = w.stop() }()
	hooks := func(name string, n int, ended <-chan struct{}) {
		for i := 0; ended != nil || i < n; i++ {
			select {
			case <-ended:
				return
			default:
			}
			took, said := s.hook(w.c, 0, s.edit())
			want(said == "", "the hook said %.300q", said)
			got[name] = append(got[name], took)
			s.wait(restTime)
		}
	}
	commands := func(when string) {
		for range 2 * t.opt.reads {
			for _, args := range [][]string{{"list"}, {"show", "@~5"}, {"status"}} {
				took, _ := w.do(args...)
				got[args[0]+when] = append(got[args[0]+when], took)
			}
		}
	}
	w.do("status") // a daemon runs from here on
	hooks("warm", warmCalls, nil)
	hooks("before", 5*t.opt.rounds, nil)
	commands(" before")
	collected := w.collected(w.pid(), func(ended <-chan struct{}) { hooks("during", 0, ended) })
	hooks("after", 5*t.opt.rounds, nil)
	commands(" after")
	t.tell("gc beside", at, 0, collected)
	t.tell("gc hooks", at, 0, got)
}

// copyOf is a home with a copy of a site's store: what is measured changes it. What is younger than half the span
// stays, whatever the policy would thin.
func (t *table) copyOf(s *site, name string, env ...string) *world {
	w := t.newWorld(filepath.Join(s.dir, name), s.tree, env...)
	must(os.CopyFS(w.home, os.DirFS(s.rewind.home)))
	w.do("config", "--global", "gc.keep_all", "forever")
	w.do("config", "--global", "gc.auto", "false")
	return w
}

// collected runs gc, in the daemon that is process pid, or in a process of its own; meanwhile is called beside it.
func (w *world) collected(pid int, meanwhile func(ended <-chan struct{})) series {
	used, before := &syscall.Rusage{}, get(workload.DiskOf(w.home, nil)).Blocks
	one := *w
	one.c.used = used
	cpu := 0.0
	if linux := runtime.GOOS == "linux"; linux && pid > 0 {
		// the most so far counts from now on, where that can be had
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
		cpu = cpuTime(pid)
	}
	var r api.GCResponse
	var took float64
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = caught(func() { took = one.ask(&r, "gc", "--yes", "--older", fmt.Sprintf("%ds", int(gcSpan.Seconds())/2)) })
	}()
	broken := caught(func() { meanwhile(ended) })
	<-ended
	must(errors.Join(err, broken))
	want(r.Checkpoints > 0 && r.Objects > 0, "gc removed %d checkpoints and %d objects", r.Checkpoints, r.Objects)
	garbage := float64(r.Bytes + int64(r.Objects*keyBytes))
	got := series{"took": {took}, "back": {float64(before - get(workload.DiskOf(w.home, nil)).Blocks)}, "garbage": {garbage}}
	switch {
	case runtime.GOOS != "linux":
	case pid > 0:
		_, most := memory(pid)
		got["processor"], got["most"] = []float64{cpuTime(pid) - cpu}, []float64{most}
	default:
		got["processor"] = []float64{ms(time.Duration(used.Utime.Nano() + used.Stime.Nano()))}
		got["most"] = []float64{float64(used.Maxrss) * 1024}
	}
	var v api.VerifyResponse
	w.ask(&v, "verify", "--quick")
	return got
}
