package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Of a turn from before rewind heard of its session only the conversation is known: those of imported sessions, and
// those that a session had before `init`. Such a turn has a row without a checkpoint, Row.NoCode.

// past are the turns of a session, from the first, of which only its conversation is known. A conversation that cannot
// be read has none. The caller need not hold the log's lock.
func (h *turnReader) past(s *model.Session) []transcript.Turn {
	if s == nil || s.LaneOf != "" || !hasTalk(s) {
		return nil
	}
	turns, err := h.turnsTo(s, s.Cursor.Transcript)
	if err != nil {
		return nil // lists of sessions say why
	}
	if _, more := h.beforeCut(s); len(more) > len(turns) {
		turns = more
	}
	if at, _ := below(s).place(h.firstTurn(s)); at > 0 && len(turns) >= at {
		turns = turns[:at-1]
	}
	return turns
}

// beforeCut returns the longest known conversation of a session's file from before it was cut, with its turns. The cut
// was damage, or a restore's, as long as nobody has gone on from it. Of turns that the log tells of it tells that.
func (h *turnReader) beforeCut(s *model.Session) (said objstore.ID, turns []transcript.Turn) {
	was, err := h.cutOffUntold(s)
	if err != nil {
		was = nil // what cannot be read is not known
	}
	if !s.Cursor.Lost.IsZero() {
		was = append(was, s.Cursor.Lost)
	}
	for _, id := range was {
		if more, err := h.turnsTo(s, id); err == nil && len(more) > len(turns) {
			said, turns = id, more
		}
	}
	return said, turns
}

// cutOffUntold are the conversations of a session's file before restores that cut it, where the file begins such a one
// and the log does not tell of all its turns.
func (h *turnReader) cutOffUntold(s *model.Session) (was []objstore.ID, err error) {
	now := s.Cursor.Transcript
	if s.Cursor.Generation == 0 || now.IsZero() || h.firstTurn(s) == uint64(s.InSummary()+1) {
		return nil, nil
	}
	made, err := h.cutsOf(s)
	if err != nil {
		return nil, err
	}
	for _, c := range made {
		if on, err := h.GoesOn(c.from, now); err == nil && on {
			was = append(was, c.from)
		}
	}
	return was, nil
}

// saidOf is the conversation of a session that has its turn n, and how many turns it has: as its file is, or as that
// was before it was cut.
func (h *turnReader) saidOf(s *model.Session, n uint64) (said objstore.ID, turns int, err error) {
	turns, err = h.turnsIn(s, s.Cursor.Transcript)
	if err != nil || n <= below(s).of(turns) {
		return s.Cursor.Transcript, turns, err
	}
	if was, more := h.beforeCut(s); len(more) > turns {
		return was, len(more), nil
	}
	return s.Cursor.Transcript, turns, nil
}

// inCut is the newest conversation that a session's file had before a restore cut it, and that has turn n, with the
// turn's place in it; 0: none has it. What cannot be read is not known.
func (h *turnReader) inCut(s *model.Session, n uint64) (said objstore.ID, turns []transcript.Turn, place int) {
	if s == nil || n == 0 {
		return said, nil, 0
	}
	made, err := h.cutsOf(s)
	if err != nil {
		return said, nil, 0
	}
	for _, c := range made {
		num, count, err := h.numbersBefore(s, c.from, c.seq)
		at, has := num.place(n)
		if err != nil || !has || at > count {
			continue
		}
		if turns, err = h.turnsTo(s, c.from); err == nil {
			return c.from, turns, at
		}
	}
	return said, nil, 0
}

// countTurns is the number of the last turn that a list of a session's turns has beside those of the log: of its
// conversation, or of what restores have cut off that.
func (h *turnReader) countTurns(s *model.Session) uint64 {
	last := h.SaidTurns(s)
	if s == nil {
		return last
	}
	made, err := h.cutsOf(s)
	if err != nil {
		return last // the number is a hint
	}
	for _, c := range made {
		if num, count, err := h.numbersBefore(s, c.from, c.seq); err == nil {
			last = max(last, num.of(count))
		}
	}
	return last
}

// firstTurn is the first turn of a session that the log tells of; 0: it tells of none.
func (h *turnReader) firstTurn(s *model.Session) uint64 {
	if s.Imported {
		return 0
	}
	first := uint64(s.InSummary() + 1)
	if op, err := h.log.Refs.Operation(s.Began); err == nil && op.Kind != refs.KindImport && op.Turn <= first {
		return first
	}
	l, err := h.readTurns(turnAt{session: s.Name})
	if err != nil {
		return first // what is not known is no past
	}
	return l.firstTold()
}

// pastRow is the row of the turn at a place of a session's conversation.
func pastRow(s *model.Session, turns []transcript.Turn, place int) Row {
	t := &turns[place-1]
	r := Row{Of: s.Name, Turn: below(s).of(place), Prompt: t.Summary, At: t.Time, NoCode: true}
	r.Aside = t.Gone
	return r
}

// pastTurn is the row of a turn of which only the conversation is known; nil: it is none.
func (h *turnReader) pastTurn(at turnAt) (*Row, error) {
	s, err := h.log.StoredSession(at.session)
	if err != nil {
		return nil, err
	}
	turns := h.past(s)
	place, said := below(s).place(at.turn)
	if place == 0 || !said || place > len(turns) {
		turns, place, err = h.unheard(s, at)
	}
	cutOff := err == nil && place == 0
	if cutOff {
		_, turns, place = h.inCut(s, at.turn)
	}
	if err != nil || place == 0 {
		return nil, err
	}
	r := pastRow(s, turns, place)
	r.Turn, r.Aside = at.turn, r.Aside || cutOff
	return &r, nil
}

// unheard are the turns of a session's conversation, and the place of one there of which the log has nothing: another
// project heard of it, between turns that this one has heard of. 0: there is none.
func (h *turnReader) unheard(s *model.Session, at turnAt) (turns []transcript.Turn, place int, err error) {
	l, err := h.readTurns(at)
	if err != nil {
		return nil, 0, err
	}
	f, err := l.factsOf(at.turn)
	if err != nil || f != nil {
		return nil, 0, err
	}
	turns, place = h.saidTurns(s, at.turn)
	return turns, place, nil
}

// ShowTurn is Show with all of the turn that a name stands for, in the row that ends with the checkpoint end ("": the
// newest). The row is nil where the name stands for a checkpoint.
func (h *History) ShowTurn(ctx context.Context, name, end string, paths []string) (*Shown, *Row, error) {
	row, err := h.TurnRow(ctx, name, end)
	if err == nil && row == nil {
		if err = h.catchUpTurn(ctx, name); err == nil {
			row, err = h.TurnRow(ctx, name, end)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if row == nil {
		s, err := h.Show(ctx, name, paths)
		return s, nil, err
	}
	s, err := h.showRow(ctx, row, paths)
	return s, row, err
}

// catchUpTurn captures what the file of a turn's session has more than its stored conversation.
func (h *turnReader) catchUpTurn(ctx context.Context, name string) error {
	n, err := ParseName(name)
	if err != nil || !n.IsTurn() {
		return err
	}
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return err
	}
	session, err := h.turnSession("", n)
	if err != nil {
		return err
	}
	return h.catchUpWhole(ctx, session)
}

// catchUpWhole is CatchUp where the store may be written.
func (h *turnReader) catchUpWhole(ctx context.Context, session string) error {
	if h.log.CheckWhole() != nil || h.log.Damage() != nil {
		return nil
	}
	return h.CatchUp(ctx, session)
}

// NoCode is the error of who wants the code of a moment of which only the conversation is known, by this name.
func (h *turnReader) NoCode(op, name string, p *Moment) error {
	e := &model.NoCodeError{Op: op, Name: name}
	all, err := h.sessions.SessionNames()
	if err == nil && p.Turn > 0 {
		e.Moment = fmt.Sprintf("turn:%d@%s", p.Turn, sessions.ShortOf(p.Session, all))
	}
	return e
}

// pastBase is what RowOptions.Before is at least for rows behind the log: so many of them come before it. No log has so
// many operations, and no reader of JSON rounds it.
const pastBase = 1 << 52

// pastWalk gives the turns of which only the conversation is known, of all sessions, the newest first. No more
// conversations are read than that needs: a session is opened when its newest event is newer than the next turn.
type pastWalk struct {
	h     *turnReader
	o     RowOptions
	still []*model.Session // not opened yet, the one with the newest event first
	open  []pastSession
}

type pastSession struct {
	s     *model.Session
	turns []transcript.Turn // that are still to come
}

func (h *turnReader) pastWalk(o RowOptions) (*pastWalk, error) {
	w := &pastWalk{h: h, o: o}
	if o.Tool != "" || o.By != "" { // nothing is known of calls and changes
		return w, nil
	}
	all, err := h.sessions.SessionNames()
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		if !o.ofSession(name) {
			continue
		}
		s, err := h.log.StoredSession(name)
		if err != nil {
			return nil, err
		}
		away := s == nil || o.Session == "" && s.Away()
		if !away && !h.Unseen(s) {
			w.still = append(w.still, s)
		}
	}
	slices.SortStableFunc(w.still, func(a, b *model.Session) int { return b.Last.Compare(a.Last) })
	return w, nil
}

// next is the next row; nil: there is none.
func (w *pastWalk) next() (*Row, error) {
	for {
		best, at := -1, time.Time{}
		for i := range w.open {
			if t := w.open[i].newest(); best < 0 || t.After(at) {
				best, at = i, t
			}
		}
		if len(w.still) > 0 && (best < 0 || w.still[0].Last.After(at)) {
			s := w.still[0]
			w.still = w.still[1:]
			if turns := w.h.past(s); len(turns) > 0 {
				w.open = append(w.open, pastSession{s, turns})
			}
			continue
		}
		if best < 0 {
			return nil, nil
		}
		p := &w.open[best]
		r := pastRow(p.s, p.turns, len(p.turns))
		if p.turns = p.turns[:len(p.turns)-1]; len(p.turns) == 0 {
			w.open = slices.Delete(w.open, best, best+1)
		}
		wanted, err := w.owns(&r)
		if err != nil {
			return nil, err
		}
		if wanted = wanted && w.o.in(r.At); wanted && w.o.asks(r.Prompt) {
			return &r, nil
		}
	}
}

func (p *pastSession) newest() time.Time { return p.turns[len(p.turns)-1].Time }

// owns reports whether a turn is its session's own, and not one that another session has, too.
func (w *pastWalk) owns(r *Row) (bool, error) {
	at, err := taken(r.Of, r.Turn, w.h.log.StoredSession, w.h.readTurns)
	if err != nil || at.session == r.Of {
		return true, err
	}
	s, err := w.h.log.StoredSession(at.session)
	return s == nil, err
}

// addPast adds to rows of the log, which has no more of them, the turns that it has nothing of, behind so many others.
func (h *turnReader) addPast(ctx context.Context, o RowOptions, behind uint64, res *RowResult) error {
	w, err := h.pastWalk(o)
	if err != nil {
		return err
	}
	for k := uint64(0); ; k++ {
		r, err := w.next()
		if err != nil || r == nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if k < behind {
			continue
		}
		if o.Limit > 0 && len(res.Rows) == o.Limit {
			res.More, res.Next = true, pastBase+k
			return nil
		}
		res.Rows = append(res.Rows, *r)
	}
}
