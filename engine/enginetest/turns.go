package enginetest

import (
	"fmt"

	"rewind/engine/history"
	"rewind/objstore"
	"rewind/refs"
)

// SameTurns fails unless a log whose operations do not say what a checkpoint's event was, as older programs wrote them,
// tells the same of a session's turns.
func (p *Project) SameTurns(session string) {
	p.T.Helper()
	told := func(l *history.TurnLog, n uint64) string {
		text := "no end"
		if m := l.EndOf(n); m != nil {
			text = fmt.Sprintf("ends at %s %v", m.Code, m.Removed)
		}
		if f := l.Turns[n]; f != nil {
			said := objstore.ID{}
			if f.At != nil {
				var err error
				said, err = l.TranscriptAt(f)
				text += fmt.Sprint(err)
			}
			text += fmt.Sprintf(" %q, over %v, %s, %s", f.Prompt, f.Over, f.Began, said)
		}
		return text
	}
	read := func(only uint64, words bool) *history.TurnLog {
		l, err := p.E.History.NewTurnLog(session, only)
		p.Must(err)
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			if op.Kind == refs.KindCheckpoint && !words {
				op.Cause = refs.Cause{}
			}
			return l.Next(op)
		}))
		return l
	}
	now, before := read(history.AllTurns, true), read(history.AllTurns, false)
	for n := range now.Newest + 1 {
		if is, was := told(now, n), told(before, n); is != was && n > 0 { // a list has no turn 0
			p.T.Fatalf("turn %d of %s in the list: %s, without words %s", n, session, is, was)
		}
		if is, was := told(read(n, true), n), told(read(n, false), n); is != was {
			p.T.Fatalf("turn %d of %s: %s, without words %s", n, session, is, was)
		}
	}
}
