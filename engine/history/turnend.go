package history

import (
	"rewind/engine/model"
	"rewind/hooks"
)

// TurnWord is what the word of an event says of where a turn ends.
type TurnWord byte

// What an event means for the turn that it comes in.
const (
	WordLoose TurnWord = iota // of the turn while it has not stopped: its prompt, a notice, a subagent, a compaction
	WordTool                  // as WordLoose, and the agent was at work
	WordStop
	WordAside // a session's start or end, a scan, a save: the turn's only by the work of its calls
)

// TurnWordOf tells the kind of an event by its word.
func TurnWordOf(word string) TurnWord {
	switch word {
	case model.EventWords[hooks.Stop]:
		return WordStop
	case model.EventWords[hooks.BeforeTool], model.EventWords[hooks.AfterTool]:
		return WordTool
	case model.EventWords[hooks.SessionStart], model.EventWords[hooks.SessionEnd], model.EventScan, model.EventSave, model.EventUndo, model.EventSafety:
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
	own    bool     // at is work of the turn's calls
	work   *T       // the newest such work before at: the end, should a stop come before it
	Closed bool     // what is older changes nothing
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
			t.At = nil // the turn was over
		}
	case t.At == nil:
		t.At, t.word = m, word
	}
}

// decided reports whether of what is older only a stop changes the end, whatever was done at it.
func (t *TurnEnd[T]) decided() bool { return t.Closed || t.At != nil && t.work != nil }

func (t *TurnEnd[T]) worked(word TurnWord, m *T) {
	switch {
	case t.At == nil:
		t.At, t.word, t.own, t.Closed = m, word, true, true
	case t.work == nil:
		t.work = m
	}
}

// Cut says that all older moments lie before a restore that changed the conversation. begun: the turn's prompt is newer; else it goes
// on, and what was found of it is no end, unless it is work.
func (t *TurnEnd[T]) Cut(begun bool) {
	switch {
	case begun:
		t.Leave()
	case !t.Closed && !t.own:
		t.At, t.work = nil, nil
	}
}

// Leave says that the next older moment is of another turn. The number may come again, where a conversation was cut: only what is newer
// counts.
func (t *TurnEnd[T]) Leave() { t.Closed = t.Closed || t.At != nil }
