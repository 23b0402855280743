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
	if session, err = e.orHolder(session, n); err != nil {
		return nil, err
	}
	return e.endOfTurn(session, n)
}

// byPerson reports whether an operation made a checkpoint that a person asked for: it comes after what the turn did.
func (e *Engine) byPerson(op *refs.Operation) (bool, error) {
	if op.Kind == refs.KindThinned {
		return op.Cause.Event == EventSave || op.Cause.Event == EventUndo, nil
	}
	if op.Kind != refs.KindCheckpoint {
		return false, nil
	}
	cp, err := e.checkpoint(op.Checkpoint)
	return err == nil && (cp.Cause.Event == EventSave || cp.Cause.Event == EventUndo), err
}

// endOfTurn is the newest checkpoint that one of a session's events of turn n stood for, or of the turns before it. The number of a turn comes again where the
// conversation was cut in place: the newest of that number is meant.
func (e *Engine) endOfTurn(session string, n uint64) (*Checkpoint, error) {
	var found, before, first *refs.Operation // of the turn, of one before it, the oldest of one after it
	newest := uint64(0)
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Session != session || !inTurn(op) || op.Checkpoint.IsZero() && !op.Thinned || op.Kind == refs.KindThinned && op.Cause.Event == EventSafety {
			return nil
		}
		if op.Kind == refs.KindEvent && op.Cause.Event == EventScan {
			return nil // the conversation was captured; the worktree may be another's by then
		}
		newest = max(newest, op.Turn)
		if op.Turn > n {
			first, before = op, nil
			return nil
		}
		person, err := e.byPerson(op)
		switch {
		case err != nil || person:
			return err
		case op.Turn == n:
			found = op
			return kv.ErrStop
		case before == nil:
			before = op
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found == nil && newest > n {
		found = before
	}
	if found == nil && n == 0 {
		found = first // the prompt of the first turn is the state before it
	}
	if found == nil || newest < n {
		return nil, fmt.Errorf("engine: checkpoint \"turn:%d\": %w: session %s has %d turns", n, ErrNotFound, session, newest)
	}
	if found.Checkpoint.IsZero() {
		return nil, fmt.Errorf("engine: checkpoint \"turn:%d\": %w: gc has removed it", n, ErrNotFound)
	}
	return e.checkpoint(found.Checkpoint)
}

// inTurn reports whether an operation tells of a moment of a session's turn: a checkpoint, also one that gc has removed, or an event that found nothing changed.
func inTurn(op *refs.Operation) bool {
	return op.Kind == refs.KindCheckpoint || op.Kind == refs.KindEvent || op.Kind == refs.KindThinned
}
