package sessions

// Holder is the session that turn n means when nobody names one, with session as the current one: that one, or while no
// agent has continued a fork that has fewer turns, the session that it was forked from.
func (ss *Sessions) Holder(session string, n uint64) string {
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

// OrHolder is session, or for "" the Holder of turn n.
func (ss *Sessions) OrHolder(session string, n uint64) (string, error) {
	if session != "" {
		return session, nil
	}
	current, err := ss.OrCurrent("")
	return ss.Holder(current, n), err
}
