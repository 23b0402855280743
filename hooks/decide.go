package hooks

import "time"

// Action is what an event asks for. The zero Action is to answer at once.
type Action struct {
	Capture bool // checkpoint the tree and the transcript; nothing new is no checkpoint
	Record  bool // keep the event even if nothing changed

	// The session's tool call Event.Tool.Call. Some agents have no event for a call that failed: one that is still
	// open at the session's next event is closed by it.
	Opens, Closes bool

	// The session's turn. One that is still open is ended by the next that begins.
	Begins, Ends bool
}

// Decide says what ev asks for. The tier does not matter here: it only says which hooks are registered. The hooks are
// those of the widest tier of all projects, so an event of a wider tier may come. It is a state that nothing else may
// see. Its checkpoint is folded (Tier.Asks), not left out.
func Decide(ev Event) Action {
	keep := Action{Capture: true, Record: true}
	switch ev.Kind {
	case BeforeTool, AfterTool:
		if ev.Tool.Class == Reader {
			return Action{}
		}
		keep.Opens, keep.Closes = ev.Kind == BeforeTool, ev.Kind == AfterTool
	case Prompt:
		keep.Begins = !ev.Notice && ev.Subagent == ""
	case Stop, SessionEnd:
		keep.Ends = true
	case SessionStart, SubagentStart, SubagentStop, Compact:
	default:
		return Action{}
	}
	return keep
}

// Minor reports whether a checkpoint is folded in lists; it is there all the same. since and changed, in bytes, are
// measured from the session's newest checkpoint that is not minor, so that many small edits add up to one that shows.
// A since below zero is none, or a clock that was set back: nothing is too soon after it.
//
// Where a session or a turn begins or ends is never too soon, if anything changed. What a prompt finds changed is never
// folded: a person did that between two turns, or the agent's own rewind, and undo is not to take it with the turn.
func Minor(since time.Duration, changed int64, kind Kind, t Tier) bool {
	spam, size := t.Runtime.AntiSpam, t.Runtime.Significance
	if kind == Prompt {
		return false
	}
	if size.Enabled && changed < size.MinChangeSize {
		return true
	}
	if !spam.Enabled || since < 0 {
		return false
	}
	if changed > 0 && boundary(kind) {
		return false
	}
	return since < time.Duration(spam.MinIntervalSeconds)*time.Second
}

func boundary(kind Kind) bool {
	switch kind {
	case SessionStart, Prompt, Stop, SessionEnd:
		return true
	}
	return false
}
