package ledger

import (
	"rewind/engine/model"
	"rewind/hooks"
)

// Word is what the word of an event means for the end of a turn.
type Word byte

// What an event means for the turn that it comes in.
const (
	Loose Word = iota // of the turn while it has not stopped: its prompt, a notice, a subagent, a compaction
	Tool              // as Loose, and the agent was at work
	Stop
	Aside // a session's start or end, a scan, a save: the turn's only by the work of its calls
)

var wordPrompt = model.EventWords[hooks.Prompt]

// WordOf is the Word of an event's word.
func WordOf(word string) Word {
	switch word {
	case model.EventWords[hooks.Stop], model.EventQuiet:
		return Stop
	case model.EventWords[hooks.BeforeTool], model.EventWords[hooks.AfterTool]:
		return Tool
	case model.EventWords[hooks.SessionStart], model.EventWords[hooks.SessionEnd], model.EventScan, model.EventSave,
		model.EventUndo, model.EventSafety:
		return Aside
	}
	return Loose
}

// IsStep reports whether a checkpoint that an event made is a step of the turn that it came in. own: a call of the
// turn's session changed something. What a prompt or a notice finds came before it.
func IsStep(word string, own bool) bool {
	switch {
	case word == model.EventSave || word == model.EventUndo:
		return false
	case own:
		return true
	}
	return word != wordPrompt && word != model.EventNotice && WordOf(word) != Aside
}
