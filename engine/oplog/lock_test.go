package oplog_test

import (
	"testing"

	"rewind/engine/enginetest"
)

// A command looks at the processes once, and the next one looks again.
func TestOneLookOfACommand(t *testing.T) {
	e := enginetest.NewProject(t).E
	e.Log.Lock()
	first := e.Log.Processes()
	if e.Log.Processes() == first {
		t.Error("a look is kept though no command is under way")
	}
	e.Log.Unlock()
	release := e.Log.Hold()
	first = e.Log.Processes()
	if e.Log.Processes() != first {
		t.Error("a command looks twice")
	}
	release()
	defer e.Log.Hold()()
	if e.Log.Processes() == first {
		t.Error("the next command goes by an old look")
	}
}
