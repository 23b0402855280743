package model

import (
	"slices"
	"time"

	"rewind/hooks"
	"rewind/internal/value"
	"rewind/refs"
)

// TurnCall stands for a whole turn where the agent's tool calls are not announced.
const TurnCall = "turn"

// maxUncaptured is how many edits of files that no checkpoint has a session record names.
const maxUncaptured = 16

// Understood reports whether the session files of an agent are.
func Understood(agent hooks.Agent) bool {
	return slices.Contains(value.Agents(), agent)
}

// EventWords are the words for events in causes; they are the words of the hooks' command lines.
var EventWords = map[hooks.Kind]string{
	hooks.SessionStart: "session-start", hooks.Prompt: "prompt", hooks.BeforeTool: "pre-tool-use", hooks.AfterTool: "post-tool-use",
	hooks.Stop: "stop", hooks.SubagentStart: "subagent-start", hooks.SubagentStop: "subagent-stop", hooks.Compact: "pre-compact",
	hooks.SessionEnd: "session-end",
}

// ActiveWithin is how recent two sessions' events must be for a command to ask which one is meant.
const ActiveWithin = 10 * time.Minute

// BeginsTurn reports whether an operation is the event of a prompt.
func BeginsTurn(op *refs.Operation) bool { return op.Cause.Event == EventWords[hooks.Prompt] }

// Manual is the session of everything that no agent did.
const Manual = value.Person

// PersonRead is how many bytes of a session file a person waits for.
const PersonRead = 256 << 20

// EventScan is the cause of a checkpoint that a scan of the whole tree made, of changes that nothing had reported.
const EventScan = "scan"

// QuietAfter is the silence after which a turn without a running call counts as ended; its session file must be silent
// as long. With some agents an interrupt, an error of the model and a kill send no event.
const QuietAfter = 30 * time.Second

// EventQuiet is the name of the stop that nobody announced, and its word in causes: the agent has sent nothing.
const EventQuiet = "quiet"

// EventNotice is the word for an agent's own notification in causes: it comes as a prompt, and begins no turn.
const EventNotice = "notice"

// WordOf is the word for an event in causes. A prompt that begins no turn has another one than a person's.
func WordOf(ev *hooks.Event) string {
	switch {
	case ev.Name == EventQuiet:
		return EventQuiet
	case ev.Kind != hooks.Prompt:
	case ev.Subagent != "":
		return EventWords[hooks.SubagentStart]
	case ev.Notice:
		return EventNotice
	}
	return EventWords[ev.Kind]
}

// Departed is the name of the session's end that rewind itself tells, when the program of an open call runs no more.
const Departed = "departed"

// Successor is the session that goes on from a restore; of another operation, its session.
func Successor(op *refs.Operation) string {
	if op.Restore == nil || op.Restore.Goes == "" || refs.Session(op.Restore.Goes).Check() != nil {
		return op.Session
	}
	return op.Restore.Goes
}

// InTurn reports whether an operation tells of a moment of a session's turn: a checkpoint, also one that gc has
// removed, or an event that found nothing changed.
func InTurn(op *refs.Operation) bool {
	switch op.Kind {
	case refs.KindCheckpoint, refs.KindEvent:
		return true
	case refs.KindThinned:
		return op.Cause.Event != EventSafety
	}
	return false
}
