package engine

import (
	"time"

	"rewind/internal/clients"
	"rewind/transcript"
)

// Work is what an agent is seen to do here.
type Work struct {
	Session string
	Kind    WorkKind
	Calls   []Call    // of WorkCall, oldest first
	Since   time.Time // of the newest event; zero: none came
	Seen    string    // by what its program was seen, for people; "": it was not
	PID     int       // of that program; 0: not known
}

// WorkKind says how it is known; the value is the word in the API.
type WorkKind string

// The kinds, the surest first.
const (
	WorkCall WorkKind = "call" // a call of a tool is open
	WorkTurn WorkKind = "turn" // a turn is under way, its agent thinks or asks
	WorkOpen WorkKind = "open" // its program has the session open, and does nothing
)

// callWithin is how long an open call counts of which nothing else is heard and whose program is not seen: it was killed, or runs where it cannot be seen.
const callWithin = time.Hour

// atWork reports whether a session is running: a call or a turn is under way, or its program has it open. A session that a restore left, and that nothing was
// heard of since, is not, whatever its record and its program say: the person is done with it. So is one that was only made or imported. e.mu is held.
func (e *Engine) atWork(s *Session, look *clients.Look) (Work, bool) {
	if s.Left || s.Ended || s.Imported || s.Event == "" {
		return Work{}, false
	}
	return e.work(s, look)
}

// work is atWork whether or not a restore has left the session.
func (e *Engine) work(s *Session, look *clients.Look) (Work, bool) {
	w := Work{Session: s.Name, Since: s.Last}
	live := e.live(s, look)
	if live.Running && !(live.Guess && e.another(s)) {
		w.Seen, w.PID = live.How, live.PID
	}
	silent := e.since(s.Last)
	switch {
	case len(s.Calls) > 0 && (w.Seen != "" || silent < callWithin):
		w.Kind, w.Calls = WorkCall, s.Calls
		if len(s.Calls) == 1 && s.Calls[0].ID == turnCall {
			w.Kind, w.Calls = WorkTurn, nil
		}
	case s.Busy && (w.Seen != "" || silent < activeWithin):
		w.Kind = WorkTurn
	case w.Seen != "" && !live.Server: // Codex's server keeps what was closed
		w.Kind = WorkOpen
	default:
		return w, false
	}
	return w, true
}

// inTurn reports whether a session's agent works on a turn.
func (e *Engine) inTurn(s *Session) bool {
	if !s.Busy && len(s.Calls) == 0 {
		return false
	}
	w, ok := e.atWork(s, e.processes())
	return ok && w.Kind != WorkOpen
}

// live is what can be seen of the program that runs on a session.
func (e *Engine) live(s *Session, look *clients.Look) clients.Live {
	agent := transcript.Agent(s.Agent)
	if !understood(s.Agent) {
		return clients.Live{}
	}
	root, _, err := transcript.SessionFile(agent, s.Transcript)
	if err != nil {
		return clients.Live{}
	}
	live, _ := look.Running(agent, root, s.ID) // a sign that cannot be read is none
	return live
}

// another reports whether a newer session of the same agent is here, on which a program is that does not say which one it has open.
func (e *Engine) another(s *Session) bool {
	for _, o := range e.sessions {
		if o.Agent == s.Agent && o.Name != s.Name && o.Last.After(s.Last) && o.Event != "" && !o.Ended && !o.Imported {
			return true
		}
	}
	return false
}

// maxFamily bounds how many forks of forks are followed: what agents' files say of where they come from may go in a circle.
const maxFamily = 64

// family names the session that another one goes back to by its forks; sessions of one family have the same. e.mu is held.
func (e *Engine) family(session string) string {
	first, _ := firstOf(session, func(name string) (*Session, error) { return e.sessions[name], nil })
	return first
}

// storedFamily is family for those who do not hold e.mu.
func (e *Engine) storedFamily(session string) (string, error) {
	return firstOf(session, e.storedSession)
}

func firstOf(session string, get func(name string) (*Session, error)) (string, error) {
	for range maxFamily {
		s, err := get(session)
		if err != nil {
			return session, err
		}
		if s == nil || s.before() == "" {
			break
		}
		session = s.before()
	}
	return session, nil
}

// before is the session that one is a lane of, or was forked from; "": none.
func (s *Session) before() string {
	if s.LaneOf == "" && s.Fork != nil {
		return s.Fork.Session
	}
	return s.LaneOf
}
