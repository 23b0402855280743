package restore_test

import (
	"os"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// TestUndoBelowADirectoryThatOthersRemoved: a directory that another session's restore removed is made again for what
// comes back below it.
func TestUndoBelowADirectoryThatOthersRemoved(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("a", "first")
	p.Save("one")
	a, b := p.Agent("a"), p.Agent("b")
	a.Start()
	a.Prompt("one")
	a.Stop()
	p.Write("d/c", enginetest.Big("mine"))
	a.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	b.Start()
	b.Prompt("two")
	b.Run("1", func() { p.Remove("d/c") })
	of := func(s string) restore.Options {
		return restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: s}, TakeBack: s == "b"}
	}
	_, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", of("a"))
	p.Must(err)
	if _, err := os.Lstat(p.Path("d")); !os.IsNotExist(err) {
		t.Fatal("the other session's restore leaves the directory there")
	}
	b.Run("2", func() { p.Write("d/c", enginetest.Big("b's")) })
	b.Stop()
	for i, want := range []string{"", enginetest.Big("mine")} {
		r, err := p.E.Restorer.Undo(enginetest.Bg, 1, of("b"))
		p.Must(err)
		if is, _ := os.ReadFile(p.Path("d/c")); string(is) != want || r.Changed == 0 {
			t.Errorf("step %d: %q, %d changed", i, is, r.Changed)
		}
	}
	for i, want := range []string{"", enginetest.Big("b's")} {
		_, err := p.E.Restorer.Redo(enginetest.Bg, 1, of("b"))
		p.Must(err)
		if is, _ := os.ReadFile(p.Path("d/c")); string(is) != want {
			t.Errorf("redo %d: %q", i, is)
		}
	}
}
