package engine

import "testing"

// A command looks at the processes once, and the next one looks again.
func TestOneLookOfACommand(t *testing.T) {
	e := newProject(t).e
	e.mu.Lock()
	first := e.processes()
	if e.processes() == first {
		t.Error("a look is kept though no command is under way")
	}
	e.mu.Unlock()
	release := e.hold()
	first = e.processes()
	if e.processes() != first {
		t.Error("a command looks twice")
	}
	release()
	defer e.hold()()
	if e.processes() == first {
		t.Error("the next command goes by an old look")
	}
}
