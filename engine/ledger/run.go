package ledger

import (
	"errors"
	"slices"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/refs"
)

// run says of a row whether the turn is one run of operations, of which a list need read only the ends. The zero value
// says that it is none. In a run, all operations of the turn but the first are the next one of the log each. All of its
// checkpoints are steps, each on the one before, and all that they changed is the session's alone.
type run struct {
	Last uint64   // its newest operation
	End  uint64   // its newest operation that is part of the turn, whatever comes behind it
	Of   []uint64 // the oldest step of each tool, the oldest first; at most maxTools
}

// maxTools is how many tools a run has at most.
const maxTools = 16

// Run is the steps of a turn that were made one behind the other, see Turn.Run.
type Run struct {
	Newest, Oldest uint64   // the operations that made the newest step and the oldest one
	Steps          int      // how many there are, with those two
	Tools          []uint64 // the oldest step of each tool, the oldest first
}

// Run gives the steps of a turn if seq is its newest operation and the turn is a run. All operations from Turn.First to
// seq are the turn's then. They are steps that are wholly the session's, each on the one before, and events that tell
// of no other change. None of them but the first is a prompt's.
func (t *Turn) Run(seq uint64) (Run, bool) {
	if t.run.End != seq || len(t.run.Of) == 0 {
		return Run{}, false
	}
	return Run{Newest: t.open.Step, Oldest: t.run.Of[0], Steps: int(t.Steps), Tools: t.run.Of}, true
}

// runs takes a moment into the run of a row, before it is taken into the rest of it.
func (t *Turn) runs(m *moment) {
	seq, r := m.Op.Seq, &t.run
	step := m.Op.Kind == refs.KindCheckpoint
	switch {
	case seq == t.First:
		made := step && IsStep(m.Word, m.Own)
		if its := m.Op.Turn > 0 && !t.GoesOn; its && !made {
			r.Last = seq
		}
		return
	case r.Last == 0:
		return
	case !t.goesOnWith(m):
		*r = run{}
		return
	}
	r.Last = seq
	if step || WordOf(m.Word) != Aside {
		r.End = seq
	}
	if step && m.Tool {
		r.Of = append(slices.Clone(r.Of), seq)
	}
}

// goesOnWith reports whether a moment goes on with the run of a row.
func (t *Turn) goesOnWith(m *moment) bool {
	if t.run.Last != m.Behind || m.Word == wordPrompt {
		return false
	}
	switch m.Op.Kind { //nolint:exhaustive // no other is a part of a run
	case refs.KindEvent:
		return !m.Own
	case refs.KindCheckpoint:
		full := m.Tool && len(t.run.Of) == maxTools
		on := len(t.run.Of) == 0 || m.On == t.open.Step
		return m.On != 0 && on && !full
	}
	return false
}

// inRun says of a step what runs asks: on which one it stands, and whether its tool is a new one in the row.
func (f *folding) inRun(m *moment, cp *model.Checkpoint) error {
	if !alone(m, cp) || !IsStep(m.Word, m.Own) {
		return nil
	}
	t, err := f.newest(m.Op.Session)
	if err != nil || t == nil || t.run.Last != m.Behind {
		return err
	}
	if len(t.run.Of) == 0 {
		m.On, m.Tool = cp.Seq, true
		return nil
	}
	if !cp.Base.IsZero() {
		return nil
	}
	on, err := f.on(cp, t.run.Of, m)
	gone := model.IsLost(err) || errors.Is(err, refs.ErrNotFound)
	if gone || errors.Is(err, record.ErrFormat) {
		return nil // the steps are read one by one, and who reads them says so
	}
	m.On = on
	return err
}

// alone reports whether all that a checkpoint changed is of the session and the turn of a moment.
func alone(m *moment, cp *model.Checkpoint) bool {
	its := cp.Session == m.Op.Session && cp.Cause.Turn == m.Op.Turn
	its = its && slices.Equal(cp.By, []string{cp.Session}) && len(cp.Owned) == 0
	its = its && cp.Seq == m.Op.Seq && cp.Cause.Prompt != ""
	return its && len(cp.Parents) > 0
}

// on is the operation of the checkpoint that a step stands on. It says in the moment whether the step's tool is none of
// those of some other steps.
func (f *folding) on(cp *model.Checkpoint, steps []uint64, m *moment) (uint64, error) {
	parent, err := f.read(cp.Parents[0])
	if err != nil {
		return 0, err
	}
	for _, seq := range steps {
		if name, err := f.toolOf(seq); err != nil || name == cp.Cause.Tool {
			return parent.Seq, err
		}
	}
	m.Tool = true
	return parent.Seq, nil
}

// toolOf is the tool of a step that was folded.
func (f *folding) toolOf(seq uint64) (string, error) {
	if name, known := f.tools[seq]; known {
		return name, nil
	}
	op, err := f.l.log.Refs.Operation(seq)
	if err != nil {
		return "", err
	}
	cp, err := f.read(op.Checkpoint)
	if err != nil {
		return "", err
	}
	f.tools[seq] = cp.Cause.Tool
	return cp.Cause.Tool, nil
}

// operationBefore is the newest operation up to seq; where it cannot be read, seq.
func (f *folding) operationBefore(seq uint64) (before uint64, err error) {
	if seq == 0 {
		return 0, nil
	}
	err = f.l.log.Refs.Newest(seq, func(op *refs.Operation) error {
		before = op.Seq
		return kv.ErrStop
	})
	if errors.Is(err, refs.ErrCorrupt) {
		return seq, nil
	}
	return before, err
}
