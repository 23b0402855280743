package restore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/refs"
)

// planned is a project in which a plan meets all that there is: sessions at work in the same files, a database, files
// that rules leave out and calls have named, directories of others, a directory that a colleague removed, and what is
// unsaved.
func planned(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	t.Helper()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	p, k := enginetest.TwoTurns(t)
	database := func(version string) func() {
		return func() {
			p.Write("db/app.db", "SQLite format 3\x00"+version)
			p.Write("db/app.db-wal", "\x37\x7f\x06\x82"+version)
		}
	}
	p.Write(".gitignore", "*.json\ndist/\n*-wal\n")
	p.Write("local.json", "v1")
	p.Write("dist/js/x.js", "x1")
	p.Write("g", text("1", "1"))
	p.Write("d/e/h", enginetest.Big("1"))
	p.Write("lib/x", "then")
	p.Write("away/x", "x")
	p.Write("away/own", "own")
	database("1")()
	p.Save("one")
	p.Write("d/e/h", enginetest.Big("2"))
	p.Save("two")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	p.Tagged("target", a.Run("1", func() { p.Write("own", enginetest.Big("1")) }))
	edit(a, "e1", func() { p.Write("local.json", "v2") }, "local.json")
	edit(a, "e2", func() { p.Write("dist/new/n.js", "n1") }, "dist/new/n.js")
	edit(a, "e3", func() { p.Write(".env", "K=2") }, ".env")
	a.Run("2", func() { p.Write("g", text("a's", "1")); p.Remove("away/own") })
	a.Run("3", database("2"))
	for a := time.Now().UnixMilli(); time.Now().UnixMilli() == a; { // records have milliseconds, and b's is to be later
	}
	b.Run("4", func() { p.Write("g", text("a's", "b's")); p.Remove("away") })
	p.Must(os.MkdirAll(p.Path("lib/refs"), 0o755))
	p.Must(os.MkdirAll(p.Path("lib/objects"), 0o755))
	p.Must(os.MkdirAll(p.Path("sub/.git/refs"), 0o755))
	p.Must(os.MkdirAll(p.Path("sub/.git/objects"), 0o755))
	p.Write("lib/HEAD", "ref: refs/heads/main\n")
	p.Write("sub/.git/HEAD", "ref: refs/heads/main\n")
	p.Write("sub/x", "of another repository")
	k.Take("three", p.Edits("d/e/k", "3"))
	p.Write("f", enginetest.Big("unsaved"))
	p.Write("new", "no checkpoint has it")
	p.Settle()
	p.Reopen() // what the copies would each write out is written
	return p, k
}

type question func(r *restore.Restorer) (*restore.Result, error)

// askOf is a question as places.fail asks it, and places.does.
func askOf(ask question) func(q *enginetest.Project) (string, error) {
	return func(q *enginetest.Project) (string, error) { return told(ask(q.E.Restorer)) }
}

// TestPlansWhileReadsFail: what a restore would do is told rightly, or not at all, where a read of the store fails.
func TestPlansWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := planned(t)
	seen := newPlaces()
	dry := restore.Options{Env: p.Env(), DryRun: true}
	merge := dry
	merge.Merge, merge.Session = true, model.SessionChoice{Session: "a"}
	ofA := dry
	ofA.Session = model.SessionChoice{Session: "a"}
	took := merge
	took.Merge, took.TakeBack = false, true
	exactly := dry
	exactly.Exact = true
	paths := dry
	paths.Paths = refs.PathSet{"db/app.db", "lib/x", "away"}
	mine := took
	mine.KeepMine = true
	to := func(name string, o restore.Options) question {
		return func(r *restore.Restorer) (*restore.Result, error) { return r.Checkout(enginetest.Bg, name, o) }
	}
	of := restore.PickOptions{Options: dry, Of: "a"}
	first := map[string]question{
		"checkout":   to("target", dry),
		"merge":      to("target", merge),
		"turn":       to("turn:1@"+k.Name(), dry),
		"of a":       to("target", ofA),
		"exact":      to("target", exactly),
		"paths":      to("target", paths),
		"taken back": to("target", took),
		"kept mine":  to("target", mine),
		"undo":       func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, 2, ofA) },
		"undo, taken back": func(r *restore.Restorer) (*restore.Result, error) {
			return r.Undo(enginetest.Bg, 2, mine)
		},
		"revert": func(r *restore.Restorer) (*restore.Result, error) { return r.Revert(enginetest.Bg, of) },
	}
	for _, name := range slices.Sorted(maps.Keys(first)) {
		seen.fail(p, name, askOf(first[name]))
	}
	p.Back("turn:1@"+k.Name(), restore.Options{})
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	p.Checkout("target", restore.Options{CodeOnly: true})
	p.Write("f", enginetest.Big("unsaved"))
	p.Settle()
	then := map[string]question{
		"again": to("@", dry),
		"undo restore": func(r *restore.Restorer) (*restore.Result, error) {
			return r.UndoRestore(enginetest.Bg, 0, dry)
		},
		"undo restore 2": func(r *restore.Restorer) (*restore.Result, error) {
			list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
			if err != nil {
				return nil, err
			}
			return r.UndoRestore(enginetest.Bg, list[1].Seq, dry)
		},
		"redo": func(r *restore.Restorer) (*restore.Result, error) { return r.Redo(enginetest.Bg, 1, ofA) },
	}
	for _, name := range slices.Sorted(maps.Keys(then)) {
		seen.fail(p, name, askOf(then[name]))
	}
	seen.fail(p, "undoable", func(q *enginetest.Project) (string, error) {
		list, err := q.E.History.Operations(enginetest.Bg, 0, history.Restoring)
		if err != nil {
			return "", err
		}
		can, err := q.E.Restorer.Undoable(enginetest.Bg, list, q.Env())
		return fmt.Sprint(can), err
	})
	seen.fail(p, "ahead", func(q *enginetest.Project) (string, error) {
		var text string
		for _, session := range []string{"claude/a", k.Name()} {
			at, err := q.E.Log.Refs.ID(refs.Cursor(session))
			if err != nil {
				return "", err
			}
			steps, err := q.E.Restorer.Ahead(session, at, nil)
			if err != nil {
				return "", err
			}
			for _, cp := range steps {
				text += cp.Tree.Short() + " "
			}
			text += "\n"
		}
		return text, nil
	})
	seen.hold(p, "plans")
}

// TestRestoresWhileReadsFail: the same of what is done.
func TestRestoresWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := planned(t)
	seen := newPlaces()
	o := restore.Options{Env: p.Env()}
	ofA := o
	ofA.Session = model.SessionChoice{Session: "a"}
	merge := ofA
	merge.Merge = true
	ofK := o
	ofK.Session = model.SessionChoice{Session: k.Name()}
	cut := ofK
	cut.InPlace = true
	newest := p.Listed()[0].Checkpoint
	parts := []restore.Part{
		{Path: "away/x", Whole: true},
		{Path: "db/app.db", Was: shown(t, p, newest, "db/app.db"), Whole: true},
		{
			Path: "g", Was: shown(t, p, newest, "g"), Mode: true,
			Hunks: textdiff.Diff([]byte(p.Read("g")), []byte("g\n"), 1).Hunks,
		},
	}
	for _, c := range []struct {
		what string
		do   question
	}{
		{"merge", func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "target", merge)
		}},
		{"turn", func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "turn:1@"+k.Name(), o)
		}},
		{"cut", func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "turn:1", cut)
		}},
		{"undo", func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, 1, ofK) }},
		{"undo of a", func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, 1, ofA) }},
		{"revert", func(r *restore.Restorer) (*restore.Result, error) {
			return r.Revert(enginetest.Bg, restore.PickOptions{Options: o, Of: "a"})
		}},
		{"parts", func(r *restore.Restorer) (*restore.Result, error) {
			return r.CheckoutParts(enginetest.Bg, "target", parts, restore.Options{})
		}},
	} {
		seen.does(p, c.what, askOf(c.do))
	}
	seen.hold(p, "restores")
}

// forkedText is what a fork tells.
func forkedText(f *restore.Forked, err error) (string, error) {
	if err != nil {
		return "", err
	}
	text := fmt.Sprintln(forkText(f.Fork), f.Reused, f.Restored)
	if f.Restore == nil {
		return text, nil
	}
	more, err := told(f.Restore, nil)
	return text + more, err
}

// TestSessionsWhileReadsFail: the same of what is made of sessions.
func TestSessionsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	seen := newPlaces()
	o := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: k.Name()}}
	fork := func(name string, o restore.Options) func(q *enginetest.Project) (string, error) {
		return func(q *enginetest.Project) (string, error) {
			return forkedText(q.E.Restorer.Fork(enginetest.Bg, name, o))
		}
	}
	seen.does(p, "fork", fork("turn:2", o))
	seen.does(p, "clone", func(q *enginetest.Project) (string, error) {
		return forkedText(q.E.Restorer.Clone(enginetest.Bg, o))
	})
	goes, again := o, o
	goes.Checkout, again.Reuse = true, true
	p.Write("f", "unsaved")
	seen.does(p, "fork and go", fork("turn:1", goes))
	f := p.Fork("turn:1", o)
	seen.does(p, "the same fork again", fork("turn:1", again))
	used := p.Opened(p.Fork("turn:2", o).Fork)
	used.Take("in the fork", p.Edits("f", "fork"))
	ofFork := o
	ofFork.Session.Session = used.Name()
	p.Settle()
	do := func(ask question) { seen.does(p, "a restore", askOf(ask)) }
	do(func(r *restore.Restorer) (*restore.Result, error) { return r.Switch(enginetest.Bg, k.Name(), o) })
	do(func(r *restore.Restorer) (*restore.Result, error) {
		return r.Checkout(enginetest.Bg, "turn:1@"+k.Name(), o)
	})
	do(func(r *restore.Restorer) (*restore.Result, error) {
		return r.Undo(enginetest.Bg, 1, ofFork)
	})
	cut := o
	cut.InPlace = true
	p.Back("turn:1", cut)
	p.Settle()
	do(func(r *restore.Restorer) (*restore.Result, error) { return r.Forward(enginetest.Bg, 1, o) })
	do(func(r *restore.Restorer) (*restore.Result, error) { return r.Switch(enginetest.Bg, k.Name(), cut) })
	do(func(r *restore.Restorer) (*restore.Result, error) { return r.UndoRestore(enginetest.Bg, 0, o) })
	manages := func(m manage.Request) func(q *enginetest.Project) (string, error) {
		m.Env = p.Env()
		return func(q *enginetest.Project) (string, error) {
			r, err := q.E.Restorer.Manage(enginetest.Bg, m)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(r.Sessions, r.Losses, r.Kept, r.Problem), nil
		}
	}
	rename := manage.Request{Kind: refs.KindRename, Sessions: []string{f.Session}, Title: "another"}
	gone := manage.Request{Kind: refs.KindDelete, Sessions: []string{f.Session, k.Name()}, LastCopy: true}
	seen.does(p, "rename", manages(rename))
	seen.does(p, "delete", manages(gone))
	gone.Env = p.Env()
	_, err := p.E.Restorer.Manage(enginetest.Bg, gone)
	p.Must(err)
	do(func(r *restore.Restorer) (*restore.Result, error) { return r.UndoRestore(enginetest.Bg, 0, o) })
	p.Must(os.Remove(used.File))
	seen.does(p, "bring back", func(q *enginetest.Project) (string, error) {
		r, err := q.E.Restorer.BringBack(enginetest.Bg, used.Name(), o)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(r.Session, r.Path, r.Turns, r.Fork), nil
	})
	seen.hold(p, "sessions")
}

// TestResumeWhileReadsFail: what was cut short is finished, or taken back, when that is asked for again.
func TestResumeWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	seen, cut := newPlaces(), restore.Options{InPlace: true}
	for _, c := range []struct {
		name    string
		o       restore.Options
		applied bool
		end     func(r *restore.Restorer, ctx context.Context, env value.AgentEnv) (*restore.Result, error)
	}{
		{"turn:2", cut, false, (*restore.Restorer).Abort},
		{"turn:2", restore.Options{}, true, (*restore.Restorer).AbortCode},
		{"turn:2", cut, true, (*restore.Restorer).ContinueCode},
		{"turn:1", restore.Options{}, false, (*restore.Restorer).Continue},
	} {
		c.o.Session.Session = k.Name()
		p.Crashed(c.name, c.o, c.applied, 0)
		st := standingOf(p)
		list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
		p.Must(err)
		if can, err := p.E.Restorer.Undoable(enginetest.Bg, list, p.Env()); err != nil || slices.Contains(can, true) {
			t.Errorf("%s, half done: undoable is %v, %v", c.name, can, err)
		}
		seen.fail(p, c.name, func(q *enginetest.Project) (string, error) {
			text, err := told(c.end(q.E.Restorer, enginetest.Bg, q.Env()))
			if stays := (*staysError)(nil); errors.As(err, &stays) {
				st.done(q)
				return "", fmt.Errorf("%w: %w", errOver, err)
			}
			if err != nil {
				return "", err
			}
			return text + st.done(q), nil
		})
		p.Reopen()
		_, err = c.end(p.E.Restorer, enginetest.Bg, p.Env())
		p.Must(err)
	}
	seen.hold(p, "resumed")
}
