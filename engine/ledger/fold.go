package ledger

import (
	"cmp"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/refs"
)

// moment is an operation of a session as the fold takes it: with what the operation does not say itself.
type moment struct {
	Op    *refs.Operation // with the number that its turn has in the conversation
	Word  string          // of its event
	Own   bool            // a call of the session has changed something since the moment before
	Said  bool            // it names a conversation
	Asked bool            // it has the turn's prompt
	Both  uint64          // turns that the session has from another one, by which the number was counted

	Behind uint64 // the operation of the log before it; 0: not known
	// On is the operation of the step that it stands on, if it is a step and the session's alone; of the first one its
	// own.
	On   uint64
	Tool bool // no step of the turn before it is of the same tool
}

// fold takes the next operation of a session into its rows. newest is the session's newest row, nil if there is none;
// restored is the newest restore of the whole tree before the operation, 0 if there is none. The result is the row that
// the operation belongs to: newest as it is then, which has its key, or one behind it.
func fold(newest *Turn, m *moment, restored uint64) *Turn {
	t := rowOf(newest, m)
	t.take(m, restored)
	return t
}

// rowOf is the row of a moment: a copy of the newest one, or a new one.
func rowOf(newest *Turn, m *moment) *Turn {
	if newest == nil {
		return begin(&Turn{}, 0, m)
	}
	t := *newest
	t.Later, t.versions = slices.Clone(t.Later), slices.Clone(t.versions)
	cut, same := t.open.Cut, t.Number == m.Op.Turn
	switch {
	case t.First == 0:
		return begin(&t, t.Index, m)
	case same && cut == 0:
		return &t
	}
	next := begin(&t, t.Index+1, m)
	next.GoesOn = same && m.Word != wordPrompt
	return next
}

// begin is a new row for a moment behind another row.
func begin(before *Turn, index uint64, m *moment) *Turn {
	t := &Turn{
		Index: index, Number: m.Op.Turn, First: m.Op.Seq, Time: time.UnixMilli(m.Op.Time), Cut: before.Cut,
		born: before.born, both: m.Both,
	}
	if t.born == 0 {
		t.born = m.Op.Seq
	}
	if before.open.Cut > 0 {
		t.Cut = before.open.Cut
	}
	t.open.Code, t.open.Said = before.open.Code, before.open.Said
	return t
}

// take takes a moment of the turn.
func (t *Turn) take(m *moment, restored uint64) {
	seq, word := m.Op.Seq, WordOf(m.Word)
	its := word != Aside || m.Own
	t.runs(m)
	t.facts(m, its)
	was := t.End
	if t.ends(seq, word, m.Own); t.End != was {
		t.Made, t.Said, t.Later = t.open.Step, t.open.Said, nil
		t.Code = t.open.Code
		if restored > t.born {
			t.Code = max(t.Code, restored)
		}
		if named := !m.Op.Checkpoint.IsZero() || m.Op.Thinned; named {
			t.Code = seq
		}
		return
	}
	if !m.Said || t.End == 0 {
		return
	}
	if len(t.Later) == maxLater {
		t.Later = t.Later[:maxLater-1]
	}
	t.Later = append(t.Later, seq)
}

// facts takes what a moment tells, wherever the turn ends. its: the moment is a part of the turn.
func (t *Turn) facts(m *moment, its bool) {
	op, seq, word := m.Op, m.Op.Seq, WordOf(m.Word)
	if op.Kind == refs.KindCheckpoint {
		t.open.Step = seq
		if IsStep(m.Word, m.Own) {
			t.Steps++
		}
	}
	if event := op.Kind == refs.KindEvent; m.Asked && (event || t.Asked == 0) {
		t.Asked = seq
	}
	if !op.Checkpoint.IsZero() {
		t.stood(m, its)
	}
	if named := !op.Checkpoint.IsZero() || op.Thinned; its && named {
		t.open.Code = seq
	}
	if m.Said {
		t.open.Said = seq
		t.Heard = cmp.Or(t.Heard, seq)
	}
	if aside := word == Aside && m.Word != model.EventScan; aside || word == Stop {
		t.Over = true
	}
}

// stood takes the state at a moment.
func (t *Turn) stood(m *moment, its bool) {
	t.Begin = cmp.Or(t.Begin, m.Op.Seq)
	if its {
		t.Found = cmp.Or(t.Found, m.Op.Seq)
	}
	if before := m.Op.Turn == 0; before && m.Word != model.EventScan {
		t.Start = m.Op.Seq
	}
}

// ends finds where the turn ends, as far as it is known. A turn goes from its prompt up to its stop, and on to what its
// calls do after that: a subagent's in the background, or the agent's own when it has been told of that one's end. What
// somebody else does behind the stop is not in it, whatever event finds it, and behind a turn without a stop only what
// its open calls had done is.
func (t *Turn) ends(seq uint64, word Word, own bool) {
	o := &t.open
	switch {
	case own:
		o.Stopped = o.Stopped || o.Stop > 0
		o.Work, o.Stop, o.Loose, o.Aside = seq, 0, 0, false
	case t.GoesOn && o.Work == 0: // it ends before the cut, unless its calls do more
	case word == Stop && o.Stop == 0:
		o.Stop = seq
	case word == Aside:
		o.Aside = true
	case word == Tool, word == Loose && !o.Aside:
		o.Loose = seq
	}
	if t.End = cmp.Or(o.Stop, o.Loose); o.Work > 0 && (o.Stopped || t.End == 0) {
		t.End = o.Work
	}
}

// cut takes a change of the session's file by a restore into the session's newest row; nil: it has none.
func cut(newest *Turn, seq uint64) *Turn {
	t := &Turn{born: seq}
	if newest != nil {
		c := *newest
		t = &c
	}
	t.open.Cut, t.open.Said = seq, seq
	return t
}
