package history

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// turnLog has a session's turns by the log: the ledger's rows, and the operations that they name. It is the one place
// that decides what a turn is: for turn:N, for lists of turns, and for the conversation of a checkpoint. Not for
// concurrent use.
type turnLog struct {
	e       *turnReader
	session string
	record  *model.Session // nil: the session has none
	rows    []ledger.Turn  // that count, the oldest first
	past    bool           // the session's file was changed since: what came behind that does not count
	of      map[uint64]int // by number, the row that it means
	ended   []uint64       // the turns that have an end, in order
	facts   map[uint64]*turnFacts

	newest uint64 // the highest turn
}

// turnFacts is what the log knows of a turn.
type turnFacts struct {
	At          *turnMoment // where it ends; nil: it is not known
	Over        bool        // the turn has a stop, or something came after it
	Prompt      string
	Began       time.Time
	made        objstore.ID // the newest checkpoint up to the end that the session itself made; zero: none
	begun       uint64      // the operation that names begin
	begin       objstore.ID // the oldest checkpoint at which it stood, its prompt's if that found something changed; zero: unknown
	checkpoints int
}

// turnMoment is a moment of a session.
type turnMoment struct {
	Code       objstore.ID      // the checkpoint with the state
	Removed    bool             // gc has removed the checkpoint
	transcript objstore.ID      // as it was captured then
	later      []conversationAt // conversations at newer moments, the nearest first
}

// conversationAt names a conversation by the operation that has it.
type conversationAt struct {
	seq  uint64
	next bool // of a moment of a following turn
	far  bool // with another one between
}

// newTurnLog returns the turnLog of a session. With forked it is the state before the next change of its file after
// operation forked; 0: the present state.
func (h *turnReader) newTurnLog(session string, forked uint64) (*turnLog, error) {
	s, err := h.log.StoredSession(session)
	if err != nil {
		return nil, err
	}
	rows, err := h.ledger.Turns(session)
	if err != nil {
		return nil, err
	}
	l := &turnLog{e: h, session: session, record: s}
	for i := range rows {
		t := &rows[i]
		if forked > 0 && t.Cut > forked {
			l.past = true
			break
		}
		l.past = forked > 0 && t.CutBehind() > forked
		if t.First == 0 || t.Hidden(forked) {
			continue
		}
		l.rows = append(l.rows, *t)
		l.newest = max(l.newest, t.Number)
	}
	l.number()
	return l, nil
}

// number finds the row that each number means.
func (l *turnLog) number() {
	l.of = map[uint64]int{}
	ends := func(t *ledger.Turn) bool { return t.End > 0 || t.GoesOn }
	for i := range l.rows {
		t := &l.rows[i]
		was, there := l.of[t.Number]
		if ends(t) {
			l.of[t.Number], l.ended = i, append(l.ended, t.Number)
		} else if !there || !ends(&l.rows[was]) {
			l.of[t.Number] = i
		}
	}
	slices.Sort(l.ended)
	l.ended = slices.Compact(l.ended)
}

// factsOf returns what is known of turn n; nil: the log has nothing of it. If a number was used again, the newest turn
// with an end is meant.
func (l *turnLog) factsOf(n uint64) (*turnFacts, error) {
	if f, known := l.facts[n]; known {
		return f, nil
	}
	at, there := l.of[n]
	if !there {
		return nil, nil
	}
	f, err := l.turn(at)
	if err != nil {
		return nil, err
	}
	if l.facts == nil {
		l.facts = map[uint64]*turnFacts{}
	}
	l.facts[n] = f
	return f, nil
}

// factsBefore returns the facts of the turn before turn n, as it was then: its number may have been used again since.
func (l *turnLog) factsBefore(n uint64) (*turnFacts, error) {
	at := l.of[n]
	if l.of[n-1] <= at {
		return l.factsOf(n - 1)
	}
	for i := at - 1; i >= 0; i-- {
		if l.rows[i].Number == n-1 {
			return l.turn(i)
		}
	}
	return nil, nil
}

// turn returns the turn of a row, with the earlier rows of the same turn.
func (l *turnLog) turn(at int) (*turnFacts, error) {
	f, all := &turnFacts{Over: l.past}, l.rows[at]
	if next := at + 1; next < len(l.rows) && !f.Over {
		f.Over = slices.ContainsFunc(l.rows[next:], func(t ledger.Turn) bool { return t.Number != all.Number })
	}
	end := at
	for i := at; l.goesOn(i); {
		i--
		if t := &l.rows[i]; all.End == 0 {
			all.End, end = t.End, i
		}
		all = all.With(&l.rows[i])
	}
	f.Over, f.checkpoints, f.Began = f.Over || all.Over, int(all.Steps), all.Time
	var err error
	if f.Prompt, err = l.prompt(all.Asked); err != nil {
		return nil, err
	}
	f.begun = all.Begin
	if f.begin, _, err = l.code(all.Begin); err != nil || all.End == 0 {
		return f, err
	}
	if f.At, err = l.end(end); err == nil {
		f.made, _, err = l.code(l.rows[end].Made)
	}
	return f, err
}

// goesOn reports whether a row is of the turn of the row before.
func (l *turnLog) goesOn(at int) bool {
	return at > 0 && l.rows[at].GoesOn && l.rows[at-1].Index+1 == l.rows[at].Index
}

// end is the moment at which the turn of a row ends.
func (l *turnLog) end(at int) (*turnMoment, error) {
	t, m := &l.rows[at], &turnMoment{}
	var err error
	if m.Code, m.Removed, err = l.code(t.Code); err != nil {
		return nil, err
	}
	if m.transcript, err = l.said(t.Said); err != nil {
		return nil, err
	}
	for _, seq := range t.Later {
		m.later = append(m.later, conversationAt{seq: seq})
	}
	far := false
	for _, next := range l.rows[at+1:] {
		if next.Cut != t.Cut {
			break
		}
		if next.Heard > 0 {
			m.later = append(m.later, conversationAt{next.Heard, true, far})
			break
		}
		far = far || next.Number != t.Number
	}
	return m, nil
}

// operation returns an operation of a row; nil: there is none, or it no longer exists.
func (l *turnLog) operation(seq uint64) (*refs.Operation, error) {
	if seq == 0 {
		return nil, nil
	}
	op, err := l.e.log.Refs.Operation(seq)
	if errors.Is(err, refs.ErrNotFound) {
		return nil, nil
	}
	return op, err
}

// code returns the checkpoint that an operation names; for a restore, its target.
func (l *turnLog) code(seq uint64) (cp objstore.ID, removed bool, err error) {
	op, err := l.operation(seq)
	if op == nil || err != nil {
		return cp, false, err
	}
	cp = codeOf(op)
	return cp, op.Thinned && !op.Kind.IsRestore() && cp.IsZero(), nil
}

// codeOf returns the checkpoint with the code that an operation left or found; zero: it names none.
func codeOf(op *refs.Operation) objstore.ID {
	switch {
	case !op.Kind.IsRestore():
		return op.Checkpoint
	case op.Restore != nil:
		return op.Restore.Target
	}
	return objstore.ID{}
}

// said returns the conversation that an operation names; for a restore, the session's file after it.
func (l *turnLog) said(seq uint64) (said objstore.ID, err error) {
	op, err := l.operation(seq)
	switch {
	case op == nil || err != nil:
		return said, err
	case op.Kind == refs.KindCheckpoint:
		cp, err := l.e.log.Checkpoint(op.Checkpoint)
		if model.IsUnreadable(err) {
			return said, nil
		}
		if err != nil {
			return said, err
		}
		return cp.Conversation.Transcript, nil
	case op.Restore == nil || l.record == nil:
		return op.Transcript, nil
	}
	if i := ledger.FileOf(l.record, op.Restore); i >= 0 {
		said = op.Restore.Files[i].To
	}
	return said, nil
}

// prompt returns the prompt of an operation, in the words of its hook.
func (l *turnLog) prompt(seq uint64) (string, error) {
	op, err := l.operation(seq)
	if op == nil || err != nil {
		return "", err
	}
	if op.Kind == refs.KindEvent {
		return op.Message, nil
	}
	if op.Kind != refs.KindCheckpoint {
		return "", nil // gc has removed it
	}
	cp, err := l.e.log.Checkpoint(op.Checkpoint)
	if model.IsUnreadable(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return cp.Cause.Prompt, nil
}

// over reports whether turn n is over.
func (l *turnLog) over(n uint64) (bool, error) {
	f, err := l.factsOf(n)
	return l.newest > n || f != nil && f.Over, err
}

// endOf returns the moment of the code at the end of turn n; nil: nothing was captured. A turn without events ends
// where the turn before it ended.
func (l *turnLog) endOf(n uint64) (*turnMoment, error) {
	if n == 0 {
		return l.start()
	}
	f, err := l.factsOf(n)
	if err != nil {
		return nil, err
	}
	if f != nil && f.At != nil {
		return l.own(f)
	}
	if l.newest < n {
		return nil, nil
	}
	i, _ := slices.BinarySearch(l.ended, n)
	for _, k := range slices.Backward(l.ended[:i]) {
		if f, err = l.factsOf(k); err != nil {
			return nil, err
		}
		if f.At != nil {
			return l.own(f)
		}
	}
	return nil, nil
}

// start returns the state before the first prompt: the state that the prompt found, or that of the time before it.
func (l *turnLog) start() (*turnMoment, error) {
	var seq uint64
	for _, t := range l.rows {
		if t.Number > 0 && t.Found > 0 {
			seq = t.Found
			break
		}
	}
	for _, t := range slices.Backward(l.rows) {
		if seq == 0 && t.Number == 0 {
			seq = t.Start
		}
	}
	if seq == 0 {
		return nil, nil
	}
	code, removed, err := l.code(seq)
	if err != nil {
		return nil, err
	}
	return &turnMoment{Code: code, Removed: removed}, nil
}

// firstTold returns the first turn with an end or a prompt in the log; 0: none.
func (l *turnLog) firstTold() (first uint64) {
	for _, t := range l.rows {
		if told := t.End > 0 || t.Asked > 0; told && t.Number > 0 {
			first = min(t.Number, cmp.Or(first, t.Number))
		}
	}
	return first
}

// own returns the end of a turn. The newest checkpoint there may have nothing of the turn's: it is another session's,
// or a restore went back to it meanwhile. Then the end is the newest that the turn's own session made.
func (l *turnLog) own(f *turnFacts) (*turnMoment, error) {
	m := f.At
	if f.made.IsZero() || m.Code == f.made || m.Code.IsZero() {
		return m, nil
	}
	cp, err := l.e.log.Checkpoint(m.Code)
	if model.IsUnreadable(err) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	made, err := l.e.log.Checkpoint(f.made)
	if err != nil && !model.IsUnreadable(err) {
		return nil, err
	}
	if isEndOf(cp, made, l.session) {
		return m, nil
	}
	its := *m
	its.Code = f.made
	return &its, nil
}

// isEndOf reports whether the newest checkpoint at the end of a turn may have something of the turn's. made is the
// newest that the turn's session made; nil: it is no longer known.
func isEndOf(end, made *model.Checkpoint, session string) bool {
	if wentBack := made != nil && end.Seq < made.Seq; wentBack && made.ChangedBy(session) {
		return false
	}
	return end.Session == session || end.ChangedBy(session)
}

// version is the version that the restore seq has made of a session's file again; nil: it has cut the file, or when it
// was so before is not known.
func (h *turnReader) version(s *model.Session, seq uint64, f refs.File, restores ledger.Before) *ledger.Version {
	if on, err := h.GoesOn(f.From, f.To); err != nil || on {
		return nil
	}
	turns, err := h.turnsIn(s, f.To)
	if err != nil {
		return nil
	}
	var was *ledger.Version
	_ = restores(seq, func(op *refs.Operation) error { // what cannot be read is not known
		switch {
		case op.Seq < s.Began:
			return kv.ErrStop
		case !op.Kind.IsRestore():
			return nil
		}
		for _, o := range op.Restore.Files {
			if o.Path != f.Path || o.From.IsZero() || o.To.IsZero() {
				continue
			}
			if on, err := h.GoesOn(o.From, f.To); err == nil && on {
				was = &ledger.Version{Turns: uint64(turns), From: op.Seq}
				return kv.ErrStop
			}
		}
		return nil
	})
	return was
}

// transcriptAt returns the transcript at the end of a turn, completed by later captures with more of the same turn. An
// agent may write a reply, and even the turn's prompt, only after its stop. A capture in which another turn has begun,
// or the conversation was cut, is not taken.
func (l *turnLog) transcriptAt(f *turnFacts) (objstore.ID, error) {
	m, s := f.At, l.record
	said := m.transcript
	if s == nil || len(m.later) == 0 {
		return said, nil
	}
	var was []transcript.Turn // of the first turn nothing may have been written by then
	if !said.IsZero() {
		var err error
		if was, err = l.e.turnsTo(s, said); err != nil {
			return said, err
		}
	}
	n := len(was)
	for _, t := range m.later {
		after, on, err := l.after(said, t.seq)
		if err != nil || !on {
			return said, err
		}
		if after == said {
			continue
		}
		now, err := l.e.turnsTo(s, after)
		if err != nil || len(now) != len(was) && len(was) > n {
			return said, err
		}
		if len(now) != len(was) {
			if late, err := l.late(f, was, now, after, t); err != nil || !late {
				return said, err
			}
		}
		said, was = after, now
	}
	return said, nil
}

// after returns the conversation that operation seq names, or said itself if it names none. on: it continues said.
func (l *turnLog) after(said objstore.ID, seq uint64) (after objstore.ID, on bool, err error) {
	if after, err = l.said(seq); err != nil {
		return said, false, err
	}
	if after.IsZero() || after == said {
		return said, true, nil
	}
	on, err = l.e.GoesOn(after, said)
	return after, on, err
}

// late reports whether now, the turns of after, has exactly one turn more than was, and that one is the turn of f: the
// agent had not written it yet at its end. after was captured at a later moment.
func (l *turnLog) late(f *turnFacts, was, now []transcript.Turn, after objstore.ID, at conversationAt) (bool, error) {
	n := len(was)
	if len(now) != n+1 || f.Prompt == "" || !f.begins(&now[n]) {
		return false, nil
	}
	if !at.next || n == 0 || !f.begins(&was[n-1]) {
		return true, nil
	}
	if at.far {
		return false, nil // the same words again, behind a prompt that was never said
	}
	// A prompt without an answer may be the next turn's, in the same words.
	c, err := l.e.Conversation(l.record, after)
	return err == nil && c.Turns[n].Messages > 1, err
}

// begins reports whether a turn of a conversation, whose summary may be cut short, has the prompt that the hook told.
func (f *turnFacts) begins(t *transcript.Turn) bool {
	prompt := model.OneLine(f.Prompt)
	if begin, cut := strings.CutSuffix(t.Summary, "…"); cut {
		return strings.HasPrefix(prompt, begin)
	}
	return prompt == t.Summary
}
