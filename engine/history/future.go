package history

import (
	"context"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Future lists the turns after the point to which a session has gone back, in stretches, the nearest first. They are
// its own turns, those that were cut off its file (even if their numbers were used again), and those that the person
// left in the agent. Then come those of the sessions it was forked from, even if it has gone on since.
func (h *turnReader) Future(ctx context.Context, w model.SessionChoice) (*model.Future, error) {
	defer h.log.Hold()()
	return h.FutureOf(ctx, w)
}

// FutureOf is Future for who holds the log's lock.
func (h *turnReader) FutureOf(ctx context.Context, w model.SessionChoice) (*model.Future, error) {
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	session, err := h.sessions.Session(w)
	if err == nil {
		session, err = h.sessions.Ongoing(session)
	}
	if err != nil {
		return nil, err
	}
	own, err := h.turnsOf(ctx, session, 0)
	if err != nil {
		return nil, err
	}
	fu := &future{h: h, out: &model.Future{Session: session, Title: own.Title}, seen: map[aTurn]bool{}}
	if fu.out.At, err = h.standsIn(own); err != nil {
		return nil, err
	}
	if err := fu.of(own, fu.out.At, true); err != nil {
		return nil, err
	}
	return fu.out, fu.before(ctx, session, fu.out.At)
}

// standsIn returns the turn of a session's list in which, or at whose end, the project is. If the project is on another
// session, it returns the last turn of the conversation.
func (h *turnReader) standsIn(l *model.TurnList) (uint64, error) {
	s := h.log.Session(l.Session)
	at, err := h.sessions.Position()
	if err != nil {
		return 0, err
	}
	if at.Session == l.Session {
		if l.At > 0 {
			return l.At, nil
		}
		if cur, err := h.sessions.Current(l.Session); err != nil || cur == nil || s.Fork == nil && cur.Seq <= s.Began+1 {
			return 0, err // before its first prompt
		}
	}
	last, err := h.lastSaid(s)
	return max(last, h.shared(s)), err
}

// shared is how many turns a session that nobody has gone on with has of the one that it was forked from.
func (h *turnReader) shared(s *model.Session) uint64 {
	if s.Fork == nil || s.Event != "" || s.Fork.Both < 0 {
		return 0
	}
	return uint64(s.Fork.Both)
}

// future makes a Future.
type future struct {
	h    *turnReader
	out  *model.Future
	seen map[aTurn]bool // that are listed, or that the line up to the point has
}

// aTurn tells a turn from others, also in a fork's copy of it, where records have other ids.
type aTurn struct {
	number  uint64
	time    time.Time
	summary string
}

func of(t *model.TurnInfo) aTurn { return aTurn{t.Number, t.Time.UTC(), t.Summary} }

// add adds a stretch of those turns that are not listed yet.
func (fu *future) add(a model.Ahead, turns []model.TurnInfo) {
	for i := range turns {
		if k := of(&turns[i]); !fu.seen[k] {
			fu.seen[k] = true
			a.Turns = append(a.Turns, turns[i])
		}
	}
	if len(a.Turns) > 0 {
		a.After = a.Turns[0].Number - 1
		fu.out.Lines = append(fu.out.Lines, a)
	}
}

// of adds the turns after turn n of one session: its own later turns, and those that were cut off. For the session that
// was asked for it also adds those left behind in the agent.
func (fu *future) of(l *model.TurnList, n uint64, asked bool) error {
	s, why := fu.h.log.Session(l.Session), model.AheadFork
	if asked {
		why = model.AheadCode
		for i := range l.Turns { // the line up to the point
			if t := &l.Turns[i]; t.Number <= n && !t.Gone {
				fu.seen[of(t)] = true
			}
		}
	}
	cuts, err := fu.cuts(s)
	if err != nil {
		return err
	}
	cut := map[aTurn]bool{}
	for _, c := range cuts {
		for i := range c.Turns {
			cut[of(&c.Turns[i])] = true
		}
	}
	has, err := fu.h.lastSaid(s)
	if err != nil {
		return err
	}
	var behind, gone []model.TurnInfo
	for i := range l.Turns {
		switch t := &l.Turns[i]; {
		case t.Number > n && (t.Number <= has && !t.Gone || !cut[of(t)]):
			behind = append(behind, *t)
		case t.Gone && t.Number <= has && asked:
			gone = append(gone, *t)
		}
	}
	line := model.Ahead{Session: l.Session, Title: l.Title, Why: why}
	// What was cut off where the line up to the point has the beginning of it is nearer than what was said instead.
	near := func(c model.Ahead) bool {
		return slices.ContainsFunc(c.Turns, func(t model.TurnInfo) bool { return fu.seen[of(&t)] })
	}
	parts := append([]model.Ahead{line}, cuts...)
	parts[0].Turns = behind
	nearer := slices.DeleteFunc(slices.Clone(parts), func(a model.Ahead) bool { return !near(a) })
	farther := slices.DeleteFunc(parts, near)
	for _, p := range append(nearer, farther...) {
		turns := p.Turns
		p.Title, p.Turns = l.Title, nil
		fu.add(p, turns)
	}
	line.Why = model.AheadAgent
	for i := 0; i < len(gone); { // a stretch each
		k := i + 1
		for k < len(gone) && gone[k].Number == gone[k-1].Number+1 {
			k++
		}
		fu.add(line, gone[i:k])
		i = k
	}
	return nil
}

// before adds what the sessions have from which a session was forked, behind where its line leaves them.
func (fu *future) before(ctx context.Context, session string, n uint64) error {
	for met := map[string]bool{}; !met[session]; { // lineages may form a circle
		met[session] = true
		s := fu.h.log.Session(session)
		if s == nil || s.Fork == nil || s.Fork.Both < 0 || !s.Fork.Resolved() {
			return nil
		}
		n = s.Fork.UpTo(n)
		session = s.Fork.Session
		if fu.h.log.Session(session) == nil {
			return nil
		}
		l, err := fu.h.turnsOf(ctx, session, 0)
		if err != nil {
			return err
		}
		own := n
		if up := fu.h.log.Session(session).Fork; up != nil && up.Both > 0 {
			own = max(n, uint64(up.Both)) // the turns up to there are told with the session that they were taken in
		}
		if err := fu.of(l, own, false); err != nil {
			return err
		}
	}
	return nil
}

// cuts are the turns that restores have cut off a session's file, the newest cut first, those left out that the file
// has now.
func (fu *future) cuts(s *model.Session) ([]model.Ahead, error) {
	if s == nil || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return nil, nil
	}
	now, err := fu.h.Conversation(s, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	has, err := fu.has(s, now)
	if err != nil {
		return nil, err
	}
	made, err := fu.h.cutsOf(s)
	var out []model.Ahead
	for _, c := range made {
		was, err := fu.h.Conversation(s, c.from)
		if err != nil {
			return nil, err
		}
		a := model.Ahead{Session: s.Name, Why: model.AheadCut, Operation: c.seq, Transcript: c.from}
		if a.Turns, err = fu.cutOff(s, was, c.seq, has); err != nil {
			return nil, err
		}
		if len(a.Turns) > 0 {
			out = append(out, a)
		}
	}
	return out, err
}

// cut is a restore that changed a session's file: its operation, and the conversation that the file had before.
type cut struct {
	seq  uint64
	from objstore.ID
}

// cutsOf are the restores that changed a session's file, the newest first.
func (h *turnReader) cutsOf(s *model.Session) (made []cut, err error) {
	err = h.ledger.Restores(0, func(op *refs.Operation) error {
		if !op.Kind.IsRestore() {
			return nil
		}
		for _, f := range op.Restore.Files {
			its := f.Path == s.Transcript || f.Path == s.Cursor.Path
			if its && !f.From.IsZero() && !f.To.IsZero() {
				made = append(made, cut{op.Seq, f.From})
			}
		}
		return nil
	})
	return made, err
}

// has are the turns of a session as its conversation is.
func (fu *future) has(s *model.Session, now *transcript.Conversation) (map[aTurn]bool, error) {
	num, err := fu.h.numbersNow(s, now.Turns)
	if err != nil {
		return nil, err
	}
	log, err := fu.h.readTurns(turnAt{session: s.Name})
	if err != nil {
		return nil, err
	}
	turns, err := log.numbered(now.Turns, num)
	has := map[aTurn]bool{}
	for i := range turns {
		has[of(&turns[i])] = true
	}
	return has, err
}

// cutOff are the turns of a conversation that the session's file had before operation seq, and has not now, with their
// code.
func (fu *future) cutOff(
	s *model.Session, was *transcript.Conversation, seq uint64, has map[aTurn]bool,
) ([]model.TurnInfo, error) {
	log, err := fu.h.readTurns(turnAt{session: s.Name, forked: seq - 1})
	if err != nil {
		return nil, err
	}
	num, err := log.numbersThen(was.Turns)
	if err != nil {
		return nil, err
	}
	turns, err := log.numbered(was.Turns, num)
	if err != nil {
		return nil, err
	}
	var out []model.TurnInfo
	for _, t := range turns {
		if has[of(&t)] {
			continue
		}
		_, said := num.place(t.Number)
		t.Gone = said
		if err := log.tell(&t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// tell tells where a turn ends, and how many checkpoints it has.
func (l *turnLog) tell(t *model.TurnInfo) error {
	m, err := l.endOf(t.Number)
	if err != nil {
		return err
	}
	if m != nil && !m.Code.IsZero() {
		t.Checkpoint = m.Code.String()
	}
	f, err := l.factsOf(t.Number)
	if f != nil {
		t.Checkpoints = f.checkpoints
	}
	return err
}

// MomentAhead is the end of a turn of a stretch. The records are loaded.
func (h *turnReader) MomentAhead(a *model.Ahead, t *model.TurnInfo) (*Moment, error) {
	n := naming.Name{Kind: naming.Turn, Turn: t.Number, Session: a.Session}
	if a.Transcript.IsZero() {
		return h.endOfTurnMoment(a.Session, n)
	}
	num, _, err := h.numbersBefore(h.log.Session(a.Session), a.Transcript, a.Operation)
	if err != nil {
		return nil, err
	}
	p := &Moment{Name: n.String(), Session: a.Session, Transcript: a.Transcript, Number: t.Number, Ended: true}
	p.Turn, _ = num.place(t.Number)
	id, err := objstore.ParseID(t.Checkpoint)
	if err != nil {
		return p, nil //nolint:nilerr // no code was captured then
	}
	p.Checkpoint, err = h.inLog(n.String(), id)
	return p, err
}
