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
	Found      uint64            // the operation that found the worktree so; 0: the one that made Checkpoint
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
func (h *nameReader) NamedMoment(ctx context.Context, name string, w model.SessionChoice) (*Moment, error) {
	n, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	session, asked := "", w.Session != "" // by the request itself
	if n.Session != "" && w.Session == "" {
		w.Session = n.Session
	}
	if n.OfSession() || w.Session != "" {
		if session, err = h.meant(w, n); err == nil {
			err = h.CatchUp(ctx, session)
		}
		if err != nil {
			return nil, err
		}
		h.conversations.ResolveOrigin(ctx, session)
	}
	p, err := h.momentByNow(ctx, session, name)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Now: // the conversation of the session, even on another session's step
		if s := h.log.Session(session); s != nil {
			p.Session, p.Transcript = session, s.Cursor.Transcript
		}
	case asked && h.ofOthers(n, p, session):
		return h.heardAt(session, p)
	}
	return p, nil
}

// ofOthers reports whether a name that says no turn stands for a step of a session of another family than that of one
// with a conversation.
func (h *nameReader) ofOthers(n naming.Name, p *Moment, session string) bool {
	names := n.Kind == naming.Time || n.Kind == naming.Word
	if cp := p.Checkpoint; !names || cp == nil || cp.Cause.Event == model.EventSafety {
		return false
	}
	s := h.log.Session(session)
	said := s != nil && !s.Cursor.Transcript.IsZero()
	return said && p.Session != model.Manual && h.sessions.Family(p.Session) != h.sessions.Family(session)
}

// heardAt returns the moment of another session's step with a session's own conversation. It ends with the turn that
// was the session's newest then; if that was under way, with the session's newest step.
func (h *turnReader) heardAt(session string, then *Moment) (p *Moment, err error) {
	cp := then.Checkpoint
	n, step, err := h.turnOn(session, cp.Seq)
	switch {
	case err != nil:
	case step != nil:
		p, err = h.MomentOf(step)
	default:
		p, err = h.endOfTurnMoment(session, naming.Name{Kind: naming.Turn, Turn: n, Session: session})
	}
	if errors.Is(err, model.ErrNotFound) {
		p, err = &Moment{Session: session, Err: err}, nil
	}
	if err == nil {
		p.Name, p.Checkpoint = then.Name, cp
	}
	return p, err
}

// turnOn returns the newest turn of a session that had ended at an operation, and the newest step of the turn under way
// then. A nil step: no turn was under way, or it had made none.
func (h *turnReader) turnOn(session string, seq uint64) (n uint64, step *model.Checkpoint, err error) {
	if s := h.log.Session(session); s != nil && s.Fork != nil {
		n = uint64(max(s.Fork.Both, 0))
	}
	l, err := h.readTurns(turnAt{session: session})
	if err != nil {
		return 0, nil, err
	}
	for i := len(l.rows) - 1; i >= 0; i-- {
		t := &l.rows[i]
		if ended := t.Over && t.End <= seq; ended {
			return t.Number, nil, nil
		}
		if step == nil && t.First <= seq {
			if step, err = h.log.StepOf(session, t.First, seq); err != nil || step != nil {
				return 0, step, err
			}
		}
	}
	return n, nil, nil
}

// momentByNow is Moment. Where the conversation lacked the moment's call the agent may have written it by now.
func (h *nameReader) momentByNow(ctx context.Context, session, name string) (*Moment, error) {
	p, err := h.Moment(session, name)
	if err != nil || !p.late || session != "" {
		return p, err
	}
	if h.log.Session(p.Session) == nil {
		return p, nil
	}
	if err := h.CatchUp(ctx, p.Session); err != nil {
		return nil, err
	}
	return h.Moment(session, name)
}

// Moment is the moment that a name stands for; session "" is the current one. The conversation is what has been
// captured.
func (h *nameReader) Moment(session, name string) (*Moment, error) {
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

// MomentOf is the moment of a checkpoint. The last checkpoint of a turn that has ended stands for the end of the turn,
// since what was said after it changed no code.
func (h *turnReader) MomentOf(cp *model.Checkpoint) (*Moment, error) {
	p := &Moment{Name: cp.ID.Short(), Checkpoint: cp, Session: cp.Session, Transcript: cp.Conversation.Transcript}
	last, err := h.endsTurn(cp)
	if err != nil {
		return p, err
	}
	switch {
	case last:
		p.Err = h.toEndOfTurn(p)
	case h.beforeTalk(cp):
		p.Start = true
	case prompted(cp):
		p.Err = h.withoutGone(p, cp.Cause.Turn)
	}
	if p.Err == nil {
		p.Err = h.completeCall(p)
	}
	return p, nil
}

// beforeTalk reports whether a checkpoint lies before its session's first prompt, or is what that found: its agent had
// written nothing yet. The conversation begins behind it.
func (h *turnReader) beforeTalk(cp *model.Checkpoint) bool {
	s := h.log.Session(cp.Session)
	if s == nil || s.Fork != nil || !cp.Conversation.Transcript.IsZero() {
		return false
	}
	if cp.Cause.Turn == 0 {
		return h.firstTurn(s) == 1
	}
	return cp.Cause.Turn == 1 && prompted(cp)
}

// toEndOfTurn moves a moment that is the last checkpoint of a turn to the conversation at the end of that turn.
func (h *turnReader) toEndOfTurn(p *Moment) error {
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
func (h *talkReader) GoesOn(said, of objstore.ID) (bool, error) {
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

// endOfTurnMoment is the moment of turn:N: the code and the conversation at the end of the turn, as the session's
// events tell. A turn from before rewind knew the session is found by its place in the conversation; one from before a
// fork is the other session's.
func (h *turnReader) endOfTurnMoment(session string, is naming.Name) (*Moment, error) {
	session, err := h.turnSession(session, is)
	if err != nil {
		return nil, err
	}
	if is.Before {
		return h.typedMoment(h.saidIn(session, is.Turn+1), is)
	}
	session = h.saidIn(session, is.Turn)
	name, n := is.String(), is.Turn
	p := &Moment{Name: name, Session: session, Start: n == 0, Ended: true}
	s, at := h.log.Session(session), h.turnAt(session, n, h.readTurns)
	var missing error
	if p.Checkpoint, missing = h.endOfTurn(at); missing != nil && !errors.Is(missing, model.ErrNotFound) {
		return nil, missing
	}
	if at.session != session {
		p.Transcript, p.Turn = s.Cursor.Transcript, int(n)
		return p, nil
	}
	if !p.Start {
		if err := h.saidAtEnd(p, s, n); err != nil {
			return p.withoutConversation(err)
		}
	}
	if p.Checkpoint == nil && p.Transcript.IsZero() {
		return nil, h.hasTurns(missing)
	}
	return p, nil
}

// saidIn is the session whose conversation has turn n of a session: another one's where this one has it in the summary
// with which it begins.
func (h *turnReader) saidIn(session string, n uint64) string {
	for range conversation.MaxForks {
		s := h.log.Session(session)
		if summed := n > 0 && n <= uint64(s.InSummary()); !summed {
			break
		}
		session = s.Fork.Session
	}
	return session
}

// saidAtEnd sets the conversation of the moment at which turn n ended, and drops the moment's checkpoint where the log
// tells nothing of the turn.
func (h *turnReader) saidAtEnd(p *Moment, s *model.Session, n uint64) (err error) {
	p.Transcript, err = h.transcriptAt(turnAt{session: p.Session, turn: n})
	switch {
	case err != nil || s == nil:
		return err
	case !p.Transcript.IsZero():
		p.Turn, err = h.turnsIn(s, p.Transcript) // without what the agent wrote behind the turn, as a compaction
		return err
	case s.Cursor.Transcript.IsZero():
		return nil
	}
	said, turns, err := h.saidOf(s, n)
	if err != nil {
		return err
	}
	past := p.Checkpoint == nil || s.Imported || n < h.firstTurn(s) // the log tells nothing of it
	if at, has := below(s).place(n); past && has && at <= turns {
		p.Transcript, p.Turn, p.Checkpoint = said, at, nil
		return nil
	}
	if said, at := h.untoldPlace(s, n, p.Checkpoint == nil); at > 0 {
		p.Transcript, p.Turn = said, at
		return nil
	}
	if p.Checkpoint == nil && s.Imported {
		whose := h.sessions.Whose()(p.Session)
		return &model.NoTurnError{Session: p.Session, Turn: n, Turns: below(s).of(turns), Whose: whose}
	}
	return nil
}

// untoldPlace returns a conversation of a session that has turn n, and the turn's place there, for a turn that this
// project's events do not have. Another project had its events, between turns that this one has. Or nobody has its
// code, and a restore cut it off. 0: there is none.
func (h *turnReader) untoldPlace(s *model.Session, n uint64, noCode bool) (said objstore.ID, place int) {
	if _, place = h.saidTurns(s, n); place > 0 {
		return s.Cursor.Transcript, place
	}
	if noCode {
		said, _, place = h.inCut(s, n)
	}
	return said, place
}

// withoutConversation is the moment with err as the reason why its conversation is not known; err itself if there is no
// code either.
func (p *Moment) withoutConversation(err error) (*Moment, error) {
	if p.Checkpoint == nil {
		return nil, err
	}
	p.Err = err
	return p, nil
}

// TurnOf is the session in which turn n of a session was taken, and its number there: another session's if the turn
// lies before a fork. The records are loaded.
func (h *turnReader) TurnOf(session string, n uint64) (of string, number uint64) {
	at := h.turnAt(session, n, h.readTurns)
	return at.session, at.turn
}

// turnAt is where turn n of a session was taken; the session itself if the log cannot be read. The records are loaded.
func (h *turnReader) turnAt(session string, n uint64, log func(turnAt) (*turnLog, error)) turnAt {
	at, err := taken(session, n, h.loaded, log)
	if err != nil {
		return turnAt{session: session, turn: n}
	}
	return at
}

// loaded is a session's record, of those that are loaded; nil: there is none.
func (h *turnReader) loaded(session string) (*model.Session, error) {
	return h.log.Session(session), nil
}

// Source is a transcript of a session, to be read.
func (h *talkReader) Source(s *model.Session, said objstore.ID) (transcript.Source, *conversation.Stored, error) {
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

// CatchUp captures the rest of a session's file, for a person who is about to use the conversation. The log's lock is
// held.
func (h *talkReader) CatchUp(ctx context.Context, session string) error {
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
