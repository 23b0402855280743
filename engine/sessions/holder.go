package sessions

// Holder is the session that turn n is looked for in when nobody names one: the current one, or while no agent has gone on with a fork that
// has fewer turns, the one that it was forked from.
func (ss *Sessions) Holder(session string, n uint64) string {
	for range MaxFamily {
		s, err := ss.log.StoredSession(session)
		if err != nil || s == nil || s.Fork == nil || s.Event != "" || n <= s.Turn {
			break
		}
		session = s.Fork.Session
	}
	return session
}

// OrHolder gives for "" the session whose turn n is meant.
func (ss *Sessions) OrHolder(session string, n uint64) (string, error) {
	if session != "" {
		return session, nil
	}
	current, err := ss.OrCurrent("")
	return ss.Holder(current, n), err
}
