package restore_test

import (
	"os/exec"
	"slices"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A program of the agent's in the project, of which nothing says on which session it is, has the fork open that a
// restore made only where no other session of that agent's is known to be open: agents tell of opening one.
func TestUndoRestoreBesideAProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   bool // of the session that the fork is of
		other hooks.Agent
		begun bool // the agent has told of opening the fork
		kept  bool
	}{
		"another session is open":    {false, "", false, false},
		"so it is, and the fork is":  {false, "", true, true},
		"no other one is":            {true, "", false, true},
		"another agent's is":         {true, hooks.Codex, false, true},
		"a third one of the agent's": {true, hooks.Claude, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, k := enginetest.TwoTurns(t)
			switch c.other {
			case hooks.Codex:
				s := p.Scribe(hooks.Codex, enginetest.Unique())
				s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
			case hooks.Claude:
				p.Talker(2).Start()
			}
			if c.end {
				k.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
			}
			p.Settle()
			went := p.Back("turn:1@"+k.Name(), restore.Options{})
			if c.begun {
				p.Opened(went.Conversation.Fork).Start()
			}
			cmd := exec.Command("cat")
			cmd.Args[0], cmd.Dir = "claude", p.Root
			in, err := cmd.StdinPipe()
			p.Must(err)
			out, err := cmd.StdoutPipe()
			p.Must(err)
			p.Must(cmd.Start())
			_, err = in.Write([]byte("x")) // it is seen by its name once it runs
			p.Must(err)
			_, err = out.Read(make([]byte, 1))
			p.Must(err)
			r, err := p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq, restore.Options{Env: p.Env()})
			p.Must(in.Close())
			p.Must(cmd.Wait())
			p.Must(err)
			if kept := slices.Contains(r.Conversation.Kept, went.Conversation.Path); kept != c.kept {
				t.Errorf("the fork is kept: %v; %+v", kept, r.Conversation)
			}
		})
	}
}
