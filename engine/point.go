package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"rewind/hooks"
	"rewind/internal/kv"
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
	start      bool        // before the first prompt
	now        bool        // the current state: the conversation is meant as it is
}

// point finds the moment that a name stands for; session "" is the current one. The conversation of an agent that is at work is first captured
// up to its end.
func (e *Engine) point(session, name string) (*point, error) {
	if strings.HasPrefix(name, "turn:") {
		return e.turnPoint(session, name)
	}
	cp, err := e.resolveIn(session, name)
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
	p.now = name == "@" && cp.Cause.Event != EventSafety
	return p, nil
}

// pointOf is the moment of a checkpoint. The last one of a turn that has ended is the end of that turn: what was said after it changed no code.
func (e *Engine) pointOf(cp *Checkpoint) (*point, error) {
	p := &point{name: cp.ID.Short(), cp: cp, session: cp.Session, transcript: cp.Mark.Transcript}
	last, err := e.lastOfTurn(cp)
	if err != nil || !last {
		return p, err
	}
	said, err := e.transcriptAt(cp.Session, cp.Cause.Turn)
	if err != nil || said.IsZero() {
		return p, err
	}
	if on, err := e.goesOn(said, p.transcript); err != nil || !on {
		return p, err // the number has come again: it was said after a cut in place
	}
	p.transcript = said
	p.turn, err = e.turnsIn(e.sessions[cp.Session], said)
	return p, err
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

// lastOfTurn reports whether a checkpoint is the last one of a turn that has ended.
func (e *Engine) lastOfTurn(cp *Checkpoint) (bool, error) {
	if cp.Session == Manual || cp.Cause.Turn == 0 || cp.Cause.Event == EventSafety || e.sessions[cp.Session] == nil {
		return false, nil
	}
	ended, last := false, true
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= cp.Seq {
			return kv.ErrStop
		}
		if op.Session != cp.Session {
			return nil
		}
		switch {
		case (op.Kind == refs.KindCheckpoint || op.Kind == refs.KindThinned && op.Cause.Event != EventSafety) && op.Turn == cp.Cause.Turn:
			person, err := e.byPerson(op)
			last = last && person
			return err
		case !inTurn(op):
		case op.Turn > cp.Cause.Turn, op.Cause.Event == eventWords[hooks.Stop], op.Cause.Event == eventWords[hooks.SessionEnd]:
			ended = true
		}
		return nil
	})
	return ended && last || last && cp.Cause.Event == eventWords[hooks.Stop], err
}

// turnPoint is the end of a turn: of the code as the session's events tell, of the conversation as far as it had come then. A turn from before
// rewind heard of the session has only its place in the conversation; one from before a fork is the other session's.
func (e *Engine) turnPoint(session, name string) (*point, error) {
	n, err := strconv.ParseUint(name[len("turn:"):], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("engine: checkpoint %q: %w: want turn:<number>", name, ErrUsage)
	}
	if session, err = e.orHolder(session, n); err != nil {
		return nil, err
	}
	p := &point{name: name, session: session, start: n == 0}
	s := e.sessions[session]
	if of := e.turnOf(session, n); of != session {
		if p.cp, err = e.endOfTurn(of, n); err != nil && !errors.Is(err, ErrNotFound) {
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
			return nil, missing
		}
		return p, nil
	}
	if p.transcript, err = e.transcriptAt(session, n); err != nil {
		return nil, err
	}
	if !p.transcript.IsZero() && s != nil {
		if p.turn, err = e.turnsIn(s, p.transcript); err != nil { // what the agent wrote behind the turn, as a compaction, is not in it
			return nil, err
		}
	}
	if p.transcript.IsZero() && s != nil && !s.Cursor.Transcript.IsZero() {
		turns, err := e.turnsIn(s, s.Cursor.Transcript)
		if err != nil {
			return nil, err
		}
		if n <= uint64(turns) && (s.Imported || cp == nil || n < e.firstTurn(session)) {
			p.transcript, p.turn, p.counted, p.cp = s.Cursor.Transcript, int(n), true, nil
			return p, nil
		}
		if cp == nil && s.Imported {
			return nil, fmt.Errorf("engine: checkpoint %q: %w: session %s has %d turns", name, ErrNotFound, session, turns)
		}
	}
	if cp == nil && p.transcript.IsZero() {
		return nil, missing
	}
	return p, nil
}

// turnOf is the session that turn n of a session was taken in: another one if it lies before a fork. What agents' files say of where they come
// from may go in a circle.
func (e *Engine) turnOf(session string, n uint64) string {
	for range maxBases {
		s := e.sessions[session]
		if s == nil || s.Fork == nil || n > uint64(s.Fork.Turn) {
			break
		}
		session = s.Fork.Session
	}
	return session
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

// transcriptAt is the conversation at the end of turn n, as the log knows it: zero if no event of that turn was recorded. At the prompt of the next turn the last reply is
// there for sure, but sometimes that prompt, too: then what was captured last in the turn is taken.
func (e *Engine) transcriptAt(session string, n uint64) (objstore.ID, error) {
	var in, after objstore.ID
	var end turnEnd
	found := false
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Session != session || !inTurn(op) {
			return nil
		}
		found = found || op.Turn == n
		said, event := op.Transcript, op.Cause.Event
		if op.Kind == refs.KindCheckpoint {
			cp, err := e.checkpoint(op.Checkpoint)
			if err != nil {
				return err
			}
			said, event = cp.Mark.Transcript, cp.Cause.Event
		}
		switch {
		case found:
			if in = end.older(event, said); !in.IsZero() {
				return kv.ErrStop
			}
		case !said.IsZero():
			after = said
		}
		return nil
	})
	if in.IsZero() {
		in = end.oldest()
	}
	if err != nil || in.IsZero() || after.IsZero() {
		return in, err
	}
	s := e.sessions[session]
	if s == nil {
		return in, nil
	}
	if on, err := e.goesOn(after, in); err != nil || !on {
		return in, err // gone back in by then: as many turns may be others
	}
	was, err := e.turnsIn(s, in)
	if err != nil {
		return in, err
	}
	now, err := e.turnsIn(s, after)
	if err == nil && now == was {
		in = after
	}
	return in, err
}

// turnEnd finds the conversation at the end of a turn among the session's events, which come newest first. A session that is opened anew after a turn may
// have been gone back in by then, and what is captured without an event after that is of the same kind: it counts only if nothing else is known.
type turnEnd struct {
	scan   objstore.ID // what was captured without an event after those that came so far
	opened objstore.ID
}

// older takes the next older event, and what it captured; the conversation, once it is known.
func (t *turnEnd) older(event string, said objstore.ID) objstore.ID {
	switch event {
	case EventScan:
		t.scan = cmp.Or(t.scan, said)
		return objstore.ID{}
	case eventWords[hooks.SessionStart]:
		t.opened, t.scan = cmp.Or(t.opened, t.scan, said), objstore.ID{}
		return objstore.ID{}
	}
	return cmp.Or(t.scan, said)
}

// oldest is the conversation when there is no older event.
func (t *turnEnd) oldest() objstore.ID { return cmp.Or(t.scan, t.opened) }

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
	return transcript.Source{ReaderAt: st, Size: st.size, Name: name}, st, nil
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
