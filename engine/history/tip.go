package history

import (
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
)

// Tip is the newest state of a session: the tip of its branch, but where the session's file was cut in place the cursor; of a session
// without an event the end of its last turn, which may have been taken in the session that it was forked from. Nil: no code was captured.
// The log's lock is held, the records are loaded, and the conversation is caught up with.
func (h *History) Tip(session string) (*model.Checkpoint, error) {
	s := h.log.Records[session]
	tip, err := h.NewestOf(session)
	if err != nil {
		return nil, err
	}
	if s != nil && (tip.IsZero() || s.Imported) {
		return h.endOfSession(session)
	}
	if tip, err = h.tipOrCut(s, tip); err != nil || tip.IsZero() {
		return nil, err
	}
	return h.log.Checkpoint(tip)
}

// tipOrCut is the tip of a session's branch, or its cursor where the conversation does not go on from the tip's any more: the file was cut.
func (h *History) tipOrCut(s *model.Session, tip objstore.ID) (objstore.ID, error) {
	if s == nil || tip.IsZero() || s.Cursor.Transcript.IsZero() {
		return tip, nil
	}
	cp, err := h.log.Checkpoint(tip)
	if err != nil || cp.Session != s.Name || cp.Conversation.Transcript.IsZero() {
		return tip, err
	}
	on, err := h.GoesOn(s.Cursor.Transcript, cp.Conversation.Transcript)
	if err != nil || on {
		return tip, err
	}
	at, err := h.log.Refs.ID(refs.Cursor(s.Name))
	if err == nil && at.IsZero() {
		at = tip
	}
	return at, err
}
