package engine

import (
	"errors"
	"os"
	"testing"

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
			r, err := p.e.Undo(bg, 1, RestoreOptions{Session: Whose{Session: s.name()}})
			if errors.Is(err, ErrNotFound) {
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
