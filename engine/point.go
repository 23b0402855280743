package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"rewind/internal/naming"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// point is a moment of a session: the state of the code, and how far the conversation had come.
type point struct {
	name       string
	cp         *Checkpoint // nil: no code was captured then
	session    string      // whose conversation it is
	transcript objstore.ID // up to and with the moment; zero: there is none
	turn       int         // the end of this turn of the conversation is meant; 0: as far as it had come
	counted    bool        // the turn was found by its place in the conversation, not by the session's events
	ended      bool        // the end of a turn was asked for
	start      bool        // before the first prompt
	now        bool        // the current state: the conversation is meant as it is
	call       string      // the call at which it is cut; "": as far as it had come
	late       bool        // its call is in no capture of the conversation yet
	err        error       // why the conversation cannot be told, though the code can; nil: it can, or there is none
}

// point finds the moment that a name stands for; session "" is the current one. The conversation of an agent that is at work is first captured
// up to its end.
func (e *Engine) point(session, name string) (*point, error) {
	n, err := parseName(name)
	if err != nil {
		return nil, err
	}
	if n.IsTurn() {
		return e.turnPoint(session, n)
	}
	cp, err := e.find(session, n)
	if err != nil {
		return nil, err
	}
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	p, err := e.pointOf(cp)
	if err != nil {
		return nil, err
	}
	p.name = name
	p.now = n.Kind == naming.Current && n.Back == 0 && cp.Cause.Event != EventSafety
	return p, nil
}

// pointOf is the moment of a checkpoint. The last one of a turn that has ended is the end of that turn: what was said after it changed no code.
func (e *Engine) pointOf(cp *Checkpoint) (*point, error) {
	p := &point{name: cp.ID.Short(), cp: cp, session: cp.Session, transcript: cp.Mark.Transcript}
	last, err := e.endsTurn(cp)
	if err != nil {
		return p, err
	}
	if last {
		p.err = e.toEndOfTurn(p)
	}
	if p.err == nil {
		p.err = e.completeCall(p)
	}
	return p, nil
}

// toEndOfTurn has the last checkpoint of a turn stand for the conversation at the end of that turn.
func (e *Engine) toEndOfTurn(p *point) error {
	said, err := e.transcriptAt(p.session, p.cp.Cause.Turn)
	if err != nil || said.IsZero() {
		return err
	}
	if on, err := e.goesOn(said, p.transcript); err != nil || !on {
		return err // the number has come again: it was said after a cut in place
	}
	p.transcript = said
	p.turn, err = e.turnsIn(e.sessions[p.session], said)
	return err
}

// goesOn reports whether a stored conversation begins with all of another one.
func (e *Engine) goesOn(said, of objstore.ID) (bool, error) {
	a, err := openTranscript(e.objs, said)
	if err != nil {
		return false, err
	}
	b, err := openTranscript(e.objs, of)
	if err != nil {
		return false, err
	}
	return a.goesOn(b)
}

// turnPoint is the end of a turn: of the code as the session's events tell, of the conversation as far as it had come then. A turn from before
// rewind heard of the session has only its place in the conversation; one from before a fork is the other session's.
func (e *Engine) turnPoint(session string, is naming.Name) (*point, error) {
	session, err := e.whoseTurn(session, is)
	if err != nil {
		return nil, err
	}
	name, n := is.String(), is.Turn
	p := &point{name: name, session: session, start: n == 0, ended: true}
	s := e.sessions[session]
	if of, there := e.turnOf(session, n); of != session {
		if p.cp, err = e.endOfTurn(of, there); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		p.transcript, p.turn, p.counted = s.Cursor.Transcript, int(n), true
		return p, nil
	}
	cp, missing := e.endOfTurn(session, n)
	if missing != nil && !errors.Is(missing, ErrNotFound) {
		return nil, missing
	}
	p.cp = cp
	if p.start {
		if cp == nil {
			return nil, e.hasTurns(missing)
		}
		return p, nil
	}
	p.transcript, err = e.transcriptAt(session, n)
	if err == nil && !p.transcript.IsZero() && s != nil {
		p.turn, err = e.turnsIn(s, p.transcript) // what the agent wrote behind the turn, as a compaction, is not in it
	}
	if err != nil {
		return p.withoutTalk(err)
	}
	if p.transcript.IsZero() && s != nil && !s.Cursor.Transcript.IsZero() {
		turns, err := e.turnsIn(s, s.Cursor.Transcript)
		if err != nil {
			return p.withoutTalk(err)
		}
		if n <= uint64(turns) && (s.Imported || cp == nil || n < e.firstTurn(session)) {
			p.transcript, p.turn, p.counted, p.cp = s.Cursor.Transcript, int(n), true, nil
			return p, nil
		}
		if cp == nil && s.Imported {
			return nil, &NoTurnError{Session: session, Turn: n, Turns: uint64(turns)}
		}
	}
	if cp == nil && p.transcript.IsZero() {
		return nil, e.hasTurns(missing)
	}
	return p, nil
}

// withoutTalk is a moment whose conversation cannot be told; the code can, if it was captured.
func (p *point) withoutTalk(err error) (*point, error) {
	if p.cp == nil {
		return nil, err
	}
	p.err = err
	return p, nil
}

// turnOf is taken by the sessions as they are loaded.
func (e *Engine) turnOf(session string, n uint64) (of string, number uint64) {
	of, number, _ = taken(session, n, func(session string) (*Lineage, error) {
		if s := e.sessions[session]; s != nil {
			return s.Fork, nil
		}
		return nil, nil
	})
	return of, number
}

// firstTurn is the first turn of a session that an event was recorded in.
func (e *Engine) firstTurn(session string) uint64 {
	first := uint64(0)
	_ = e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Session == session && inTurn(op) {
			first = op.Turn
		}
		return nil
	})
	return first
}

// turnsIn counts the turns of a stored conversation.
func (e *Engine) turnsIn(s *Session, said objstore.ID) (int, error) {
	c, err := e.conversation(s, said)
	if err != nil {
		return 0, err
	}
	return len(c.Turns), nil
}

// conversation reads what a stored conversation says. It is shared: nobody changes it.
func (e *Engine) conversation(s *Session, said objstore.ID) (*transcript.Conversation, error) {
	if c := e.scanned.get(said); c != nil {
		return c, nil
	}
	src, _, err := e.source(s, said)
	if err != nil {
		return nil, err
	}
	c, err := transcript.Scan(transcript.Agent(s.Agent), src)
	if err == nil {
		e.scanned.put(said, c)
	}
	return c, err
}

// scanned are conversations that were read lately, by their transcripts: a command asks for one several times. Safe for concurrent use.
type scanned struct {
	mu   sync.Mutex
	is   map[objstore.ID]*transcript.Conversation
	next int
	ids  [maxScanned]objstore.ID
}

// maxScanned is how many.
const maxScanned = 32

func (k *scanned) get(id objstore.ID) *transcript.Conversation {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.is[id]
}

func (k *scanned) put(id objstore.ID, c *transcript.Conversation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.is == nil {
		k.is = map[objstore.ID]*transcript.Conversation{}
	}
	delete(k.is, k.ids[k.next])
	k.ids[k.next], k.is[id] = id, c
	k.next = (k.next + 1) % maxScanned
}

// source is a stored conversation.
func (e *Engine) source(s *Session, said objstore.ID) (transcript.Source, *stored, error) {
	st, err := openTranscript(e.objs, said)
	if err != nil {
		return transcript.Source{}, nil, err
	}
	name := s.Cursor.Path
	if name == "" {
		name = s.Transcript
	}
	return transcript.Source{ReaderAt: st, Size: st.size, Name: name, Ended: true}, st, nil // it was captured up to the end of a record
}

// catchUp captures the conversation of a session as far as it has come, on behalf of a person who is about to use it; e.mu is held.
func (e *Engine) catchUp(ctx context.Context, session string) error {
	s := e.sessions[session]
	if s == nil {
		return nil
	}
	tx := e.objs.Begin()
	work := *s
	if err := e.follow(tx, &work, personRead); err != nil || work.Cursor == s.Cursor {
		tx.Discard()
		if problem(err) != "" && !errors.Is(err, fs.ErrNotExist) {
			e.Notice(fmt.Sprintf("the conversation of %s is as it was captured last: %s", session, told(err)))
		}
		return nil
	}
	return e.moveCursorWith(ctx, tx, session, work.Cursor)
}
