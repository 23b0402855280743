package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// Standing is the turn at whose end, or in which, the project stands.
type Standing struct {
	session string // that goes on from there
	turn    uint64 // of it; 0: before its first
	Prompt  string
	Whose   string // what the session that took it is called beside it; "": the project has no other one

	taken turnAt // where the turn was taken
}

// Standing is where the project stands now; nil: on no agent's session. The log's lock is held, and the records are
// loaded.
func (h *turnReader) Standing() (*Standing, error) {
	st, t, err := h.standing()
	if err != nil || st == nil || st.turn == 0 {
		return st, err
	}
	st.Prompt, err = t.promptAt(st.taken)
	if st.Prompt == "" {
		st.Prompt = h.PromptOf(st.session, st.turn)
	}
	return st, err
}

// StandsIn is the turn in which a session stands, whether the project does or not; 0: before its first, or it is no
// agent's. The log's lock is held.
func (h *turnReader) StandsIn(session string) (uint64, error) {
	t, err := h.turnsOfStored(session)
	if err != nil || t == nil {
		return 0, err
	}
	return t.standsNow()
}

// standing is Standing without the prompt, for callers that need not hold the log's lock.
func (h *turnReader) standing() (*Standing, *turnList, error) {
	at, err := h.sessions.Position()
	if err != nil {
		return nil, nil, err
	}
	t, err := h.turnsOfStored(at.Session)
	if err != nil || t == nil {
		return nil, nil, err
	}
	n, err := t.standsNow()
	if err != nil {
		return nil, nil, err
	}
	st := &Standing{session: t.s.Name, turn: n}
	if st.taken = (turnAt{session: t.s.Name}); n > 0 {
		st.taken, err = t.takenAt(n)
	}
	st.Whose = h.sessions.Whose()(st.taken.session)
	return st, t, err
}

// standsNow is the turn in which the session of the list stands.
func (t *turnList) standsNow() (uint64, error) {
	own, err := t.log(turnAt{session: t.s.Name})
	if err != nil {
		return 0, err
	}
	return t.standsAt(t.s.Name, max(own.newest, t.s.Turn, uint64(t.s.InSummary())))
}

// Taken is the turn by which a person knows the place: the session that took it, and its number there. A fork has turns
// of the session that it was made of.
func (st *Standing) Taken() (session string, turn uint64) { return st.taken.session, st.taken.turn }

// markPlace marks the row in which the project stands, of those that have its checkpoint: turns that only talked end
// with the one of what came before them.
func (h *turnReader) markPlace(rows []*Row) error {
	var st *Standing
	var err error
	if len(rows) > 1 {
		st, _, err = h.standing()
	}
	at := -1
	if st != nil && st.turn > 0 {
		at = slices.IndexFunc(rows, func(r *Row) bool { return r.Of == st.taken.session && r.Turn == st.taken.turn })
	}
	if at < 0 {
		at = slices.IndexFunc(rows, func(r *Row) bool { return r.Turn == 0 })
	}
	if len(rows) > 0 {
		rows[max(at, 0)].Current = true
	}
	return err
}

// TalkedTurn returns the project's turn if "@" is asked for and the turn changed no file: the current checkpoint is
// from before it. The turn's name means the same for every session. "": there is none such.
func (h *History) TalkedTurn(ctx context.Context, w model.SessionChoice, name string) (string, error) {
	if n, err := ParseName(name); err != nil || n.Kind != naming.Current || n.Back > 0 {
		return "", err
	}
	st, err := h.standingIn(w)
	if err != nil || st == nil {
		return "", err
	}
	cp, err := h.sessions.Current(st.session)
	if err != nil || cp == nil {
		return "", err
	}
	turn := fmt.Sprintf("turn:%d@%s", st.taken.turn, st.taken.session)
	r, err := h.TurnRow(ctx, turn, cp.ID.String())
	if err != nil || !r.Coded() || len(r.Steps) > 0 {
		return "", err
	}
	return turn, nil
}

// standingIn is the standing in a turn; nil: the project stands in none, or another session is asked for.
func (h *turnReader) standingIn(w model.SessionChoice) (*Standing, error) {
	st, _, err := h.standing()
	if err != nil || st == nil || st.turn == 0 {
		return nil, err
	}
	asked, err := h.sessions.NamedIn(w)
	if other := asked != "" && asked != st.session; err != nil || other {
		return nil, err
	}
	return st, nil
}

// turnsOfStored is a turnList of a session without its conversation, which needs no record that is loaded; nil: the
// session is no agent's.
func (h *turnReader) turnsOfStored(session string) (*turnList, error) {
	if session == model.Manual {
		return nil, nil
	}
	s, err := h.log.StoredSession(session)
	if err != nil || s == nil {
		return nil, err
	}
	return &turnList{e: h, s: s, logs: map[turnAt]*turnLog{}, record: h.log.StoredSession}, nil
}

// places says where the project stood. What it reads of a session it reads once. Not for concurrent use.
type places struct {
	h     *turnReader
	lists map[string]*turnList
	whose func(session string) string
}

func (h *turnReader) places() *places {
	return &places{h: h, lists: map[string]*turnList{}, whose: h.sessions.Whose()}
}

// before is where the project stood before operation seq, and the checkpoint there; nil: it is not known.
func (p *places) before(seq uint64) (*Standing, *model.Checkpoint, error) {
	at, err := p.h.sessions.PositionBefore(seq)
	if err != nil {
		return nil, nil, err
	}
	return p.of(at.Session, seq)
}

// of is before of one session, whether the project stood on it or not.
func (p *places) of(session string, seq uint64) (*Standing, *model.Checkpoint, error) {
	t, known := p.lists[session]
	if !known {
		var err error
		if t, err = p.h.turnsOfStored(session); err != nil {
			return nil, nil, err
		}
		p.lists[session] = t
	}
	if t == nil {
		return nil, nil, nil
	}
	id, err := p.h.RefBefore(refs.Cursor(session), session, seq)
	if err != nil || id.IsZero() {
		return nil, nil, err
	}
	cp, err := p.h.log.Checkpoint(id)
	if model.IsUnreadable(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	st, err := p.turn(t, cp, seq)
	return st, cp, err
}

// tookBack are the turns from where the restore at operation seq found its session, to where that stands after it; nil:
// none, or it is not known.
func (p *places) tookBack(op *refs.Operation, from, to *Standing) (*value.TurnsOf, error) {
	if from != nil {
		same, err := p.h.sessions.SameFamily(from.session, op.Session)
		if err == nil && !same {
			from, _, err = p.of(op.Session, op.Seq)
		}
		if err != nil {
			return nil, err
		}
	}
	if from == nil || to == nil || from.turn <= to.turn {
		return nil, nil
	}
	took := &value.TurnsOf{First: to.turn + 1, Last: from.turn, Whose: p.whose(from.taken.session)}
	if took.First < took.Last { // prompts that another hook refused are none of it
		_, num, err := p.h.numbered(p.lists[from.session].s)
		for said := false; err == nil && !said && took.First < took.Last; {
			if _, said = num.place(took.First); !said {
				took.First++
			}
		}
	}
	return took, nil
}

// turn is the turn of a session that stood on a checkpoint before operation seq.
func (p *places) turn(t *turnList, cp *model.Checkpoint, seq uint64) (*Standing, error) {
	own, err := t.log(turnAt{session: t.s.Name})
	if err != nil {
		return nil, err
	}
	st, newest := &Standing{session: t.s.Name}, own.newestBefore(seq)
	if t.s.Fork != nil {
		newest = max(newest, uint64(max(t.s.Fork.Both, 0)))
	}
	known, err := own.workedIn(newest, seq)
	if err == nil && known {
		var tip objstore.ID
		tip, err = p.h.RefBefore(refs.Session(t.s.Name), t.s.Name, seq)
		known = tip.IsZero() || tip == cp.ID
	}
	if err != nil {
		return nil, err
	}
	if st.turn = newest; !known {
		if st.turn, known, err = t.endedBy(cp, newest); err != nil {
			return nil, err
		}
	}
	if inherited := !known && t.s.Fork != nil; inherited && cp.Session != t.s.Name {
		st.turn = newest // it has taken no step: what was there when it was made is of another one's turn
	}
	st.taken = turnAt{session: t.s.Name}
	if st.turn == 0 {
		return st, nil
	}
	if st.taken, err = t.takenAt(st.turn); err != nil {
		return nil, err
	}
	st.Whose = p.whose(st.taken.session)
	st.Prompt, err = t.promptAt(st.taken)
	return st, err
}

// newestBefore is the highest turn that had begun before an operation; 0: none.
func (l *turnLog) newestBefore(seq uint64) (n uint64) {
	for i := range l.rows {
		if r := &l.rows[i]; r.First < seq {
			n = max(n, r.Number)
		}
	}
	return n
}

// workedIn reports whether the session, which has no step ahead, stands in its newest turn, n, before operation seq (0:
// now): it has done something there, or stopped, and no restore has moved it since. Its cursor does not say so if what
// the turn changed, or what changed beside it, lies on another session's line.
func (l *turnLog) workedIn(n, seq uint64) (bool, error) {
	i, there := l.of[n]
	if !there || l.past {
		return false, nil
	}
	end, moved := l.rows[i].End, false
	if later := seq > 0 && end >= seq; end == 0 || later {
		return false, nil
	}
	taken := undos{}
	err := l.e.ledger.Restores(seq, func(op *refs.Operation) error {
		if op.Seq < end || moved {
			return kv.ErrStop
		}
		whole := op.Kind.IsRestore() && len(op.Restore.Paths) == 0
		if back := taken.Of(op) > 0 || op.Kind.Undoes(); back || !whole {
			return nil
		}
		moved = op.Session == l.session || model.Successor(op) == l.session || slices.ContainsFunc(op.Changes,
			func(c refs.Change) bool { return c.Name == refs.Cursor(l.session) })
		return nil
	})
	return !moved, err
}

// promptAt is how the prompt of a turn begins; "": the log does not know it.
func (t *turnList) promptAt(at turnAt) (string, error) {
	l, err := t.log(at)
	if err != nil {
		return "", err
	}
	f, err := l.factsOf(at.turn)
	if err != nil || f == nil {
		return "", err
	}
	return f.Prompt, nil
}

// dress gives what is told of a checkpoint the turn at which the project stood on it.
func (st *Standing) dress(l *Listed) *Listed {
	if st == nil || l == nil {
		return l
	}
	none := l.Cause.Turn == 0 && st.turn == 0
	if none || l.Session == st.taken.session && l.Cause.Turn == st.taken.turn {
		return l
	}
	placed, cp := *l, *l.Checkpoint
	cp.Cause.Prompt = st.Prompt
	cp.Session, cp.Cause.Turn = st.taken.session, st.taken.turn
	placed.Checkpoint, placed.Whose = &cp, cmp.Or(st.Whose, placed.Whose)
	return &placed
}

// RefBefore is the checkpoint at which a session's cursor or branch stood before operation seq; zero: not known any
// more.
func (h *turnReader) RefBefore(name refs.Name, session string, seq uint64) (at objstore.ID, err error) {
	if seq <= 1 {
		return at, nil
	}
	err = h.log.Refs.Newest(seq-1, func(op *refs.Operation) error {
		for _, c := range op.Changes {
			if c.Name == name {
				at = c.New
				return kv.ErrStop
			}
		}
		switch {
		case op.Session != session:
		case op.Kind == refs.KindCheckpoint:
			at = op.Checkpoint
			return kv.ErrStop
		case op.Kind == refs.KindThinned && op.Cause.Event != model.EventSafety:
			return kv.ErrStop // gc has removed the checkpoint
		}
		return nil
	})
	return at, err
}
