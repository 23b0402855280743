package history

import (
	"errors"
	"maps"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
	"rewind/tree"
)

// Targets gives what the tool calls that made checkpoints were about (the path, the command), by the calls' ids. Of
// each conversation is read, as far as it was captured, what is around where it ended then; what is not there, as a
// subagent's, is left out.
func (h *History) Targets(steps []*model.Checkpoint) map[string]string {
	type asked struct {
		ids    map[string]bool
		places []int64
		newest objstore.ID
	}
	calls := map[string]*asked{}
	for _, cp := range steps {
		if cp.Cause.Call == "" {
			continue
		}
		of := calls[cp.Session]
		if of == nil {
			of = &asked{ids: map[string]bool{}, newest: cp.Conversation.Transcript}
			calls[cp.Session] = of
		}
		of.ids[cp.Cause.Call], of.places = true, append(of.places, cp.Conversation.Length)
	}
	out := map[string]string{}
	for session, of := range calls {
		s, err := h.log.StoredSession(session)
		if err != nil || s == nil || !model.Understood(s.Agent) {
			continue
		}
		slices.Sort(of.places)
		for i, said := range []objstore.ID{s.Cursor.Transcript, of.newest} { // what was cut in place is only in the other
			if said.IsZero() || i > 0 && said == s.Cursor.Transcript {
				continue
			}
			st, err := conversation.OpenEnd(h.log.Objs, said)
			if err != nil {
				continue
			}
			found, err := transcript.Targets(s.Agent, sourceOf(s, st), of.places, callNear, of.ids)
			maps.Copy(out, found)
			if err == nil && len(found) == len(of.ids) {
				break
			}
		}
	}
	return out
}

// TargetIn is what the call was about during which another session's event, or a look at the tree, found a step. "": no
// call was open, or its subject is not known.
func (h *History) TargetIn(cp *model.Checkpoint) string {
	if cp.Cause.Event != model.EventScan || cp.Cause.Call == "" {
		return ""
	}
	return h.Targets([]*model.Checkpoint{cp})[cp.Cause.Call]
}

// Said is the prompt that a checkpoint's turn began with and what was answered last before it, as far as they are told:
// each "" if not.
func Said(list []transcript.Message) (asked, answered transcript.Message) {
	for i := len(list) - 1; i >= 0 && asked.Who == ""; i-- {
		switch m := list[i]; {
		case m.Who == "user":
			asked = m
		case m.Who == "assistant" && answered.Who == "" && m.Text != "":
			answered = m
		}
	}
	return asked, answered
}

// uncaptured are the files that a turn of a session edited, and that no checkpoint has as they were: of what it did up
// to an operation.
func (h *talkReader) uncaptured(session string, turn, upTo uint64) (list []value.Uncaptured, err error) {
	if turn == 0 {
		return nil, nil
	}
	seen, count := map[model.Edit]bool{}, h.log.Count()
	ours := func(op *refs.Operation) bool { return op.Session == session }
	err = h.log.Refs.NewestOf(upTo, ours, func(op *refs.Operation) error {
		if model.InTurn(op) && count.Operation(op).Turn != turn {
			return kv.ErrStop
		}
		for _, e := range model.EditsOf(op) {
			if !seen[e] {
				seen[e] = true
				list = append(list, value.Uncaptured{Path: value.Text(e.Path), Reason: e.Word(), Session: session, Turn: turn})
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b value.Uncaptured) int { return tree.ComparePaths(string(a.Path), string(b.Path)) })
	return list, err
}

// Prompts are the operations with which turns of a session were asked for, behind one operation and up to another one,
// the newest first, with the numbers of their turns. A turn whose number came again behind it was taken back: only the
// newest counts, and none whose number is higher.
func (h *turnReader) Prompts(session string, from, upTo uint64) (list []*refs.Operation, err error) {
	rows, err := h.ledger.Turns(session)
	if err != nil {
		return nil, err
	}
	lowest := uint64(0)
	for _, t := range slices.Backward(rows) {
		back := lowest > 0 && t.Number > lowest
		if t.First == 0 || t.First > upTo || back {
			continue
		}
		lowest = t.Number
		for _, seq := range slices.Compact([]uint64{t.Asked, t.First}) {
			if seq <= from || seq > upTo {
				continue
			}
			op, err := h.log.Refs.Operation(seq)
			if errors.Is(err, refs.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if op.Kind == refs.KindEvent && model.BeginsTurn(op) {
				op.Turn = t.Number
				list = append(list, op)
			}
		}
		if t.First <= from {
			break
		}
	}
	return list, nil
}

// gitGone is where git's repository stood before the first of some steps, if there is none at the last; the zero value:
// it is there, or was not.
func (h *History) gitGone(first, last *model.Checkpoint) (was model.GitHead, err error) {
	if last.Git != was || len(first.Parents) == 0 {
		return was, nil
	}
	before, err := h.log.Checkpoint(first.Parents[0])
	if err != nil || before.Git == was {
		return was, err
	}
	note, err := h.log.Note(last)
	if err != nil || len(model.GitUnread(note)) > 0 { // it is there, and broken
		return was, err
	}
	return before.Git, nil
}
