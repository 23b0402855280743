package history

// TurnLog is what the log has of a session's turns.
type TurnLog = turnLog

// ReadTurns is readTurns of the turns that a session has now.
func (h *History) ReadTurns(session string) (*TurnLog, error) {
	return h.readTurns(turnAt{session: session})
}

// Newest is the highest turn.
func (l *turnLog) Newest() uint64 { return l.newest }

// EndOf is endOf.
func (l *turnLog) EndOf(n uint64) (*turnMoment, error) { return l.endOf(n) }

// Turn is factsOf.
func (l *turnLog) Turn(n uint64) (*turnFacts, error) { return l.factsOf(n) }
