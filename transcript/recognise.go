package transcript

import (
	"bytes"

	"rewind/internal/jsonscan"
)

// Recognise says which agent wrote a session file that begins with head: some of its first lines, the last of which may be cut off.
func Recognise(head []byte) (Agent, bool) {
	for _, lines := range []bool{false, true} {
		s := jsonscan.New(bytes.NewReader(head), bufferSize, 0)
		for n := 0; n < 64; n++ {
			if lines && !s.Line() {
				break
			}
			var g guess
			err := g.read(s)
			if agent, ok := g.agent(); ok {
				return agent, true
			}
			if err != nil && !lines {
				break
			}
		}
	}
	return "", false
}

// guess is what the first level of a record says.
type guess struct {
	kind string
	keys map[string]bool
}

func (g *guess) read(s *jsonscan.Scanner) error {
	g.keys = map[string]bool{}
	word := newLine(0, false)
	return s.Object(func(key []byte) error {
		if len(g.keys) < maxCalls {
			g.keys[string(key)] = true
		}
		if string(key) == "type" {
			return word.str(s, &g.kind, maxWord)
		}
		return s.Skip()
	})
}

func (g *guess) agent() (Agent, bool) {
	has := g.keys
	switch {
	case has["payload"] && has["timestamp"] && g.kind != "":
		return Codex, true
	case g.kind == "session_start" && has["id"]:
		return Droid, true
	case has["sessionId"] && has["projectHash"]:
		return Gemini, true
	case has["sessionId"] && g.kind != "", g.kind == "summary" && has["leafUuid"], has["uuid"] && has["parentUuid"]:
		return Claude, true
	}
	return "", false
}
