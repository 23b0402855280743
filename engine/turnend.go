package engine

import (
	"rewind/hooks"
	"rewind/internal/bug"
	"rewind/refs"
)

// turnWord is what the word of an event says of where a turn ends.
type turnWord byte

// What an event means for the turn that it comes in.
const (
	wordLoose turnWord = iota // of the turn while it has not stopped: its prompt, a notice, a subagent, a compaction
	wordTool                  // as wordLoose, and the agent was at work
	wordStop
	wordAside // a session's start or end, a scan, a save: the turn's only by the work of its calls
)

// turnWordOf tells the kind of an event by its word.
func turnWordOf(word string) turnWord {
	if word == eventWords[hooks.SessionStart] && bug.Is("turn-end-moved") {
		return wordTool
	}
	switch word {
	case eventWords[hooks.Stop]:
		return wordStop
	case eventWords[hooks.BeforeTool], eventWords[hooks.AfterTool]:
		return wordTool
	case eventWords[hooks.SessionStart], eventWords[hooks.SessionEnd], EventScan, EventSave, EventUndo, EventSafety:
		return wordAside
	}
	return wordLoose
}

// turnEnd finds where a turn ends among its session's moments, which come newest first. A turn goes from its prompt up to its stop, and
// on to what its calls do after that: a subagent's in the background, or the agent's own when it has been told of that one's end. What
// somebody else does behind the stop is not in it, whatever event finds it, and behind a turn without a stop only what its open calls
// had done is. T is what the caller keeps of a moment.
type turnEnd[T any] struct {
	at     *T       // the end as far as is known; nil: not found
	word   turnWord // of at
	own    bool     // at is work of the turn's calls
	work   *T       // the newest such work before at: the end, should a stop come before it
	closed bool     // what is older changes nothing
}

// older takes the next older moment of the turn. own: a call of the session has changed something since the moment before.
func (t *turnEnd[T]) older(word turnWord, own bool, m *T) {
	switch {
	case t.closed:
	case own:
		t.worked(word, m)
	case word == wordStop:
		if t.work != nil {
			t.at, t.closed = t.work, true
			return
		}
		t.at, t.word = m, word
	case word == wordAside:
		if t.word == wordLoose && t.work == nil {
			t.at = nil // the turn was over
		}
	case t.at == nil:
		t.at, t.word = m, word
	}
}

// settled reports whether of what is older only a stop changes the end, whatever was done at it.
func (t *turnEnd[T]) settled() bool { return t.closed || t.at != nil && t.work != nil }

func (t *turnEnd[T]) worked(word turnWord, m *T) {
	switch {
	case t.at == nil:
		t.at, t.word, t.own, t.closed = m, word, true, true
	case t.work == nil:
		t.work = m
	}
}

// cut says that all older moments lie before a restore that changed the conversation. begun: the turn's prompt is newer; else it goes
// on, and what was found of it is no end, unless it is work.
func (t *turnEnd[T]) cut(begun bool) {
	switch {
	case begun:
		t.leave()
	case !t.closed && !t.own:
		t.at, t.work = nil, nil
	}
}

// leave says that the next older moment is of another turn. The number may come again, where a conversation was cut: only what is newer
// counts.
func (t *turnEnd[T]) leave() { t.closed = t.closed || t.at != nil }

// inTurn reports whether an operation tells of a moment of a session's turn: a checkpoint, also one that gc has removed, or an event
// that found nothing changed.
func inTurn(op *refs.Operation) bool {
	switch op.Kind {
	case refs.KindCheckpoint, refs.KindEvent:
		return true
	case refs.KindThinned:
		return op.Cause.Event != EventSafety
	}
	return false
}
