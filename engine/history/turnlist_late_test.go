package history_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
)

// A prompt that the agent writes down after the hook, behind one that ended by Esc and of which no event has the
// conversation either.
func TestPromise19TurnsOfPromptsWrittenLate(t *testing.T) {
	p := enginetest.NewProject(t)
	s := p.Scribe(hooks.Claude, "000000a0-0000-4000-8000-000000000000")
	s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	for _, text := range []string{"one", "two"} {
		s.Tell(hooks.Prompt, map[string]any{"prompt": text})
		s.Asked(text)
		if text == "one" {
			s.Interrupted("", "") // no hook fires
		}
	}
	list, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: s.Name()}, 0)
	p.Must(err)
	var said []string
	for _, turn := range list.Turns {
		said = append(said, turn.Summary)
	}
	if len(said) != 2 || said[0] != "one" || said[1] != "two" {
		t.Fatalf("the turns are %q", said)
	}
}
