package sessions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/refs"
)

// SeveralSessionsError says that a command could mean several sessions; it is an ErrWhichSession.
type SeveralSessionsError struct {
	Names    []string
	Prefix   string      // what the ids of all begin with; "": the sessions are at work, or
	Title    string      // the title that was asked for
	past     bool        // none is at work: each has a conversation
	Sessions []Candidate // set by history's Describe
}

// Candidate is a session that a command could mean.
type Candidate struct {
	model.SessionInfo
	Short string // the beginning of its id that no other session here has
}

func (e *SeveralSessionsError) Error() string {
	return fmt.Sprintf("%s: %s", e.What(), strings.Join(e.Names, ", "))
}

// What says what several sessions are.
func (e *SeveralSessionsError) What() string {
	if e.past {
		return "several sessions have a conversation here"
	}
	return model.ErrWhichSession.Error()
}

// Is makes a SeveralSessionsError an ErrWhichSession.
func (e *SeveralSessionsError) Is(target error) bool { return target == model.ErrWhichSession }

// Session is the session that a request means: the named one, else the position's. A *SeveralSessionsError where
// several are at work.
func (ss *Sessions) Session(w model.SessionChoice) (string, error) {
	if w.Session != "" {
		return ss.FindSession(w.Session)
	}
	at, active, err := ss.Active()
	if err != nil || len(active) < 2 {
		return at.Session, err
	}
	if !w.Choose {
		return "", &SeveralSessionsError{Names: active}
	}
	all, err := ss.SessionNames()
	if err != nil {
		return "", err
	}
	for i, name := range active {
		active[i] = shortName(name, all)
	}
	ss.log.Notice(fmt.Sprintf("several sessions are at work here: taking %s; --session chooses (%s)", shortName(at.Session, all),
		strings.Join(active[1:], ", ")))
	return at.Session, nil
}

// NamedIn is the session that a request names; "": it names none.
func (ss *Sessions) NamedIn(w model.SessionChoice) (string, error) {
	if w.Session == "" {
		return "", nil
	}
	return ss.FindSession(w.Session)
}

// OrCurrent is session, or for "" the current one.
func (ss *Sessions) OrCurrent(session string) (string, error) {
	if session != "" {
		return session, nil
	}
	at, err := ss.Position()
	return at.Session, err
}

// TitlesBy says who knows sessions by their titles: find gives those that one stands for, whole or a part of it,
// sorted, whether the log's lock is held or not.
func (ss *Sessions) TitlesBy(find func(title string, whole bool) ([]string, error)) { ss.titled = find }

// FindSession finds the session for a name that a person typed. It tries the session's name, or the beginning of the
// agent's id. Then it tries the title: the whole, its beginning, or a part of it. Errors: model.ErrNotFound,
// *SeveralSessionsError.
func (ss *Sessions) FindSession(name string) (string, error) { return ss.find(name, false) }

// FindWhole is FindSession for who deletes: a part of a title names none.
func (ss *Sessions) FindWhole(name string) (string, error) { return ss.find(name, true) }

func (ss *Sessions) find(name string, whole bool) (string, error) {
	session, err := ss.SessionOfID(name)
	if !errors.Is(err, model.ErrNotFound) || ss.titled == nil {
		return session, err
	}
	found, lost := ss.titled(name, whole)
	switch {
	case lost != nil:
		return "", lost
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", &SeveralSessionsError{Names: found, Title: name}
	}
	return "", err
}

// SessionOfID is FindSession by names and ids alone.
func (ss *Sessions) SessionOfID(name string) (string, error) {
	if strings.Contains(name, "/") { // whole, as a program says it: the others are not read for it
		if s, err := ss.log.StoredSession(name); err != nil || s != nil && s.LaneOf == "" {
			return name, err
		}
	}
	all, err := ss.SessionNames()
	if err != nil {
		return "", err
	}
	switch found := meant(name, all); len(found) {
	case 0:
		return "", &value.OpError{Op: "session", Subject: name, Typed: true, Err: model.ErrNotFound}
	case 1:
		return found[0], nil
	default:
		return "", &SeveralSessionsError{Names: found, Prefix: name}
	}
}

// meant are the sessions among all that a name or an id stands for: those whose it is, else those that begin so.
func meant(name string, all []string) []string {
	var whole, begin []string
	for _, full := range all {
		_, id, _ := strings.Cut(full, "/")
		agent := strings.Contains(name, "/") && strings.HasPrefix(full, name)
		switch {
		case full == name:
			return []string{full}
		case id == name:
			whole = append(whole, full)
		case agent, id != "" && strings.HasPrefix(id, name):
			begin = append(begin, full)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	return begin
}

// minShortID is how many characters ShortOf gives at least.
const minShortID = 8

// shortName is a session's name with the id as ShortOf gives it.
func shortName(name string, all []string) string {
	agent, id := model.SplitSession(name)
	if id == "" {
		return name
	}
	return string(agent) + "/" + ShortOf(name, all)
}

// ShortOf is the beginning of a session's id that tells it from the others in all.
func ShortOf(name string, all []string) string {
	_, id := model.SplitSession(name)
	n := min(minShortID, len(id))
	for _, other := range all {
		_, o := model.SplitSession(other)
		if other == name {
			continue
		}
		for n < len(id) && strings.HasPrefix(o, id[:n]) {
			n++
		}
	}
	return id[:n]
}

// SessionNames lists the sessions with a branch or a record.
func (ss *Sessions) SessionNames() ([]string, error) {
	all, err := ss.log.Refs.List(refs.Sessions)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name.Base())
	}
	lanes := map[string]bool{}
	err = ss.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, v []byte) error {
		name := string(k[1:])
		names = append(names, name)
		s, err := model.DecodeSession(name, v)
		lanes[name] = err == nil && s.LaneOf != ""
		return nil
	})
	names = slices.DeleteFunc(names, func(name string) bool { return lanes[name] })
	slices.Sort(names)
	return slices.Compact(names), err
}

// Current is the checkpoint that a session stands on. A session without one stands where the session before it stood;
// nil before the first checkpoint.
func (ss *Sessions) Current(session string) (*model.Checkpoint, error) {
	id, err := ss.log.Refs.ID(refs.Cursor(session))
	if err != nil {
		return nil, err
	}
	if id.IsZero() {
		if id, err = ss.NewestCursor(); err != nil || id.IsZero() {
			return nil, err
		}
	}
	return ss.log.Checkpoint(id)
}
