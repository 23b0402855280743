package engine

import (
	"testing"

	"rewind/engine/model"
	"rewind/hooks"
)

// A prompt that the agent writes down after the hook, behind one that ended by Esc and of which no event has the conversation either.
func TestPromise19TurnsOfPromptsWrittenLate(t *testing.T) {
	p := newProject(t)
	s := p.scribe(hooks.Claude, "000000a0-0000-4000-8000-000000000000")
	s.tell(hooks.SessionStart, map[string]any{"source": "startup"})
	for _, text := range []string{"one", "two"} {
		s.tell(hooks.Prompt, map[string]any{"prompt": text})
		s.asked(text)
		if text == "one" {
			s.interrupted("", "") // no hook fires
		}
	}
	list, err := p.e.History.Turns(bg, model.SessionChoice{Session: s.name()})
	p.must(err)
	var said []string
	for _, turn := range list.Turns {
		said = append(said, turn.Summary)
	}
	if len(said) != 2 || said[0] != "one" || said[1] != "two" {
		t.Fatalf("the turns are %q", said)
	}
}
