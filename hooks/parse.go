// Package hooks knows how agents call us. It makes an Event of a hook's payload, and says what is to be done about it.
// Tiers say which hooks are registered. It is pure: no file system, no clock.
//
// The payloads are untrusted. One may be hostile, cut off, or of another agent than it says; the worst that it can do
// is to say something wrong about itself.
package hooks

import (
	"fmt"
	"io"
	"strings"
)

// dialect is how one agent says things.
type dialect struct {
	events map[string]Kind  // all events that the agent is known to have
	tools  map[string]Class // the tools that are not Changers
	adapt  func(ev *Event, p *payload)
}

// words are the events of the command line, the same for all agents.
var words = map[string]Kind{
	"session-start":  SessionStart,
	"prompt":         Prompt,
	"pre-tool-use":   BeforeTool,
	"post-tool-use":  AfterTool,
	"stop":           Stop,
	"subagent-start": SubagentStart,
	"subagent-stop":  SubagentStop,
	"pre-compact":    Compact,
	"session-end":    SessionEnd,
}

func dialectOf(agent Agent) dialect {
	switch agent {
	case Claude:
		return claude
	case Codex:
		return codex
	case Gemini:
		return gemini
	case Droid:
		return droid
	}
	return dialect{} // all its tools are Changers
}

// kindOf is what agent means by name; an agent that is not known may speak like any of those that are.
func kindOf(agent Agent, name string) (Kind, bool) {
	for _, a := range []Agent{Claude, Codex, Gemini, Droid} {
		if kind, ok := dialectOf(a).events[name]; ok && (a == agent || dialectOf(agent).events == nil) {
			return kind, true
		}
	}
	return Other, false
}

// Parse reads the payload of a hook that agent called with word, in bounded memory whatever the payload is.
//
// The payload's hook_event_name decides what the event is if the agent is known to have it, else word does; if neither
// is known, Kind is Other. Of an agent that is not known every known name of an event is understood, and all tools are
// Changers. Unknown fields are nothing to complain about.
//
// An error wraps errPayload, and the Event then holds what was understood before the damage: it is as good a reason for
// a checkpoint as any other. Reading stops at the damage.
func Parse(agent Agent, word string, from io.Reader) (Event, error) {
	var p payload
	err := p.read(from)
	if err != nil {
		err = fmt.Errorf("hooks: parse payload of %q: %w", agent, err)
	}
	return event(agent, word, &p), err
}

func event(agent Agent, word string, p *payload) Event {
	d := dialectOf(agent)
	ev := Event{
		Agent:      agent,
		Name:       p.event.String(),
		Session:    p.session.safeID(),
		Transcript: p.transcript.absPath(),
		Cwd:        p.cwd.absPath(),
		Subagent:   p.sub.safeID(),
		Model:      p.model.String(),
	}
	kind, known := kindOf(agent, ev.Name)
	if !known {
		kind = words[word]
	}
	if ev.Name == "" {
		ev.Name = text64(word)
	}
	ev.Kind = kind
	switch kind {
	case SessionStart:
		ev.Source, ev.Previous = p.source.String(), p.previous.safeID()
	case SessionEnd:
		ev.Reason = p.reason.String()
	case Prompt:
		ev.Prompt = p.prompt.String()
	case BeforeTool, AfterTool:
		ev.Tool = tool(d, p)
		ev.Failed = kind == AfterTool && p.interrupted
	}
	if d.adapt != nil {
		d.adapt(&ev, p)
	}
	if ev.Subagent != "" {
		ev.ofLane()
	}
	return ev
}

// ofLane is what a subagent says of itself in the words for a session: its beginning and its end, never those of the
// session or of a turn.
func (ev *Event) ofLane() {
	switch ev.Kind {
	case SessionStart:
		ev.Kind = SubagentStart
	case Stop, SessionEnd:
		ev.Kind = SubagentStop
	}
}

// InLane gives an event of a session that is a subagent of another one as that one's, in a lane of its own.
func (ev Event) InLane(of string) Event {
	ev.Subagent, ev.Session, ev.Transcript, ev.Previous = ev.Session, of, "", ""
	ev.ofLane()
	return ev
}

// tool is the call that p is about. An Editor whose files are not all known could have changed any: it is a Changer.
func tool(d dialect, p *payload) Tool {
	t := Tool{Name: p.tool.String(), Call: p.callID()}
	t.Class = d.tools[t.Name] // a name that was cut is longer than any of these
	if t.Class == Editor {
		if t.Paths = edited(t.Name, &p.input); len(t.Paths) == 0 {
			t.Class = Changer
		}
	}
	t.Target = target(&t, &p.input)
	return t
}

// edited is the files that a call of an Editor names.
func edited(name string, in *input) []string {
	if isPatch(name) {
		return in.patch.files()
	}
	for _, f := range []*text{&in.file, &in.path, &in.notebook} {
		if path := f.path(); path != "" {
			return []string{path}
		}
	}
	return nil
}

func isPatch(name string) bool { return name == "apply_patch" || name == "ApplyPatch" }

// target is the call in one line.
func target(t *Tool, in *input) string {
	if len(t.Paths) > 0 {
		return oneLine(strings.Join(t.Paths, ", "))
	}
	for _, f := range []*text{&in.file, &in.path, &in.notebook, &in.command, &in.description} {
		if line := oneLine(f.String()); line != "" {
			return line
		}
	}
	return ""
}

func text64(s string) string {
	t := text{limit: maxWord}
	t.Add([]byte(strings.ToValidUTF8(s, "\uFFFD")))
	return t.String()
}
