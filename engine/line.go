package engine

import (
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
type SeveralSessionsError struct{ Names []string }

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
	e.Notice(fmt.Sprintf("several sessions are at work here: taking %s; --session chooses (%s)", at.Session, strings.Join(active[1:], ", ")))
	return at.Session, nil
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
	return "", &SeveralSessionsError{Names: found}
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
	err = e.db.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, _ []byte) error {
		names = append(names, string(k[1:]))
		return nil
	})
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
