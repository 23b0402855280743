package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// A Row is what a list for people has on one line: a turn, or a checkpoint that is no turn's.
type Row struct {
	Listed                       // the state that it left: of a turn, its end
	Of       string              // the session of the turn; of a checkpoint, its own
	Turn     uint64              // 0: a checkpoint that is no turn's
	Prompt   string              // how the turn's begins
	At       time.Time           // of what is newest in it
	Steps    []*model.Checkpoint // what it is made of, the oldest first; none: a turn that changed nothing
	Count    int                 // of steps; with RowOptions.Ends there may be more than Steps has
	Found    []*model.Checkpoint // of other sessions, in which are changes of the turn's calls, too: nothing else of them is the turn's
	Counts   model.Counts        // files that it added, modified and deleted, taken together
	Changes  []tree.Change       // in the order of a walk; the first of them, as many as were asked for
	Cut      bool                // there are more of them
	NoCode   bool                // it has no checkpoint: only its conversation is known
	Yours    []string            // files that nobody's call changed between its steps: a person's, beside the turn
	Restored []string            // files that restores of some paths set between its steps, beside the turn
	sequence uint64              // of its newest operation
	tools    []string            // of the steps, where Steps has only the ends
}

// RowOptions select rows.
type RowOptions struct {
	Filter
	turn  turnAt // only this turn; the zero value: every one
	All   bool   // safety checkpoints too
	Past  bool   // behind all others, turns of which only the conversation is known
	Limit int    // at most so many; 0: all
	// Changes is how many changes a row has at most; 0: all. With a limit, what was counted once is not counted again,
	// nor what a checkpoint has counted.
	Changes int

	// Ends asks for the oldest step and the newest one of a row at least: those between them need not be read. It is as
	// if it was not set where filters look at steps.
	Ends bool

	Before uint64 // only rows of which all is older than this operation; 0: all
}

// RowResult is what Rows found, the newest first.
type RowResult struct {
	Rows []Row
	More bool   // older ones were left out by the limit
	Next uint64 // where they were: what Before takes for them
}

// Rows lists turns, and between them the checkpoints that are no turn's: what a person saved, and what came from
// outside between two turns. Where turns of several sessions overlap, each has a row of its own. No more of the log is
// read than the rows need.
func (h *History) Rows(ctx context.Context, o RowOptions) (*RowResult, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	res := &RowResult{}
	if o.Session != "" {
		var err error
		if o.Session, err = h.sessions.FindSession(o.Session); errors.Is(err, model.ErrNotFound) {
			return res, nil
		} else if err != nil {
			return nil, err
		}
	}
	if o.Past && o.Before >= pastBase {
		return res, h.addPast(ctx, o, o.Before-pastBase, res)
	}
	if err := h.logRows(ctx, o, res); err != nil || !o.Past || res.More {
		return res, err
	}
	return res, h.addPast(ctx, o, 0, res)
}

// logRows adds the rows of the log.
func (h *History) logRows(ctx context.Context, o RowOptions, res *RowResult) error {
	w, err := h.rowWalk(o)
	if err != nil {
		return err
	}
	err = h.log.Refs.Newest(0, func(op *refs.Operation) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.enough() {
			if o.turn != (turnAt{}) { // there are no others
				return kv.ErrStop
			}
			if res.More = w.begins(op); res.More {
				return kv.ErrStop
			}
			return nil
		}
		if w.past(op) {
			return kv.ErrStop
		}
		if err := w.older(op); err != nil {
			return err
		}
		return w.jump(op)
	})
	if err == nil {
		err = cmp.Or(w.closeAll(), w.failed)
	}
	if err != nil {
		return err
	}
	res.Rows = w.rows
	slices.SortFunc(res.Rows, func(a, b Row) int { return cmp.Compare(b.sequence, a.sequence) })
	if o.Limit > 0 && len(res.Rows) > o.Limit {
		res.Rows, res.More = res.Rows[:o.Limit], true
	}
	if res.More {
		res.Next = res.Rows[len(res.Rows)-1].sequence
	}
	return h.fill(ctx, res.Rows, o.Changes, w.read)
}

// Coded reports whether there is a row, with the code of the turn.
func (r *Row) Coded() bool { return r != nil && !r.NoCode }

// fill tells of rows what is not needed to choose them.
func (h *History) fill(
	ctx context.Context, rows []Row, most int, read func(objstore.ID) (*model.Checkpoint, error),
) error {
	d, err := h.dresser()
	if err != nil {
		return err
	}
	m := marks{d: d, read: read}
	sums := summing{&h.sums, newMemo(h.log.Objs, objstore.Tree), most, read, h.restoredBy}
	ids := make([]objstore.ID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	short, err := h.log.Objs.ShortIDs(objstore.Checkpoint, ids)
	if err != nil {
		return err
	}
	var here []*Row
	for i := range rows {
		r := &rows[i]
		r.Short = short[i]
		current := r.ID == d.cursor
		r.Whose = d.whose(r.Of)
		for _, id := range m.steps(r) {
			current = current || id == d.cursor
			r.Tags = append(r.Tags, d.tags[id]...)
			r.Messages = append(r.Messages, d.notes[id.Key()]...)
		}
		if current {
			here = append(here, r)
		}
		if err := sums.fill(r); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return h.markPlace(here)
}

// TurnRow is the turn that a name stands for, see naming; nil: it names no turn (before:5 is a state), or one of which
// nothing is known. Of a turn that has several rows, since somebody went back into it, it is the newest; end is the
// checkpoint with which another one ends.
func (h *History) TurnRow(ctx context.Context, name, end string) (*Row, error) {
	n, err := ParseName(name)
	if err != nil || !n.IsTurn() || n.Before || n.Turn == 0 {
		return nil, err
	}
	session, err := h.turnSession("", n)
	if err != nil {
		return nil, err
	}
	at, err := taken(session, n.Turn, h.log.StoredSession, h.readTurns)
	if err != nil {
		return nil, err
	}
	o := RowOptions{Filter: Filter{value.Filter{Session: at.session}}, turn: at, Limit: 1}
	if end != "" {
		o.Limit = 0
	}
	res, err := h.Rows(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range res.Rows {
		if r := &res.Rows[i]; end == "" || r.ID.String() == end {
			return r, nil
		}
	}
	if end != "" {
		return nil, nil
	}
	return h.pastTurn(at)
}

// Paths are the first paths, at most so many, of the files that a checkpoint changed.
func (h *History) Paths(cp *model.Checkpoint, most int) (list []string, err error) {
	from, err := h.log.Before(cp)
	if err != nil {
		return nil, err
	}
	return list, tree.Diff(h.log.Objs, from, cp.Tree, func(ch tree.Change) error {
		if len(list) == most {
			return tree.SkipAll
		}
		if model.IsFile(ch.Old) || model.IsFile(ch.New) {
			list = append(list, ch.Path)
		}
		return nil
	})
}
