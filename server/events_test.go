package server

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/server/inprocess"
	"rewind/server/work"
)

// heard is a stream of events, one after the other.
type heard struct {
	t    *testing.T
	next func() (api.Event, error, bool)
	stop func()
}

func hear(t *testing.T, c *api.Client, p api.Project, since *uint64) *heard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	next, stop := iter.Pull2(api.Events(ctx, c, api.EventsRequest{Project: p, Since: since}))
	h := &heard{t, next, func() { stop(); cancel() }}
	t.Cleanup(h.stop)
	if ev := h.one(); ev.Event != api.EventReady {
		t.Fatalf("the first is %+v", ev)
	}
	return h
}

func (h *heard) one() api.Event {
	h.t.Helper()
	ev, err, ok := h.next()
	if err != nil || !ok {
		h.t.Fatalf("no event: %v, %v", err, ok)
	}
	return ev
}

// want reads until the events with these words have come, with no other between them, and returns the last one.
func (h *heard) want(words ...string) (ev api.Event) {
	h.t.Helper()
	for _, word := range words {
		if ev = h.one(); ev.Event != word {
			h.t.Fatalf("%q came, want %q: %+v", ev.Event, word, ev)
		}
	}
	return ev
}

func (h *heard) ends() {
	h.t.Helper()
	if ev, err, ok := h.next(); ok {
		h.t.Errorf("it goes on: %+v, %v", ev, err)
	}
}

// A listener hears what happens, in the order of the log, and goes on where it was with another daemon. The end of
// either leaves nothing.
func TestEvents(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p := r.newProject(t)
	h := hear(t, r.client, p, nil)
	in := hear(t, &api.Client{Transport: inprocess.Transport{Handler: r.d.server}}, p, nil)
	hook := func(event, name, tool string) {
		r.post(t, "claude", event, p.ProjectDir(), "", time.Minute, payload(name, tool, "s1", p.ProjectDir()))
	}
	hook("prompt", "UserPromptSubmit", "")
	put(t, p.ProjectDir(), "a", "two")
	hook("post-tool-use", "PostToolUse", "Bash")
	if first := h.want(api.EventSession); first.Session != "claude/s1" || first.Since >= first.Operation.Seq {
		t.Errorf("%+v", first)
	}
	h.want(api.EventBegan)
	step := h.want("checkpoint")
	put(t, p.ProjectDir(), "a", "three")
	hook("stop", "Stop", "")
	h.want("checkpoint", api.EventEnded)
	undo := api.UndoRequest{Project: p, Walk: api.Walk{Session: "claude/s1"}, Wish: api.Wish{CodeOnly: true}}
	if _, err := api.Call(t.Context(), r.client, api.Undo, undo, nil); err != nil {
		t.Fatal(err)
	}
	h.want(api.EventRestore)
	if _, err := api.Call(t.Context(), r.client, api.UndoRestore, api.UndoRestoreRequest{Project: p}, nil); err != nil {
		t.Fatal(err)
	}
	h.want(api.EventUndone)
	if _, err := api.Call(t.Context(), r.client, api.Tag, api.TagRequest{Project: p, Tag: "here"}, nil); err != nil {
		t.Fatal(err)
	}
	last := h.want("tag")
	in.want(api.EventSession, api.EventBegan, "checkpoint", "checkpoint", api.EventEnded, api.EventRestore, api.EventUndone, "tag")
	fork := model.Lineage{Lineage: value.Lineage{Session: "claude/s0", Kind: model.ByAgent}}
	fork.Share(2, nil)
	store(t, r, p, func(e *engine.Engine) {
		e.Log.Lock()
		defer e.Log.Unlock()
		s := *e.Log.Session("claude/s1")
		s.Fork = &fork
		e.Log.Remember(&s)
	})
	if found := h.want(api.EventFork); found.Session != "claude/s1" || found.Fork.Session != "claude/s0" {
		t.Errorf("%+v", found)
	}
	found, err := r.d.server.find(t.Context(), p.ProjectDir())
	if err != nil {
		t.Fatal(err)
	}
	r.d.server.degraded.add(found, fmt.Errorf("no space"))
	if ev := h.want(api.EventDegraded); !strings.Contains(string(ev.Degraded.Error), "no space") {
		t.Errorf("%+v", ev)
	}
	put(t, p.ProjectDir(), "a", "four")
	hook("post-tool-use", "PostToolUse", "Bash")
	h.want("checkpoint", api.EventRecovered)

	in.stop() // while nothing happens
	for deadline := time.Now().Add(time.Minute); r.d.server.bells.listeners.Load() > 1 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := r.d.server.bells.listeners.Load(); n != 1 {
		t.Errorf("%d listen", n)
	}
	r.cancel()
	h.ends()
	r.wait(t)
	r = start(t, daemonOptions{noWatch: true})
	h = hear(t, r.client, p, &step.Since)
	if again := h.want("checkpoint", api.EventEnded, api.EventRestore, api.EventUndone, "tag"); again.Since != last.Since {
		t.Errorf("%+v, was %+v", again, last)
	}
	ahead := last.Since + 1000
	hear(t, r.client, p, &ahead).want(api.EventReset)
}

// Who does not read keeps nobody waiting, neither those who use the project nor the daemon that ends; who comes behind
// hears it all. An operation that cannot be read is a reset, and the next ones are told.
func TestEventsSlowReader(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p := r.newProject(t)
	// nothing lies between it and the server
	slow := hear(t, &api.Client{Transport: inprocess.Transport{Handler: r.d.server}}, p, nil)
	began := ops(t, r, p)
	for i := range 3 {
		if _, err := api.Call(t.Context(), r.client, api.Tag, api.TagRequest{Project: p, Tag: api.Text(fmt.Sprint("t", i))},
			nil); err != nil {
			t.Fatal(err)
		}
	}
	store(t, r, p, func(e *engine.Engine) {
		tx := e.Log.Objs.Begin()
		if err := tx.Batch().Set(kv.OperationKey(began+2), []byte("torn")); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context(), kv.Written); err != nil {
			t.Fatal(err)
		}
	})
	hear(t, r.client, p, &began).want("tag", api.EventReset, "tag")
	at := time.Now()
	r.cancel()
	r.wait(t)
	if took := time.Since(at); took > 5*time.Second {
		t.Errorf("the daemon's end took %v", took)
	}
	slow.stop()
}

// While somebody listens the daemon is not idle.
func TestEventsKeepTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := 0
		w := work.Count{After: time.Minute, Idle: func() { idle++ }}
		w.Begin()
		w.Stay()
		w.Done()
		select {
		case <-w.Quiet():
		default:
			t.Error("the end waits for a listener")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if idle > 0 {
			t.Error("idle while somebody listens")
		}
		w.More()
		w.Leave()
		w.Done()
		time.Sleep(2 * time.Minute)
		if synctest.Wait(); idle != 1 {
			t.Errorf("idle %d times", idle)
		}
	})
}

func TestEventsOf(t *testing.T) {
	for kind, want := range map[refs.Kind]string{
		refs.KindRename: api.EventRenamed, refs.KindDelete: api.EventDeleted, refs.KindPromote: api.EventPromoted,
		refs.KindUndoForks: api.EventUndone, refs.KindSwitch: api.EventSwitched, refs.KindArchive: "archive",
		refs.KindRedo:   api.EventRestore,
		refs.KindSafety: "", refs.KindThinned: "", refs.KindEvent: "", refs.KindFork: "", refs.KindImport: "",
	} {
		var words []string
		if want != "" {
			words = []string{want}
		}
		if got := eventsOf(&refs.Operation{Kind: kind}); !slices.Equal(got, words) {
			t.Errorf("%v: %v, want %v", kind, got, words)
		}
	}
}

// What every use of a store pays while nobody listens.
func TestBellsCostNothing(t *testing.T) {
	var b bells
	if n := testing.AllocsPerRun(100, func() { b.ring("id") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkBells(b *testing.B) {
	var s bells
	for b.Loop() {
		s.ring("id")
	}
}

// store has fn use the store of p as a request does.
func store(t *testing.T, r *running, p api.Project, fn func(*engine.Engine)) {
	t.Helper()
	err := r.d.server.read(t.Context(), p.ProjectDir(), func(e *engine.Engine) error {
		fn(e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func ops(t *testing.T, r *running, p api.Project) (last uint64) {
	t.Helper()
	store(t, r, p, func(e *engine.Engine) { last = e.Log.DB.LastSeq() })
	return last
}
