package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/objstore/object"
	"rewind/server/rundir"
	"rewind/server/work"
)

// bubble runs a test with the clock of synctest. What compresses is kept for the whole process, and has channels: those
// of a bubble are of no use outside. So what decompresses is made before it, and what compressed goes with it.
func bubble(t *testing.T, test func(*testing.T)) {
	oneBlock := []byte{1 | 1<<3, 0, 0, 'x'} // the last one, as it is
	raw := object.Envelope{Codec: object.CodecZstd, Length: 1, Body: oneBlock}
	if _, err := raw.Whole(nil); err != nil {
		t.Fatal(err)
	}
	defer objstore.TrimCaches()
	synctest.Test(t, test)
}

// resting is a daemon without a socket, and a project of its user, with the clock of a test.
type resting struct {
	t    *testing.T
	home project.Home
	root string
	p    *project.Project
	d    *daemon
	n    int
	ev   hooks.Event // what events have beside the rest
}

func newResting(t *testing.T) *resting {
	r := &resting{t: t, home: project.Home{Dir: t.TempDir()}, root: t.TempDir()}
	e, _, err := engine.Init(t.Context(), r.home, r.root, project.ModeGlobal, project.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := e.Project()
	r.p = &p
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r.begin()
	return r
}

// begin starts a daemon.
func (r *resting) begin() {
	r.d = &daemon{
		o: daemonOptions{noWatch: true, idle: 1000 * time.Hour}.withDefaults(), home: r.home, log: slog.New(slog.DiscardHandler),
		ended: make(chan struct{}),
	}
	dir, err := rundir.Make(r.home.Dir)
	if err != nil {
		r.t.Fatal(err)
	}
	r.d.claim = &rundir.Claim{Dir: dir}
	r.d.prepare(context.Background())
	r.d.server.work.Memory = nil // it has days of fake time to give memory back in, and takes real time for it
}

// end ends it as a stop does.
func (r *resting) end() {
	r.d.settling.End()
	r.d.tidying.End()
	r.d.looking.End()
	close(r.d.ended)
	<-r.d.server.work.Quiet()
	if err := r.d.stores.Close(context.Background()); err != nil {
		r.t.Error(err)
	}
	objstore.TrimCaches()
	work.GiveBack(true) // pools keep nothing of a bubble
}

// event is one of an agent, which has changed something.
func (r *resting) event() {
	r.t.Helper()
	r.n++
	put(r.t, r.root, "f", fmt.Sprint(r.n))
	now := time.Now()
	ev := r.ev
	ev.Agent, ev.Kind, ev.Prompt, ev.Session, ev.Cwd = hooks.Claude, hooks.Prompt, "go", cmp.Or(ev.Session, "s"), r.root
	call := &hookCall{agent: "claude", cwd: r.root, since: now, until: now.Add(time.Minute)}
	intake{r.d.server}.handleHook(context.Background(), ev, call)
}

func (r *resting) set(key, value string) {
	r.t.Helper()
	if err := project.SetConfig(r.home, r.root, key, []string{value}); err != nil {
		r.t.Fatal(err)
	}
}

// ran tells when gc ran by itself last.
func (r *resting) ran() time.Time {
	fi, err := os.Stat(filepath.Join(r.p.Store, "gc-ran"))
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}

// rests lets time go by after an event, and says whether gc has run in it.
func (r *resting) rests(d time.Duration) bool {
	r.t.Helper()
	was := r.ran()
	r.event()
	time.Sleep(d)
	synctest.Wait()
	<-r.d.server.work.Quiet()
	return !r.ran().Equal(was)
}

// TestTidyWhenAtRest: gc runs by itself when a project has had no event for five minutes, not while events come, at
// most once a day, once an hour while the store is too large or the disk is nearly full, and not at all where it is
// switched off.
func TestTidyWhenAtRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newResting(t)
		defer func() { r.end() }()
		for range 10 {
			if r.rests(tidyAfter - time.Second) {
				t.Fatal("gc runs while events come")
			}
		}
		last := time.Now()
		if !r.rests(tidyAfter + time.Minute) {
			t.Fatal("gc does not run at rest")
		}
		if at := r.ran().Sub(last); at < tidyAfter || at > tidyAfter+time.Minute {
			t.Errorf("gc ran %v after the last event", at)
		}
		for range 12 {
			if r.rests(time.Hour) {
				t.Fatal("gc runs more than once a day")
			}
		}
		time.Sleep(12 * time.Hour)
		if !r.rests(tidyAfter + time.Minute) {
			t.Fatal("gc does not run a day later")
		}
		for key, values := range map[string][2]string{"gc.max_size": {"1KiB", "20GiB"}, "gc.min_free": {"8000TiB", "1MiB"}} {
			r.set(key, values[0])
			for range 3 {
				for range 5 {
					if r.rests(tidyAfter + 2*time.Minute) {
						t.Fatalf("%s: gc runs more than once an hour", key)
					}
				}
				time.Sleep(30 * time.Minute)
				if !r.rests(tidyAfter + time.Minute) {
					t.Fatalf("%s: gc does not run an hour later", key)
				}
			}
			r.set(key, values[1])
		}
		r.set("gc.auto", "false")
		time.Sleep(48 * time.Hour)
		if r.rests(time.Hour) {
			t.Error("gc runs though it is switched off")
		}
	})
}

// TestTidyInTheNextDaemon: a daemon that ends before it is time runs none; the next one does.
func TestTidyInTheNextDaemon(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newResting(t)
		r.event()
		time.Sleep(tidyAfter - time.Second)
		r.end()
		time.Sleep(time.Hour)
		if !r.ran().IsZero() {
			t.Error("gc ran after the end")
		}
		r.begin()
		defer r.end()
		if !r.rests(tidyAfter + time.Second) {
			t.Error("gc does not run in the next daemon")
		}
	})
}

// TestPruneWhenAtRest: forks that nobody uses go when a project rests, where the settings say so.
func TestPruneWhenAtRest(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	bubble(t, func(t *testing.T) {
		r := newResting(t)
		defer func() { r.end() }()
		file := filepath.Join(user, ".claude", "projects", "p", "5f1c0d2e-1111-4222-8333-444455556666.jsonl")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Dir(file), filepath.Base(file), `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"go"},`+
			`"uuid":"c1a0de00-0000-4000-8000-000000000001","timestamp":"2026-11-22T10:00:00.000Z","sessionId":"5f1c0d2e-1111-4222-8333-444455556666"}
{"parentUuid":"c1a0de00-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","content":`+
			`[{"type":"text","text":"gone"}]},"uuid":"c1a0de00-0000-4000-8000-000000000002","timestamp":"2026-11-22T10:00:01.000Z",`+
			`"sessionId":"5f1c0d2e-1111-4222-8333-444455556666"}
`)
		r.ev = hooks.Event{Session: "5f1c0d2e-1111-4222-8333-444455556666", Transcript: file}
		r.event()
		f, err := conversations{r.d.server}.fork(t.Context(), api.ForkRequest{
			Project: api.Project{Dir: api.Text(r.root)}, Checkpoint: "@", Env: api.AgentEnv{Home: api.Text(user)},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		there := func() bool {
			t.Helper()
			time.Sleep(time.Hour)
			r.rests(tidyAfter + time.Minute)
			_, err := os.Stat(string(f.Fork.Path))
			return err == nil
		}
		r.set("forks.prune.keep", "0")
		r.set("forks.prune.age", "1h")
		if !there() {
			t.Fatal("a fork goes that nobody has asked to go")
		}
		r.set("forks.prune.auto", "true")
		if there() {
			t.Error("a fork that nobody uses stays")
		}
	})
}
