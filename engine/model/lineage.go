package model

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// Lineage is where a fork comes from, and how its turns are the other session's.
type Lineage struct {
	value.Lineage
	Both       int         // so many of its turns both have: Lineage.Turn as this session counts
	Turns      []int       // the other's numbers of those; nil: the same. Where Both is 0, the one turn that it goes on behind
	Unsaid     int         // so many of Both, from the first, its conversation has as a summary (Droid's /compress)
	Transcript objstore.ID // the session file as it was made; zero: not known
}

// Share says how many turns both have, and the other's numbers of them.
func (l *Lineage) Share(both int, turns []int) {
	l.Both, l.Turns = both, turns
	l.Turn = int(l.Of(uint64(both)))
	if both == 0 && len(turns) == 1 {
		l.Turn = turns[0]
	}
}

// Below says that both conversations begin with a summary of so many turns of a third: those have the first numbers in
// both.
func (l *Lineage) Below(before int) {
	if before == 0 {
		return
	}
	var turns []int
	if l.Turns != nil {
		for n := 1; n <= before; n++ {
			turns = append(turns, n)
		}
		for _, n := range l.Turns {
			turns = append(turns, n+before)
		}
	}
	l.Unsaid = before
	l.Share(l.Both+before, turns)
}

// InSummary returns how many turns of another session the summary stands for with which a conversation begins. These
// turns have the first numbers, and places in the conversation begin behind them.
func (s *Session) InSummary() int {
	if s == nil || s.Fork == nil {
		return 0
	}
	return s.Fork.Unsaid
}

// docs/format.md#session-record, 19.
var lineageTable = record.New(
	record.String(1, func(l *Lineage) *string { return &l.Session }),
	record.Count(2, func(l *Lineage) *int { return &l.Both }),
	record.String(3, func(l *Lineage) *string { return &l.Message }),
	record.String(4, func(l *Lineage) *string { return &l.Checkpoint }),
	record.Time(5, func(l *Lineage) *time.Time { return &l.Time }),
	record.Bool(6, func(l *Lineage) *bool { return &l.Clone }),
	record.String(7, func(l *Lineage) *string { return &l.Kind }),
	record.ID(8, func(l *Lineage) *objstore.ID { return &l.Transcript }),
	record.Decimals(9, func(l *Lineage) *[]int { return &l.Turns }),
	record.String(10, func(l *Lineage) *value.Found { return &l.How }),
	record.String(11, func(l *Lineage) *string { return &l.Commit }),
	record.String(12, func(l *Lineage) *string { return &l.Branch }),
	record.Count(13, func(l *Lineage) *int { return &l.Unsaid }),
).Then(func(l *Lineage) error {
	if l.Unsaid > max(l.Both, 0) {
		return fmt.Errorf("%w: %d turns in a summary of %d", record.ErrFormat, l.Unsaid, l.Both)
	}
	l.Share(l.Both, l.Turns)
	return nil
})

// An agent makes sessions of others by itself (/branch, --fork-session, a fork by reference). Their files name the
// other session. Comparing both files, once, shows how far they are the same. From then on the session's lineage has
// that turn and message, and turns up to there have the other session's checkpoints.

// ByAgent is the kind of a lineage that an agent made.
const ByAgent = value.ForkAgent

// MadeByAgent is where a session comes from whose file names the session that its agent made it of, and was begun at
// first. How far both are the same is not known yet.
func MadeByAgent(agent value.Agent, parent transcript.Parent, first time.Time) *Lineage {
	return &Lineage{Lineage: value.Lineage{
		Session: string(agent) + "/" + parent.Session, Message: parent.Message, Time: first,
		Kind: ByAgent, How: value.FoundHeader,
	}}
}

// At says which checkpoint the fork point is, and where the user's repository stood then.
func (l *Lineage) At(cp *Checkpoint) {
	l.Checkpoint, l.Commit, l.Branch = cp.ID.String(), cp.Git.Commit, cp.Git.Branch
}

// Resolved reports whether it is known up to which turn both sessions are the same.
func (l *Lineage) Resolved() bool { return l != nil && (l.Kind != ByAgent || l.Turn > 0) }

// Same reports whether both say that a session was made of the same one, and how far both are the same.
func (l *Lineage) Same(m *Lineage) bool {
	if l == nil || m == nil {
		return l == m
	}
	samePlace := l.Session == m.Session && l.Both == m.Both && l.Message == m.Message
	sameTurns := l.Unsaid == m.Unsaid && slices.Equal(l.Turns, m.Turns)
	return samePlace && sameTurns && l.How == m.How
}

// Of is the other session's number of turn n, which both have. It may have gone back behind turns that an agent did not
// take along.
func (l *Lineage) Of(n uint64) uint64 {
	if n == 0 || n > uint64(len(l.Turns)) {
		return n
	}
	return uint64(l.Turns[n-1])
}

// UpTo is the last turn of the other session that is on the line of who stands at turn n of this one, as the other
// counts. Every one, where it is not known how far both are the same.
func (l *Lineage) UpTo(n uint64) uint64 {
	switch {
	case l.Both < 0:
		return math.MaxUint64
	case l.Both == 0:
		return uint64(l.Turn) // it has none of the other's turns, and goes on behind that one
	}
	return l.Of(min(n, uint64(l.Both)))
}
