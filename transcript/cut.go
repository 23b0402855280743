package transcript

import (
	"errors"
	"fmt"
	"slices"
)

// ErrEmpty says that there is no prompt before the place, and so nothing that could be continued.
var ErrEmpty = errors.New("no prompt before this place, there is nothing to fork")

// ErrNoTurn says that the conversation has fewer turns, or none of that number.
var ErrNoTurn = errors.New("no such turn")

// Cut is a place where a session file can end: behind a whole record, with no call of a tool without its result and no
// message in two.
type Cut struct {
	Offset          int64
	Turn            int         // the turn that it is in, or at the end of
	Turns           []int       // those up to there that a fork has; nil: all
	Messages        int         // of people and the model before it
	LastMessage     string      // id of the last record before it that is a message
	Compaction      *Compaction // the newest before it: the model sees a summary of what came before that
	LaterCompaction bool        // the source was compacted behind it: a fork brings back what the model had forgotten
	Break           *Break      // the newest before it and behind the newest compaction: the agent does not find what came before that
	Dropped         int         // whole records between the asked place and the cut
	Why             Reason      // why it is not at the asked place
	Dangling        *Call       // of a cut of all: a call without a result at its end, which the agent answers itself
}

// Reason is why a session cannot end at a place that was asked for.
type Reason struct {
	Cause Cause
	Turn  int    // the turn that the place is in
	Tool  string // of CauseCall: the tool's name; untrusted
}

// Cause is what a Reason is made of.
type Cause byte

// The causes. CauseNone: nothing that a model sees was left out.
const (
	CauseNone     Cause = iota
	CauseCall           // a call of a tool has no result
	CauseMessage        // a message is not there as a whole
	CausePrompt         // nothing has answered the turn's prompt
	CauseGoneBack       // the person went back behind all that is there
)

// String is the reason for people: a clause that can follow a colon.
func (r Reason) String() string {
	return r.words(func(n int) string { return fmt.Sprintf("turn %d", n) })
}

// words are String with a turn as turn words it.
func (r Reason) words(turn func(n int) string) string {
	switch r.Cause {
	case CauseCall:
		if r.Tool == "" {
			return "a call of a tool had no result yet"
		}
		return fmt.Sprintf("the call of %s had no result yet", r.Tool)
	case CauseMessage:
		return "a message of the model was not whole yet"
	case CausePrompt:
		return "nothing has answered the prompt of " + turn(r.Turn)
	case CauseGoneBack:
		return "the person went back behind all that is there"
	case CauseNone:
	}
	return ""
}

// Because is why the cut is not at the place that was asked for, for people; "" if nothing that a model sees was left
// out. turn words a turn.
func (c Cut) Because(turn func(n int) string) string {
	text := c.Why.words(turn)
	if c.Why.Cause == CausePrompt {
		text += fmt.Sprintf(", and it ends with %s, which was there before", turn(c.Turn))
	}
	return text
}

// emptyError is ErrEmpty where there are prompts, and none of them can be the end.
type emptyError struct{ why Reason }

func (e *emptyError) Error() string {
	return fmt.Sprintf("%s, and nothing that was there before it is left: there is nothing to fork", e.why)
}

func (e *emptyError) Is(target error) bool { return target == ErrEmpty }

// CutAt is the last safe place at or before the byte at. An error that wraps ErrEmpty says that there is none.
//
// A prompt that nothing has answered yet may be the end. A turn that the person has gone back behind is never the end
// of what comes later.
func CutAt(agent Agent, src Source, at int64) (Cut, error) {
	return cutAt(agent, src, at, cutter{})
}

// CutTurn is the end of turn n, from 1; what the agent writes ahead of the next prompt is not in it. The end is the
// last safe place in the turn after an answer. If there is none, and the model has begun to answer, the end is after
// the prompt: a killed turn keeps its prompt. A prompt that nothing has answered was taken back: the end is that of
// what was there before it, not of a turn that the person went back behind with it. An error wraps ErrNoTurn or
// ErrEmpty.
func CutTurn(agent Agent, src Source, n int) (Cut, error) {
	c, err := Scan(agent, src)
	if err != nil {
		return Cut{}, err
	}
	if n < 1 || n > len(c.Turns) {
		return Cut{}, fmt.Errorf("cut %s at turn %d: %w: there are %d", src.Name, n, ErrNoTurn, len(c.Turns))
	}
	return cutAt(agent, src, c.Turns[n-1].End, cutter{answered: true})
}

// CutAll is the end of all that can be a copy of the conversation: the last whole record. Some agents answer a call
// without a result themselves when the session is opened: their cut may end in an open call. For other agents, and if a
// message would be cut in two, the cut is the last safe place before. A session in which nothing was said, or that
// begins behind its prompts, has an end, too.
func CutAll(agent Agent, src Source) (Cut, error) {
	return cutAt(agent, src, src.Size, cutter{all: true})
}

func cutAt(agent Agent, src Source, at int64, c cutter) (Cut, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return Cut{}, err
	}
	c.tracker, c.at = newTracker(agent, d), min(at, src.Size)
	err = d.lines(src, 0, newLine(maxSummaryText, false), func(l *line) error {
		c.take(l)
		return nil
	})
	if err != nil {
		return Cut{}, err
	}
	if c.answered && c.best.Offset < c.begun.Offset && c.why.Cause != CausePrompt {
		c.best = c.begun
	}
	if c.best.Offset == 0 && c.all {
		c.best = boundary{record: c.records, Cut: Cut{Offset: c.c.End, Turn: len(c.c.Turns), Messages: c.c.Messages, LastMessage: c.c.Last}}
	}
	if c.best.Offset == 0 {
		err := ErrEmpty
		if c.why.Cause != CauseNone {
			err = &emptyError{c.why}
		}
		return Cut{}, fmt.Errorf("cut %s at byte %d: %w", src.Name, at, err)
	}
	return c.cut(), nil
}

// cut is the best place with what is to be said of it.
func (c *cutter) cut() Cut {
	cut := c.best.Cut
	if cut.Dropped = c.records - c.best.record; cut.Dropped > 0 {
		cut.Why = c.why
	}
	for _, compaction := range c.c.Compactions {
		if compaction.Offset < cut.Offset {
			cut.Compaction = &compaction
		} else {
			cut.LaterCompaction = true
		}
	}
	for _, b := range c.c.Breaks {
		gone := b.Turn > 0 && c.c.Turns[b.Turn-1].Gone && b.Turn != cut.Turn
		if b.Offset < cut.Offset && !gone && (cut.Compaction == nil || cut.Compaction.Offset < b.Offset) {
			cut.Break = &b
		}
	}
	cut.Turns = c.forked(cut)
	return cut
}

// forked are the turns that a fork which ends at a cut has; nil: all.
func (c *cutter) forked(cut Cut) (turns []int) {
	without := slices.DeleteFunc(c.without, func(s span) bool { return s.end > cut.Offset })
	if len(without) == 0 {
		return nil
	}
	for i := range cut.Turn {
		at := c.c.Turns[i].At
		if !slices.ContainsFunc(without, func(s span) bool { return s.start <= at && at < s.end }) {
			turns = append(turns, i+1)
		}
	}
	return turns
}

// cutter looks for the last safe place at or before at.
type cutter struct {
	*tracker
	at       int64
	answered bool // a bare prompt is no end, nor is what the agent writes ahead of one
	all      bool // a copy: the end may be what only the agent can go on from

	records int        // that end at or before at
	best    boundary   // the newest safe place
	begun   boundary   // behind the newest prompt, until something safe comes
	whole   boundary   // the newest safe place in front of the message that the newest records are of
	ends    []boundary // of every turn: the newest safe place in it that has an answer
	why     Reason     // why the newest place is not safe
	without []span     // that a fork does not have
}

// boundary is a safe place; record is the number of records before it, and live that of the turns that are not gone.
type boundary struct {
	Cut
	record, live int
}

func (c *cutter) take(l *line) {
	before := c.message
	c.add(l)
	end := l.Offset + l.Size
	if l.UndoFrom > 0 && l.UndoFrom < l.Offset {
		c.without = append(c.without, span{l.UndoFrom, end})
	}
	if c.moved && end <= c.at && !c.all {
		c.best = c.left()
		c.whole, c.begun = c.best, boundary{}
	}
	switch {
	case l.Side || l.Message == "" && l.Kind != Prompt:
	case l.Message != "" && l.Message == before:
		if c.best.Offset != c.whole.Offset { // the message goes on: it is not whole in front of here
			c.best, c.why = c.whole, Reason{Cause: CauseMessage, Turn: c.best.Turn}
		}
	default:
		c.whole = c.best
	}
	if end > c.at {
		return
	}
	c.records = c.c.Records
	here := boundary{record: c.c.Records, live: len(c.live), Cut: Cut{
		Offset: end, Turn: len(c.c.Turns), Messages: c.c.Messages, LastMessage: c.lastMessage(),
	}}
	if l.Kind == Prompt && !l.Side && !l.Hidden {
		c.begun = here
	}
	var ok bool
	if c.why, ok = c.safe(l); !ok {
		return
	}
	if c.all && len(c.c.Pending) > 0 {
		here.Dangling = &Call{Name: c.c.Pending[0].Name}
	}
	c.best = here
	if n := len(c.c.Turns); n > 0 && !c.bare && c.lead < 0 && !c.all {
		for len(c.ends) < n {
			c.ends = append(c.ends, boundary{})
		}
		c.ends[n-1] = here
	}
}

// left is the end of the newest turn that is not gone, as it was before those that are gone came.
func (c *cutter) left() boundary {
	for depth, i := range slices.Backward(c.live) {
		if i < len(c.ends) && c.ends[i].Offset > 0 && c.ends[i].live == depth+1 {
			return c.ends[i]
		}
	}
	return boundary{}
}

// safe says whether the file can end behind l, which is the newest record, and why not.
func (c *cutter) safe(l *line) (Reason, bool) {
	open := len(c.c.Pending) > 0
	switch turn := len(c.c.Turns); {
	case c.all:
		if open && !c.d.answers {
			return Reason{Cause: CauseCall, Turn: turn, Tool: c.c.Pending[0].Name}, false
		}
		if l.Open {
			return Reason{Cause: CauseMessage, Turn: turn}, false
		}
		return Reason{}, true
	case turn == 0:
		return Reason{}, false
	case len(c.live) == 0:
		return Reason{Cause: CauseGoneBack, Turn: turn}, false
	case open:
		return Reason{Cause: CauseCall, Turn: turn, Tool: c.c.Pending[0].Name}, false
	case l.Open:
		return Reason{Cause: CauseMessage, Turn: turn}, false
	case c.answered && c.bare:
		return Reason{Cause: CausePrompt, Turn: turn}, false
	case c.answered && c.lead >= 0:
		return c.why, false
	}
	return Reason{}, true
}

func (c *cutter) lastMessage() string {
	if turn := c.turn(); turn != nil {
		return turn.Last
	}
	return c.c.Last
}

// ErrNoCall says that the conversation has no call of that id.
var ErrNoCall = errors.New("no such call")

// CutCall returns the last safe place at or before the end of a call's result. If the call has no result, it is at or
// before the end of the record that makes the call. The agent may have gone on since. The newest call of that id is
// meant. An error wraps ErrNoCall or ErrEmpty.
func CutCall(agent Agent, src Source, call string) (Cut, error) {
	at, err := callEnd(agent, src, 0, call)
	if err != nil {
		return Cut{}, err
	}
	return CutAt(agent, src, at)
}

// HasCall reports whether a conversation has a call of that id, which stands no farther than near from a place in it.
func HasCall(agent Agent, src Source, at, near int64, call string) (bool, error) {
	from := int64(0)
	if windowed(agent, src) {
		if end := at + near; end < src.Size {
			src.Size, src.Ended = end, false
		}
		if at > near {
			from = lineBehind(src, at-near)
		}
	}
	_, err := callEnd(agent, src, from, call)
	if errors.Is(err, ErrNoCall) {
		return false, nil
	}
	return err == nil, err
}

func callEnd(agent Agent, src Source, from int64, call string) (int64, error) {
	at := int64(0)
	err := Read(agent, src, from, func(r *Record) error {
		if r.Side {
			return nil
		}
		if slices.ContainsFunc(r.Calls, func(c Call) bool { return c.ID == call }) || at > 0 && slices.Contains(r.Results, call) {
			at = r.Offset + r.Size
		}
		return nil
	})
	if err == nil && (at == 0 || call == "") {
		err = fmt.Errorf("cut %s at call %q: %w", src.Name, oneLine(call, maxTarget), ErrNoCall)
	}
	return at, err
}

// Targets gives what the tool calls of these ids were about: the path, the command, as Call.Target; calls that stand no
// farther than near from one of the places, which ascend. A call that a session file does not have there is not in the
// answer.
func Targets(agent Agent, src Source, places []int64, near int64, calls map[string]bool) (map[string]string, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	out, l := map[string]string{}, newLine(maxSummaryText, false)
	read := func(part Source, from int64) error {
		return d.lines(part, from, l, func(l *line) error {
			for _, c := range l.Calls {
				if calls[c.ID] && c.Target != "" {
					out[c.ID] = c.Target
				}
			}
			return nil
		})
	}
	if !windowed(agent, src) {
		return out, read(src, 0)
	}
	for i, done := 0, int64(0); i < len(places) && done < src.Size; i++ {
		from := max(done, places[i]-near)
		for ; i+1 < len(places) && places[i+1]-near <= places[i]+near; i++ {
		}
		part := src
		if done = places[i] + near; done < src.Size {
			part.Size, part.Ended = done, false
		}
		if from > 0 {
			from = lineBehind(part, from)
		}
		if err := read(part, from); err != nil {
			return out, err
		}
	}
	return out, nil
}

// EndOfTurn is the offset of CutTurn. turns are those that are known of the conversation, which src may be the
// beginning of: no more is read than what is around the turn.
func EndOfTurn(agent Agent, src Source, turns []Turn, n int) (int64, error) {
	if n > sure && n <= len(turns) && windowed(agent, src) {
		part := src
		if n+1 < len(turns) {
			part.Size = min(src.Size, turns[n+1].Start)
		}
		from, at := turns[n-1-sure].Start, int64(0)
		err := readWithin(agent, part, from, maxSummaryText, func(t *tracker, l *line) {
			t.add(l)
			if len(t.c.Turns) == sure+1 {
				at = t.turn().End
			}
		})
		if err != nil {
			return 0, err
		}
		if end, err := cutWithin(agent, part, from, at, true); end > 0 || err != nil {
			return end, err
		}
	}
	cut, err := CutTurn(agent, src, n)
	return cut.Offset, err
}

// EndOfCall is the offset of CutCall, and reads no more of the end than it needs.
func EndOfCall(agent Agent, src Source, call string) (int64, error) {
	for window := int64(leastWindow); window < src.Size && windowed(agent, src); window *= moreWindow {
		from := lineBehind(src, src.Size-window)
		at, err := callEnd(agent, src, from, call)
		if err == nil {
			var end int64
			if end, err = cutWithin(agent, src, from, at, false); end > 0 {
				return end, err
			}
		}
		if err != nil && !errors.Is(err, ErrNoCall) {
			return 0, err
		}
	}
	cut, err := CutCall(agent, src, call)
	return cut.Offset, err
}

// cutWithin is cutAt of the records from one in the middle on; 0: what came before has to be read.
func cutWithin(agent Agent, src Source, from, at int64, answered bool) (int64, error) {
	c := cutter{at: at, answered: answered}
	err := readWithin(agent, src, from, maxSummaryText, func(t *tracker, l *line) {
		c.tracker = t
		c.take(l)
	})
	none := err != nil || c.tracker == nil
	if none || c.reaches || c.best.Turn <= sure {
		return 0, err
	}
	return c.best.Offset, nil
}
