package enginetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/hooks"
)

// A Scribe is one conversation of an agent from the outside: it calls the hooks with the payloads that the agent sends,
// and writes the session file as the agent does. What it was told is in nobody's memory but the file's: forks and files
// that were cut are gone on with by reading them.
type Scribe struct {
	p      *Project
	Agent  hooks.Agent
	ID     string
	File   string
	tier   hooks.Tier
	parent string // the newest record that the next one follows, of the agents that name it
	count  int    // of records, of the agents that number them
	turn   string // Codex's id of the turn
}

// ScribeUnique numbers what must not come twice in one process.
var ScribeUnique int

// Unique is a number that no test had before, for ids.
func Unique() string {
	ScribeUnique++
	return fmt.Sprintf("%08x-1111-4111-8111-%012x", ScribeUnique, ScribeUnique)
}

// sessionFolders are where the agents have the session files of a project, below the home directory.
func (p *Project) sessionFolder(agent hooks.Agent) string {
	slug := filepath.Base(p.Chats())
	switch agent {
	case hooks.Codex:
		return filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20")
	case hooks.Gemini:
		return filepath.Join(p.User(), ".gemini", "tmp", "p", "chats")
	case hooks.Droid:
		return filepath.Join(p.User(), ".factory", "sessions", slug)
	}
	return p.Chats()
}

// Scribe begins a conversation; its file is there with its first records, if the agent writes any.
func (p *Project) Scribe(agent hooks.Agent, id string) *Scribe {
	p.T.Helper()
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	dir := p.sessionFolder(agent)
	p.Must(os.MkdirAll(dir, 0o700))
	s := &Scribe{p: p, Agent: agent, ID: id, tier: tier}
	switch agent {
	case hooks.Codex:
		s.File = filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+id+".jsonl")
		s.codex("session_meta", map[string]any{
			"session_id": id, "id": id, "timestamp": "2026-11-20T10:00:00.000Z", "cwd": p.Root,
			"originator": "codex-tui", "cli_version": "0.169.0", "source": "cli", "thread_source": "user",
			"model_provider": "fake",
			"history_mode":   "paginated",
		})
	case hooks.Gemini:
		s.File = filepath.Join(dir, "session-2026-11-20T10-11-"+id[:8]+".jsonl")
		p.Must(os.WriteFile(filepath.Join(p.User(), ".gemini", "projects.json"), []byte(fmt.Sprintf(`{"projects":{%q:"p"}}`, p.Root)),
			0o600))
		s.put(map[string]any{
			"sessionId": id, "projectHash": "p", "startTime": s.time(), "lastUpdated": s.time(),
			"kind": "main",
		})
	case hooks.Droid:
		s.File = filepath.Join(dir, id+".jsonl")
		s.put(map[string]any{
			"type": "session_start", "id": id, "title": "t", "owner": "unknown", "version": 2,
			"cwd": p.Root,
		})
	default:
		s.File = filepath.Join(dir, id+".jsonl")
	}
	return s
}

// PickUp goes on with a file that another one wrote.
func (p *Project) PickUp(agent hooks.Agent, id, file string) *Scribe {
	p.T.Helper()
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	s := &Scribe{p: p, Agent: agent, ID: id, File: file, tier: tier}
	s.Read()
	return s
}

// Read finds the place in the file where the conversation goes on.
func (s *Scribe) Read() {
	s.p.T.Helper()
	s.parent, s.count = "", 0
	for line := range strings.Lines(s.p.Slurp(s.File)) {
		var l struct{ Type, UUID, ID string }
		s.p.Must(json.Unmarshal([]byte(line), &l))
		s.count++
		switch {
		case s.Agent == hooks.Claude && l.UUID != "" &&
			(l.Type == "user" || l.Type == "assistant" || l.Type == "system"):
			s.parent = l.UUID
		case s.Agent == hooks.Droid && l.Type == "message":
			s.parent = l.ID
		}
	}
}

// BegunBy has a session of its own be a subagent of another one, as Droid's file says it.
func (s *Scribe) BegunBy(id, call string) {
	s.p.T.Helper()
	s.p.Must(os.Remove(s.File))
	s.put(map[string]any{
		"type": "session_start", "id": s.ID, "title": "t", "owner": "unknown", "version": 2, "cwd": s.p.Root,
		"callingSessionId": id, "callingToolUseId": call,
	})
}

// Name is the session's name, agent/id.
func (s *Scribe) Name() string { return string(s.Agent) + "/" + s.ID }

func (s *Scribe) time() string {
	ScribeUnique++
	return fmt.Sprintf("2026-11-20T10:%02d:%02d.%03dZ", ScribeUnique/60_000%60, ScribeUnique/1000%60, ScribeUnique%1000)
}

// put appends a record.
func (s *Scribe) put(record any) {
	s.p.T.Helper()
	b, err := json.Marshal(record)
	s.p.Must(err)
	f, err := os.OpenFile(s.File, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	s.p.Must(err)
	_, err = f.Write(append(b, '\n'))
	s.p.Must(err)
	s.p.Must(f.Close())
	s.count++
}

func (s *Scribe) codex(typ string, payload map[string]any) {
	if s.turn != "" && typ == "response_item" {
		payload["internal_chat_message_metadata_passthrough"] = map[string]any{"turn_id": s.turn}
	}
	s.put(struct {
		Timestamp string         `json:"timestamp"`
		Ordinal   int            `json:"ordinal"`
		Type      string         `json:"type"` // in front of what it is the type of, as the agent has it
		Payload   map[string]any `json:"payload"`
	}{s.time(), s.count, typ, payload})
}

// Claude appends a record to a session file of Claude Code.
func (s *Scribe) Claude(typ string, message map[string]any) {
	uuid := Unique()
	r := map[string]any{
		"parentUuid": s.parent, "isSidechain": false, "type": typ, "message": message, "uuid": uuid,
		"timestamp": s.time(),
		"cwd":       s.p.Root, "sessionId": s.ID, "version": "2.1.328",
	}
	if s.parent == "" {
		r["parentUuid"] = nil
	}
	s.put(r)
	s.parent = uuid
}

func (s *Scribe) droid(message map[string]any) {
	id := Unique()
	r := map[string]any{"type": "message", "id": id, "timestamp": s.time(), "message": message}
	if s.parent != "" {
		r["parentId"] = s.parent
	}
	s.put(r)
	s.parent = id
}

func texts(typ, text string) []any { return []any{map[string]any{"type": typ, "text": text}} }

// Asked is what a prompt is in the file.
func (s *Scribe) Asked(text string) {
	s.p.T.Helper()
	switch s.Agent {
	case hooks.Codex:
		s.turn = Unique()
		s.codex("event_msg", map[string]any{"type": "task_started", "turn_id": s.turn})
		s.codex("turn_context",
			map[string]any{"turn_id": s.turn, "cwd": s.p.Root, "approval_policy": "never", "model": "gpt-5.5"})
		s.codex("response_item", map[string]any{
			"type": "message", "id": "msg_" + Unique(), "role": "user",
			"content": texts("input_text", text),
		})
		s.codex("event_msg", map[string]any{
			"type": "item_completed", "thread_id": s.ID, "turn_id": s.turn,
			"item": map[string]any{"type": "UserMessage", "id": Unique(), "content": texts("text", text)},
		})
	case hooks.Gemini:
		s.put(map[string]any{
			"id": Unique(), "timestamp": s.time(), "type": "user",
			"content": []any{map[string]any{"text": text}},
		})
	case hooks.Droid:
		s.droid(map[string]any{"role": "user", "content": texts("text", text)})
	default:
		s.Claude("user", map[string]any{"role": "user", "content": text})
	}
}

// Calls is the model asking for a tool.
func (s *Scribe) Calls(call, tool string, input map[string]any) {
	s.p.T.Helper()
	switch s.Agent {
	case hooks.Codex:
		s.codex("response_item", map[string]any{
			"type": "custom_tool_call", "id": "ctc_" + Unique(), "status": "completed", "call_id": call,
			"name": tool, "input": "x",
		})
	case hooks.Gemini:
		s.put(map[string]any{"id": Unique(), "timestamp": s.time(), "type": "gemini", "content": "Looking at it."})
	case hooks.Droid:
		s.droid(map[string]any{
			"role":    "assistant",
			"content": []any{map[string]any{"type": "tool_use", "id": call, "name": tool, "input": input}},
		})
	default:
		s.Claude("assistant", map[string]any{
			"id": "msg_" + call, "type": "message", "role": "assistant", "stop_reason": "tool_use",
			"content": []any{map[string]any{"type": "tool_use", "id": call, "name": tool, "input": input}},
		})
	}
}

// Result is a tool's answer.
func (s *Scribe) Result(call, tool, text string) {
	s.p.T.Helper()
	switch s.Agent {
	case hooks.Codex:
		s.codex("response_item", map[string]any{
			"type": "custom_tool_call_output", "id": "ctco_" + Unique(), "call_id": call,
			"output": text,
		})
	case hooks.Gemini:
		s.put(map[string]any{"id": Unique(), "timestamp": s.time(), "type": "user", "content": []any{map[string]any{
			"functionResponse": map[string]any{"id": call, "name": tool, "response": map[string]any{"output": text}},
		}}})
	default:
		content := []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": text}}
		if s.Agent == hooks.Droid {
			s.droid(map[string]any{"role": "user", "content": content})
			return
		}
		s.Claude("user", map[string]any{"role": "user", "content": content})
	}
}

// Says is the last reply of a turn.
func (s *Scribe) Says(text string) {
	s.p.T.Helper()
	switch s.Agent {
	case hooks.Codex:
		s.codex("event_msg", map[string]any{
			"type": "item_completed", "thread_id": s.ID, "turn_id": s.turn,
			"item": map[string]any{"type": "AgentMessage", "id": Unique(), "content": texts("Text", text)},
		})
		s.codex("response_item", map[string]any{
			"type": "message", "id": "msg_" + Unique(), "role": "assistant",
			"content": texts("output_text", text),
		})
		s.codex("event_msg", map[string]any{"type": "task_complete", "turn_id": s.turn, "last_agent_message": text})
	case hooks.Gemini:
		s.put(map[string]any{"id": Unique(), "timestamp": s.time(), "type": "gemini", "content": text})
	case hooks.Droid:
		s.droid(map[string]any{"role": "assistant", "content": texts("text", text)})
	default:
		s.Claude("assistant", map[string]any{
			"id": "msg_" + Unique(), "type": "message", "role": "assistant", "stop_reason": "end_turn",
			"content": texts("text", text),
		})
	}
}

// Interrupted is what Esc leaves in the file; call is the one that was cut off, "": none was open.
func (s *Scribe) Interrupted(call, tool string) {
	s.p.T.Helper()
	if s.Agent == hooks.Codex {
		if call != "" {
			s.Result(call, tool, "aborted by user")
		}
		s.codex("event_msg", map[string]any{"type": "turn_aborted", "turn_id": s.turn, "reason": "interrupted"})
		return
	}
	why := "[Request interrupted by user]"
	if call != "" {
		s.Result(call, tool, "The user doesn't want to proceed with this tool use.")
		why = "[Request interrupted by user for tool use]"
	}
	if s.Agent == hooks.Claude {
		s.Claude("user", map[string]any{"role": "user", "content": texts("text", why)})
	}
}

// Refused is what Claude Code 2.1.328 writes of a call that a person has not allowed; over: that has stopped the turn.
func (s *Scribe) Refused(call string, over bool) {
	s.p.T.Helper()
	s.Claude("user", map[string]any{"role": "user", "content": []any{map[string]any{
		"type": "tool_result", "tool_use_id": call, "is_error": true,
		"content": "The user doesn't want to proceed with this tool use. The tool use was rejected.",
	}}})
	if over {
		why := "[Request interrupted by user for tool use]"
		s.Claude("user", map[string]any{"role": "user", "content": texts("text", why)})
	}
}

// eventNames are the agents' words for what they tell.
func (s *Scribe) eventName(kind hooks.Kind) string {
	if s.Agent == hooks.Gemini {
		switch kind {
		case hooks.Prompt:
			return "BeforeAgent"
		case hooks.BeforeTool:
			return "BeforeTool"
		case hooks.AfterTool:
			return "AfterTool"
		case hooks.Stop:
			return "AfterAgent"
		}
	}
	return map[hooks.Kind]string{
		hooks.SessionStart: "SessionStart", hooks.Prompt: "UserPromptSubmit", hooks.BeforeTool: "PreToolUse",
		hooks.AfterTool: "PostToolUse", hooks.Stop: "Stop",
		hooks.SubagentStart: "SubagentStart", hooks.SubagentStop: "SubagentStop", hooks.SessionEnd: "SessionEnd",
	}[kind]
}

// Tell calls a hook with the agent's payload.
func (s *Scribe) Tell(kind hooks.Kind, more map[string]any) *capture.Handled {
	s.p.T.Helper()
	return s.TellIn(s.p, capture.HandleOptions{}, kind, more)
}

// TellIn is Tell to another project than that in which the session began.
func (s *Scribe) TellIn(
	p *Project, o capture.HandleOptions, kind hooks.Kind, more map[string]any,
) *capture.Handled {
	s.p.T.Helper()
	payload := map[string]any{
		"session_id": s.ID, "transcript_path": s.File, "cwd": s.p.Root,
		"hook_event_name": s.eventName(kind),
	}
	for k, v := range more {
		payload[k] = v
	}
	b, err := json.Marshal(payload)
	s.p.Must(err)
	ev, err := hooks.Parse(s.Agent, model.EventWords[kind], strings.NewReader(string(b)))
	s.p.Must(err)
	if ev.Kind != kind {
		s.p.T.Fatalf("%s is event %d, not %d", b, ev.Kind, kind)
	}
	o.Tier = s.tier
	h, err := p.E.Worktree.Handle(Bg, ev, o)
	if err != nil {
		s.p.T.Fatalf("handle %s: %v", b, err)
	}
	return h
}

// Tool is what a call that writes a file is called, or one of a shell if path is "", and what it is told.
func (s *Scribe) Tool(path string) (name string, input map[string]any) {
	if path == "" {
		name = map[hooks.Agent]string{
			hooks.Claude: "Bash", hooks.Codex: "Bash", hooks.Gemini: "run_shell_command",
			hooks.Droid: "Execute",
		}[s.Agent]
		return name, map[string]any{"command": "make " + Unique()}
	}
	if s.Agent == hooks.Codex {
		return "apply_patch",
			map[string]any{"command": "*** Begin Patch\n*** Add File: " + path + "\n+" + Unique() + "\n*** End Patch\n"}
	}
	name = map[hooks.Agent]string{hooks.Claude: "Write", hooks.Gemini: "write_file", hooks.Droid: "Create"}[s.Agent]
	return name, map[string]any{"file_path": s.p.Path(path), "content": Unique()}
}

// Does has a session run a call: a shell, or one that writes a path.
func (s *Scribe) Does(path, content string) {
	tool, input := s.Tool(path)
	call := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "call_" + Unique()}
	s.Tell(hooks.BeforeTool, call)
	s.p.Write(path, Big(content))
	s.Tell(hooks.AfterTool, call)
}

// Two are two sessions of Claude Code.
func (p *Project) Two() (a, b *Scribe) {
	p.T.Helper()
	p.Write("f", Big("first"))
	p.Save("first")
	for _, s := range []**Scribe{&a, &b} {
		*s = p.Scribe(hooks.Claude, Unique())
		(*s).Tell(hooks.SessionStart, map[string]any{"source": "startup"})
		(*s).Tell(hooks.Prompt, map[string]any{"prompt": "go"})
	}
	return a, b
}
