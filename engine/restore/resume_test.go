package restore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// Where nothing is half done there is nothing to finish or to take back.
func TestNothingIsHalfDone(t *testing.T) {
	t.Parallel()
	p, one, _, _ := twoStates(t)
	r := p.E.Restorer
	refused := func() {
		t.Helper()
		for what, err := range map[string]error{
			"continue": func() error { _, err := r.Continue(enginetest.Bg, p.Env()); return err }(),
			"abort":    func() error { _, err := r.Abort(enginetest.Bg, p.Env()); return err }(),
			"the code": codeAlone(p, false), "the code, back": codeAlone(p, true),
		} {
			if !errors.Is(err, model.ErrNotHalfDone) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	refused()
	p.Checkout(one.ID.String(), restore.Options{})
	refused()
}

// What is half done is told while it is, and no other restore, nor anything made of sessions, is begun.
func TestNothingBeginsWhileHalfDone(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Crashed("turn:1", restore.Options{}, false, 0)
	p.Reopen()
	before, last := enginetest.List(t, p.Root), p.E.Log.DB.LastSeq()
	o := restore.Options{Env: p.Env()}
	r := p.E.Restorer
	for what, do := range map[string]func() error{
		"checkout": func() error { _, err := r.Checkout(enginetest.Bg, "turn:2", o); return err },
		"undo":     func() error { _, err := r.Undo(enginetest.Bg, 1, o); return err },
		"redo":     func() error { _, err := r.Redo(enginetest.Bg, 1, o); return err },
		"forward":  func() error { _, err := r.Forward(enginetest.Bg, 1, o); return err },
		"switch":   func() error { _, err := r.Switch(enginetest.Bg, k.Name(), o); return err },
		"fork":     func() error { _, err := r.Fork(enginetest.Bg, "turn:1", o); return err },
		"undo-restore": func() error {
			_, err := r.UndoRestore(enginetest.Bg, 0, o)
			return err
		},
		"parts": func() error {
			parts := []restore.Part{{Path: "f", Whole: true}}
			_, err := r.CheckoutParts(enginetest.Bg, "turn:1", parts, restore.Options{})
			return err
		},
		"revert": func() error {
			_, err := r.Revert(enginetest.Bg, restore.PickOptions{Options: o, Change: "turn:2"})
			return err
		},
		"manage": func() error {
			m := manage.Request{Kind: refs.KindRename, Sessions: []string{k.Name()}, Title: "x", Env: p.Env()}
			_, err := r.Manage(enginetest.Bg, m)
			return err
		},
		"bring back": func() error { _, err := r.BringBack(enginetest.Bg, k.Name(), o); return err },
	} {
		if err := do(); !errors.Is(err, model.ErrHalfDone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.WantTree(before)
	if p.E.Log.DB.LastSeq() != last {
		t.Error("something was done")
	}
	res, err := r.Continue(enginetest.Bg, p.Env())
	p.Must(err)
	if p.Read("f") != enginetest.Big("1") || res.Conversation == nil || res.Conversation.Version {
		t.Errorf("f %.3q, %+v", p.Read("f"), res.Conversation)
	}
}

// What was cut short tells, once it is finished, what the target did not capture and is not on disk, of the paths that
// it was of; a restore of the conversation alone tells of none.
func TestMissingOfWhatIsFinished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scope refs.Scope
		want  string
	}{
		"all":                   {refs.Scope{}, "[.env d/.env]"},
		"paths":                 {refs.Scope{Paths: refs.PathSet{"d"}}, "[d/.env]"},
		"the conversation only": {refs.Scope{ContextOnly: true}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write(".env", "K=1")
			p.Write("d/.env", "K=1")
			p.Write("d/x", "1")
			p.Save("first")
			k := p.Talker(1)
			k.Take("one", p.Edits("f", "1"))
			p.Remove(".env", "d/.env")
			k.Take("two", p.Edits("f", "2"))
			p.Settle()
			p.Crashed("turn:1", restore.Options{Scope: c.scope}, false, 0)
			p.Reopen()
			r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
			p.Must(err)
			missing := []string{}
			for _, s := range r.Plan.Missing {
				missing = append(missing, s.Path)
			}
			if got := fmt.Sprint(missing); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Who finishes the code of what was cut short leaves the conversation, and the project stands where it stood.
func TestPlaceBehindTheCodeAlone(t *testing.T) {
	t.Parallel()
	for _, inPlace := range []bool{false, true} {
		p, k := enginetest.TwoTurns(t)
		p.Settle()
		was := p.Slurp(k.File)
		p.Crashed("turn:1", restore.Options{InPlace: inPlace}, false, 0)
		p.Reopen()
		r, err := p.E.Restorer.ContinueCode(enginetest.Bg, p.Env())
		p.Must(err)
		at, err := p.E.Sessions.Position()
		p.Must(err)
		if at.Session != k.Name() || p.Slurp(k.File) != was || len(p.Files()) != 1 {
			t.Errorf("in place %v: at %+v, %q", inPlace, at, p.Files())
		}
		if p.Read("f") != enginetest.Big("1") {
			t.Errorf("in place %v: f %.3q", inPlace, p.Read("f"))
		}
		if len(r.Operation.Restore.Files) > 0 || r.Operation.Restore.Fork != "" {
			t.Errorf("in place %v: %+v", inPlace, r.Operation.Restore)
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
		if p.Read("f") != enginetest.Big("2") || p.Slurp(k.File) != was {
			t.Errorf("in place %v: taken back, f %.3q", inPlace, p.Read("f"))
		}
	}
}

// A session file that somebody has written meanwhile is left as it is when a cut is taken back, and that is told.
func TestTakingBackLeavesWhatWasWritten(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Crashed("turn:1", restore.Options{InPlace: true}, true, 1)
	k.Used("meanwhile")
	is := p.Slurp(k.File)
	p.Reopen()
	_, err := p.E.Restorer.Abort(enginetest.Bg, p.Env())
	p.Must(err)
	if p.Slurp(k.File) != is || p.Read("f") != enginetest.Big("2") {
		t.Errorf("f %.3q, or the session file has changed", p.Read("f"))
	}
	told := strings.Join(p.E.Project().Notices, "\n")
	if !strings.Contains(told, k.File+" is left as it is") {
		t.Errorf("told %q", told)
	}
	if _, err := os.Stat(k.File); err != nil {
		t.Error(err)
	}
}
