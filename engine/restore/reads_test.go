package restore_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
)

// planned is a project with two sessions and restores, of which much can be planned.
func planned(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	t.Helper()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	p, k := enginetest.TwoTurns(t)
	p.Write("g", text("1", "1"))
	p.Write("d/e/h", enginetest.Big("1"))
	one := p.Save("one")
	p.Write("d/e/h", enginetest.Big("2"))
	p.Save("two")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	p.Tagged("target", a.Run("1", func() { p.Write("own", enginetest.Big("1")) }))
	a.Run("2", func() { p.Write("g", text("a's", "1")) })
	b.Run("3", func() { p.Write("g", text("a's", "b's")) })
	k.Take("three", p.Edits("d/e/k", "3"))
	p.Back("turn:1@"+k.Name(), restore.Options{})
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	p.Checkout(one.ID.String(), restore.Options{CodeOnly: true})
	p.Write("f", enginetest.Big("unsaved"))
	p.Settle()
	return p, k
}

// planText is what a restore would do, as text.
func planText(r *restore.Result, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range r.Plan.Steps {
		fmt.Fprintln(&b, s.Path, s.Old, s.New)
	}
	for _, k := range r.Plan.Kept {
		fmt.Fprintln(&b, "kept", k.Path, k.Reason)
	}
	return b.String(), nil
}

// TestPlansWhileReadsFail: what a restore would do is told rightly, or not at all, where a read of the store fails.
func TestPlansWhileReadsFail(t *testing.T) {
	p, k := planned(t)
	dry := restore.Options{Env: p.Env(), DryRun: true}
	merge := dry
	merge.Merge, merge.Session = true, model.SessionChoice{Session: "a"}
	ofA := dry
	ofA.Session = model.SessionChoice{Session: "a"}
	took := merge
	took.Merge, took.TakeBack = false, true
	for name, ask := range map[string]func(r *restore.Restorer) (*restore.Result, error){
		"checkout": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "target", dry)
		},
		"merge": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "target", merge)
		},
		"turn": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "turn:1@"+k.Name(), dry)
		},
		"taken back": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "target", took)
		},
		"undo": func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, 2, ofA) },
		"undo restore": func(r *restore.Restorer) (*restore.Result, error) {
			return r.UndoRestore(enginetest.Bg, 0, dry)
		},
		"revert": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Revert(enginetest.Bg, restore.PickOptions{Options: dry, Of: "a"})
		},
	} {
		p.ReadFails(name, 5, func(q *enginetest.Project) (string, error) { return planText(ask(q.E.Restorer)) })
	}
	p.ReadFails("undoable", 16, func(q *enginetest.Project) (string, error) {
		list, err := q.E.History.Operations(enginetest.Bg, 0, history.Restoring)
		if err != nil {
			return "", err
		}
		can, err := q.E.Restorer.Undoable(enginetest.Bg, list, q.Env())
		return fmt.Sprint(can), err
	})
}

// TestSessionsWhileReadsFail: the same of what is made of sessions, and of where a session stands.
func TestSessionsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := planned(t)
	f := p.Fork("turn:1@"+k.Name(), restore.Options{})
	p.Opened(f.Fork).Take("mine", p.Edits("f", "fork"))
	p.Settle()
	cut := p.Back("turn:1@"+f.Session, restore.Options{InPlace: true})
	p.Settle()
	dry := restore.Options{Env: p.Env(), DryRun: true}
	cutAgain := dry
	cutAgain.InPlace, cutAgain.Session = true, model.SessionChoice{Session: k.Name()}
	ofK := dry
	ofK.Session = cutAgain.Session
	for name, ask := range map[string]func(r *restore.Restorer) (*restore.Result, error){
		"in place": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "turn:2", cutAgain)
		},
		"cut taken back": func(r *restore.Restorer) (*restore.Result, error) {
			return r.UndoRestore(enginetest.Bg, cut.Operation.Seq, dry)
		},
		"switch": func(r *restore.Restorer) (*restore.Result, error) { return r.Switch(enginetest.Bg, k.Name(), dry) },
		"forward": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Forward(enginetest.Bg, 1, dry)
		},
		"fork": func(r *restore.Restorer) (*restore.Result, error) {
			f, err := r.Fork(enginetest.Bg, "turn:2", ofK)
			if err == nil && (f.Cut.Turn != 2 || f.From.Session != k.Name()) {
				t.Errorf("fork: %+v", f.Fork)
			}
			return &restore.Result{Plan: &restore.Plan{}}, err
		},
	} {
		p.ReadFails(name, 1, func(q *enginetest.Project) (string, error) { return planText(ask(q.E.Restorer)) })
	}
}

// TestRestoreWhileReadsFail: a restore during which a read of the store fails is done, or has changed nothing, or is
// half done and can be taken back; then it is done as it would have been.
func TestRestoreWhileReadsFail(t *testing.T) {
	p, _ := planned(t)
	before := enginetest.List(t, p.Root)
	files := map[string]string{}
	for path, is := range before {
		if strings.HasPrefix(is, "f ") {
			files[path] = p.Read(path)
		}
	}
	reset := func() {
		for path := range enginetest.List(t, p.Root) {
			p.Remove(path)
		}
		for path, text := range files {
			p.Write(path, text)
		}
	}
	p.ReadFails("checkout", 16, func(q *enginetest.Project) (string, error) {
		j, err := q.E.Log.ReadJournal()
		if err == nil && j != nil {
			_, err = q.E.Restorer.Abort(enginetest.Bg, q.Env())
			q.WantTree(before)
		}
		if err == nil {
			_, err = q.E.Restorer.Checkout(enginetest.Bg, "target", restore.Options{Env: q.Env()})
		}
		now := enginetest.List(t, p.Root)
		if err != nil {
			if j, jerr := q.E.Log.ReadJournal(); j == nil {
				p.Must(jerr)
				q.WantTree(before)
			}
			return "", err
		}
		reset()
		var b strings.Builder
		for _, path := range slices.Sorted(maps.Keys(now)) {
			fmt.Fprintln(&b, path, now[path])
		}
		return b.String(), nil
	})
}
