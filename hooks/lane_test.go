package hooks

import "testing"

// What a subagent says is its lane's: no turn begins or ends, and the file of Codex's is not the session's.
func TestPromise19Lanes(t *testing.T) {
	const sub = `"session_id":"s","agent_id":"a","transcript_path":"/t/a.jsonl","hook_event_name":`
	for _, c := range []struct {
		agent      Agent
		name       string
		kind       Kind
		transcript string
	}{
		{Codex, "UserPromptSubmit", Prompt, ""},
		{Codex, "PreToolUse", BeforeTool, ""},
		{Codex, "Stop", SubagentStop, ""},
		{Codex, "SessionStart", SubagentStart, ""},
		{Codex, "SessionEnd", SubagentStop, ""},
		{Claude, "PostToolUse", AfterTool, "/t/a.jsonl"}, // its parent's
		{Claude, "SubagentStop", SubagentStop, "/t/a.jsonl"},
	} {
		ev := parse(t, c.agent, "", `{`+sub+`"`+c.name+`"}`)
		if act := Decide(ev); ev.Kind != c.kind || ev.Transcript != c.transcript || act.Begins || act.Ends {
			t.Errorf("%s %s: %+v, %+v", c.agent, c.name, ev, act)
		}
	}
	task := parse(t, Droid, "", `{"session_id":"w","transcript_path":"/t/w.jsonl","hook_event_name":"Stop"}`)
	if ev := task.InLane("s"); ev.Session != "s" || ev.Subagent != "w" || ev.Kind != SubagentStop || ev.Transcript != "" {
		t.Errorf("%+v", ev)
	}
	for prompt, notice := range map[string]bool{"<system-notification>x": true, " <task-notification>": true, "fix <b>": false, "": false} {
		if ev := parse(t, Droid, "", `{"session_id":"w","hook_event_name":"UserPromptSubmit","prompt":"`+prompt+`"}`); ev.Notice != notice {
			t.Errorf("%q: notice %v", prompt, ev.Notice)
		}
	}
	for id, notice := range map[string]bool{`"task-completion:f7109607"`: true, `"f7109607"`: false, `7`: false} {
		const says = `,"hook_event_name":"UserPromptSubmit","prompt":"Background task completed."}`
		ev := parse(t, Droid, "", `{"session_id":"w","message_id":`+id+says)
		if ev.Notice != notice || Decide(ev).Begins == notice {
			t.Errorf("message %s: notice %v, %+v", id, ev.Notice, Decide(ev))
		}
	}
}
