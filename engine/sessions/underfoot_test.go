package sessions_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
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
}
