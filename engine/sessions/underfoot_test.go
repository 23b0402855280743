package sessions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// TestUnderfootOthers: who goes on from the restore, and who is of no branch of it, was not left by it; who was never
// heard of, or was imported, is not at work.
func TestUnderfootOthers(t *testing.T) {
	d := newDesk(t)
	busy := func(ago int, set func(*model.Session)) func(*model.Session) {
		return func(s *model.Session) {
			s.Agent, s.Busy, s.Last = value.Claude, true, d.now.Add(-time.Duration(ago)*time.Second)
			if set != nil {
				set(s)
			}
		}
	}
	fork := func(s *model.Session) {
		s.Fork = &model.Lineage{Lineage: value.Lineage{Session: "claude/a", Kind: "checkout"}}
	}
	d.session("claude/a", busy(3, nil))
	d.session("claude/kid", busy(1, fork))
	d.session("claude/other", busy(2, nil))
	d.session("claude/silent", busy(0, func(s *model.Session) { s.Event = "" }))
	d.session("claude/imported", busy(0, func(s *model.Session) { s.Imported = true }))
	for _, from := range []string{"claude/a", ""} {
		list, err := d.ss.Underfoot("claude/kid", from, nil)
		d.Must(err)
		var got []string
		for _, w := range list {
			got = append(got, fmt.Sprintf("%s %v", w.Session, w.Left))
		}
		enginetest.Equal(t, "from "+from, got, []string{"claude/kid false", "claude/other false", "claude/a true"})
		if list[2].Type != "/resume kid" || list[0].Type != "" {
			t.Errorf("what is typed there: %q", list[2].Type)
		}
	}
	for i := range 9 {
		d.session(fmt.Sprintf("claude/%d", i), busy(0, nil))
	}
	list, err := d.ss.Underfoot("claude/kid", "", nil)
	d.Must(err)
	if len(list) != 8 || list[0].Session != "claude/0" || list[7].Session != "claude/7" {
		t.Errorf("of twelve: %+v", list)
	}
}

// TestCheckPerson: while a call is open that can run commands, only a terminal is a person's; the newest call is named.
func TestCheckPerson(t *testing.T) {
	d := newDesk(t)
	shell := []model.Call{{ID: "s", Tool: "Bash", Class: hooks.Changer}}
	for _, tt := range []struct {
		name string
		set  func(*model.Session)
		want string // whose call is named; "": none
	}{
		{"claude/edits", func(s *model.Session) { s.Calls = []model.Call{{ID: "e", Class: hooks.Editor}} }, ""},
		{"claude/ended", func(s *model.Session) { s.Calls, s.Ended = shell, true }, ""},
		{"claude/imported", func(s *model.Session) { s.Calls, s.Imported = shell, true }, ""},
		{"claude/long", func(s *model.Session) { s.Calls, s.Last = shell, d.now.Add(-time.Hour) }, ""},
		{"claude/a", func(s *model.Session) { s.Calls, s.Last = shell, d.now.Add(-time.Minute) }, "claude/a"},
		{"claude/newer", func(s *model.Session) { s.Calls = shell }, "claude/newer"},
		{"claude/older", func(s *model.Session) { s.Calls, s.Last = shell, d.now.Add(-2*time.Minute) }, "claude/newer"},
	} {
		d.session(tt.name, tt.set)
		err := d.ss.CheckPerson(0)
		var within *model.WithinCallError
		switch {
		case tt.want == "":
			d.Must(err)
		case !errors.As(err, &within) || within.Call == nil || within.Call.Session != tt.want:
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestForget: an agent that keeps nothing elsewhere has nothing to drop; a session file in no folder of its agent's is
// an error.
func TestForget(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", nil)
	s := p.Session(k.Name())
	env := value.AgentEnv{Home: value.Text(p.User())}
	p.Must(p.E.Sessions.Forget(enginetest.Bg, &s, env))
	s.Transcript = "/nowhere/" + k.ID + ".jsonl"
	if err := p.E.Sessions.Forget(enginetest.Bg, &s, env); err == nil {
		t.Error("a file in no folder: no error")
	}
}

// TestMover: a checkout moves the current session along its line, and off it the one that the target belongs to.
func TestMover(t *testing.T) {
	d := newDesk(t)
	put := func(session, event string, parents ...objstore.ID) *model.Checkpoint {
		cp := &model.Checkpoint{Session: session, Tree: enginetest.TestID("t"), Time: d.now, Parents: parents}
		cp.Cause.Event = event
		tx := d.log.Objs.Begin()
		d.Must(d.log.PutCheckpoint(tx, cp, d.log.DB.LastSeq()+1))
		d.Must(tx.Commit(enginetest.Bg, kv.Durable))
		var moved []refs.Update
		if session != model.Manual {
			for _, name := range []refs.Name{refs.Session(session), refs.Cursor(session)} {
				old, err := d.log.Refs.ID(name)
				d.Must(err)
				moved = append(moved, refs.Update{Name: name, Old: old, New: cp.ID})
			}
		}
		d.op(refs.Operation{Kind: refs.KindCheckpoint, Session: session, Checkpoint: cp.ID}, moved...)
		return cp
	}
	safety := put(model.Manual, model.EventSafety)
	saved := put(model.Manual, model.EventSave)
	other := put("claude/b", "stop")
	first := put("claude/a", "stop")
	put("claude/a", "stop", first.ID)
	d.prompt("claude/a")
	d.session("claude/kid", forkOf("claude/a"))
	d.session("claude/own", nil)
	for _, tt := range []struct {
		what   string
		target *model.Checkpoint
		named  string
		want   string
	}{
		{"its line", first, "", "claude/a"},
		{"another's", other, "", "claude/b"},
		{"a save on no line", saved, "", "claude/a"},
		{"what a restore saved", safety, "", "claude/a"},
		{"another is named", first, "claude/b", "claude/b"},
	} {
		if got, err := d.ss.Mover(tt.target, model.SessionChoice{Session: tt.named}); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.what, got, err, tt.want)
		}
	}
	for name, want := range map[string]string{"claude/kid": "claude/kid", "claude/own": "claude/a"} {
		put(name, "stop", first.ID)
		d.prompt(name)
		if got, err := d.ss.Mover(first, model.SessionChoice{}); err != nil || got != want {
			t.Errorf("the line of %s goes through it: %s, %v; want %s", name, got, err, want)
		}
	}
	scan := put("claude/a", model.EventScan)
	d.op(refs.Operation{Kind: refs.KindCheckpoint, Session: "claude/a", Turn: 1, Checkpoint: scan.ID})
	if at, err := d.ss.Position(); err != nil || at.Session == "claude/a" {
		t.Errorf("a scan that only its checkpoint knows as one: %+v, %v", at, err)
	}
}

// TestRefused: a call that a person did not allow is none, and a turn that they stopped with that is over, unless
// another call is open.
func TestRefused(t *testing.T) {
	d := newDesk(t)
	var refusal transcript.Refusal
	d.ss.RefusedBy(func(*model.Session) transcript.Refusal { return refusal })
	one, two := model.Call{ID: "1", Tool: "Bash"}, model.Call{ID: "2", Tool: "Edit"}
	for what, tt := range map[string]struct {
		calls   []model.Call
		busy    bool
		refused transcript.Refusal
		left    int
		want    value.WorkKind
	}{
		"none":         {[]model.Call{one}, false, transcript.Refusal{}, 1, value.WorkCall},
		"the only one": {[]model.Call{one}, false, transcript.Refusal{Calls: []string{"1"}}, 0, ""},
		"one of two": {
			[]model.Call{one, two}, false, transcript.Refusal{Calls: []string{"1"}}, 1, value.WorkCall,
		},
		"in a turn":            {[]model.Call{one}, true, transcript.Refusal{Calls: []string{"1"}}, 0, value.WorkTurn},
		"and the turn is over": {[]model.Call{one}, true, transcript.Refusal{Calls: []string{"1"}, Over: true}, 0, ""},
		"over, no call":        {nil, true, transcript.Refusal{Over: true}, 0, ""},
		"over, another is open": {
			[]model.Call{one, two}, true, transcript.Refusal{Calls: []string{"1"}, Over: true}, 1, value.WorkCall,
		},
	} {
		d.log.Forget()
		d.session("claude/a", func(s *model.Session) { s.Calls, s.Busy = tt.calls, tt.busy })
		refusal = tt.refused
		w, ok := d.ss.AtWork(d.log.Session("claude/a"), d.log.Processes())
		if ok != (tt.want != "") || w.Known != tt.want {
			t.Errorf("%s: %+v, %v", what, w, ok)
		}
		d.ss.DropRefused("claude/a")
		d.ss.DropRefused("claude/none")
		if s := d.log.Session("claude/a"); len(s.Calls) != tt.left {
			t.Errorf("%s: %+v", what, s.Calls)
		}
	}
}

// TestOpenBy: where the sign of an agent cannot be read, an event of the last ten minutes is one. A session file in no
// folder of its agent's is not asked for.
func TestOpenBy(t *testing.T) {
	d := newDesk(t)
	dir := t.TempDir()
	const id = "0199a213-81a1-7800-8aa1-bbab2a035a53"
	lock := filepath.Join(dir, "thread-writer-locks", id+".lock")
	d.Must(os.MkdirAll(filepath.Dir(lock), 0o700))
	d.Must(os.Symlink(lock, lock))
	s := model.Session{
		Name: "codex/" + id, Agent: value.Codex, ID: id, Event: "stop",
		Transcript: filepath.Join(dir, "sessions", "2026", "01", "02", "rollout-2026-01-02T03-04-05-"+id+".jsonl"),
	}
	for _, tt := range []struct {
		ago  time.Duration
		set  func(*model.Session)
		want bool
	}{
		{0, nil, true},
		{model.ActiveWithin - time.Second, nil, true},
		{model.ActiveWithin, nil, false},
		{-time.Second, nil, false},
		{0, func(s *model.Session) { s.Ended = true }, false},
		{0, func(s *model.Session) { s.Event = "" }, false},
	} {
		s := s
		if s.Last = d.now.Add(-tt.ago); tt.set != nil {
			tt.set(&s)
		}
		if got := d.ss.OpenBy(&s); (got != "") != tt.want {
			t.Errorf("%v ago: %q", tt.ago, got)
		}
	}
	if err := os.MkdirAll(filepath.Dir(s.Transcript), 0o700); err != nil || !sessions.FileMissing(&s) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(s.Transcript, nil, 0o600); err != nil || sessions.FileMissing(&s) {
		t.Errorf("a file: %v", err)
	}
	s.Transcript = filepath.Join(dir, "x")
	if err := os.WriteFile(s.Transcript, nil, 0o600); err != nil || !sessions.FileMissing(&s) {
		t.Errorf("a file that is none of a session: %v", err)
	}
}

// TestClosed: with the store closed every question is an error, whatever was known before.
func TestClosed(t *testing.T) {
	d := newDesk(t)
	d.session("claude/a", nil)
	d.prompt("claude/a")
	d.wantActive("before", at("claude/a"), "claude/a")
	d.Must(d.log.DB.Close())
	for what, ask := range map[string]func() error{
		"active": func() error { _, _, err := d.ss.Active(); return err },
		"before": func() error { _, err := d.ss.PositionBefore(9); return err },
		"cursor": func() error { _, err := d.ss.NewestCursor(); return err },
		"names":  func() error { _, err := d.ss.SessionNames(); return err },
		"id":     func() error { _, err := d.ss.SessionOfID("a"); return err },
		"walked": func() error { _, err := d.ss.Walked(model.SessionChoice{Session: "claude/a"}); return err },
	} {
		if ask() == nil {
			t.Errorf("%s: no error", what)
		}
	}
	e, err := engine.Open(enginetest.Bg, d.Home, d.Root, d.Options()) // for the end of the test
	d.Must(err)
	d.E = e
}
