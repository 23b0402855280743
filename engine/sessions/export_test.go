package sessions

// Holder is holder, for tests of it alone.
func (ss *Sessions) Holder(session string, n uint64) string { return ss.holder(session, n) }
