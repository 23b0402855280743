package history

import (
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// turnList makes the list of a session's turns. The log is read once for each session on its line, and of the
// conversations that it names only those that the newest does not begin with.
type turnList struct {
	e    *turnReader
	s    *model.Session
	now  *transcript.Conversation // nil: it is not known
	as   *conversation.Stored     // its bytes
	num  numbers                  // of it
	lost []transcript.Turn        // of what the file had before it was cut
	logs map[turnAt]*turnLog
	// a session's record; nil: there is none
	record func(session string) (*model.Session, error)
	read   map[objstore.ID]*transcript.Conversation
	// by conversation, the turn that it ends with: each is asked for by its own turn and by the next
	ends map[objstore.ID]*transcript.Turn
}

// listTurns fills the list with the newest turns, at most limit; 0: all.
func (h *turnReader) listTurns(l *model.TurnList, s *model.Session, now *transcript.Conversation, limit int) error {
	t := &turnList{
		e: h, s: s, now: now, logs: map[turnAt]*turnLog{}, record: h.loaded,
		read: map[objstore.ID]*transcript.Conversation{}, ends: map[objstore.ID]*transcript.Turn{},
	}
	_, t.lost = h.beforeCut(s)
	own, err := t.log(turnAt{session: s.Name})
	if err != nil {
		return err
	}
	count := own.newest
	if now != nil {
		if t.num, err = h.numbersNow(s, now.Turns); err != nil {
			return err
		}
		first := s.InSummary()
		count = max(count, t.num.of(len(now.Turns)), uint64(first+len(t.lost)), uint64(first))
		if t.as, err = conversation.OpenEnd(h.log.Objs, s.Cursor.Transcript); err != nil {
			return err
		}
		t.as.Get = newMemo(h.log.Objs, objstore.Transcript)
	}
	first := uint64(1)
	if limit > 0 && count > uint64(limit) {
		first, l.More = count-uint64(limit)+1, true
	}
	for n := first; n <= count; n++ {
		tell := t.turn
		if n <= uint64(s.InSummary()) {
			tell = t.summed
		}
		info, err := tell(n)
		if err != nil {
			return err
		}
		l.Turns = append(l.Turns, info)
	}
	return t.stands(l, count)
}

// stands fills in where the project stands, and where the session does. Several agents work side by side: what one of
// them did last is where the project stands, and the others stand where they are all the same. The checkpoint on which
// a session of another family stands may be one of this session's, at which that one began, and says nothing of where
// this one is.
func (t *turnList) stands(l *model.TurnList, count uint64) error {
	at, err := t.e.sessions.Position()
	if err != nil {
		return err
	}
	if at.Session == model.Manual || t.e.sessions.Family(at.Session) == t.e.sessions.Family(l.Session) {
		beside := false
		if beside, err = t.isBeside(at.Session, count); err == nil && !beside {
			l.At, err = t.standsAt(at.Session, count)
		}
		if err != nil {
			return err
		}
	}
	if l.OwnAt = l.At; l.At == 0 && at.Session != l.Session {
		l.OwnAt, err = t.standsAt(l.Session, count)
	}
	return err
}

// isBeside reports whether another session stands in a turn that is none of these, as a branch of the family may that
// works beside this one. Its cursor may lie at the end of one of these all the same.
func (t *turnList) isBeside(session string, count uint64) (bool, error) {
	if session == t.s.Name || session == model.Manual {
		return false, nil
	}
	n, err := t.e.StandsIn(session)
	if err != nil || n == 0 {
		return false, err
	}
	its, err := taken(session, n, t.record, t.log)
	for ; err == nil && count > 0; count-- {
		var at turnAt
		if at, err = t.takenAt(count); at.session == its.session && at.turn == its.turn {
			return false, err
		}
	}
	return true, err
}

// standsAt is the turn in which a session stands; 0: in none of these.
func (t *turnList) standsAt(session string, count uint64) (uint64, error) {
	cur, err := t.e.sessions.Current(session)
	if err != nil || cur == nil {
		return 0, err
	}
	tip, err := t.e.log.Refs.ID(refs.Session(session))
	if err != nil {
		return 0, err
	}
	forth := tip.IsZero() || tip == cur.ID
	if forth && session == t.s.Name {
		own, err := t.log(turnAt{session: session})
		if err != nil {
			return 0, err
		}
		if in, err := own.workedIn(own.newest, 0); err != nil || in {
			return own.newest, err
		}
	}
	n, known, err := t.endedBy(cur, count)
	if another := session != t.s.Name || t.s.Turn == 0; err != nil || known || another {
		return n, err
	}
	if forth { // it has taken no step yet: what it did was found by another one's events
		n = t.s.Turn
	}
	return n, err
}

// endedBy is the newest turn that ends with a checkpoint, or behind which a prompt was typed there, else, if that is of
// the session, the one in which it was taken. known: it is one of these; 0 is before the first.
func (t *turnList) endedBy(cp *model.Checkpoint, count uint64) (n uint64, known bool, err error) {
	for n := count; n > 0; n-- {
		end, known, at, err := t.end(n)
		if err != nil || end == cp.ID {
			return n, true, err
		}
		f, err := known.factsOf(at.turn)
		if err != nil {
			return 0, false, err
		}
		if f != nil && f.begin == cp.ID { // as its prompt found it
			return n - 1, true, nil
		}
	}
	if cp.Session != t.s.Name {
		return 0, false, nil
	}
	n = takenIn(cp)
	return n, n > 0, nil
}

// takenIn is the turn in which the session of a checkpoint made it.
func takenIn(cp *model.Checkpoint) uint64 {
	if n := cp.Cause.Turn; n == 0 || !prompted(cp) || cp.ChangedBy(cp.Session) {
		return n
	}
	return cp.Cause.Turn - 1 // its prompt is not answered yet
}

// end is the checkpoint with the code at the end of turn n, zero: there is none, and the session and the turn there
// that it is known by.
func (t *turnList) end(n uint64) (cp objstore.ID, known *turnLog, at turnAt, err error) {
	if at, err = t.takenAt(n); err != nil {
		at = turnAt{session: t.s.Name, turn: n}
	}
	if known, err = t.log(at); err != nil {
		return cp, nil, at, err
	}
	m, err := known.endOf(at.turn)
	if m != nil {
		cp = m.Code
	}
	return cp, known, at, err
}

// takenAt is where turn n was taken.
func (t *turnList) takenAt(n uint64) (turnAt, error) { return taken(t.s.Name, n, t.record, t.log) }

// turn returns one turn as it is in the conversation. The numbers may have parted: the agent went back by itself, was
// killed, or the file was cut. Then it returns the turn as it was when it ended.
func (t *turnList) turn(n uint64) (model.TurnInfo, error) {
	info := model.TurnInfo{Number: n}
	info.Turn = t.said(n)
	f, own, here, err := t.coded(&info)
	if f == nil || err != nil {
		return info, err
	}
	gone := info.Gone
	hooked := f.told()
	if info.Summary == "" && f.Prompt != "" {
		info.Turn, hooked.Gone = hooked, info.Gone
	}
	// What was said elsewhere: nothing of it can be missing here but what was cut off.
	if !here || t.now == nil || f.At == nil {
		info.Gone = gone
		return info, nil
	}
	if f.At.transcript.IsZero() {
		if f.Over && f.Prompt != "" && !f.begins(&info.Turn) {
			info.Turn = hooked
		}
		return info, nil
	}
	was, err := t.ended(f.At.transcript)
	if err != nil {
		return info, err
	}
	lost, err := t.unsaid(own, n, was)
	if err == nil && lost { // unless it was written late
		var said objstore.ID
		if said, err = own.transcriptAt(f); err == nil {
			was, err = t.ended(said)
		}
		if err != nil {
			return info, err
		}
		lost, err = t.unsaid(own, n, was)
	}
	if err != nil || lost {
		if lost && f.Over {
			hooked.Gone = false
			info.Turn = hooked
		}
		return info, err
	}
	if was == nil || !info.Gone && info.User == was.User && info.Start == was.Start {
		return info, nil
	}
	_, has := t.placed(n)
	itsOwn := has && !info.Gone && f.begins(&info.Turn)
	if itsOwn && f.Prompt != "" && !f.begins(was) {
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

// summed tells a turn that the session has in the summary with which it begins, as the one before it has it.
func (t *turnList) summed(n uint64) (model.TurnInfo, error) {
	info := model.TurnInfo{Number: n}
	if _, _, _, err := t.coded(&info); err != nil {
		return info, err
	}
	at := t.e.turnAt(t.s.Name, n, t.log)
	l, err := t.log(at)
	if err != nil {
		return info, err
	}
	f, err := l.factsOf(at.turn)
	if err != nil {
		return info, err
	}
	if f != nil {
		info.Turn = f.told()
	}
	if turns, place := t.e.saidTurns(t.e.log.Session(at.session), at.turn); place > 0 {
		info.Turn = turns[place-1]
	}
	return info, nil
}

// coded tells where a turn ends and how many checkpoints it has. f is what the session's own log knows of it, nil if it
// has nothing; here: it was taken in the session, and not in one that that was forked from.
func (t *turnList) coded(info *model.TurnInfo) (f *turnFacts, own *turnLog, here bool, err error) {
	end, known, at, err := t.end(info.Number)
	if err != nil {
		return nil, nil, false, err
	}
	if !end.IsZero() {
		info.Checkpoint = end.String()
	}
	here, own = at.session == t.s.Name, known
	if !here {
		if f, err = known.factsOf(at.turn); f != nil {
			info.Checkpoints = f.checkpoints
		}
		if err != nil {
			return nil, nil, here, err
		}
		if own, err = t.log(turnAt{session: t.s.Name}); err != nil {
			return nil, nil, here, err
		}
	}
	if f, err = own.factsOf(info.Number); f != nil {
		info.Checkpoints += f.checkpoints
	}
	return f, own, here, err
}

// said is turn n as the conversation has it, or had it before its file was cut.
func (t *turnList) said(n uint64) (turn transcript.Turn) {
	if at, has := t.placed(n); has {
		return t.now.Turns[at-1]
	}
	if _, said := t.num.place(n); !said {
		return turn
	}
	if at, said := below(t.s).place(n); said && at <= len(t.lost) {
		turn = t.lost[at-1]
	}
	turn.Gone = t.now != nil
	return turn
}

// placed is the place of turn n in the conversation; false: it does not have it now.
func (t *turnList) placed(n uint64) (at int, has bool) {
	at, said := t.num.place(n)
	return at, said && t.now != nil && at <= len(t.now.Turns)
}

// unsaid reports whether the conversation at the end of turn n has nothing of it: the agent was killed before it wrote
// the prompt. was is the turn that it ends with.
func (t *turnList) unsaid(own *turnLog, n uint64, was *transcript.Turn) (bool, error) {
	f, err := own.factsOf(n)
	if err != nil || f.Prompt == "" {
		return false, err
	}
	if was == nil {
		return true, nil
	}
	before, err := own.factsBefore(n)
	if err != nil {
		return false, err
	}
	if before == nil || before.At == nil || before.At.transcript.IsZero() {
		return false, nil
	}
	same := func(said objstore.ID) (bool, error) {
		last, err := t.ended(said)
		return err == nil && last != nil && last.User == was.User && last.Start == was.Start, err
	}
	if is, err := same(before.At.transcript); err != nil || is || !before.begins(was) {
		return is, err
	}
	said, err := own.transcriptAt(before) // the same words twice, each written late
	if err != nil {
		return false, err
	}
	return same(said)
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
	length, begins, err := t.as.BeginsWith(said)
	if err != nil {
		return nil, err
	}
	turns := t.now.Turns
	if begins {
		turns = turnsBefore(turns, length)
	} else {
		c := t.read[said]
		if c == nil {
			if c, err = t.e.Conversation(t.s, said); err != nil {
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

// log reads what the log has of a turn's session, of all its turns.
func (t *turnList) log(at turnAt) (*turnLog, error) {
	at.turn = 0
	if l := t.logs[at]; l != nil {
		return l, nil
	}
	l, err := t.e.readTurns(at)
	if err == nil {
		t.logs[at] = l
	}
	return l, err
}
