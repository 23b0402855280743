package restore_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A file that the session removed and its person made anew is no step of undo, in whichever way it stands where another
// one was: it stays, and undo goes on.
func TestPromise19UndoBesideANewFile(t *testing.T) {
	for _, over := range []bool{false, true} {
		p := enginetest.NewProject(t)
		p.Write("dir/a", enginetest.Big("first"))
		p.Save("first")
		s := p.Scribe(hooks.Claude, "000000a0-0000-4000-8000-000000000000")
		s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
		s.Tell(hooks.Prompt, map[string]any{"prompt": "go"})
		for _, path := range []string{"b", "c", ""} {
			tool, input := s.Tool(path)
			call := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "call_" + path}
			s.Tell(hooks.BeforeTool, call)
			if path == "" {
				p.Must(os.RemoveAll(p.Path("dir")))
			} else {
				p.Write(path, enginetest.Big(path))
			}
			s.Tell(hooks.AfterTool, call)
		}
		made := "dir/a"
		if over {
			made = "dir" // a file where a directory was
		}
		p.Write(made, "the person's")
		steps := 0
		for ; steps < 8; steps++ {
			r, err := p.E.Restorer.Undo(enginetest.Bg, 1,
				restore.Options{Session: model.SessionChoice{Session: s.Name()}})
			if errors.Is(err, model.ErrNotFound) {
				break
			}
			p.Must(err)
			if r.Saved != nil {
				t.Errorf("undo saved %s as a step", made)
			}
		}
		for _, path := range []string{"b", "c"} {
			if _, err := os.Stat(p.Path(path)); err == nil {
				t.Errorf("%s is there after %d steps back", path, steps)
			}
		}
		if got := p.Slurp(p.Path(made)); got != "the person's" {
			t.Errorf("%s holds %q", made, got)
		}
	}
}

// A directory that nobody's call made, and that is there for another session's file alone, is no step of undo.
func TestPromise19UndoBesideADirectory(t *testing.T) {
	p := enginetest.NewProject(t)
	a, b := p.Two()
	a.Does("f", "a's")
	p.Write("d/x", enginetest.Big("the person's"))
	b.Does("e", "b's") // takes it in
	p.Remove("d/x")
	b.Does("d/y", "b's")
	for range 2 {
		r, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Session: model.SessionChoice{Session: a.Name()}})
		p.Must(err)
		if r.Saved != nil {
			t.Error("undo saved the directory as a step")
		}
		if p.Slurp(p.Path("f")) == enginetest.Big("first") {
			return
		}
	}
	t.Error("f is not as it was first")
}

// What another session's call does and no capture has seen stays where undo and redo go, also where undo goes to what
// happens to have the same.
func TestPromise19RedoBesideAnUnsavedRemoval(t *testing.T) {
	p := enginetest.NewProject(t)
	a, b := p.Two()
	a.Does("new", "a's")
	tool, input := b.Tool("")
	b.Tell(hooks.BeforeTool, map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "call_1"})
	p.Remove("new")
	of := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	_, err := p.E.Restorer.Undo(enginetest.Bg, 1, of)
	p.Must(err)
	r, err := p.E.Restorer.Redo(enginetest.Bg, 1, of)
	p.Must(err)
	if _, err := os.Stat(p.Path("new")); err == nil {
		t.Errorf("redo laid out what the other session had removed; kept %+v", r.Plan.Kept)
	}
}

// A checkout may lead to a step of another session's line: undo goes on from there, and redo comes back to it.
func TestPromise19RedoToAnotherLine(t *testing.T) {
	p := enginetest.NewProject(t)
	a, _ := p.Two()
	a.Does("f", "a's")
	p.Write("f", enginetest.Big("the person's"))
	c := p.Scribe(hooks.Codex, enginetest.Unique())
	// takes it in, on its own line, which begins where a stands
	c.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	a.Tell(hooks.Stop, map[string]any{"stop_hook_active": false})
	of := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	_, err := p.E.Restorer.Checkout(enginetest.Bg, "session:"+c.Name(), of)
	p.Must(err)
	for range 2 {
		_, err := p.E.Restorer.Undo(enginetest.Bg, 1, of)
		p.Must(err)
	}
	if got := p.Slurp(p.Path("f")); got != enginetest.Big("first") {
		t.Fatalf("two steps back f is %.8q", got)
	}
	for range 2 {
		if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, of); err != nil {
			t.Error(err)
		}
	}
	if got := p.Slurp(p.Path("f")); got != enginetest.Big("the person's") {
		t.Errorf("two steps forward f is %.8q", got)
	}
}

// TestPromise19UndoAgain: what an undo made a step stays one when redo has come back to it: the next undo takes a
// person's edit alone, as the first did, not the session's work before it as well.
func TestPromise19UndoAgain(t *testing.T) {
	p := enginetest.NewProject(t)
	a, _ := p.Two()
	a.Does("d", "1")
	a.Does("e", "2")
	p.Write("d", enginetest.Big("the person's"))
	o := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	for round := range 3 {
		for i, want := range [][2]string{{"1", "2"}, {"1", ""}, {"", ""}} {
			_, err := p.E.Restorer.Undo(enginetest.Bg, 1, o)
			p.Must(err)
			for j, path := range []string{"d", "e"} {
				got, err := os.ReadFile(p.Path(path))
				if want[j] == "" && err == nil || want[j] != "" && string(got) != enginetest.Big(want[j]) {
					t.Fatalf("round %d, undo %d: %s is not %q", round, i+1, path, want[j])
				}
			}
		}
		for range 3 {
			_, err := p.E.Restorer.Redo(enginetest.Bg, 1, o)
			p.Must(err)
		}
		if p.Read("d") != enginetest.Big("the person's") || p.Read("e") != enginetest.Big("2") {
			t.Fatalf("round %d: redo does not come back", round)
		}
	}
	p.Verify()
}

// A session that begins where another one's undo and redo have led back to begins with that: what was done and taken
// back before is no colleague's change, and undo of its own first step brings the other one's file back.
func TestPromise19UndoToWhereItBegan(t *testing.T) {
	p := enginetest.NewProject(t)
	a, _ := p.Two()
	a.Does("n", "a's")
	of := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	for _, step := range []func(context.Context, int, restore.Options) (*restore.Result, error){p.E.Restorer.Undo, p.E.Restorer.Redo} {
		_, err := step(enginetest.Bg, 1, of)
		p.Must(err)
	}
	c := p.Scribe(hooks.Claude, enginetest.Unique())
	c.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	c.Tell(hooks.Prompt, map[string]any{"prompt": "go"})
	c.Does("n", "c's")
	r, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Session: model.SessionChoice{Session: c.Name()}})
	p.Must(err)
	if got := p.Slurp(p.Path("n")); got != enginetest.Big("a's") {
		t.Errorf("n is not a's again; kept %+v", r.Plan.Kept)
	}
}

// A person's new file stays new when a restore beside it is taken back: the safety checkpoint has it, but no step does,
// and that the step on which the restored session stands has another file of that name, which has been removed since,
// does not make it known.
func TestPromise12NewFileAfterUndoRestore(t *testing.T) {
	p := enginetest.NewProject(t)
	a, b := p.Two()
	call := map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": "rm f"},
		"tool_use_id": "call_rm",
	}
	a.Tell(hooks.BeforeTool, call)
	p.Remove("f")
	a.Tell(hooks.AfterTool, call)
	a.Tell(hooks.Stop, nil)
	b.Tell(hooks.Stop, nil)
	p.Write("f", enginetest.Big("the person's"))
	back := func() {
		t.Helper()
		r, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1",
			restore.Options{Session: model.SessionChoice{Session: b.Name()}, KeepMine: true})
		p.Must(err)
		if got, err := os.ReadFile(p.Path("f")); err != nil || string(got) != enginetest.Big("the person's") {
			t.Fatalf("f went: %v; kept %+v", err, r.Plan.Kept)
		}
	}
	back()
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	back()
}
