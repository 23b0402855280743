package history_test

import (
	"errors"
	"fmt"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
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
			_, err := p.E.History.Resolve(fmt.Sprintf("turn:%d@%s", turn, k.Name()))
			p.Must(err)
			return p.E.Log.DB.Reads() - before
		}
		ask()
		return ask()
	}
	few, many := read("few", 8), read("many", 80)
	if few > 24 || many > few+8 {
		t.Errorf("%d keys are read for a turn of 8 calls, %d for one of 80", few, many)
	}
}

// What was read of turns is answered from until something is written, and then is read anew.
func TestTurnsAreReadAgainWhenWritten(t *testing.T) {
	p, k := enginetest.Begun(t)
	end := func(n int) (objstore.ID, error) {
		cp, err := p.E.History.Resolve(fmt.Sprintf("turn:%d@%s", n, k.Name()))
		if err != nil {
			return objstore.ID{}, err
		}
		return cp.ID, nil
	}
	k.Take("one", p.Edits("f", "1"))
	was, err := end(1)
	p.Must(err)
	if again, err := end(1); err != nil || again != was {
		t.Errorf("turn 1 ends at %s, then at %s, %v", was.Short(), again.Short(), err)
	}
	if _, err := end(2); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("turn 2, which is not there: %v", err)
	}
	k.Take("two", p.Edits("f", "2"))
	first, err := end(1)
	p.Must(err)
	second, err := end(2)
	p.Must(err)
	if first != was || second == was {
		t.Errorf("turn 1 ends at %s and then at %s, turn 2 at %s", was.Short(), first.Short(), second.Short())
	}
}
