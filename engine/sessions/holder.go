package sessions

import (
	"fmt"
	"slices"

	"rewind/engine/model"
)

// OfTurn is the session whose turn n a request means: the named one, else the holder of the turn. Where the project
// stands on no agent's session it is the only one that has a conversation; a *SeveralSessionsError where several have
// one. Turn 0 is any turn of it.
func (ss *Sessions) OfTurn(w model.SessionChoice, n uint64) (string, error) {
	session, err := ss.Session(w)
	if err != nil || w.Session != "" {
		return session, err
	}
	return ss.turnOf(session, n, w.Choose)
}

// OrHolder is session, or for "" the holder of turn n.
func (ss *Sessions) OrHolder(session string, n uint64) (string, error) {
	if session != "" {
		return session, nil
	}
	current, err := ss.OrCurrent("")
	if err != nil {
		return "", err
	}
	return ss.turnOf(current, n, false)
}

func (ss *Sessions) turnOf(session string, n uint64, choose bool) (string, error) {
	if session == model.Manual {
		return ss.talking(choose)
	}
	return ss.holder(session, n), nil
}

// holder returns the session that turn n means without a name; session is the current one. It is session itself. If
// that is a fork with fewer turns that no agent has continued, it is the fork's original.
func (ss *Sessions) holder(session string, n uint64) string {
	for range MaxFamily {
		s, err := ss.log.StoredSession(session)
		noFork := err != nil || s == nil || s.Fork == nil
		if noFork || s.Event != "" || n <= s.Turn {
			break
		}
		session = s.Fork.Session
	}
	return session
}

// talking is the only session that has a conversation, without forks that nobody has used and what a person has put
// away; Manual: none has. Of several it is the one that was heard of last if choose is set, and else an error.
func (ss *Sessions) talking(choose bool) (string, error) {
	all, err := ss.SessionNames()
	if err != nil {
		return "", err
	}
	var found []*model.Session
	for _, name := range all {
		s, err := ss.log.StoredSession(name)
		if err != nil {
			return "", err
		}
		if s != nil && hasConversation(s) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return model.Manual, nil
	}
	slices.SortFunc(found, func(a, b *model.Session) int { return b.Last.Compare(a.Last) })
	names := make([]string, len(found))
	for i, s := range found {
		names[i] = s.Name
	}
	if len(found) > 1 {
		if !choose {
			return "", &SeveralSessionsError{Names: names, past: true}
		}
		const text = "%d sessions have a conversation here: taking %s, the newest; --session chooses"
		ss.log.Notice(fmt.Sprintf(text, len(names), shortName(names[0], all)))
	}
	return names[0], nil
}

func hasConversation(s *model.Session) bool {
	said := s.Turn > 0 && !s.Cursor.Transcript.IsZero()
	return said && !IsUnused(s) && !s.Away()
}

// IsUnused reports whether a session is a fork of rewind's that no agent has opened.
func IsUnused(s *model.Session) bool {
	return s.Fork != nil && s.Fork.Kind != model.ByAgent && s.Event == ""
}
