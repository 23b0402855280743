package history_test

import (
	"fmt"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// What a turn is does not depend on who wrote the log.
func TestTurnsOfOlderOperations(t *testing.T) {
	p, k := enginetest.Begun(t)
	words := 0
	for n := range 4 {
		k.Ask(fmt.Sprint("say ", n))
		for c := range 3 {
			k.Work(p.Edits("f", fmt.Sprint(n, c)))
		}
		p.Edits("g", fmt.Sprint(n))() // by hand: the stop finds it
		k.Stop()
		if n == 2 {
			k.Work(p.Edits("f", "late"))
			k.Stop()
		}
		p.Edits("g", fmt.Sprint(n, "later"))()
	}
	k.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint {
			cp, err := p.E.Log.Checkpoint(op.Checkpoint)
			p.Must(err)
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
	p.SameTurns(k.Name())
}

// TestTurnReadsFewKeys: what a turn is costs the same, however long it and the log are.
func TestTurnReadsFewKeys(t *testing.T) {
	p, k := enginetest.Begun(t)
	turn := uint64(0)
	read := func(name string, calls int) uint64 {
		k.Ask("do " + name)
		for c := range calls {
			k.Work(p.Edits("f", fmt.Sprint(name, c)))
		}
		k.Stop()
		turn++
		ask := func() uint64 {
			p.Reopen()
			before := p.E.Log.DB.Reads()
			l, err := p.E.History.ReadTurns(k.Name())
			p.Must(err)
			m, err := l.EndOf(turn)
			if p.Must(err); m == nil || m.Code.IsZero() {
				t.Fatalf("turn %d has no end", turn)
			}
			return p.E.Log.DB.Reads() - before
		}
		ask()
		return ask()
	}
	few, many := read("few", 8), read("many", 80)
	if few > 24 || many > few+2 {
		t.Errorf("%d keys are read for a turn of 8 calls, %d for one of 80", few, many)
	}
}

// What was read of turns is answered from until something is written, and then is read anew; what a request has of it is its own.
func TestTurnsAreReadAgainWhenWritten(t *testing.T) {
	p, k := enginetest.Begun(t)
	session := "claude/" + k.ID
	k.Ask("one")
	k.Work(p.Edits("f", "1"))
	k.Stop()
	read := func() *history.TurnLog {
		l, err := p.E.History.ReadTurns(session)
		p.Must(err)
		return l
	}
	first, again := read(), read()
	end := func(l *history.TurnLog, n uint64) objstore.ID {
		m, err := l.EndOf(n)
		p.Must(err)
		return m.Code
	}
	if first == again || first.Newest() != 1 || again.Newest() != 1 || end(first, 1) != end(again, 1) {
		t.Errorf("turns %d and %d of what nobody wrote to", first.Newest(), again.Newest())
	}
	was := end(first, 1)
	k.Ask("two")
	k.Work(p.Edits("f", "2"))
	k.Stop()
	now := read()
	if now.Newest() != 2 || end(now, 1) != was || end(now, 2) == was {
		t.Errorf("the newest turn is %d", now.Newest())
	}
	if first.Newest() != 1 || end(first, 1) != was {
		t.Error("what was read before has changed")
	}
}
