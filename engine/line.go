package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewind/internal/kv"
	"rewind/refs"
)

// activeWithin is how recent two sessions' events must be for a command to ask which one is meant.
const activeWithin = 10 * time.Minute

// Whose says which session's line a command walks along.
type Whose struct {
	Session string // a session's name, or a prefix of the agent's id of it; "": the current one
	Choose  bool   // when several are active, take the newest and say so, instead of ErrWhichSession
}

// SeveralSessionsError says that a command could mean several sessions; it is an ErrWhichSession.
type SeveralSessionsError struct {
	Names    []string
	Prefix   string      // of an id, that they all begin with; "": they are at work
	Sessions []Candidate // what there is to know of them, once Describe was asked
}

// Candidate is a session that a command could mean.
type Candidate struct {
	SessionInfo
	Short string // how its id begins: enough to tell it from every other session here
}

func (e *SeveralSessionsError) Error() string {
	return fmt.Sprintf("engine: %v: %s", ErrWhichSession, strings.Join(e.Names, ", "))
}

// Is makes a SeveralSessionsError an ErrWhichSession.
func (e *SeveralSessionsError) Is(target error) bool { return target == ErrWhichSession }

// session settles whose line is meant. Without a name it is the position's.
func (e *Engine) session(w Whose) (string, error) {
	if w.Session != "" {
		return e.findSession(w.Session)
	}
	at, active, err := e.active()
	if err != nil || len(active) < 2 {
		return at.Session, err
	}
	if !w.Choose {
		return "", &SeveralSessionsError{Names: active}
	}
	all, err := e.sessionNames()
	if err != nil {
		return "", err
	}
	for i, name := range active {
		active[i] = shortName(name, all)
	}
	e.Notice(fmt.Sprintf("several sessions are at work here: taking %s; --session chooses (%s)", shortName(at.Session, all), strings.Join(active[1:], ", ")))
	return at.Session, nil
}

// namedIn is the session that a request names; "": it names none.
func (e *Engine) namedIn(w Whose) (string, error) {
	if w.Session == "" {
		return "", nil
	}
	return e.findSession(w.Session)
}

// orCurrent gives the current session for "".
func (e *Engine) orCurrent(session string) (string, error) {
	if session != "" {
		return session, nil
	}
	at, err := e.position()
	return at.Session, err
}

// findSession finds a session by its name, or by a prefix of the agent's id.
func (e *Engine) findSession(name string) (string, error) {
	all, err := e.sessionNames()
	if err != nil {
		return "", err
	}
	var found []string
	for _, full := range all {
		_, id, _ := strings.Cut(full, "/")
		if full == name {
			return full, nil
		}
		if id != "" && strings.HasPrefix(id, name) || strings.HasPrefix(full, name) && strings.Contains(name, "/") {
			found = append(found, full)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("engine: session %q: %w", name, ErrNotFound)
	case 1:
		return found[0], nil
	}
	return "", &SeveralSessionsError{Names: found, Prefix: name}
}

// minShortID is how much of a session's id is given at least.
const minShortID = 8

// Describe fills in what tells the sessions of an error apart for a person: title, turns, when they were heard of. What cannot be read
// is left out.
func (e *Engine) Describe(ctx context.Context, several *SeveralSessionsError) {
	all, err := e.sessionNames()
	if err != nil || len(several.Sessions) > 0 {
		return
	}
	defer e.hold()()
	if e.loadSessions() != nil {
		return
	}
	for _, name := range several.Names {
		s := e.sessions[name]
		if s == nil {
			continue
		}
		info := SessionInfo{Session: *s, Title: s.Title, Turns: int(s.Turn)}
		info.Missing = understood(s.Agent) && statProblem(s)
		if e.readInfo(&info) != nil || info.Turns == 0 {
			info.Turns = int(s.Turn)
		}
		several.Sessions = append(several.Sessions, Candidate{SessionInfo: info, Short: shortOf(name, all)})
		if ctx.Err() != nil {
			return
		}
	}
}

func statProblem(s *Session) bool {
	_, err := statSession(s)
	return err != nil
}

// shortName is a session's name with its id no longer than that.
func shortName(name string, all []string) string {
	agent, id := SplitSession(name)
	if id == "" {
		return name
	}
	return agent + "/" + shortOf(name, all)
}

// shortOf is how a session's id begins, as far as that tells it from the others.
func shortOf(name string, all []string) string {
	_, id := SplitSession(name)
	n := min(minShortID, len(id))
	for _, other := range all {
		_, o := SplitSession(other)
		if other == name {
			continue
		}
		for n < len(id) && strings.HasPrefix(o, id[:n]) {
			n++
		}
	}
	return id[:n]
}

// sessionNames lists the sessions that have a branch, or a record.
func (e *Engine) sessionNames() ([]string, error) {
	all, err := e.refs.List(refs.Sessions)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name.Base())
	}
	lanes := map[string]bool{}
	err = e.db.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, v []byte) error {
		name := string(k[1:])
		names = append(names, name)
		s, err := decodeSession(name, v)
		lanes[name] = err == nil && s.LaneOf != ""
		return nil
	})
	names = slices.DeleteFunc(names, func(name string) bool { return lanes[name] })
	slices.Sort(names)
	return slices.Compact(names), err
}

// current is the checkpoint that a session stands on. A session without one stands where the session before it stood;
// nil before the first checkpoint.
func (e *Engine) current(session string) (*Checkpoint, error) {
	id, err := e.refs.ID(refs.Cursor(session))
	if err != nil {
		return nil, err
	}
	if id.IsZero() {
		if id, err = e.newestCursor(); err != nil || id.IsZero() {
			return nil, err
		}
	}
	return e.checkpoint(id)
}
