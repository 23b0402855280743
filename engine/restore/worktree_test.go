package restore_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
)

// A worktree has the sessions of the project that it was made of, which go on there: it makes its own of them, in its
// own directory, and leaves theirs.
func TestSessionsOfTheProjectBeside(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was, code := p.Slurp(k.File), enginetest.List(t, p.Root)
	q := p.Beside(t.TempDir())
	defer q.Close()
	w := model.SessionChoice{Session: k.Name()}

	var none *model.NoConversationError
	_, err := q.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Session: w, Env: p.Env(), InPlace: true})
	if !errors.As(err, &none) || !strings.Contains(none.Why, p.Root) {
		t.Errorf("in place: %v", err)
	}
	var elsewhere *model.ElsewhereError
	_, err = q.E.Restorer.Switch(enginetest.Bg, k.Name(), restore.Options{Env: p.Env()})
	if !errors.As(err, &elsewhere) || elsewhere.Root != p.Root || elsewhere.Session != k.Name() {
		t.Errorf("switch: %v", err)
	}
	f, err := q.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{Session: w, Env: p.Env(), SelfTest: true})
	if err != nil || len(f.Checks) != 3 {
		t.Errorf("self-test: %+v, %v", f, err)
	}
	for _, name := range []string{"turn:1", "turn:2"} {
		r, err := q.E.Restorer.Checkout(enginetest.Bg, name, restore.Options{Session: w, Env: p.Env()})
		q.Must(err)
		c := r.Conversation
		if c.Mode != model.ConversationFork || q.Read("f") != enginetest.Big(name[5:]) {
			t.Fatalf("%s: %+v, %.3q", name, c, q.Read("f"))
		}
		text := q.Slurp(c.Path)
		if strings.Contains(text, `"cwd":"`+p.Root+`"`) || !strings.Contains(text, `"cwd":"`+q.Root+`"`) {
			t.Errorf("%s: it is not gone on with in %s", name, q.Root)
		}
		if s := q.Session(c.Session); s.Cwd != q.Root {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if p.Slurp(k.File) != was {
		t.Error("the session of the project has changed")
	}
	p.WantTree(code)
	q.Verify()
}

// What was done before a worktree was made is undone in the project that it was made of: neither by its number nor by
// an undo-restore without one.
func TestUndoOfWhatWasDoneBefore(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	p.Save("two")
	before := p.Checkout(one.ID.String(), restore.Options{}).Operation
	q := p.Beside(t.TempDir())
	defer q.Close()
	undo := func(seq uint64) error {
		_, err := q.E.Restorer.UndoRestore(enginetest.Bg, seq, restore.Options{})
		return err
	}
	if err := undo(before.Seq); !errors.Is(err, model.ErrUsage) || !strings.Contains(err.Error(), p.Root) {
		t.Errorf("%d %s: %v", before.Seq, before.Kind, err)
	}
	p.Must(undo(0)) // that the worktree was laid out
	if _, err := os.Stat(q.Path("f")); err == nil {
		t.Errorf("f is %q", q.Read("f"))
	}
	if err := undo(0); !errors.Is(err, model.ErrNoRestore) {
		t.Errorf("nothing is left that was done here: %v", err)
	}
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	if p.Read("f") != "2" {
		t.Errorf("in the project f is %q", p.Read("f"))
	}
}
