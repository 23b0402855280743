package engine

import (
	"slices"
	"strings"

	"rewind/objstore"
	"rewind/transcript"
)

// turnList makes the list of a session's turns. The log is read once for each session on its line, and of the conversations that it names only those
// that the newest does not begin with.
type turnList struct {
	e    *Engine
	s    *Session
	now  *transcript.Conversation // nil: it is not known
	as   *stored                  // its bytes
	logs map[string]*turnLog
	read map[objstore.ID]*transcript.Conversation
	ends map[objstore.ID]*transcript.Turn // by conversation, the turn that it ends with: each is asked for by its own turn and by the next
}

// listTurns fills the list.
func (e *Engine) listTurns(l *TurnList, s *Session, now *transcript.Conversation) error {
	t := &turnList{e: e, s: s, now: now, logs: map[string]*turnLog{}, read: map[objstore.ID]*transcript.Conversation{}, ends: map[objstore.ID]*transcript.Turn{}}
	own, err := t.log(s.Name)
	if err != nil {
		return err
	}
	count := own.newest
	if now != nil {
		count = max(count, uint64(len(now.Turns)))
		if t.as, err = openTranscript(e.objs, s.Cursor.Transcript); err != nil {
			return err
		}
		t.as.get = nodeMemo{e.objs, e.objs.Memo(objstore.Transcript)}
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

// turn tells one turn: as it stands in the conversation, or where the numbers have parted, since the agent went back by itself, was killed or the file was cut,
// as it stood when it ended.
func (t *turnList) turn(n uint64) (TurnInfo, error) {
	info := TurnInfo{Number: n}
	if t.now != nil && n <= uint64(len(t.now.Turns)) {
		info.Turn = t.now.Turns[n-1]
	} else {
		info.Gone = t.now != nil
	}
	of, there := t.e.turnOf(t.s.Name, n)
	known, err := t.log(of)
	if err != nil {
		return info, err
	}
	if m := known.endOf(there); m != nil && !m.code.IsZero() {
		info.Checkpoint = m.code.String()
	}
	if f := known.turns[there]; f != nil && of != t.s.Name {
		info.Checkpoints = f.checkpoints
	}
	own, err := t.log(t.s.Name)
	if err != nil {
		return info, err
	}
	f := own.turns[n]
	if f == nil {
		return info, nil
	}
	info.Checkpoints += f.checkpoints
	gone := info.Gone
	hooked := transcript.Turn{Summary: oneLine(f.prompt), Time: f.began} // as its hook told it
	if info.Summary == "" && f.prompt != "" {
		info.Turn, hooked.Gone = hooked, info.Gone
	}
	if of != t.s.Name || t.now == nil || f.at == nil { // it was said elsewhere: nothing of it can be missing here but what was cut off
		info.Gone = gone
		return info, nil
	}
	if f.at.said.IsZero() {
		if f.over && f.prompt != "" && !f.begins(&info.Turn) {
			info.Turn = hooked
		}
		return info, nil
	}
	was, err := t.ended(f.at.said)
	if err != nil {
		return info, err
	}
	lost, err := t.unsaid(own, n, was)
	if err == nil && lost { // unless it was written late
		said, err := own.saidAt(f)
		if err != nil {
			return info, err
		}
		if was, err = t.ended(said); err != nil {
			return info, err
		}
		lost = said == f.at.said
	}
	if err != nil || lost {
		if lost && f.over {
			hooked.Gone = false
			info.Turn = hooked
		}
		return info, err
	}
	if was == nil || !info.Gone && info.User == was.User && info.Start == was.Start {
		return info, nil
	}
	if f.prompt != "" && n <= uint64(len(t.now.Turns)) && !info.Gone && f.begins(&info.Turn) && !f.begins(was) {
		return info, nil // the file had nothing of the turn yet when it ended
	}
	info.Turn, info.Gone = *was, true
	for _, k := range t.now.Turns {
		if k.User == was.User && k.Summary == was.Summary && k.Time.Equal(was.Time) {
			info.Gone = k.Gone
		}
	}
	return info, nil
}

// unsaid reports whether the conversation at the end of turn n has nothing of it: the agent was killed before it wrote the prompt. was is the turn that it ends with.
func (t *turnList) unsaid(own *turnLog, n uint64, was *transcript.Turn) (bool, error) {
	f, before := own.turns[n], own.turns[n-1]
	if f.prompt == "" {
		return false, nil
	}
	if was == nil {
		return true, nil
	}
	if before == nil || before.at == nil || before.at.said.IsZero() {
		return false, nil
	}
	same := func(said objstore.ID) (bool, error) {
		last, err := t.ended(said)
		return err == nil && last != nil && last.User == was.User && last.Start == was.Start, err
	}
	if is, err := same(before.at.said); err != nil || is || !before.begins(was) {
		return is, err
	}
	said, err := own.saidAt(before) // the same words twice, each written late
	if err != nil {
		return false, err
	}
	return same(said)
}

// nodeMemo reads the records of conversations, each mostly the one before it and a little more, through a memo.
type nodeMemo struct {
	objstore.Getter
	nodes *objstore.Memo
}

func (m nodeMemo) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == objstore.Transcript {
		return m.nodes.Get(id)
	}
	return m.Getter.Get(k, id)
}

// ended is the turn that a conversation ends with; nil: it has none.
func (t *turnList) ended(said objstore.ID) (*transcript.Turn, error) {
	if end, known := t.ends[said]; known {
		return end, nil
	}
	end, err := t.endIn(said)
	if err == nil {
		t.ends[said] = end
	}
	return end, err
}

func (t *turnList) endIn(said objstore.ID) (*transcript.Turn, error) {
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
func (t *turnList) log(session string) (*turnLog, error) {
	if l := t.logs[session]; l != nil {
		return l, nil
	}
	l, err := t.e.readTurns(session, allTurns)
	if err == nil {
		t.logs[session] = l
	}
	return l, err
}

// maxSummary is how much of a prompt a list shows, in runes, as the summaries of conversations.
const maxSummary = 100

// oneLine is the beginning of a text on one line.
func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > maxSummary {
		return string(line[:maxSummary-1]) + "…"
	}
	return string(line)
}
