package history

import (
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
)

// A person can go back in the agent itself: the turns behind that place stay in its file, and the next prompt goes on from further up.
// Where that prompt was typed the agent had not written it yet, so that the conversation that was captured there ends with what was thrown
// away. A later capture has the prompt, and with it where it goes on from.

// goesOnFrom is the turn of its conversation that turn n of a session goes on from. back: that is not the one before it, for the person had
// gone back. What is not known, or was said in another session, is no going back.
func (h *History) goesOnFrom(session string, n uint64) (after int, back bool, err error) {
	s := h.log.Records[session]
	if s == nil || n == 0 || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return 0, false, nil
	}
	if of, _ := h.TurnOf(session, n); of != session {
		return 0, false, nil
	}
	c, err := h.Conversation(s, s.Cursor.Transcript)
	if err != nil || n > uint64(len(c.Turns)) {
		return 0, false, err
	}
	after = c.Turns[n-1].After
	return after, uint64(after)+1 < n, nil
}

// typedAt is the moment in which the prompt of turn n was typed where the person had gone back before: the code as the prompt found it, and
// the conversation that it goes on from. nil: they had not, and it is the end of the turn before.
func (h *History) typedAt(session string, n uint64) (*Moment, error) {
	after, back, err := h.goesOnFrom(session, n)
	if err != nil || !back {
		return nil, err
	}
	l, err := h.ReadTurns(session, n)
	if err != nil {
		return nil, err
	}
	f := l.Turns[n]
	if f == nil || f.begin.IsZero() {
		return nil, nil // its code is not known to be another one
	}
	cp, err := h.log.Checkpoint(f.begin)
	if err != nil {
		return nil, err
	}
	p := &Moment{Name: cp.ID.Short(), Checkpoint: cp, Session: session, Ended: true}
	p.endAt(h.log.Records[session].Cursor.Transcript, after)
	return p, nil
}

// withoutGone has a moment, at which the prompt of turn n of its session was typed or which that turn went back behind, stand for the
// conversation that the prompt goes on from.
func (h *History) withoutGone(p *Moment, n uint64) error {
	after, back, err := h.goesOnFrom(p.Session, n)
	if err != nil || !back {
		return err
	}
	now := h.log.Records[p.Session].Cursor.Transcript
	if on, err := h.GoesOn(now, p.Transcript); err != nil || !on {
		return err // the file was cut, and the number has come again
	}
	p.endAt(now, after)
	return nil
}

// prompted reports whether a checkpoint is what a prompt found changed.
func prompted(cp *model.Checkpoint) bool { return cp.Cause.Event == model.EventWords[hooks.Prompt] }

// endAt has a moment's conversation end with a turn of it; 0: before the first prompt.
func (p *Moment) endAt(said objstore.ID, turn int) {
	p.Transcript, p.Turn, p.Start = said, turn, turn == 0
}

// Undone is the moment of the checkpoint that an undo goes back to, from another one. Where a person had gone back in the agent between the
// two and no file had changed by the next prompt, it is of a turn that they had thrown away: the conversation is the one that they went
// back to.
func (h *History) Undone(to, from *model.Checkpoint) (*Moment, error) {
	p, err := h.MomentOf(to)
	if err != nil || p.Err != nil || from.Session != to.Session || from.Cause.Turn <= to.Cause.Turn || prompted(from) {
		return p, err
	}
	if after, back, err := h.goesOnFrom(from.Session, from.Cause.Turn); err == nil && back && uint64(after) < to.Cause.Turn {
		p.Err = h.withoutGone(p, from.Cause.Turn)
	}
	return p, nil
}
