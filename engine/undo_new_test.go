package engine

import (
	"context"
	"errors"
	"os"
	"testing"

	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A file that the session removed and its person made anew is no step of undo, in whichever way it stands where another one was: it stays, and undo goes on.
func TestPromise19UndoBesideANewFile(t *testing.T) {
	for _, over := range []bool{false, true} {
		p := newProject(t)
		p.write("dir/a", big("first"))
		p.save("first")
		s := p.scribe(hooks.Claude, "000000a0-0000-4000-8000-000000000000")
		s.tell(hooks.SessionStart, map[string]any{"source": "startup"})
		s.tell(hooks.Prompt, map[string]any{"prompt": "go"})
		for _, path := range []string{"b", "c", ""} {
			tool, input := s.tool(path)
			call := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "call_" + path}
			s.tell(hooks.BeforeTool, call)
			if path == "" {
				p.must(os.RemoveAll(p.path("dir")))
			} else {
				p.write(path, big(path))
			}
			s.tell(hooks.AfterTool, call)
		}
		made := "dir/a"
		if over {
			made = "dir" // a file where a directory was
		}
		p.write(made, "the person's")
		steps := 0
		for ; steps < 8; steps++ {
			r, err := p.e.Restorer.Undo(bg, 1, restore.Options{Session: model.SessionChoice{Session: s.name()}})
			if errors.Is(err, model.ErrNotFound) {
				break
			}
			p.must(err)
			if r.Saved != nil {
				t.Errorf("undo saved %s as a step", made)
			}
		}
		for _, path := range []string{"b", "c"} {
			if _, err := os.Stat(p.path(path)); err == nil {
				t.Errorf("%s is there after %d steps back", path, steps)
			}
		}
		if got := p.slurp(p.path(made)); got != "the person's" {
			t.Errorf("%s holds %q", made, got)
		}
	}
}

// does has a session run a call: a shell, or one that writes a path.
func (s *scribe) does(path, content string) {
	tool, input := s.tool(path)
	call := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "call_" + unique()}
	s.tell(hooks.BeforeTool, call)
	s.p.write(path, big(content))
	s.tell(hooks.AfterTool, call)
}

func (p *fixture) two() (a, b *scribe) {
	p.t.Helper()
	p.write("f", big("first"))
	p.save("first")
	for _, s := range []**scribe{&a, &b} {
		*s = p.scribe(hooks.Claude, unique())
		(*s).tell(hooks.SessionStart, map[string]any{"source": "startup"})
		(*s).tell(hooks.Prompt, map[string]any{"prompt": "go"})
	}
	return a, b
}

// A directory that nobody's call made, and that is there for another session's file alone, is no step of undo.
func TestPromise19UndoBesideADirectory(t *testing.T) {
	p := newProject(t)
	a, b := p.two()
	a.does("f", "a's")
	p.write("d/x", big("the person's"))
	b.does("e", "b's") // takes it in
	p.remove("d/x")
	b.does("d/y", "b's")
	for range 2 {
		r, err := p.e.Restorer.Undo(bg, 1, restore.Options{Session: model.SessionChoice{Session: a.name()}})
		p.must(err)
		if r.Saved != nil {
			t.Error("undo saved the directory as a step")
		}
		if p.slurp(p.path("f")) == big("first") {
			return
		}
	}
	t.Error("f is not as it was first")
}

// What another session's call does and no capture has seen stays where undo and redo go, also where undo goes to what happens to have the same.
func TestPromise19RedoBesideAnUnsavedRemoval(t *testing.T) {
	p := newProject(t)
	a, b := p.two()
	a.does("new", "a's")
	tool, input := b.tool("")
	b.tell(hooks.BeforeTool, map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "call_1"})
	p.remove("new")
	of := restore.Options{Session: model.SessionChoice{Session: a.name()}}
	_, err := p.e.Restorer.Undo(bg, 1, of)
	p.must(err)
	r, err := p.e.Restorer.Redo(bg, 1, of)
	p.must(err)
	if _, err := os.Stat(p.path("new")); err == nil {
		t.Errorf("redo laid out what the other session had removed; kept %+v", r.Plan.Kept)
	}
}

// A checkout may lead to a step of another session's line: undo goes on from there, and redo comes back to it.
func TestPromise19RedoToAnotherLine(t *testing.T) {
	p := newProject(t)
	a, _ := p.two()
	a.does("f", "a's")
	p.write("f", big("the person's"))
	c := p.scribe(hooks.Codex, unique())
	c.tell(hooks.SessionStart, map[string]any{"source": "startup"}) // takes it in, on its own line, which begins where a stands
	a.tell(hooks.Stop, map[string]any{"stop_hook_active": false})
	of := restore.Options{Session: model.SessionChoice{Session: a.name()}}
	_, err := p.e.Restorer.Checkout(bg, "turn:1", of)
	p.must(err)
	for range 2 {
		_, err := p.e.Restorer.Undo(bg, 1, of)
		p.must(err)
	}
	if got := p.slurp(p.path("f")); got != big("first") {
		t.Fatalf("two steps back f is %.8q", got)
	}
	for range 2 {
		if _, err := p.e.Restorer.Redo(bg, 1, of); err != nil {
			t.Error(err)
		}
	}
	if got := p.slurp(p.path("f")); got != big("the person's") {
		t.Errorf("two steps forward f is %.8q", got)
	}
}

// TestPromise19UndoAgain: what an undo made a step stays one when redo has come back to it: the next undo takes a person's edit alone, as the first did, not the
// session's work before it as well.
func TestPromise19UndoAgain(t *testing.T) {
	p := newProject(t)
	a, _ := p.two()
	a.does("d", "1")
	a.does("e", "2")
	p.write("d", big("the person's"))
	o := restore.Options{Session: model.SessionChoice{Session: a.name()}}
	for round := range 3 {
		for i, want := range [][2]string{{"1", "2"}, {"1", ""}, {"", ""}} {
			_, err := p.e.Restorer.Undo(bg, 1, o)
			p.must(err)
			for j, path := range []string{"d", "e"} {
				got, err := os.ReadFile(p.path(path))
				if want[j] == "" && err == nil || want[j] != "" && string(got) != big(want[j]) {
					t.Fatalf("round %d, undo %d: %s is not %q", round, i+1, path, want[j])
				}
			}
		}
		for range 3 {
			_, err := p.e.Restorer.Redo(bg, 1, o)
			p.must(err)
		}
		if p.read("d") != big("the person's") || p.read("e") != big("2") {
			t.Fatalf("round %d: redo does not come back", round)
		}
	}
	p.verify()
}

// A session that begins where another one's undo and redo have led back to begins with that: what was done and taken back before is no colleague's change, and
// undo of its own first step brings the other one's file back.
func TestPromise19UndoToWhereItBegan(t *testing.T) {
	p := newProject(t)
	a, _ := p.two()
	a.does("n", "a's")
	of := restore.Options{Session: model.SessionChoice{Session: a.name()}}
	for _, step := range []func(context.Context, int, restore.Options) (*restore.Result, error){p.e.Restorer.Undo, p.e.Restorer.Redo} {
		_, err := step(bg, 1, of)
		p.must(err)
	}
	c := p.scribe(hooks.Claude, unique())
	c.tell(hooks.SessionStart, map[string]any{"source": "startup"})
	c.tell(hooks.Prompt, map[string]any{"prompt": "go"})
	c.does("n", "c's")
	r, err := p.e.Restorer.Undo(bg, 1, restore.Options{Session: model.SessionChoice{Session: c.name()}})
	p.must(err)
	if got := p.slurp(p.path("n")); got != big("a's") {
		t.Errorf("n is not a's again; kept %+v", r.Plan.Kept)
	}
}

// A person's new file stays new when a restore beside it is taken back: the safety checkpoint has it, but no step does, and that the step on which the restored
// session stands has another file of that name, which has been removed since, does not make it known.
func TestPromise12NewFileAfterUndoRestore(t *testing.T) {
	p := newProject(t)
	a, b := p.two()
	call := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "rm f"}, "tool_use_id": "call_rm"}
	a.tell(hooks.BeforeTool, call)
	p.remove("f")
	a.tell(hooks.AfterTool, call)
	a.tell(hooks.Stop, nil)
	b.tell(hooks.Stop, nil)
	p.write("f", big("the person's"))
	back := func() {
		t.Helper()
		r, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Session: model.SessionChoice{Session: b.name()}})
		p.must(err)
		if got, err := os.ReadFile(p.path("f")); err != nil || string(got) != big("the person's") {
			t.Fatalf("f went: %v; kept %+v", err, r.Plan.Kept)
		}
	}
	back()
	_, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{})
	p.must(err)
	back()
}
