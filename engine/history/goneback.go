package history

import (
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
)

// A person can go back in the agent itself: the turns behind that place stay in its file, and the next prompt goes on from further up.
// Where that prompt was typed the agent had not written it yet, so that the conversation that was captured there ends with what was thrown
// away. A later capture has the prompt, and with it where it goes on from.

// goneBack is what the prompt of a turn goes on from where the person had gone back before they typed it.
type goneBack struct {
	said  objstore.ID // the conversation that has the prompt
	after int         // the turn of it; 0: none is left
}

// goneBackBefore tells whether the person had gone back before the prompt of turn n of a session; nil: they had not, or it is not known, or
// the turn was said in another session. The caller need not hold the log's lock.
func (h *History) goneBackBefore(session string, n uint64) (*goneBack, error) {
	s, err := h.log.StoredSession(session)
	if err != nil || s == nil || n == 0 || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return nil, err
	}
	at, err := taken(session, n, h.log.StoredSession, h.readTurns)
	if err != nil || at.session != session {
		return nil, err
	}
	c, err := h.Conversation(s, s.Cursor.Transcript)
	if err != nil || n > uint64(len(c.Turns)) {
		return nil, nil //nolint:nilerr // the code goes back whatever the conversation is like
	}
	after := c.Turns[n-1].After
	if uint64(after)+1 == n {
		return nil, nil
	}
	return &goneBack{s.Cursor.Transcript, after}, nil
}

// typedAt is the moment in which the prompt of turn n was typed where the person had gone back before: the code as the prompt found it, and
// the conversation that it goes on from. nil: they had not, and it is the end of the turn before. The caller need not hold the log's lock.
func (h *History) typedAt(session string, n uint64) (*Moment, error) {
	back, err := h.goneBackBefore(session, n)
	if err != nil || back == nil {
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
	p.endAt(back)
	return p, nil
}

// withoutGone has a moment, at which the prompt of turn n of its session was typed or which that turn went back behind, stand for the
// conversation that the prompt goes on from.
func (h *History) withoutGone(p *Moment, n uint64) error {
	back, err := h.goneBackBefore(p.Session, n)
	if err != nil || back == nil {
		return err
	}
	if on, err := h.GoesOn(back.said, p.Transcript); err != nil || !on {
		return err // the file was cut, and the number has come again
	}
	p.endAt(back)
	return nil
}

// prompted reports whether a checkpoint is what a prompt found changed.
func prompted(cp *model.Checkpoint) bool { return cp.Cause.Event == model.EventWords[hooks.Prompt] }

// endAt has a moment's conversation end where a prompt goes on from.
func (p *Moment) endAt(b *goneBack) {
	p.Transcript, p.Turn, p.Start = b.said, b.after, b.after == 0
}

// Undone is the moment of the checkpoint that an undo goes back to, from another one. Where a person had gone back in the agent between the
// two and no file had changed by the next prompt, it is of a turn that they had thrown away: the conversation is the one that they went
// back to.
func (h *History) Undone(to, from *model.Checkpoint) (*Moment, error) {
	p, err := h.MomentOf(to)
	if err != nil || p.Err != nil || from.Session != to.Session || from.Cause.Turn <= to.Cause.Turn || prompted(from) {
		return p, err
	}
	if back, err := h.goneBackBefore(from.Session, from.Cause.Turn); err == nil && back != nil && uint64(back.after) < to.Cause.Turn {
		p.Err = h.withoutGone(p, from.Cause.Turn)
	}
	return p, nil
}
