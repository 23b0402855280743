package transcript

import (
	"errors"
	"fmt"
)

// ErrEmpty says that there is no prompt before the place, and so nothing that could be continued.
var ErrEmpty = errors.New("no prompt before this place, there is nothing to fork")

// ErrNoTurn says that the conversation has fewer turns, or none of that number.
var ErrNoTurn = errors.New("no such turn")

// Cut is a place where a session file can end: behind a whole record, with no call of a tool without its result and no message in two.
type Cut struct {
	Offset          int64
	Turn            int         // the turn that it is in, or at the end of
	Messages        int         // of people and the model before it
	LastMessage     string      // id of the last record before it that is a message
	Compaction      *Compaction // the newest before it: the model sees a summary of what came before that
	LaterCompaction bool        // the source was compacted behind it: a fork brings back what the model had forgotten
	Dropped         int         // whole records between the asked place and the cut
}

// CutAt is the last safe place at or before the byte at. An error that wraps ErrEmpty says that there is none.
//
// A prompt that nothing has answered yet may be the end.
func CutAt(agent Agent, src Source, at int64) (Cut, error) {
	return cutAt(agent, src, at, false)
}

// CutTurn is the end of turn n, from 1; what the agent writes ahead of the next prompt is not in it. The end is the last safe place in the
// turn that has an answer, or the end of a turn before, if there is none. An error wraps ErrNoTurn or ErrEmpty.
func CutTurn(agent Agent, src Source, n int) (Cut, error) {
	c, err := Scan(agent, src)
	if err != nil {
		return Cut{}, err
	}
	if n < 1 || n > len(c.Turns) {
		return Cut{}, fmt.Errorf("transcript: cut %s at turn %d: %w: there are %d", src.Name, n, ErrNoTurn, len(c.Turns))
	}
	return cutAt(agent, src, c.Turns[n-1].End, true)
}

func cutAt(agent Agent, src Source, at int64, answered bool) (Cut, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return Cut{}, err
	}
	c := cutter{tracker: newTracker(agent, d), at: min(at, src.Size), answered: answered}
	err = d.lines(src, 0, newLine(maxSummaryText, false), func(l *line) error {
		c.take(l)
		return nil
	})
	if err != nil {
		return Cut{}, err
	}
	if c.best.Offset == 0 {
		return Cut{}, fmt.Errorf("transcript: cut %s at byte %d: %w", src.Name, at, ErrEmpty)
	}
	cut := c.best.Cut
	cut.Dropped = c.records - c.best.record
	for _, compaction := range c.c.Compactions {
		if compaction.Offset < cut.Offset {
			cut.Compaction = &compaction
		} else {
			cut.LaterCompaction = true
		}
	}
	return cut, nil
}

// cutter looks for the last safe place at or before at.
type cutter struct {
	*tracker
	at       int64
	answered bool // a bare prompt is no end, nor is what the agent writes ahead of one

	records int      // that end at or before at
	best    boundary // the newest safe place
	whole   boundary // the newest safe place in front of the message that the newest records are of
}

// boundary is a safe place; record is the number of records before it.
type boundary struct {
	Cut
	record int
}

func (c *cutter) take(l *line) {
	before := c.message
	c.add(l)
	switch {
	case l.Side || l.Message == "" && l.Kind != Prompt:
	case l.Message != "" && l.Message == before:
		c.best = c.whole // the message goes on: it is not whole in front of here
	default:
		c.whole = c.best
	}
	end := l.Offset + l.Size
	if end > c.at {
		return
	}
	c.records = c.c.Records
	if c.safe(l) {
		c.best = boundary{record: c.c.Records, Cut: Cut{
			Offset: end, Turn: len(c.c.Turns), Messages: c.c.Messages, LastMessage: c.lastMessage(),
		}}
	}
}

// safe says whether the file can end behind l, which is the newest record.
func (c *cutter) safe(l *line) bool {
	if len(c.live) == 0 || len(c.c.Pending) > 0 || l.Open {
		return false
	}
	return !c.tracker.bare && c.lead < 0 || !c.answered
}

func (c *cutter) lastMessage() string {
	if turn := c.turn(); turn != nil {
		return turn.Last
	}
	return ""
}
