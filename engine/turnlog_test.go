package engine

import (
	"fmt"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// sameTurns fails unless a log whose operations do not say what a checkpoint's event was, as older programs wrote them, tells the same of a session's turns.
func (p *fixture) sameTurns(session string) {
	p.t.Helper()
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
		l, err := p.e.History.NewTurnLog(session, only)
		p.must(err)
		p.must(p.e.Log.Refs.Newest(0, func(op *refs.Operation) error {
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
			p.t.Fatalf("turn %d of %s in the list: %s, without words %s", n, session, is, was)
		}
		if is, was := told(read(n, true), n), told(read(n, false), n); is != was {
			p.t.Fatalf("turn %d of %s: %s, without words %s", n, session, is, was)
		}
	}
}

// What a turn is does not depend on who wrote the log.
func TestTurnsOfOlderOperations(t *testing.T) {
	p, k := begun(t)
	words := 0
	for n := range 4 {
		k.ask(fmt.Sprint("say ", n))
		for c := range 3 {
			k.work(p.edits("f", fmt.Sprint(n, c)))
		}
		p.edits("g", fmt.Sprint(n))() // by hand: the stop finds it
		k.stop()
		if n == 2 {
			k.work(p.edits("f", "late"))
			k.stop()
		}
		p.edits("g", fmt.Sprint(n, "later"))()
	}
	k.send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	p.must(p.e.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint {
			cp, err := p.e.Log.Checkpoint(op.Checkpoint)
			p.must(err)
			if op.Cause != (refs.Cause{Event: cp.Cause.Event}) {
				t.Errorf("operation %d says %v, its checkpoint %q", op.Seq, op.Cause, cp.Cause.Event)
			}
			words++
		}
		return nil
	}))
	if words < 20 {
		t.Errorf("only %d checkpoints", words)
	}
	p.sameTurns(k.name())
}

// TestTurnReadsFewCheckpoints: the end of a turn is found without reading each call's checkpoint.
func TestTurnReadsFewCheckpoints(t *testing.T) {
	p, k := begun(t)
	turn := uint64(0)
	read := func(name string, calls int) uint64 {
		k.ask("do " + name)
		for c := range calls {
			k.work(p.edits("f", fmt.Sprint(name, c)))
		}
		k.stop()
		p.reopen()
		turn++
		before := p.e.Log.DB.Reads()
		l, err := p.e.History.ReadTurns(k.name(), turn)
		p.must(err)
		if m := l.EndOf(turn); m == nil || m.Code.IsZero() {
			t.Fatalf("turn %d has no end", turn)
		}
		return p.e.Log.DB.Reads() - before
	}
	few, many := read("few", 8), read("many", 80)
	const ops = 2 * (80 - 8) // each call has two, which are read themselves
	if many > few+ops+ops/8 {
		t.Errorf("%d keys are read for a turn of 8 calls, %d for one of 80", few, many)
	}
}
