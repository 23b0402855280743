package history

import (
	"maps"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// TurnLog is what the log has of a session's turns. It is the one place that says what a turn is, for turn:N, for lists of turns, and
// for the conversation that goes with a checkpoint.
type TurnLog struct {
	e       *History
	session string
	record  *model.Session // nil: the session has none
	files   []string       // the session's files: a restore that changed one has cut the conversation
	began   uint64         // the session's first operation
	forked  uint64         // the operation that made the fork for which it is read: what came behind a cut since does not count; 0: none
	only    uint64         // the turn to be read; AllTurns: all
	read    func(objstore.ID) (*model.Checkpoint, error)
	count   oplog.Count

	Turns   map[uint64]*turnFacts
	Newest  uint64            // the highest turn
	sorted  []uint64          // the turns, unless there are more by now
	first   *turnMoment       // the oldest moment of a turn
	passing turnMoment        // what first points to while newer turns are passed
	opened  *turnMoment       // the newest before the first turn
	at      uint64            // the turn of the last moment
	some    bool              // there was a last moment
	turned  bool              // there were moments of two turns
	newer   []conversationAt  // conversations captured at newer moments, those of the turn `at`, before them the nearest of a newer one
	near    [1]conversationAt // what newer is a slice of while newer turns are passed
	waiting []*turnMoment
	since   *otherVersion // where the operations are of a version of the session's file that a restore has replaced
}

// otherVersion is the version that a restore has made of a session's file again: by its numbers of turns it is meant, and not what was
// said between the restore that had replaced it and this one.
type otherVersion struct {
	turns uint64 // that it has
	from  uint64 // the restore that had replaced it
}

// AllTurns is, in the place of a turn's number, all turns.
const AllTurns = ^uint64(0)

// turnFacts is what the log knows of a turn.
type turnFacts struct {
	TurnEnd[turnMoment]
	Over        bool // the turn has a stop, or something came after it
	left        bool // older moments of this number are of a turn that was cut off
	asked       bool // the oldest moment so far is a prompt
	Prompt      string
	Began       time.Time
	madeFor     *turnMoment // the end for which made is
	made        objstore.ID // the newest checkpoint up to the end that the session itself made; zero: none
	begin       objstore.ID // the oldest checkpoint at which it stood, its prompt's if that found something changed; zero: unknown
	checkpoints int
}

// turnMoment is a moment of a session.
type turnMoment struct {
	Code       objstore.ID      // the checkpoint with the state
	Removed    bool             // gc has removed the checkpoint
	transcript objstore.ID      // as it was captured then
	later      []conversationAt // conversations at newer moments
}

// conversationAt names a conversation: by its transcript, or by a checkpoint that has not been read for it.
type conversationAt struct {
	transcript, checkpoint objstore.ID
	next                   bool // of a moment of the following turn
}

// NewTurnLog is an empty TurnLog, whose Next gets the project's operations, newest first.
func (h *History) NewTurnLog(session string, only uint64) (*TurnLog, error) {
	s, err := h.log.StoredSession(session)
	if err != nil {
		return nil, err
	}
	l := &TurnLog{
		e: h, session: session, record: s, only: only, Turns: map[uint64]*turnFacts{}, read: h.log.Checkpoints(), count: h.log.Count(),
	}
	if s != nil {
		l.began = s.Began
		for _, path := range []string{s.Transcript, s.Cursor.Path} {
			if path != "" {
				l.files = append(l.files, path)
			}
		}
	}
	return l, nil
}

// Next takes the next older operation of the project; kv.ErrStop: no more is needed.
func (l *TurnLog) Next(op *refs.Operation) error {
	if l.over(op) {
		return kv.ErrStop
	}
	return l.older(op)
}

// done ends the reading: what is needed for that alone goes, and nothing is changed any more.
func (l *TurnLog) done() {
	l.sorted = slices.Sorted(maps.Keys(l.Turns))
	if l.first == &l.passing {
		first := l.passing
		l.first = &first
	}
	l.newer, l.count, l.read = nil, nil, l.e.log.Checkpoint
}

// concerns reports whether Next does anything with an operation of which only the head is known.
func (l *TurnLog) concerns(op *refs.Operation) bool {
	return op.Session == l.session || op.Kind.IsRestore() || l.over(op)
}

// over reports whether an operation and those before it tell nothing more.
func (l *TurnLog) over(op *refs.Operation) bool {
	return op.Seq < l.began || (l.forked == 0 || op.Seq < l.forked) && l.known()
}

// known reports whether the turn that was asked for is complete.
func (l *TurnLog) known() bool {
	if l.only == AllTurns || l.only == 0 || !l.some || l.at >= l.only {
		return false
	}
	f := l.Turns[l.only]
	return f != nil && f.At != nil && len(l.waiting) == 0
}

// older is Next while more is needed.
func (l *TurnLog) older(op *refs.Operation) error {
	if op.Kind.IsRestore() && op.Restore != nil {
		l.restored(op.Seq, op.Restore)
		return nil
	}
	if op.Session != l.session || !model.InTurn(op) {
		return nil
	}
	if op = l.count.Operation(op); l.since != nil && op.Turn <= l.since.turns {
		return nil
	}
	l.Newest = max(l.Newest, op.Turn)
	l.turnTo(op.Turn)
	if l.only != AllTurns && op.Turn > l.only {
		l.passed(op)
		return nil
	}
	f := l.Turns[op.Turn]
	if f == nil {
		f = &turnFacts{Over: l.turned}
		l.Turns[op.Turn] = f
	}
	return l.moment(f, op)
}

// turnTo begins an older turn, or one whose number comes again, unless it is the last moment's.
func (l *TurnLog) turnTo(turn uint64) {
	if l.some && turn != l.at {
		l.turned = true
		if f := l.Turns[l.at]; f != nil {
			f.Leave()
			f.left = f.Closed
		}
		if n := len(l.newer); n > 0 {
			nearest := l.newer[n-1]
			for i := n - 1; nearest.transcript.IsZero() && i >= 0 && l.Turns[l.at] != nil; i-- {
				nearest.transcript = l.conversation(l.newer[i])
			}
			nearest.next = true
			l.newer = []conversationAt{nearest}
		}
	}
	l.at, l.some = turn, true
}

// passed takes a moment of a turn that is newer than the one asked for.
func (l *TurnLog) passed(op *refs.Operation) {
	switch {
	case op.Kind == refs.KindCheckpoint:
		l.near[0] = conversationAt{checkpoint: op.Checkpoint}
		l.newer = l.near[:]
	case !op.Transcript.IsZero():
		l.near[0] = conversationAt{transcript: op.Transcript}
		l.newer = l.near[:]
	}
	if op.Turn > 0 && !op.Checkpoint.IsZero() && (op.Kind == refs.KindCheckpoint || TurnWordOf(op.Cause.Event) != WordAside) {
		l.passing = turnMoment{Code: op.Checkpoint}
		l.first = &l.passing
	}
}

// moment takes a moment of a turn that is asked for.
func (l *TurnLog) moment(f *turnFacts, op *refs.Operation) error {
	word := op.Cause.Event
	if !f.left {
		f.Began = time.UnixMilli(op.Time)
		if op.Kind == refs.KindCheckpoint {
			f.checkpoints++
		}
		if !op.Checkpoint.IsZero() {
			f.begin = op.Checkpoint
		}
	}
	if op.Kind == refs.KindEvent && model.BeginsTurn(op) && f.Prompt == "" {
		f.Prompt = op.Message
	}
	// A checkpoint is not read where its operation's word is enough: thousands are in a long session.
	told := word != "" && TurnWordOf(word) != WordAside && f.decided()
	if op.Kind == refs.KindCheckpoint && (f.Closed && f.Over || told) && f.Prompt != "" && len(l.waiting) == 0 {
		if f.takeMade(op); told {
			f.asked = f.Closed && f.asked || word == model.EventWords[hooks.Prompt]
			f.Over = f.Over || TurnWordOf(word) == WordStop
			f.Older(TurnWordOf(word), false, nil)
		}
		l.newer = append(l.newer, conversationAt{checkpoint: op.Checkpoint})
		return nil
	}
	m := &turnMoment{Code: op.Checkpoint, Removed: op.Thinned && op.Checkpoint.IsZero(), transcript: op.Transcript}
	own, read := false, l.read
	if l.only != AllTurns && word != "" {
		read = l.e.log.Checkpoint // few are read, mostly of late
	}
	if op.Kind == refs.KindCheckpoint {
		cp, err := read(op.Checkpoint)
		if err != nil {
			return err
		}
		word, m.transcript = cp.Cause.Event, cp.Conversation.Transcript
		own = cp.ChangedBy(l.session)
		if f.Prompt == "" && !f.left {
			f.Prompt = cp.Cause.Prompt
		}
	} else if word == model.EventWords[hooks.AfterTool] && op.Kind == refs.KindEvent && !f.decided() && !op.Checkpoint.IsZero() {
		cp, err := read(op.Checkpoint) // another session's event may have found what the call did
		own = err == nil && cp.Session != l.session && cp.ChangedBy(l.session)
	}
	f.asked = f.Closed && f.asked || word == model.EventWords[hooks.Prompt]
	f.Over = f.Over || TurnWordOf(word) == WordStop || TurnWordOf(word) == WordAside && word != model.EventScan
	if op.Turn == 0 && l.opened == nil && !op.Checkpoint.IsZero() && word != model.EventScan {
		l.opened = m
	}
	m.later = l.newer
	l.wait(m, TurnWordOf(word) != WordAside || own)
	f.Older(TurnWordOf(word), own, m)
	f.takeMade(op)
	if f.At == m || f.work == m {
		if m.Code.IsZero() && !m.Removed || m.transcript.IsZero() {
			l.waiting = append(l.waiting, m)
		}
	}
	if !m.transcript.IsZero() {
		l.newer = append(slices.Clip(l.newer), conversationAt{transcript: m.transcript})
	}
	if op.Turn > 0 && (TurnWordOf(word) != WordAside || own) && !op.Checkpoint.IsZero() {
		l.first = m
	}
	return nil
}

// wait completes the moments in waiting by what the next older moment has; with code by its checkpoint, too.
func (l *TurnLog) wait(m *turnMoment, code bool) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w *turnMoment) bool {
		if w.transcript.IsZero() {
			w.transcript = m.transcript
		}
		if code && w.Code.IsZero() && !w.Removed {
			w.Code, w.Removed = m.Code, m.Removed
		}
		return !w.transcript.IsZero() && (w.Removed || !w.Code.IsZero())
	})
}

// restored takes a restore. Moments that wait for code have its target; where it changed the session's file, newer moments have nothing of
// the conversation before.
func (l *TurnLog) restored(seq uint64, r *refs.Restore) {
	if len(r.Paths) == 0 && !r.ContextOnly {
		l.wait(&turnMoment{Code: r.Target}, true)
	}
	i := slices.IndexFunc(r.Files, func(f refs.File) bool { return slices.Contains(l.files, f.Path) })
	if i < 0 {
		return
	}
	if l.forked > 0 && seq > l.forked { // what is newer is not the fork's
		*l = TurnLog{
			e: l.e, session: l.session, record: l.record, files: l.files, began: l.began, forked: l.forked, only: l.only, read: l.read,
			count: l.count, Turns: map[uint64]*turnFacts{}, turned: true,
		}
		return
	}
	switch {
	case l.since == nil:
		l.since = l.versionBefore(seq, r.Files[i])
	case seq <= l.since.from:
		l.since = nil
	}
	for _, w := range l.waiting {
		if w.transcript.IsZero() {
			w.transcript = r.Files[i].To
		}
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(w *turnMoment) bool { return w.Removed || !w.Code.IsZero() })
	for _, f := range l.Turns {
		f.Cut(f.asked)
		f.left = f.left || f.asked && f.Closed
	}
	l.newer = nil
}

// versionBefore is the version that the restore seq has made of the session's file again; nil: it has cut the file, or when it was so
// before
// is not known.
func (l *TurnLog) versionBefore(seq uint64, f refs.File) *otherVersion {
	if f.From.IsZero() || f.To.IsZero() || l.record == nil {
		return nil
	}
	if on, err := l.e.GoesOn(f.From, f.To); err != nil || on {
		return nil
	}
	turns, err := l.e.turnsIn(l.record, f.To)
	if err != nil {
		return nil
	}
	var was *otherVersion
	_ = l.e.log.Refs.Newest(seq-1, func(op *refs.Operation) error { // what cannot be read is not known
		if op.Seq < l.began {
			return kv.ErrStop
		}
		if !op.Kind.IsRestore() || op.Restore == nil {
			return nil
		}
		for _, o := range op.Restore.Files {
			if o.Path != f.Path || o.From.IsZero() || o.To.IsZero() {
				continue
			}
			if on, err := l.e.GoesOn(o.From, f.To); err == nil && on {
				was = &otherVersion{uint64(turns), op.Seq}
				return kv.ErrStop
			}
		}
		return nil
	})
	return was
}

// EndOf is the moment of the code at the end of turn n; nil: nothing was captured. A turn without events ends where the one before it did.
func (l *TurnLog) EndOf(n uint64) *turnMoment {
	if n == 0 && l.first != nil {
		return l.first // the prompt of the first turn is the state before it
	}
	if n == 0 {
		return l.opened
	}
	if f := l.Turns[n]; f != nil && f.At != nil {
		return l.own(f)
	}
	if l.Newest > n {
		if len(l.sorted) != len(l.Turns) {
			l.sorted = slices.Sorted(maps.Keys(l.Turns))
		}
		i, _ := slices.BinarySearch(l.sorted, n)
		for _, k := range slices.Backward(l.sorted[:i]) {
			if f := l.Turns[k]; f.At != nil {
				return l.own(f)
			}
		}
	}
	return nil
}

// takeMade takes an older operation of the turn for what its session made, once the end is known.
func (f *turnFacts) takeMade(op *refs.Operation) {
	if f.At != f.madeFor {
		f.madeFor, f.made = f.At, objstore.ID{}
	}
	if f.At == nil || f.left {
		return
	}
	if f.made.IsZero() && op.Kind == refs.KindCheckpoint {
		f.made = op.Checkpoint
	}
}

// own is the end of a turn: where another session's checkpoint is the newest there, and nothing in that is the turn's,
// the newest that its own session made.
func (l *TurnLog) own(f *turnFacts) *turnMoment {
	m := f.At
	if f.made.IsZero() || m.Code == f.made || m.Code.IsZero() {
		return m
	}
	cp, err := l.read(m.Code)
	if err != nil || cp.Session == l.session || cp.ChangedBy(l.session) {
		return m
	}
	its := *m
	its.Code = f.made
	return &its
}

// conversation is the transcript that t names; zero: none, or gc has removed it.
func (l *TurnLog) conversation(t conversationAt) objstore.ID {
	if !t.transcript.IsZero() || t.checkpoint.IsZero() {
		return t.transcript
	}
	cp, err := l.read(t.checkpoint)
	if err != nil {
		return objstore.ID{}
	}
	return cp.Conversation.Transcript
}

// TranscriptAt is the transcript at the end of a turn, completed by later captures that have more of the same turn: an agent may write a
// reply, and even the turn's prompt, only after its stop. A capture in which another turn has begun, or the conversation was cut, is not
// taken.
func (l *TurnLog) TranscriptAt(f *turnFacts) (objstore.ID, error) {
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
	for _, t := range slices.Backward(m.later) {
		after := l.conversation(t)
		if after.IsZero() || after == said {
			continue
		}
		if on, err := l.e.GoesOn(after, said); err != nil || !on {
			return said, err
		}
		now, err := l.e.turnsTo(s, after)
		if err != nil || len(now) != len(was) && len(was) > n {
			return said, err
		}
		if len(now) != len(was) {
			if late, err := l.late(f, was, now, after, t.next); err != nil || !late {
				return said, err
			}
		}
		said, was = after, now
	}
	return said, nil
}

// late reports whether now, which is after, has exactly one turn more than was, and that is the turn of f, which the agent had not written
// yet at its end. next: after was captured in the following turn.
func (l *TurnLog) late(f *turnFacts, was, now []transcript.Turn, after objstore.ID, next bool) (bool, error) {
	n := len(was)
	if len(now) != n+1 || f.Prompt == "" || !f.begins(&now[n]) {
		return false, nil
	}
	if !next || n == 0 || !f.begins(&was[n-1]) {
		return true, nil
	}
	// A prompt without an answer may be the next turn's, in the same words.
	c, err := l.e.Conversation(l.record, after)
	return err == nil && c.Turns[n].Messages > 1, err
}

// begins reports whether a turn of a conversation, whose summary may be cut short, begins with the prompt that the hook told.
func (f *turnFacts) begins(t *transcript.Turn) bool {
	return strings.HasPrefix(model.OneLine(f.Prompt), strings.TrimSuffix(t.Summary, "…"))
}
