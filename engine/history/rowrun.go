package history

import (
	"cmp"
	"slices"

	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
)

// jump leaves out the steps between the ends of a turn whose newest step was taken, if the ledger says that they are a
// run (ledger.Turn.Run) and the list does not ask for them. The walk goes on with the turn's oldest operation.
func (w *rowWalk) jump(op *refs.Operation) error {
	open := w.open[op.Session]
	if !w.jumps || op.Kind != refs.KindCheckpoint || len(open) != 1 {
		return nil
	}
	p := open[0]
	if only := len(p.steps) == 1 && p.steps[0].Seq == op.Seq; !only {
		return nil
	}
	first, err := w.runOf(p)
	if err != nil || first == 0 {
		return err
	}
	p.oldest = first + 1
	return refs.SkipTo(first)
}

// runOf puts the ends of a turn's run into its parts, of which the newest step was read, and none that is older. It
// returns the oldest operation of the turn, which is not in the run; 0: the steps are to be read one by one.
func (w *rowWalk) runOf(p *rowParts) (first uint64, err error) {
	t, err := w.turnAt(p)
	if t == nil || err != nil || w.enough() {
		return 0, err
	}
	newest := p.steps[0]
	run, is := t.Run(p.sequence)
	is = is && run.Steps > 2 && run.Newest == newest.Seq
	if onLine := w.line[newest.ID]; !is || !onLine { // off the line, a step between may be on it
		return 0, nil
	}
	oldest := w.made(run.Oldest)
	if oldest == nil {
		return 0, nil
	}
	if off, err := w.branch.off(oldest.Session, oldest.Cause.Turn, oldest.Seq); err != nil || off != p.aside {
		return 0, err
	}
	if p.tools, is = w.toolsOf(oldest, newest, run.Tools); !is {
		return 0, nil
	}
	p.run, p.steps = run.Steps, []*model.Checkpoint{newest, oldest}
	w.line[oldest.Parents[0]] = true
	return t.First, nil
}

// turnAt is the ledger's row of a turn of which the newest operations were read; nil: there is none.
func (w *rowWalk) turnAt(p *rowParts) (*ledger.Turn, error) {
	rows, err := w.rowsTo(p.session, p.sequence)
	i := rowFrom(rows, p.sequence)
	if err != nil || i == len(rows) || rows[i].Number != p.turn {
		return nil, err
	}
	return &rows[i], nil
}

// rowFrom is the index of the newest of some rows, the newest first, that does not begin behind an operation.
func rowFrom(rows []ledger.Turn, seq uint64) int {
	i, _ := slices.BinarySearchFunc(rows, seq, func(t ledger.Turn, seq uint64) int { return cmp.Compare(seq, t.First) })
	return i
}

// made is the checkpoint that an operation made; nil: it cannot be read.
func (w *rowWalk) made(seq uint64) *model.Checkpoint {
	op, err := w.h.log.Refs.Operation(seq)
	if err != nil || op.Kind != refs.KindCheckpoint {
		return nil
	}
	cp, err := w.read(op.Checkpoint)
	if err != nil || len(cp.Parents) == 0 {
		return nil
	}
	return cp
}

// toolsOf are the tools of the steps that some operations made, of which two are read already; false: one of the others
// cannot be read.
func (w *rowWalk) toolsOf(oldest, newest *model.Checkpoint, ops []uint64) (tools []string, ok bool) {
	for _, seq := range ops {
		cp := oldest
		switch seq {
		case oldest.Seq:
		case newest.Seq:
			cp = newest
		default:
			if cp = w.made(seq); cp == nil {
				return nil, false
			}
		}
		if name := cp.Cause.Tool; name != "" {
			tools = append(tools, name)
		}
	}
	return tools, true
}

// whole reads the steps of a turn's run, of which only the ends were read, since the turn has older steps.
func (w *rowWalk) whole(p *rowParts) error {
	if p.run == 0 {
		return nil
	}
	steps := p.steps[:1]
	for n := p.run - 1; n > 0; n-- {
		cp, err := w.read(steps[len(steps)-1].Parents[0])
		if err != nil {
			return err
		}
		steps = append(steps, cp)
	}
	p.steps, p.run, p.tools = steps, 0, nil
	return nil
}

// Tools are the tools of a row's steps, each once, the first that was used first.
func (r *Row) Tools() []string {
	if r.Count > len(r.Steps) {
		return r.tools
	}
	var tools []string
	for _, cp := range r.Steps {
		if name := cp.Cause.Tool; name != "" && !slices.Contains(tools, name) {
			tools = append(tools, name)
		}
	}
	return tools
}

// marks finds what lists show of the steps of a row that were not read.
type marks struct {
	d     *dresser
	read  func(objstore.ID) (*model.Checkpoint, error)
	known bool
	at    []*model.Checkpoint // with a tag or a message, and the one that the worktree stands on; the oldest first
}

// steps are the steps of a row, the oldest first. Of those that were not read it has the marked ones.
func (m *marks) steps(r *Row) (ids []objstore.ID) {
	for i, cp := range r.Steps {
		if between := r.Count > len(r.Steps); between && i == 1 {
			m.find()
			from, _ := slices.BinarySearchFunc(m.at, r.Steps[0].Seq+1, bySeq)
			for _, cp := range m.at[from:] {
				if cp.Seq >= r.Steps[1].Seq {
					break
				}
				ids = append(ids, cp.ID)
			}
		}
		ids = append(ids, cp.ID)
	}
	return ids
}

func bySeq(cp *model.Checkpoint, seq uint64) int { return cmp.Compare(cp.Seq, seq) }

// find reads what is marked. What cannot be read is a step of no row.
func (m *marks) find() {
	if m.known {
		return
	}
	m.known = true
	all := map[objstore.ID]bool{m.d.cursor: true}
	for id := range m.d.tags {
		all[id] = true
	}
	for key := range m.d.notes {
		if id, err := m.d.h.log.Objs.IDOf(objstore.Checkpoint, key); err == nil {
			all[id] = true
		}
	}
	for id := range all {
		if cp, err := m.read(id); err == nil {
			m.at = append(m.at, cp)
		}
	}
	slices.SortFunc(m.at, func(a, b *model.Checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
}
