package engine

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

// A scribe is one conversation of an agent from the outside: it calls the hooks with the payloads that the agent sends, and writes the session file as the
// agent does. What it was told is in nobody's memory but the file's: forks and files that were cut are gone on with by reading them.
type scribe struct {
	p      *fixture
	agent  hooks.Agent
	id     string
	file   string
	tier   hooks.Tier
	parent string // the newest record that the next one follows, of the agents that name it
	count  int    // of records, of the agents that number them
	turn   string // Codex's id of the turn
}

// scribeUnique numbers what must not come twice in one process.
var scribeUnique int

func unique() string {
	scribeUnique++
	return fmt.Sprintf("%08x-1111-4111-8111-%012x", scribeUnique, scribeUnique)
}

// sessionFolders are where the agents have the session files of a project, below the home directory.
func (p *fixture) sessionFolder(agent hooks.Agent) string {
	slug := filepath.Base(p.chats())
	switch agent {
	case hooks.Codex:
		return filepath.Join(p.user(), ".codex", "sessions", "2026", "11", "20")
	case hooks.Gemini:
		return filepath.Join(p.user(), ".gemini", "tmp", "p", "chats")
	case hooks.Droid:
		return filepath.Join(p.user(), ".factory", "sessions", slug)
	}
	return p.chats()
}

// scribe begins a conversation; its file is there with its first records, if the agent writes any.
func (p *fixture) scribe(agent hooks.Agent, id string) *scribe {
	p.t.Helper()
	tier, err := hooks.LoadTier("balanced")
	p.must(err)
	dir := p.sessionFolder(agent)
	p.must(os.MkdirAll(dir, 0o700))
	s := &scribe{p: p, agent: agent, id: id, tier: tier}
	switch agent {
	case hooks.Codex:
		s.file = filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+id+".jsonl")
		s.codex("session_meta", map[string]any{
			"session_id": id, "id": id, "timestamp": "2026-11-20T10:00:00.000Z", "cwd": p.root,
			"originator": "codex-tui", "cli_version": "0.169.0", "source": "cli", "thread_source": "user", "model_provider": "fake", "history_mode": "paginated",
		})
	case hooks.Gemini:
		s.file = filepath.Join(dir, "session-2026-11-20T10-11-"+id[:8]+".jsonl")
		p.must(os.WriteFile(filepath.Join(p.user(), ".gemini", "projects.json"), []byte(fmt.Sprintf(`{"projects":{%q:"p"}}`, p.root)), 0o600))
		s.put(map[string]any{"sessionId": id, "projectHash": "p", "startTime": s.time(), "lastUpdated": s.time(), "kind": "main"})
	case hooks.Droid:
		s.file = filepath.Join(dir, id+".jsonl")
		s.put(map[string]any{"type": "session_start", "id": id, "title": "t", "owner": "unknown", "version": 2, "cwd": p.root})
	default:
		s.file = filepath.Join(dir, id+".jsonl")
	}
	return s
}

// pickUp goes on with a file that another one wrote.
func (p *fixture) pickUp(agent hooks.Agent, id, file string) *scribe {
	p.t.Helper()
	tier, err := hooks.LoadTier("balanced")
	p.must(err)
	s := &scribe{p: p, agent: agent, id: id, file: file, tier: tier}
	s.read()
	return s
}

// read finds the place in the file where the conversation goes on.
func (s *scribe) read() {
	s.p.t.Helper()
	s.parent, s.count = "", 0
	for line := range strings.Lines(s.p.slurp(s.file)) {
		var l struct{ Type, UUID, ID string }
		s.p.must(json.Unmarshal([]byte(line), &l))
		s.count++
		switch {
		case s.agent == hooks.Claude && l.UUID != "" && (l.Type == "user" || l.Type == "assistant" || l.Type == "system"):
			s.parent = l.UUID
		case s.agent == hooks.Droid && l.Type == "message":
			s.parent = l.ID
		}
	}
}

// begunBy has a session of its own be a subagent of another one, as Droid's file says it.
func (s *scribe) begunBy(id, call string) {
	s.p.t.Helper()
	s.p.must(os.Remove(s.file))
	s.put(map[string]any{
		"type": "session_start", "id": s.id, "title": "t", "owner": "unknown", "version": 2, "cwd": s.p.root,
		"callingSessionId": id, "callingToolUseId": call,
	})
}

func (s *scribe) name() string { return string(s.agent) + "/" + s.id }

func (s *scribe) time() string {
	scribeUnique++
	return fmt.Sprintf("2026-11-20T10:%02d:%02d.%03dZ", scribeUnique/60_000%60, scribeUnique/1000%60, scribeUnique%1000)
}

// put appends a record.
func (s *scribe) put(record any) {
	s.p.t.Helper()
	b, err := json.Marshal(record)
	s.p.must(err)
	f, err := os.OpenFile(s.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	s.p.must(err)
	_, err = f.Write(append(b, '\n'))
	s.p.must(err)
	s.p.must(f.Close())
	s.count++
}

func (s *scribe) codex(typ string, payload map[string]any) {
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

func (s *scribe) claude(typ string, message map[string]any) {
	uuid := unique()
	r := map[string]any{
		"parentUuid": s.parent, "isSidechain": false, "type": typ, "message": message, "uuid": uuid, "timestamp": s.time(),
		"cwd": s.p.root, "sessionId": s.id, "version": "2.1.328",
	}
	if s.parent == "" {
		r["parentUuid"] = nil
	}
	s.put(r)
	s.parent = uuid
}

func (s *scribe) droid(message map[string]any) {
	id := unique()
	r := map[string]any{"type": "message", "id": id, "timestamp": s.time(), "message": message}
	if s.parent != "" {
		r["parentId"] = s.parent
	}
	s.put(r)
	s.parent = id
}

func texts(typ, text string) []any { return []any{map[string]any{"type": typ, "text": text}} }

// asked is what a prompt is in the file.
func (s *scribe) asked(text string) {
	s.p.t.Helper()
	switch s.agent {
	case hooks.Codex:
		s.turn = unique()
		s.codex("event_msg", map[string]any{"type": "task_started", "turn_id": s.turn})
		s.codex("turn_context", map[string]any{"turn_id": s.turn, "cwd": s.p.root, "approval_policy": "never", "model": "gpt-5.5"})
		s.codex("response_item", map[string]any{"type": "message", "id": "msg_" + unique(), "role": "user", "content": texts("input_text", text)})
		s.codex("event_msg", map[string]any{
			"type": "item_completed", "thread_id": s.id, "turn_id": s.turn,
			"item": map[string]any{"type": "UserMessage", "id": unique(), "content": texts("text", text)},
		})
	case hooks.Gemini:
		s.put(map[string]any{"id": unique(), "timestamp": s.time(), "type": "user", "content": []any{map[string]any{"text": text}}})
	case hooks.Droid:
		s.droid(map[string]any{"role": "user", "content": texts("text", text)})
	default:
		s.claude("user", map[string]any{"role": "user", "content": text})
	}
}

// calls is the model asking for a tool.
func (s *scribe) calls(call, tool string, input map[string]any) {
	s.p.t.Helper()
	switch s.agent {
	case hooks.Codex:
		s.codex("response_item", map[string]any{"type": "custom_tool_call", "id": "ctc_" + unique(), "status": "completed", "call_id": call, "name": tool, "input": "x"})
	case hooks.Gemini:
		s.put(map[string]any{"id": unique(), "timestamp": s.time(), "type": "gemini", "content": "Looking at it."})
	case hooks.Droid:
		s.droid(map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": call, "name": tool, "input": input}}})
	default:
		s.claude("assistant", map[string]any{
			"id": "msg_" + call, "type": "message", "role": "assistant", "stop_reason": "tool_use",
			"content": []any{map[string]any{"type": "tool_use", "id": call, "name": tool, "input": input}},
		})
	}
}

// result is a tool's answer.
func (s *scribe) result(call, tool, text string) {
	s.p.t.Helper()
	switch s.agent {
	case hooks.Codex:
		s.codex("response_item", map[string]any{"type": "custom_tool_call_output", "id": "ctco_" + unique(), "call_id": call, "output": text})
	case hooks.Gemini:
		s.put(map[string]any{"id": unique(), "timestamp": s.time(), "type": "user", "content": []any{map[string]any{
			"functionResponse": map[string]any{"id": call, "name": tool, "response": map[string]any{"output": text}},
		}}})
	default:
		content := []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": text}}
		if s.agent == hooks.Droid {
			s.droid(map[string]any{"role": "user", "content": content})
			return
		}
		s.claude("user", map[string]any{"role": "user", "content": content})
	}
}

// says is the last reply of a turn.
func (s *scribe) says(text string) {
	s.p.t.Helper()
	switch s.agent {
	case hooks.Codex:
		s.codex("event_msg", map[string]any{
			"type": "item_completed", "thread_id": s.id, "turn_id": s.turn,
			"item": map[string]any{"type": "AgentMessage", "id": unique(), "content": texts("Text", text)},
		})
		s.codex("response_item", map[string]any{"type": "message", "id": "msg_" + unique(), "role": "assistant", "content": texts("output_text", text)})
		s.codex("event_msg", map[string]any{"type": "task_complete", "turn_id": s.turn, "last_agent_message": text})
	case hooks.Gemini:
		s.put(map[string]any{"id": unique(), "timestamp": s.time(), "type": "gemini", "content": text})
	case hooks.Droid:
		s.droid(map[string]any{"role": "assistant", "content": texts("text", text)})
	default:
		s.claude("assistant", map[string]any{"id": "msg_" + unique(), "type": "message", "role": "assistant", "stop_reason": "end_turn", "content": texts("text", text)})
	}
}

// interrupted is what Esc leaves in the file; call is the one that was cut off, "": none was open.
func (s *scribe) interrupted(call, tool string) {
	s.p.t.Helper()
	if s.agent == hooks.Codex {
		if call != "" {
			s.result(call, tool, "aborted by user")
		}
		s.codex("event_msg", map[string]any{"type": "turn_aborted", "turn_id": s.turn, "reason": "interrupted"})
		return
	}
	why := "[Request interrupted by user]"
	if call != "" {
		s.result(call, tool, "The user doesn't want to proceed with this tool use.")
		why = "[Request interrupted by user for tool use]"
	}
	if s.agent == hooks.Claude {
		s.claude("user", map[string]any{"role": "user", "content": texts("text", why)})
	}
}

// eventNames are the agents' words for what they tell.
func (s *scribe) eventName(kind hooks.Kind) string {
	if s.agent == hooks.Gemini {
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
		hooks.SessionStart: "SessionStart", hooks.Prompt: "UserPromptSubmit", hooks.BeforeTool: "PreToolUse", hooks.AfterTool: "PostToolUse", hooks.Stop: "Stop",
		hooks.SubagentStart: "SubagentStart", hooks.SubagentStop: "SubagentStop", hooks.SessionEnd: "SessionEnd",
	}[kind]
}

// tell calls a hook with the agent's payload.
func (s *scribe) tell(kind hooks.Kind, more map[string]any) *capture.Handled {
	s.p.t.Helper()
	payload := map[string]any{"session_id": s.id, "transcript_path": s.file, "cwd": s.p.root, "hook_event_name": s.eventName(kind)}
	for k, v := range more {
		payload[k] = v
	}
	b, err := json.Marshal(payload)
	s.p.must(err)
	ev, err := hooks.Parse(s.agent, model.EventWords[kind], strings.NewReader(string(b)))
	s.p.must(err)
	if ev.Kind != kind {
		s.p.t.Fatalf("%s is event %d, not %d", b, ev.Kind, kind)
	}
	h, err := s.p.e.Worktree.Handle(bg, ev, capture.HandleOptions{Tier: s.tier})
	if err != nil {
		s.p.t.Fatalf("handle %s: %v", b, err)
	}
	return h
}

// tool is what a call that writes a file is called, or one of a shell if path is "", and what it is told.
func (s *scribe) tool(path string) (name string, input map[string]any) {
	if path == "" {
		name = map[hooks.Agent]string{hooks.Claude: "Bash", hooks.Codex: "Bash", hooks.Gemini: "run_shell_command", hooks.Droid: "Execute"}[s.agent]
		return name, map[string]any{"command": "make " + unique()}
	}
	if s.agent == hooks.Codex {
		return "apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: " + path + "\n+" + unique() + "\n*** End Patch\n"}
	}
	name = map[hooks.Agent]string{hooks.Claude: "Write", hooks.Gemini: "write_file", hooks.Droid: "Create"}[s.agent]
	return name, map[string]any{"file_path": s.p.path(path), "content": unique()}
}
