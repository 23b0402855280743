package engine

import (
	"fmt"
	"strconv"

	"rewind/internal/kv"
	"rewind/refs"
)

// turn finds the checkpoint that holds the state at the end of a turn of a session, "" for the current one; turn 0 is before the first
// prompt.
func (e *Engine) turn(session, name string) (*Checkpoint, error) {
	n, err := strconv.ParseUint(name[len("turn:"):], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("engine: checkpoint %q: %w: want turn:<number>", name, ErrUsage)
	}
	if session, err = e.orCurrent(session); err != nil {
		return nil, err
	}
	return e.endOfTurn(session, n)
}

// byPerson reports whether an operation made a checkpoint that a person asked for: it comes after what the turn did.
func (e *Engine) byPerson(op *refs.Operation) (bool, error) {
	if op.Kind != refs.KindCheckpoint {
		return false, nil
	}
	cp, err := e.checkpoint(op.Checkpoint)
	return err == nil && (cp.Cause.Event == EventSave || cp.Cause.Event == EventUndo), err
}

// endOfTurn is the newest checkpoint that one of a session's events of turn n or before stood for.
func (e *Engine) endOfTurn(session string, n uint64) (*Checkpoint, error) {
	var found *refs.Operation
	var first *refs.Operation // the oldest of a later turn
	newest := uint64(0)
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Session != session || op.Checkpoint.IsZero() || op.Kind != refs.KindCheckpoint && op.Kind != refs.KindEvent {
			return nil
		}
		newest = max(newest, op.Turn)
		if op.Turn <= n {
			person, err := e.byPerson(op)
			if err != nil || person {
				return err
			}
			found = op
			return kv.ErrStop
		}
		first = op
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found == nil && n == 0 {
		found = first // the prompt of the first turn is the state before it
	}
	if found == nil || newest < n {
		return nil, fmt.Errorf("engine: checkpoint \"turn:%d\": %w: session %s has %d turns", n, ErrNotFound, session, newest)
	}
	return e.checkpoint(found.Checkpoint)
}
