package history

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// rowWalk makes rows of the log, from the newest operation on.
type rowWalk struct {
	h      *History
	o      RowOptions
	line   map[objstore.ID]bool // grows backwards: parents are older
	branch *branch
	read   func(objstore.ID) (*model.Checkpoint, error)
	count  oplog.Count
	asked  func(session string, turn uint64) (string, error)
	open   map[string][]*rowParts   // by session, of one turn
	claims map[string]claim         // by session, until its next older operation
	turns  map[string][]ledger.Turn // by session, its newest rows, the newest first
	rows   []Row                    // those that are whole, and asked for
	jumps  bool                     // of a turn's steps the ends will do

	failed  error  // a read of the numbers of turns: rows by numbers that may be wrong are none
	last    uint64 // the sequence of the oldest of the newest rows up to the limit
	counted int    // of how many rows that is
}

// rowParts is a turn as far as it was read. What a later step left behind of a turn is apart from what came after it.
type rowParts struct {
	session  string
	turn     uint64
	sequence uint64 // its newest operation
	oldest   uint64
	op       *refs.Operation // that is the newest
	at       time.Time
	prompt   string
	known    bool // of a step: on which side it lies
	aside    bool
	steps    []*model.Checkpoint // newest first
	run      int                 // how many steps there are, if steps has only the ends
	tools    []string            // of those, the oldest first
	found    []*model.Checkpoint // of other sessions, in which are changes of this turn's calls
}

// A claim is a checkpoint of another session that has changes of this session; a turn's call found it at its end. The
// changes are the call's if the checkpoint is younger than what the session did before.
type claim struct {
	by *rowParts
	cp *model.Checkpoint
}

func (h *History) rowWalk(o RowOptions) (*rowWalk, error) {
	w := &rowWalk{
		h: h, o: o, open: map[string][]*rowParts{}, claims: map[string]claim{}, turns: map[string][]ledger.Turn{},
		read: h.log.Checkpoints(), asked: h.prompts(),
	}
	w.count = h.log.CountOr(func(err error) { w.failed = err })
	w.jumps = o.Ends && o.Tool == "" && o.By == ""
	var err error
	if w.line, err = h.tips(); err != nil {
		return nil, err
	}
	w.branch, err = h.branch()
	return w, err
}

// enough reports whether no row that is asked for lies deeper in the log.
func (w *rowWalk) enough() bool {
	if w.o.Limit == 0 || len(w.rows) < w.o.Limit {
		return false
	}
	if w.counted != len(w.rows) { // rows only come: a turn that is long open has this asked for each operation
		newest := make([]uint64, len(w.rows))
		for i := range w.rows {
			newest[i] = w.rows[i].sequence
		}
		slices.Sort(newest)
		w.counted, w.last = len(w.rows), newest[len(newest)-w.o.Limit]
	}
	last := w.last
	for _, parts := range w.open {
		for _, p := range parts {
			if p.sequence > last {
				return false
			}
		}
	}
	return true
}

// begins reports whether an operation is of a row, whatever is older.
func (w *rowWalk) begins(op *refs.Operation) bool {
	return w.o.ofSession(op.Session) && (op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety && w.o.All ||
		op.Kind == refs.KindEvent && op.Turn > 0 && op.Message != "" && model.BeginsTurn(op))
}

// clocksDiffer is how far times may be out of the log's order, and nothing is missed.
const clocksDiffer = 24 * time.Hour

// past reports whether an operation and all that is older lie before the time that is asked for.
func (w *rowWalk) past(op *refs.Operation) bool {
	return !w.o.Since.IsZero() && len(w.open) == 0 && time.UnixMilli(op.Time).Before(w.o.Since.Add(-clocksDiffer))
}

// older takes the next older operation.
func (w *rowWalk) older(op *refs.Operation) error {
	if !w.o.ofSession(op.Session) {
		return nil
	}
	op = w.count.Operation(op)
	if c, ok := w.claims[op.Session]; ok {
		delete(w.claims, op.Session)
		if op.Seq < c.cp.Seq {
			c.by.found = append(c.by.found, c.cp)
		}
	}
	switch op.Kind { //nolint:exhaustive // the others are nobody's turn
	case refs.KindSafety:
		if w.o.All {
			cp, err := w.read(op.Checkpoint)
			if err != nil {
				return err
			}
			return w.alone(cp)
		}
	case refs.KindCheckpoint:
		cp, err := w.read(op.Checkpoint)
		if err != nil {
			return err
		}
		if w.line[cp.ID] && len(cp.Parents) > 0 {
			w.line[cp.Parents[0]] = true
		}
		return w.step(op, cp)
	case refs.KindEvent:
		if op.Turn > 0 {
			return w.event(op)
		}
		return w.leave(op.Session, 0)
	}
	return nil
}

// step takes a checkpoint.
func (w *rowWalk) step(op *refs.Operation, cp *model.Checkpoint) error {
	if err := w.leave(op.Session, op.Turn); err != nil {
		return err
	}
	word := cp.Cause.Event
	if step := ledger.IsStep(word, cp.ChangedBy(op.Session)); op.Turn == 0 || !step {
		if op.Turn > 0 && between(word) {
			w.parts(op, func(*rowParts) bool { return true })
			for _, p := range w.open[op.Session] {
				p.prompt = cmp.Or(p.prompt, cp.Cause.Prompt)
			}
		}
		return w.alone(cp)
	}
	aside, err := w.aside(cp)
	if err != nil {
		return err
	}
	p := w.parts(op, func(p *rowParts) bool { return !p.known || p.aside == aside })
	p.known, p.aside, p.prompt = true, aside, cmp.Or(p.prompt, cp.Cause.Prompt)
	if err := w.whole(p); err != nil {
		return err
	}
	p.steps = append(p.steps, cp)
	return nil
}

// between reports whether an event comes between two turns: in front of the one that it begins, or behind the newest.
func between(word string) bool {
	return word == model.EventWords[hooks.Prompt] || word == model.EventNotice
}

// event takes an event that made no checkpoint. A prompt begins its turn: what is older has the number of another one,
// if any.
func (w *rowWalk) event(op *refs.Operation) error {
	if err := w.leave(op.Session, op.Turn); err != nil {
		return err
	}
	word, own := op.Cause.Event, false
	var found *model.Checkpoint
	if word == model.EventWords[hooks.AfterTool] && !op.Checkpoint.IsZero() { // another session's event may have found what the call did
		cp, err := w.read(op.Checkpoint)
		if own = err == nil && cp.Session != op.Session && cp.ChangedBy(op.Session); own {
			found = cp
		}
	}
	if ledger.WordOf(word) == ledger.Aside && !own && len(w.open[op.Session]) == 0 {
		return nil
	}
	p := w.parts(op, func(*rowParts) bool { return true })
	if found != nil {
		w.claims[op.Session] = claim{p, found}
	}
	if op.Message == "" || word != model.EventWords[hooks.Prompt] {
		return nil
	}
	for _, p := range w.open[op.Session] {
		p.prompt = op.Message
	}
	return w.leave(op.Session, 0)
}

// parts is the open turn that an operation is of, made if there is none.
func (w *rowWalk) parts(op *refs.Operation, is func(*rowParts) bool) *rowParts {
	for _, p := range w.open[op.Session] {
		if is(p) {
			p.oldest = op.Seq
			return p
		}
	}
	p := &rowParts{session: op.Session, turn: op.Turn, op: op, sequence: op.Seq, oldest: op.Seq}
	p.at = time.UnixMilli(op.Time)
	w.open[op.Session] = append(w.open[op.Session], p)
	return p
}

// leave ends the open turns of a session that have another number.
func (w *rowWalk) leave(session string, turn uint64) error {
	parts := w.open[session]
	if len(parts) == 0 || parts[0].turn == turn {
		return nil
	}
	delete(w.open, session)
	for _, p := range parts {
		if err := w.close(p); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWalk) closeAll() error {
	for session := range w.open {
		if err := w.leave(session, 0); err != nil {
			return err
		}
	}
	return nil
}

// close makes a row of a turn that was read wholly. What others changed behind its end is no part of it.
func (w *rowWalk) close(p *rowParts) error {
	end, code, err := w.end(p)
	if err != nil {
		return err
	}
	for end > 0 && len(p.steps) > 0 {
		newest := p.steps[0]
		if newest.Seq <= end || newest.ChangedBy(p.session) {
			break
		}
		if err := w.alone(newest); err != nil {
			return err
		}
		p.steps = p.steps[1:]
	}
	code = p.ownEnd(code)
	if code == nil || len(p.steps) == 0 && p.prompt == "" {
		return nil // nothing is known of it but that it was
	}
	if !p.known {
		if p.aside, err = w.branch.off(p.session, p.turn, 0); err != nil {
			return err
		}
	}
	slices.Reverse(p.steps)
	return w.add(Row{
		Listed: Listed{Checkpoint: code, Aside: p.aside}, Of: p.session, Turn: p.turn, Prompt: p.prompt, At: p.at, Steps: p.steps,
		Count: max(len(p.steps), p.run), Found: p.found, sequence: p.sequence, tools: p.tools,
	})
}

// end is the operation with which a turn that was read wholly ends, and its checkpoint; 0 and nil: they are not known.
func (w *rowWalk) end(p *rowParts) (seq uint64, cp *model.Checkpoint, err error) {
	rows, err := w.rowsTo(p.session, p.oldest)
	if err != nil {
		return 0, nil, err
	}
	for i := rowFrom(rows, p.sequence); i < len(rows); i++ {
		t := &rows[i]
		if t.First < p.oldest && t.Number != p.turn {
			break
		}
		if within := p.oldest <= t.End && t.End <= p.sequence; !within || t.Number != p.turn {
			continue
		}
		if i := slices.IndexFunc(p.steps, func(cp *model.Checkpoint) bool { return cp.Seq == t.Code }); i >= 0 {
			return t.End, p.steps[i], nil
		}
		op, err := p.op, error(nil)
		if t.Code != p.sequence {
			op, err = w.h.log.Refs.Operation(t.Code)
		}
		if errors.Is(err, refs.ErrNotFound) {
			return t.End, nil, nil
		}
		if err != nil {
			return 0, nil, err
		}
		if id := codeOf(op); !id.IsZero() {
			cp, _ = w.read(id) // what gc has removed is not known
		}
		return t.End, cp, nil
	}
	return 0, nil, nil
}

// rowsTo are the ledger's rows of a session, the newest first, up to one that begins before an operation.
func (w *rowWalk) rowsTo(session string, oldest uint64) ([]ledger.Turn, error) {
	const some = 64
	rows, below := w.turns[session], uint64(math.MaxUint64)
	for {
		if n := len(rows); n > 0 {
			below = rows[n-1].Index
			if below == 0 || rows[n-1].First < oldest {
				return rows, nil
			}
		}
		more, err := w.h.ledger.TurnsBefore(session, below, some)
		if err != nil || len(more) == 0 {
			return rows, err
		}
		rows = append(rows, more...)
		w.turns[session] = rows
	}
}

// ownEnd is the state of a turn that ends with a checkpoint, nil if none is known: where nothing in that is the turn's,
// the newest that its own session made.
func (p *rowParts) ownEnd(end *model.Checkpoint) *model.Checkpoint {
	if len(p.steps) == 0 {
		return end
	}
	if end == nil || !isEndOf(end, p.steps[0], p.session) {
		return p.steps[0]
	}
	return end
}

// alone makes a row of a checkpoint that is no turn's.
func (w *rowWalk) alone(cp *model.Checkpoint) error {
	safety := cp.Cause.Event == model.EventSafety
	aside, err := w.aside(cp)
	if err != nil {
		return err
	}
	return w.add(Row{
		Listed: Listed{Checkpoint: cp, Safety: safety, Aside: aside && !safety}, Of: cp.Session, At: cp.Time,
		Steps: []*model.Checkpoint{cp}, Count: 1, sequence: cp.Seq,
	})
}

// aside reports whether a checkpoint is not on the branch.
func (w *rowWalk) aside(cp *model.Checkpoint) (bool, error) {
	if !w.line[cp.ID] {
		return true, nil
	}
	return w.branch.off(cp.Session, cp.Cause.Turn, cp.Seq)
}

// begin is the oldest operation that is known of a row.
func (r *Row) begin() uint64 {
	if len(r.Steps) > 0 {
		return r.Steps[0].Seq
	}
	return r.sequence
}

// add takes a row if it is asked for.
func (w *rowWalk) add(r Row) (err error) {
	o := &w.o
	asked := o.turn.turn == 0 || r.Turn == o.turn.turn && (o.turn.forked == 0 || r.begin() < o.turn.forked)
	asked = asked && (o.Before == 0 || r.sequence < o.Before)
	if !asked || !o.in(r.At) {
		return nil
	}
	if anyStep := o.Tool == "" && o.By == ""; !anyStep && !slices.ContainsFunc(r.Steps, o.step) {
		return nil
	}
	words := r.Prompt
	switch {
	case r.Turn == 0:
		words = r.Cause.Message
	case words == "":
		words, err = w.asked(r.Of, r.Turn)
		r.Prompt = words
	}
	if o.asks(words) {
		w.rows = append(w.rows, r)
	}
	return err
}
