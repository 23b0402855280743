package history_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/transcript"
)

// What was read of a conversation is kept, and forgotten when something is taken out of the log, and when the daemon
// rests.
func TestTalksAreForgotten(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	s := p.Session(k.Name())
	read := func() *transcript.Conversation {
		t.Helper()
		c, err := p.E.History.Conversation(&s, s.Cursor.Transcript)
		p.Must(err)
		if len(c.Turns) != 2 {
			t.Fatalf("%d turns", len(c.Turns))
		}
		return c
	}
	was := read()
	for what, do := range map[string]func(){
		"something is taken out": p.E.Log.Rewrote, "rest": p.E.History.TrimCaches,
	} {
		if read() != was {
			t.Errorf("before %s: it is read again", what)
		}
		do()
		now := read()
		if now == was {
			t.Errorf("%s: it is not read again", what)
		}
		was = now
	}
}
