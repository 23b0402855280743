package restore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/refs"
)

// failing is a project with two states, and what lies in it unsaved.
func failing(t *testing.T) (p *enginetest.Project, one *model.Checkpoint, target, before enginetest.Listing) {
	t.Helper()
	p = enginetest.NewProject(t)
	for _, path := range []string{"a", "d/b", "gone", "x/y/z", "out/x"} {
		p.Write(path, "1")
	}
	p.Must(os.Symlink("a", p.Path("link")))
	one = p.Save("one")
	target = enginetest.List(t, p.Root)
	p.Write("a", "2")
	p.Write("new/c", "2")
	p.Remove("gone", "x", "link")
	p.Must(os.Symlink("d", p.Path("link")))
	p.Must(os.Chmod(p.Path("d/b"), 0o755))
	p.Write(".gitignore", "out/\n")
	p.Write("out/x", "2")
	p.Save("two")
	p.Write("a", "unsaved")
	return p, one, target, enginetest.List(t, p.Root)
}

// A call to the worktree's file system that fails, whichever it is, leaves a restore that is done, or the files as they
// were.
func TestRestoreWhileACallFails(t *testing.T) {
	t.Parallel()
	for reads, step := range map[bool]int{false: 1, true: 7} {
		p, one, target, before := failing(t)
		for n := 1; ; n += step {
			s := &faultfs.Script{Reads: reads, FailAt: n, Err: syscall.EIO}
			p.E.Log.Wrap = func(d worktreefs.Dir) worktreefs.Dir { return faultfs.Wrap(d, s) }
			r, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
			p.E.Log.Wrap = nil
			name := fmt.Sprintf("reads %v, call %d of %d", reads, n, s.Calls())
			if s.Calls() < n {
				p.Must(err)
				break
			}
			if errors.Is(err, model.ErrHalfDone) {
				_, aerr := p.E.Restorer.Abort(enginetest.Bg, p.Env())
				p.Must(aerr)
			}
			if err != nil {
				if d := enginetest.List(t, p.Root).Diff(before); d != "" {
					t.Fatalf("%s: %v, and then\n%s", name, err, d)
				}
				continue
			}
			d := enginetest.List(t, p.Root).Diff(target)
			stays := len(r.Plan.Kept)+len(r.Conflicts)+len(r.KeptDirs) > 0 || reads // what cannot be read stays
			if !stays && d != "" {
				t.Fatalf("%s: it is done, but\n%s", name, d)
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{})
			p.Must(err)
			if d := enginetest.List(t, p.Root).Diff(before); d != "" {
				t.Fatalf("%s: taken back\n%s", name, d)
			}
		}
		p.Verify()
	}
}

// Who gives up waiting, whenever that is, has the restore done, or the files as they were.
func TestRestoreThatIsGivenUp(t *testing.T) {
	t.Parallel()
	p, one, target, before := failing(t)
	done, given := 0, 0
	for n := int32(0); done == 0; n++ {
		ctx, cancel := context.WithCancel(enginetest.Bg)
		var told atomic.Int32
		step := func() {
			if told.Add(1) > n {
				cancel()
			}
		}
		ctx = model.WithAsker(ctx, model.Asker{Told: func(value.Progress) { step() }})
		if n == 0 {
			cancel()
		}
		r, err := p.E.Restorer.Checkout(ctx, one.ID.String(), restore.Options{})
		over := told.Load() <= n
		cancel()
		if err != nil {
			given++
			if d := enginetest.List(t, p.Root).Diff(before); d != "" || !errors.Is(err, context.Canceled) {
				t.Fatalf("given up at %d: %v\n%s", n, err, d)
			}
			continue
		}
		if d := enginetest.List(t, p.Root).Diff(target); d != "" {
			t.Fatalf("given up at %d, and done: %s", n, d)
		}
		if over {
			done++
			continue
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{})
		p.Must(err)
		if d := enginetest.List(t, p.Root).Diff(before); d != "" {
			t.Fatalf("given up at %d, and taken back: %s", n, d)
		}
	}
	if given == 0 {
		t.Error("it was never given up")
	}
	p.Verify()
}

// What is not known, or lies outside of the project, is refused by whatever it is asked of, and nothing is done.
func TestWhatIsNotKnownIsRefused(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	q := p.Beside(t.TempDir())
	defer q.Close()
	before, last, files := enginetest.List(t, p.Root), p.E.Log.DB.LastSeq(), len(p.Files())
	r, env := p.E.Restorer, restore.Options{Env: p.Env()}
	nobody, outside, tagged := env, env, env
	nobody.Session.Session = "claude/nobody"
	outside.Paths = refs.PathSet{"../f"}
	tagged.Tag = "no tag"
	part := []restore.Part{{Path: "f", Whole: true}}
	pick := func(o restore.PickOptions) error { _, err := r.Pick(enginetest.Bg, o); return err }
	revert := func(o restore.PickOptions) error { _, err := r.Revert(enginetest.Bg, o); return err }
	checkout := func(name string, o restore.Options) error {
		_, err := r.Checkout(enginetest.Bg, name, o)
		return err
	}
	parts := func(name string, o restore.Options) error {
		_, err := r.CheckoutParts(enginetest.Bg, name, part, o)
		return err
	}
	to := func(name string, o restore.Options) error { _, err := r.Switch(enginetest.Bg, name, o); return err }
	archive := func(names ...string) error {
		_, err := r.Manage(enginetest.Bg, manage.Request{Kind: refs.KindArchive, Sessions: names, Env: p.Env()})
		return err
	}
	for what, err := range map[string]error{
		"checkout of":           checkout("nosuch", env),
		"checkout of a turn":    checkout("turn:9", env),
		"checkout of no name":   checkout("turn:x@", env),
		"checkout for":          checkout("turn:1", nobody),
		"checkout of outside":   checkout("turn:1", outside),
		"checkout with a tag":   checkout("turn:1", tagged),
		"parts of":              parts("nosuch", env),
		"parts of a turn":       parts("turn:9@"+k.Name(), env),
		"parts for":             parts("first", nobody),
		"pick of":               pick(restore.PickOptions{Options: env, Change: "nosuch"}),
		"pick from a worktree":  pick(restore.PickOptions{Options: env, Change: "nosuch", From: q.E.Merger}),
		"pick of outside":       pick(restore.PickOptions{Options: outside, Change: "turn:2"}),
		"pick of nothing":       pick(restore.PickOptions{Options: env}),
		"revert of a session":   revert(restore.PickOptions{Options: env, Of: "claude/nobody"}),
		"revert of":             revert(restore.PickOptions{Options: env, Change: "turn:9"}),
		"switch to":             to("claude/nobody", env),
		"switch to a turn":      to("turn:9@"+k.Name(), env),
		"switch with a tag":     to(k.Name(), tagged),
		"archiving nobody":      archive("claude/nobody"),
		"archiving one of two":  archive(k.Name(), "claude/nobody"),
		"archiving none":        archive(),
		"an undo-restore of it": func() error { _, err := r.UndoRestore(enginetest.Bg, last+1, env); return err }(),
	} {
		if err == nil {
			t.Errorf("%s what is not known is done", what)
		}
	}
	p.WantTree(before)
	if p.E.Log.DB.LastSeq() != last || len(p.Files()) != files {
		t.Errorf("%d operations are new, %d files", p.E.Log.DB.LastSeq()-last, len(p.Files())-files)
	}
}
