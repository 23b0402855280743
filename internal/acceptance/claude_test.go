//go:build acceptance && unix

package acceptance

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// claudeClassic are the events that the oldest supported version knows: it drops all hooks when there is one that it does not know.
var claudeClassic = []string{
	"PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop", "SubagentStop", "PreCompact",
}

// claudeEvents are those of the newest, but for WorktreeCreate and WorktreeRemove, whose hooks do the work instead of Claude Code.
var claudeEvents = append([]string{
	"PostToolUseFailure", "PostToolBatch", "UserPromptExpansion", "StopFailure", "SubagentStart", "PostCompact", "PreModelSwitch",
	"PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
	"ElicitationResult", "ConfigChange", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay",
}, claudeClassic...)

const claudeKey = "sk-ant-dummy-000000000000000000000000"

// claudeOffline answers beforehand what a first start asks (welcome, trust in the folder, the key), and points at the model.
func claudeOffline(w *world) {
	w.writeJSON(filepath.Join(w.home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 3, "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{"approved": []string{claudeKey[len(claudeKey)-20:]}, "rejected": []string{}},
		"projects": map[string]any{w.project: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{},
		}},
	})
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+w.url, "ANTHROPIC_API_KEY="+claudeKey, "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_BUG_COMMAND=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
}

func claudeRecord(events []string) func(*world) {
	return func(w *world) {
		w.writeJSON(filepath.Join(w.home, ".claude", "settings.json"), map[string]any{"hooks": w.hookSettings(events, 20, "*")})
	}
}

// claudeTerminal holds the conversation in a terminal.
func claudeTerminal(w *world, prompts ...string) {
	w.Helper()
	t := w.open("--permission-mode", "acceptEdits", "--allowedTools", "Bash")
	t.greets("❯")
	for _, p := range prompts {
		t.say(p)
	}
	t.press("-l", "/exit")
	t.settles()
	t.press("Enter")
	t.ends()
}

// claudePrint holds it by one call a prompt, each resuming the session of the one before.
func claudePrint(w *world, prompts ...string) {
	w.Helper()
	var session []string
	for _, p := range prompts {
		args := append([]string{"-p", p, "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--output-format", "json"}, session...)
		var v struct {
			Session string `json:"session_id"`
			Result  string `json:"result"`
		}
		out := w.headless(args...)
		if err := json.Unmarshal([]byte(out), &v); err != nil || !strings.HasSuffix(v.Result, "complete.") {
			w.Fatalf("%s: prompt %q: %v\n%s", w.client, p, err, out)
		}
		session = []string{"--resume", v.Session}
	}
}
