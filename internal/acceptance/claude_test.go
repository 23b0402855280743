//go:build acceptance

package acceptance

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// claudeClassic are the events that the oldest supported version knows: it drops all hooks when there is one that it
// does not know.
var claudeClassic = []string{
	"PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
	"SubagentStop", "PreCompact",
}

// claudeEvents are those of the newest, but for WorktreeCreate and WorktreeRemove, whose hooks do the work instead of
// Claude Code.
var claudeEvents = append([]string{
	"PostToolUseFailure", "PostToolBatch", "UserPromptExpansion", "StopFailure", "SubagentStart", "PostCompact",
	"PreModelSwitch",
	"PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted",
	"Elicitation",
	"ElicitationResult", "ConfigChange", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded",
	"MessageDisplay",
}, claudeClassic...)

const claudeKey = "sk-ant-dummy-000000000000000000000000"

// claudeOffline answers beforehand what a first start asks (welcome, trust in the folder, the key), and points at the
// model.
func claudeOffline(w *world) {
	w.writeJSON(filepath.Join(w.home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 3, "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{
			"approved": []string{claudeKey[len(claudeKey)-20:]},
			"rejected": []string{},
		},
		"projects": map[string]any{w.project: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{},
		}},
	})
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+w.url, "ANTHROPIC_API_KEY="+claudeKey, "DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_BUG_COMMAND=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
}

func claudeRecord(events []string) func(*world) {
	return func(w *world) {
		w.writeJSON(filepath.Join(w.home, ".claude", "settings.json"),
			map[string]any{"hooks": w.hookSettings(events, 20, "*")})
	}
}

// claudeTerminal holds the conversation in a terminal.
func claudeTerminal(w *world, prompts ...string) {
	w.Helper()
	t := claudeOpen(w, "")
	for _, p := range prompts {
		t.say(p)
	}
	t.leave("/exit")
}

// claudePrint holds it by one call a prompt, each resuming the session of the one before.
func claudePrint(w *world, prompts ...string) {
	w.Helper()
	var session []string
	for _, p := range prompts {
		args := append([]string{
			"-p", p, "--permission-mode", "acceptEdits", "--allowedTools", "Bash",
			"--output-format", "json",
		}, session...)
		var v printed
		out := w.headless(args...)
		if err := json.Unmarshal([]byte(out), &v); err != nil || !strings.HasSuffix(v.Result, "complete.") {
			w.Fatalf("%s: prompt %q: %v\n%s", w.client, p, err, out)
		}
		session = []string{"--resume", v.Session}
	}
}

// printed is what `claude -p --output-format json` answers.
type printed struct {
	Session string `json:"session_id"`
	Result  string `json:"result"`
}

func claudeBegin(w *world, prompt string) { claudeTerminal(w, prompt) }

func claudeResume(w *world, id, prompt string) error {
	w.Helper()
	out, err := w.try("-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--output-format",
		"json", "--resume", id)
	if err != nil {
		return err
	}
	var v printed
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Session != id ||
		!strings.HasSuffix(v.Result, "complete.") {
		return fmt.Errorf("%s: prompt %q: %v\n%s", w.client, prompt, err, out)
	}
	return nil
}

func claudeOpen(w *world, id string) *terminal {
	w.Helper()
	t := w.open(append(resuming(id), "--permission-mode", "acceptEdits", "--allowedTools", "Bash")...)
	claudeGreets(t)
	return t
}

func claudeLists(w *world) map[string]string {
	w.Helper()
	return map[string]string{"claude --resume": w.picker("--resume")}
}

func claudeGreets(t *terminal) {
	t.Helper()
	prompt := "❯"
	if t.client == claude20 {
		prompt = "\n>"
	}
	t.greets(prompt)
}
