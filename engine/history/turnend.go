package history

import (
	"rewind/engine/model"
	"rewind/hooks"
)

// TurnWord is what the word of an event means for the end of a turn.
type TurnWord byte

// What an event means for the turn that it comes in.
const (
	WordLoose TurnWord = iota // of the turn while it has not stopped: its prompt, a notice, a subagent, a compaction
	WordTool                  // as WordLoose, and the agent was at work
	WordStop
	WordAside // a session's start or end, a scan, a save: the turn's only by the work of its calls
)

// TurnWordOf is the TurnWord of an event's word.
func TurnWordOf(word string) TurnWord {
	switch word {
	case model.EventWords[hooks.Stop]:
		return WordStop
	case model.EventWords[hooks.BeforeTool], model.EventWords[hooks.AfterTool]:
		return WordTool
	case model.EventWords[hooks.SessionStart], model.EventWords[hooks.SessionEnd], model.EventScan, model.EventSave, model.EventUndo,
		model.EventSafety:
		return WordAside
	}
	return WordLoose
}

// TurnEnd finds where a turn ends among its session's moments, which come newest first. A turn goes from its prompt up to its stop, and
// on to what its calls do after that: a subagent's in the background, or the agent's own when it has been told of that one's end. What
// somebody else does behind the stop is not in it, whatever event finds it, and behind a turn without a stop only what its open calls
// had done is. T is what the caller keeps of a moment.
type TurnEnd[T any] struct {
	At     *T       // the end as far as is known; nil: not found
	word   TurnWord // of at
	own    bool     // At is work of the turn's calls
	work   *T       // the newest work of the turn's calls before At: the end, if a stop comes before it
	Closed bool     // older moments do not change the end
}

// Older takes the next older moment of the turn. own: a call of the session has changed something since the moment before.
func (t *TurnEnd[T]) Older(word TurnWord, own bool, m *T) {
	switch {
	case t.Closed:
	case own:
		t.worked(word, m)
	case word == WordStop:
		if t.work != nil {
			t.At, t.Closed = t.work, true
			return
		}
		t.At, t.word = m, word
	case word == WordAside:
		if t.word == WordLoose && t.work == nil {
			t.At = nil // what came after it is no part of the turn
		}
	case t.At == nil:
		t.At, t.word = m, word
	}
}

// decided reports whether only a stop, among older moments, can change the end.
func (t *TurnEnd[T]) decided() bool { return t.Closed || t.At != nil && t.work != nil }

// worked takes a moment that is work of the turn's calls.
func (t *TurnEnd[T]) worked(word TurnWord, m *T) {
	switch {
	case t.At == nil:
		t.At, t.word, t.own, t.Closed = m, word, true, true
	case t.work == nil:
		t.work = m
	}
}

// Cut says that all older moments lie before a restore that changed the conversation. begun: the turn's prompt is newer than the restore;
// else the turn goes on before it, and what was found of it is no end, unless it is work.
func (t *TurnEnd[T]) Cut(begun bool) {
	switch {
	case begun:
		t.Leave()
	case !t.Closed && !t.own:
		t.At, t.work = nil, nil
	}
}

// Leave says that the next older moment is of another turn. The number may come again where a conversation was cut: only newer moments
// count.
func (t *TurnEnd[T]) Leave() { t.Closed = t.Closed || t.At != nil }
