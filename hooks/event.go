package hooks

import "rewind/transcript"

// Agent names the program that called a hook: the word after --agent.
type Agent = transcript.Agent

// The agents whose payloads are understood. Another name is taken as it is, and its payload as far as it looks like one
// of these.
const (
	Claude = transcript.Claude
	Codex  = transcript.Codex
	Gemini = transcript.Gemini
	Droid  = transcript.Droid
)

// Kind is what an event means, the same for every agent.
type Kind byte

// The kinds of events.
const (
	Other        Kind = iota // known to the agent, of no use here
	SessionStart             // a session begins or goes on; Source says how
	Prompt                   // a person begins a turn; of the agent's own notification and of a subagent it begins none
	BeforeTool               // a tool call is about to run
	AfterTool                // a tool call has run; Failed says how it ended
	Stop                     // the agent has answered
	SubagentStart
	SubagentStop
	Compact // the conversation is being compacted
	SessionEnd
)

// Event is one hook call. All text in it is untrusted: valid UTF-8, cut to the limits of Parse, and nothing more.
type Event struct {
	Agent      Agent
	Kind       Kind
	Name       string // the agent's own word for the event
	Session    string // the agent's id of the session, safe as a part of a file name; "" when the payload has none
	Transcript string // the session file as the agent names it; not looked at, may not exist
	Cwd        string // where the agent works; absolute, or "" when the payload has none
	Subagent   string // id of the subagent that it is about; "" for the main conversation
	Source     string // of SessionStart: startup, resume, clear, compact, fork
	Previous   string // of SessionStart: the session that this one continues under a new id
	Reason     string // of SessionEnd
	Prompt     string // of Prompt: how it begins
	Notice     bool   // of Prompt: the agent's own notification, no new turn
	Tool       Tool   // of BeforeTool and AfterTool
	Failed     bool   // of AfterTool: the call failed or was interrupted
	Model      string
}

// Tool is a call of a tool.
type Tool struct {
	Name   string   // the agent's word: Bash, apply_patch, write_file, mcp__x__y
	Call   string   // the agent's id of the call; where it has none, one made from name and input, the same before and after
	Class  Class    // what the call can do to files
	Paths  []string // the files it says it will write, as given; empty: unknown
	Target string   // one line for people: the path, the command, ...
}

// Class says what a tool can do to files.
type Class byte

// The classes of tools. A tool that is not known is a Changer.
const (
	Changer Class = iota // can change any file: shell, MCP, unknown tools
	Editor               // changes the files it names
	Reader               // known to change nothing
)
