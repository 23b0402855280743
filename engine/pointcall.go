package engine

import (
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// An agent may write its file later than its hooks say what has happened: Claude Code writes a turn's prompt behind the end of the turn's first call if the model
// answers within some milliseconds. The checkpoint of that call has the conversation as it was on disk. What came later is known by the next capture, and the call's
// id says how much of that belongs to the checkpoint.

// completeCall has a moment that is a call's checkpoint, and whose conversation does not have the call yet, stand for a later capture that goes on from the same
// bytes and has it: it is cut at the call.
func (e *Engine) completeCall(p *point) error {
	call, s := p.cp.Cause.Call, e.sessions[p.session]
	if call == "" || p.turn > 0 || s == nil || !understood(s.Agent) || p.cp.Cause.Event == EventSafety {
		return nil
	}
	if has, err := e.hasCall(s, p.transcript, call); err != nil || has {
		return err
	}
	later := []objstore.ID{s.Cursor.Transcript}
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= p.cp.Seq {
			return kv.ErrStop
		}
		if op.Session != p.session || !inTurn(op) {
			return nil
		}
		said := op.Transcript
		if op.Kind == refs.KindCheckpoint {
			cp, err := e.checkpoint(op.Checkpoint)
			if err != nil {
				return err
			}
			said = cp.Mark.Transcript
		}
		if !said.IsZero() && said != later[len(later)-1] {
			later = append(later, said)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, said := range later {
		if said.IsZero() {
			continue
		}
		on, err := e.goesOn(said, p.transcript)
		if err != nil {
			return err
		}
		if !on {
			continue // gone back in by then, or written anew
		}
		has, err := e.hasCall(s, said, call)
		if err != nil {
			return err
		}
		if has {
			p.transcript, p.call = said, call
			return nil
		}
	}
	p.late = true
	return nil
}

// hasCall reports whether a stored conversation has a call.
func (e *Engine) hasCall(s *Session, said objstore.ID, call string) (bool, error) {
	if said.IsZero() {
		return false, nil
	}
	src, _, err := e.source(s, said)
	if err != nil {
		return false, err
	}
	return transcript.HasCall(transcript.Agent(s.Agent), src, call)
}
