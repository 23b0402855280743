package restore_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// TestPruneByItself: switched on, forks that nobody uses go by themselves; what somebody has named, archived, gone on
// with, made whole or brought back stays, and so does what lies in no folder of the person's agents.
func TestPruneByItself(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	env := p.Env()
	fork := func(name, title string) string { return p.Fork(name, restore.Options{Title: title, Env: env}).Session }
	gone := fork("turn:1@"+k.Name(), "")
	unused, wasUnused := p.Session(gone), ""
	wasUnused = p.Slurp(unused.Transcript)
	fork("turn:1@"+k.Name(), "mine")
	renamed, archived := fork("turn:2@"+k.Name(), ""), fork("turn:2@"+k.Name(), "")
	for kind, session := range map[refs.Kind]string{refs.KindRename: renamed, refs.KindArchive: archived} {
		_, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{Kind: kind, Sessions: []string{session}, Title: "a name", Env: env})
		p.Must(err)
	}
	_, err := p.E.Restorer.Clone(enginetest.Bg, restore.Options{Session: model.SessionChoice{Session: k.Name()}, Env: env})
	p.Must(err)
	used := p.Fork("turn:1@"+k.Name(), restore.Options{Env: env})
	p.Opened(used.Fork).Take("of its own", p.Edits("f", "7"))
	p.Settle()
	k.Take("three", nil) // the project stands there
	files := len(p.Files())

	prune := func() *restore.Managed {
		t.Helper()
		r, err := p.E.Restorer.PruneByItself(enginetest.Bg, env)
		p.Must(err)
		return r
	}
	pruned := func() *refs.Operation {
		t.Helper()
		st, err := p.E.Status(enginetest.Bg, nil)
		p.Must(err)
		return st.Pruned
	}
	if r := prune(); r != nil {
		t.Fatalf("it is not switched on, and deleted %v", r.Sessions)
	}
	p.Set("forks.prune.auto", "true")
	if r := prune(); r != nil {
		t.Fatalf("younger than forks.prune.age: %v", r.Sessions)
	}
	p.Set("forks.prune.age", "0s")
	if r := prune(); r != nil {
		t.Fatalf("forks.prune.keep: %v", r.Sessions)
	}
	p.Set("forks.prune.keep", "0")
	if r, err := p.E.Restorer.PruneByItself(enginetest.Bg, value.AgentEnv{Home: value.Text(t.TempDir())}); err != nil || r != nil {
		t.Fatalf("of another home: %v, %v", r, err)
	}
	if op := pruned(); op != nil {
		t.Fatalf("nothing was pruned, and status says %d", op.Seq)
	}
	r := prune()
	if r == nil || len(r.Sessions) != 1 || r.Sessions[0].Session != gone || len(p.Files()) != files-1 {
		t.Fatalf("deleted %+v, want %s alone", r, gone)
	}
	if op := pruned(); op == nil || op.Seq != r.Operation.Seq || op.Message != model.ByItself {
		t.Fatalf("status says %+v of %d", op, r.Operation.Seq)
	}
	if r := prune(); r != nil {
		t.Fatalf("again: %v", r.Sessions)
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: env})
	p.Must(err)
	if p.Slurp(unused.Transcript) != wasUnused || pruned() != nil {
		t.Error("taken back, it is not as it was, or status tells of it still")
	}
	if r := prune(); r != nil {
		t.Errorf("what somebody brought back goes again: %v", r.Sessions)
	}
	p.Verify()
}

// cutShort leaves the deletion of a session as it is left between the journal and the end.
func cutShort(p *enginetest.Project, gone string) {
	p.T.Helper()
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	defer p.E.Log.Hold()()
	at, err := p.E.Sessions.Current(gone)
	p.Must(err)
	c, err := p.E.Worktree.Capture(enginetest.Bg, root, capture.Options{})
	p.Must(err)
	j := &model.Journal{Kind: refs.KindDelete, Session: gone, Stage: restore.NewStageName(), ByItself: true}
	j.Target, j.ContextOnly, j.Managed = at.ID, true, []value.Managed{{Session: gone, Now: value.Deleted}}
	j.Before, err = p.E.Log.Refs.ID(refs.Cursor(gone))
	p.Must(err)
	j.After = j.Before
	_, err = p.E.Restorer.CommitSafety(enginetest.Bg, c, j, "", "")
	p.Must(err)
}

// TestPruneByItselfCutShort: what deletes forks by itself, and is killed, is said to have done so by whoever finishes
// it.
func TestPruneByItselfCutShort(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	gone := p.Fork("turn:1@"+k.Name(), restore.Options{Env: p.Env()}).Session
	cutShort(p, gone)
	p.Reopen()
	r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
	p.Must(err)
	if r.Operation == nil || r.Operation.Kind != refs.KindDelete || r.Operation.Message != model.ByItself {
		t.Errorf("finished, it is %+v", r.Operation)
	}
	p.Verify()
}

// TestForkBroughtBackServes: a fork that was deleted and brought back is used again instead of another one of the same
// place; while it is deleted gc may take what it began with, and nothing misses that.
func TestForkBroughtBackServes(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	o := restore.Options{Env: p.Env(), Reuse: true}
	first, files := p.Fork("turn:1@"+k.Name(), o), len(p.Files())
	remove := manage.Request{Kind: refs.KindDelete, Sessions: []string{first.Session}, Env: p.Env()}
	_, err := p.E.Restorer.Manage(enginetest.Bg, remove)
	p.Must(err)
	if f := p.Fork("turn:1@"+k.Name(), restore.Options{Env: p.Env(), Reuse: true, DryRun: true}); f.Reused {
		t.Error("a deleted fork is used")
	}
	p.Verify()
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	p.Verify()
	if f := p.Fork("turn:1@"+k.Name(), o); !f.Reused || f.Session != first.Session || len(p.Files()) != files {
		t.Errorf("brought back, and %s is made beside %s", f.Session, first.Session)
	}
	_, err = p.E.Restorer.Manage(enginetest.Bg, remove)
	p.Must(err)
	p.Reopen()
	for n := range 2 { // by then the operation that deleted it is let go
		p.E.Log.Now = func() time.Time { return time.Now().Add(time.Duration(n+1) * 90 * enginetest.ADay) }
		p.Write("later", fmt.Sprint(n))
		p.Save("later")
		p.Gc(gc.Options{Keep: 1})
		p.Verify()
	}
	if s := p.Session(first.Session); s.Fork == nil || !s.BeganAs().IsZero() {
		t.Errorf("deleted, it is %+v", s)
	}
}

// TestForkLimits: above the limit that warns a fork says so, at the one that refuses none is made, and one that is
// there serves.
func TestForkLimits(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	o := restore.Options{Env: p.Env(), Reuse: true}
	first := p.Fork("turn:1@"+k.Name(), o)
	p.Set("forks.warn_number", "1")
	p.Set("forks.max_number", "2")
	if n := p.E.Project().Notices; len(n) > 0 {
		t.Errorf("%q", n)
	}
	p.Fork("turn:2@"+k.Name(), o)
	if n := p.E.Project().Notices; len(n) != 1 {
		t.Errorf("%q", n)
	}
	files := p.Files()
	for name, try := range map[string]func() error{
		"fork": func() error {
			_, err := p.E.Restorer.Fork(enginetest.Bg, "before:2@"+k.Name(), restore.Options{Env: o.Env})
			return err
		},
		"with its code": func() error {
			_, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1@"+k.Name(), restore.Options{Env: o.Env, Checkout: true})
			return err
		},
		"dry run": func() error {
			_, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1@"+k.Name(), restore.Options{Env: o.Env, DryRun: true})
			return err
		},
		"clone": func() error { _, err := p.E.Restorer.Clone(enginetest.Bg, restore.Options{Env: o.Env}); return err },
	} {
		var limit *model.ForkLimitError
		if err := try(); !errors.As(err, &limit) || limit.Setting != "forks.max_number" || limit.Forks != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f := p.Fork("turn:1@"+k.Name(), o); !f.Reused || f.Session != first.Session || len(p.Files()) != len(files) {
		t.Errorf("one that is there does not serve: %+v", f)
	}
	p.Back("turn:1", restore.Options{}) // going back makes a session all the same
	p.Must(os.Remove(first.Path))
	p.Set("forks.max_number", "0")
	p.Set("forks.max_size", "1KiB")
	if _, err := p.E.Restorer.Clone(enginetest.Bg, restore.Options{Env: o.Env}); err == nil {
		t.Error("more bytes than forks.max_size, and a clone is made")
	}
}

// Who asks for forks to go gets those that have nothing of their own, and is told of the others, which go with
// LastCopy; what an agent has open stays whatever was asked.
func TestPruneForks(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	env := p.Env()
	fork := func() *restore.Forked { return p.Fork("turn:1@"+k.Name(), restore.Options{Env: env}) }
	gone, own, open := fork(), fork(), fork()
	p.Opened(own.Fork).Take("of its own", p.Edits("f", "7"))
	p.Settle()
	k.Take("three", nil) // the project stands there
	running(p, open.Session)
	files := p.Files()
	_, _, err := p.E.Restorer.PruneForks(enginetest.Bg, manage.Prune{}, manage.Request{Env: env})
	if !errors.Is(err, model.ErrUsage) {
		t.Errorf("nothing said: %v", err)
	}
	for i, c := range []struct {
		m             manage.Request
		deleted, left []string
		files         int
	}{
		{manage.Request{DryRun: true}, []string{gone.Session}, []string{own.Session}, len(files)},
		{manage.Request{DryRun: true, LastCopy: true}, []string{own.Session, gone.Session}, nil, len(files)},
		{manage.Request{}, []string{gone.Session}, []string{own.Session}, len(files) - 1},
		{manage.Request{}, nil, []string{own.Session}, len(files) - 1},
		{manage.Request{LastCopy: true}, []string{own.Session}, nil, len(files) - 2},
		{manage.Request{LastCopy: true}, nil, nil, len(files) - 2},
	} {
		c.m.Env = env
		r, left, err := p.E.Restorer.PruneForks(enginetest.Bg, manage.Prune{Older: 1}, c.m)
		p.Must(err)
		var deleted, stay []string
		for _, m := range r.Sessions {
			deleted = append(deleted, m.Session)
		}
		for _, l := range left {
			stay = append(stay, l.Session)
		}
		slices.Sort(deleted)
		slices.Sort(c.deleted)
		enginetest.Equal(t, fmt.Sprint(i, " deleted"), deleted, c.deleted)
		enginetest.Equal(t, fmt.Sprint(i, " left"), stay, c.left)
		if done := r.Operation != nil; done != (len(c.deleted) > 0 && !c.m.DryRun) || len(p.Files()) != c.files {
			t.Errorf("%d: %+v, %q", i, r, p.Files())
		}
	}
	for range 2 {
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: env})
		p.Must(err)
	}
	enginetest.Equal(t, "taken back", p.Files(), files)
	p.Verify()
}

// What deletes forks and is killed can be taken back: they stay.
func TestDeleteCutShortIsTakenBack(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	f := p.Fork("turn:1@"+k.Name(), restore.Options{Env: p.Env()})
	cutShort(p, f.Session)
	p.Reopen()
	r, err := p.E.Restorer.Abort(enginetest.Bg, p.Env())
	p.Must(err)
	if r.Operation == nil || r.Operation.Kind != refs.KindAbort || len(r.Managed) > 0 {
		t.Errorf("%+v", r)
	}
	if s := p.Session(f.Session); s.Standing != value.InUse {
		t.Errorf("%+v", s)
	}
	p.WantTalk(f.Path, "done: one", "one")
	p.Verify()
}
