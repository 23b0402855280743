package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/objstore"
	"rewind/transcript"
)

// Moment is a moment of a session: a state of the code, and how far the conversation had come.
type Moment struct {
	Name       string
	Checkpoint *model.Checkpoint // nil: no code was captured then
	Session    string            // the session whose conversation it is
	Transcript objstore.ID       // the conversation up to the moment; zero: none was captured
	Turn       int               // the conversation up to the end of the turn at this place; 0: all of Transcript
	Number     uint64            // of that turn, where a restore has replaced Transcript; 0: see History.Number
	Ended      bool              // the end of a turn was asked for
	Start      bool              // before the first prompt
	Now        bool              // the current state, with the conversation as it is
	Call       string            // the conversation up to this call; "": all of Transcript
	late       bool              // no capture of the conversation has Call yet
	Err        error             // why the conversation is not known, though the code is
}

// NamedMoment is the moment that a command names, with the conversation captured up to now. The log's lock is held.
func (h *History) NamedMoment(ctx context.Context, name string, w model.SessionChoice) (*Moment, error) {
	n, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	session := ""
	if n.Session != "" && w.Session == "" {
		w.Session = n.Session
	}
	if n.OfSession() || w.Session != "" {
		if session, err = h.meant(w, n); err != nil {
			return nil, err
		}
		if err := h.CatchUp(ctx, session); err != nil {
			return nil, err
		}
		h.conversations.ResolveOrigin(ctx, session)
	}
	p, err := h.Moment(session, name)
	if err != nil {
		return nil, err
	}
	if p.late && session == "" && h.log.Session(p.Session) != nil { // the agent may have written the call by now
		if err := h.CatchUp(ctx, p.Session); err != nil {
			return nil, err
		}
		if p, err = h.Moment(session, name); err != nil {
			return nil, err
		}
	}
	if p.Now { // the conversation of the session, even on another session's step
		if s := h.log.Session(session); s != nil {
			p.Session, p.Transcript = session, s.Cursor.Transcript
		}
	}
	return p, nil
}

// Moment is the moment that a name stands for; session "" is the current one. The conversation is what has been captured.
func (h *History) Moment(session, name string) (*Moment, error) {
	n, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	if n.IsTurn() {
		return h.endOfTurnMoment(session, n)
	}
	cp, err := h.find(session, n)
	if err != nil {
		return nil, err
	}
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	p, err := h.MomentOf(cp)
	if err != nil {
		return nil, err
	}
	p.Name = name
	p.Now = n.Kind == naming.Current && n.Back == 0 && cp.Cause.Event != model.EventSafety
	return p, nil
}

// MomentOf is the moment of a checkpoint. The last checkpoint of a turn that has ended stands for the end of the turn, since what was said
// after it changed no code.
func (h *History) MomentOf(cp *model.Checkpoint) (*Moment, error) {
	p := &Moment{Name: cp.ID.Short(), Checkpoint: cp, Session: cp.Session, Transcript: cp.Conversation.Transcript}
	last, err := h.endsTurn(cp)
	if err != nil {
		return p, err
	}
	switch {
	case last:
		p.Err = h.toEndOfTurn(p)
	case prompted(cp):
		p.Err = h.withoutGone(p, cp.Cause.Turn)
	}
	if p.Err == nil {
		p.Err = h.completeCall(p)
	}
	return p, nil
}

// toEndOfTurn moves a moment that is the last checkpoint of a turn to the conversation at the end of that turn.
func (h *History) toEndOfTurn(p *Moment) error {
	said, err := h.transcriptAt(turnOf(p.Checkpoint))
	if err != nil || said.IsZero() {
		return err
	}
	if on, err := h.GoesOn(said, p.Transcript); err != nil || !on {
		return err // the turn of that number is another one, after a cut in place
	}
	p.Transcript = said
	p.Turn, err = h.turnsIn(h.log.Session(p.Session), said)
	return err
}

// GoesOn reports whether the transcript said begins with all of the transcript of.
func (h *History) GoesOn(said, of objstore.ID) (bool, error) {
	a, err := conversation.OpenEnd(h.log.Objs, said)
	if err != nil {
		return false, err
	}
	b, err := conversation.OpenEnd(h.log.Objs, of)
	if err != nil {
		return false, err
	}
	return a.GoesOn(b)
}

// endOfTurnMoment is the moment of turn:N: the code and the conversation at the end of the turn, as the session's events tell. A turn from
// before rewind knew the session is found by its place in the conversation; one from before a fork is the other session's.
func (h *History) endOfTurnMoment(session string, is naming.Name) (*Moment, error) {
	session, err := h.turnSession(session, is)
	if err != nil {
		return nil, err
	}
	if is.Before {
		return h.typedMoment(session, is)
	}
	name, n := is.String(), is.Turn
	p := &Moment{Name: name, Session: session, Start: n == 0, Ended: true}
	s := h.log.Session(session)
	if at := h.turnAt(session, n, h.readTurns); at.session != session {
		if p.Checkpoint, err = h.endOfTurn(at); err != nil && !errors.Is(err, model.ErrNotFound) {
			return nil, err
		}
		p.Transcript, p.Turn = s.Cursor.Transcript, int(n)
		return p, nil
	}
	cp, missing := h.endOfTurn(turnAt{session: session, turn: n})
	if missing != nil && !errors.Is(missing, model.ErrNotFound) {
		return nil, missing
	}
	p.Checkpoint = cp
	if p.Start {
		if cp == nil {
			return nil, h.hasTurns(missing)
		}
		return p, nil
	}
	p.Transcript, err = h.transcriptAt(turnAt{session: session, turn: n})
	if err == nil && !p.Transcript.IsZero() && s != nil {
		p.Turn, err = h.turnsIn(s, p.Transcript) // without what the agent wrote behind the turn, as a compaction
	}
	if err != nil {
		return p.withoutConversation(err)
	}
	if p.Transcript.IsZero() && s != nil && !s.Cursor.Transcript.IsZero() {
		said, turns, err := h.saidOf(s, n)
		if err != nil {
			return p.withoutConversation(err)
		}
		past := cp == nil || s.Imported || n < h.firstTurn(s) // the log tells nothing of it
		if past && n <= uint64(turns) {
			p.Transcript, p.Turn, p.Checkpoint = said, int(n), nil
			return p, nil
		}
		if cp == nil && s.Imported {
			return nil, &model.NoTurnError{Session: session, Turn: n, Turns: uint64(turns)}
		}
	}
	if cp == nil && p.Transcript.IsZero() {
		return nil, h.hasTurns(missing)
	}
	return p, nil
}

// withoutConversation is the moment with err as the reason why its conversation is not known; err itself if there is no code either.
func (p *Moment) withoutConversation(err error) (*Moment, error) {
	if p.Checkpoint == nil {
		return nil, err
	}
	p.Err = err
	return p, nil
}

// TurnOf is the session in which turn n of a session was taken, and its number there: another session's if the turn lies before a fork. The
// records are loaded.
func (h *History) TurnOf(session string, n uint64) (of string, number uint64) {
	at := h.turnAt(session, n, h.readTurns)
	return at.session, at.turn
}

// turnAt is where turn n of a session was taken; the session itself if the log cannot be read. The records are loaded.
func (h *History) turnAt(session string, n uint64, log func(turnAt) (*turnLog, error)) turnAt {
	at, err := taken(session, n, func(session string) (*model.Session, error) { return h.log.Session(session), nil }, log)
	if err != nil {
		return turnAt{session: session, turn: n}
	}
	return at
}

// Source is a transcript of a session, to be read.
func (h *History) Source(s *model.Session, said objstore.ID) (transcript.Source, *conversation.Stored, error) {
	st, err := conversation.OpenTranscript(h.log.Objs, said)
	return sourceOf(s, st), st, err
}

// sourceOf is Source of one that is open.
func sourceOf(s *model.Session, st *conversation.Stored) transcript.Source {
	if st == nil {
		return transcript.Source{}
	}
	name := s.Cursor.Path
	if name == "" {
		name = s.Transcript
	}
	return transcript.Source{ReaderAt: st, Size: st.Size, Name: name, Ended: true} // Ended: captures end with a whole record
}

// CatchUp captures the rest of a session's file, for a person who is about to use the conversation. The log's lock is held.
func (h *History) CatchUp(ctx context.Context, session string) error {
	s := h.log.Session(session)
	if s == nil {
		return nil
	}
	c := h.log.Begin()
	work := *s
	if err := h.conversations.Tail(c.Tx, &work, model.PersonRead); err != nil || work.Cursor == s.Cursor {
		c.Discard()
		if conversation.Problem(err) != "" && !errors.Is(err, fs.ErrNotExist) {
			h.log.Notice(fmt.Sprintf("the conversation of %s is as it was captured last: %s", session, err.Error()))
		}
		return nil
	}
	return h.conversations.MoveCursorWith(ctx, c, session, work.Cursor)
}
