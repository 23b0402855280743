package engine

import (
	"slices"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// turnFacts is what the log knows of a turn.
type turnFacts struct {
	checkpoints int
	checkpoint  objstore.ID // the newest that one of its events stood for
	removed     bool        // gc has taken it
	prompt      string
	transcript  objstore.ID // the conversation at its end
	end         turnEnd
}

// turnList makes the list of a session's turns. The log is read once for each session on its line, and of the conversations that it names only those
// that the newest does not begin with.
type turnList struct {
	e     *Engine
	s     *Session
	now   *transcript.Conversation // nil: it is not known
	as    *stored                  // its bytes
	facts map[string]map[uint64]*turnFacts
	read  map[objstore.ID]*transcript.Conversation
}

// listTurns fills the list.
func (e *Engine) listTurns(l *TurnList, s *Session, now *transcript.Conversation) error {
	t := &turnList{e: e, s: s, now: now, facts: map[string]map[uint64]*turnFacts{}, read: map[objstore.ID]*transcript.Conversation{}}
	own, err := t.log(s.Name)
	if err != nil {
		return err
	}
	count := uint64(0)
	for n := range own {
		count = max(count, n)
	}
	if now != nil {
		count = max(count, uint64(len(now.Turns)))
		if t.as, err = openTranscript(e.objs, s.Cursor.Transcript); err != nil {
			return err
		}
	}
	for n := uint64(1); n <= count; n++ {
		info, err := t.turn(n)
		if err != nil {
			return err
		}
		l.Turns = append(l.Turns, info)
	}
	return nil
}

// turn tells one turn: as it stands in the conversation, or where the numbers have parted, since the agent went back by itself or the file was cut, as it
// stood when it ended.
func (t *turnList) turn(n uint64) (TurnInfo, error) {
	info := TurnInfo{Number: n}
	f := t.facts[t.s.Name][n]
	if t.now != nil && n <= uint64(len(t.now.Turns)) {
		info.Turn = t.now.Turns[n-1]
	} else {
		info.Gone = true
	}
	of := t.e.turnOf(t.s.Name, n)
	known, err := t.log(of)
	if err != nil {
		return info, err
	}
	if k := known[n]; k != nil && !k.checkpoint.IsZero() {
		info.Checkpoint = k.checkpoint.String()
	}
	if f == nil {
		return info, nil
	}
	info.Checkpoints = f.checkpoints
	if info.Summary == "" {
		info.Summary = f.prompt
	}
	if of != t.s.Name || f.transcript.IsZero() || t.now == nil {
		return info, nil
	}
	was, err := t.ended(f.transcript)
	if err != nil || was == nil || !info.Gone && info.User == was.User && info.Start == was.Start {
		return info, err
	}
	info.Turn, info.Gone = *was, true
	for _, k := range t.now.Turns {
		if k.User == was.User && k.Summary == was.Summary && k.Time.Equal(was.Time) {
			info.Gone = k.Gone
		}
	}
	return info, nil
}

// ended is the turn that a conversation ends with; nil: it has none.
func (t *turnList) ended(said objstore.ID) (*transcript.Turn, error) {
	length, begins, err := t.as.beginsWith(said)
	if err != nil {
		return nil, err
	}
	turns := t.now.Turns
	if begins {
		k, _ := slices.BinarySearchFunc(turns, length, func(t transcript.Turn, at int64) int {
			if t.At < at {
				return -1
			}
			return 1
		})
		turns = turns[:k]
	} else {
		c := t.read[said]
		if c == nil {
			if c, err = t.e.conversation(t.s, said); err != nil {
				return nil, err
			}
			t.read[said] = c
		}
		turns = c.Turns
	}
	if len(turns) == 0 {
		return nil, nil
	}
	return &turns[len(turns)-1], nil
}

// log reads what the log has of a session's turns.
func (t *turnList) log(session string) (map[uint64]*turnFacts, error) {
	if facts := t.facts[session]; facts != nil {
		return facts, nil
	}
	facts := map[uint64]*turnFacts{}
	t.facts[session] = facts
	began, read := uint64(0), t.e.checkpoints()
	if s := t.e.sessions[session]; s != nil {
		began = s.Began
	}
	var waiting []*turnFacts // for a conversation: that of the next older event that has one
	err := t.e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq < began {
			return kv.ErrStop
		}
		if op.Session != session || !inTurn(op) {
			return nil
		}
		f := facts[op.Turn]
		if f == nil {
			f = &turnFacts{}
			facts[op.Turn] = f
			waiting = append(waiting, f)
		}
		said, event, person := op.Transcript, op.Cause.Event, false
		if op.Kind == refs.KindCheckpoint {
			f.checkpoints++
			if len(waiting) == 0 && f.prompt != "" && (f.removed || !f.checkpoint.IsZero()) {
				return nil
			}
			cp, err := read(op.Checkpoint)
			if err != nil {
				return err
			}
			said, event = cp.Mark.Transcript, cp.Cause.Event
			person = event == EventSave || event == EventUndo
			f.prompt = cp.Cause.Prompt
		}
		if op.Kind == refs.KindThinned {
			person = event == EventSave || event == EventUndo || event == EventSafety
		}
		if f.checkpoint.IsZero() && !f.removed && !person {
			f.checkpoint, f.removed = op.Checkpoint, op.Thinned && op.Checkpoint.IsZero()
		}
		waiting = slices.DeleteFunc(waiting, func(w *turnFacts) bool {
			w.transcript = w.end.older(event, said)
			return !w.transcript.IsZero()
		})
		return nil
	})
	for _, w := range waiting {
		w.transcript = w.end.oldest()
	}
	return facts, err
}
