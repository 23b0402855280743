package history

import (
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// An agent may write its file later than its hooks say what has happened: Claude Code writes a turn's prompt behind the
// end of the turn's first call if the model answers within some milliseconds. The checkpoint of that call has the
// conversation as it was on disk. What came later is known by the next capture, and the call's id says how much of that
// belongs to the checkpoint.

// completeCall moves a moment that is a call's checkpoint, and whose conversation lacks the call, to a later capture
// that continues the same bytes and has the call, at which it is cut.
func (h *turnReader) completeCall(p *Moment) error {
	call, s := p.Checkpoint.Cause.Call, h.log.Session(p.Session)
	if call == "" || p.Turn > 0 || s == nil || !model.Understood(s.Agent) || p.Checkpoint.Cause.Event == model.EventSafety {
		return nil
	}
	st, err := conversation.OpenEnd(h.log.Objs, p.Transcript)
	if err != nil {
		return err
	}
	at := st.Size
	if has, err := h.hasCall(s, p.Transcript, at, call); err != nil || has {
		return err
	}
	later, err := h.saidLater(p, s)
	if err != nil {
		return err
	}
	for _, said := range later {
		has, err := h.GoesOn(said, p.Transcript) // if not, the conversation was cut by then, or written anew
		if err == nil && has {
			has, err = h.hasCall(s, said, at, call)
		}
		if err != nil {
			return err
		}
		if has {
			p.Transcript, p.Call = said, call
			return nil
		}
	}
	p.late = true
	return nil
}

// saidLater are the conversations of a session behind a moment, as it is now first, and then from the newest back.
func (h *turnReader) saidLater(p *Moment, s *model.Session) (later []objstore.ID, err error) {
	last := s.Cursor.Transcript
	add := func(said objstore.ID) {
		if !said.IsZero() {
			later, last = append(later, said), said
		}
	}
	add(last)
	err = h.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= p.Checkpoint.Seq {
			return kv.ErrStop
		}
		if op.Session != p.Session || !model.InTurn(op) {
			return nil
		}
		said := op.Transcript
		if op.Kind == refs.KindCheckpoint {
			cp, err := h.log.Checkpoint(op.Checkpoint)
			if err != nil {
				return err
			}
			said = cp.Conversation.Transcript
		}
		if said != last {
			add(said)
		}
		return nil
	})
	return later, err
}
