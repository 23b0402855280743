//go:build acceptance

package acceptance

import (
	"path/filepath"
)

var geminiEvents = []string{
	"SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool",
	"AfterTool",
	"PreCompress", "Notification",
}

// geminiSettings are the user's: nothing that reaches out, nothing that asks. Nothing is tidied away: who resumes a
// session in another minute than the one in its file's name leaves an empty file beside it, and 0.61 removes both when
// the next session starts.
func geminiSettings(w *world, more map[string]any) {
	off := map[string]any{"enabled": false}
	settings := map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": off},
		"general": map[string]any{
			"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false,
			"sessionRetention": off,
		},
		"privacy": map[string]any{"usageStatisticsEnabled": false}, "telemetry": off,
		"ui": map[string]any{"hideTips": true, "autoThemeSwitching": false, "theme": "Default"},
	}
	for k, v := range more {
		settings[k] = v
	}
	w.writeJSON(filepath.Join(w.home, ".gemini", "settings.json"), settings)
}

func geminiOffline(w *world) {
	geminiSettings(w, nil)
	w.env = append(w.env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+w.url, "GEMINI_CLI_TRUST_WORKSPACE=true",
		"GEMINI_CLI_NO_RELAUNCH=true")
}

func geminiRecord(more map[string]any) func(*world) {
	return func(w *world) {
		settings := map[string]any{"hooks": w.hookSettings(geminiEvents, 20_000, "")}
		for k, v := range more {
			settings[k] = v
		}
		geminiSettings(w, settings)
	}
}

// geminiPrint holds the conversation by one call a prompt.
func geminiPrint(w *world, prompts ...string) {
	w.Helper()
	var session []string
	for _, p := range prompts {
		w.headless(append([]string{"-m", geminiModel, "--yolo", "-p", p}, session...)...)
		session = []string{"--resume", w.session()}
	}
}

const geminiModel = "gemini-2.5-pro"

func geminiBegin(w *world, prompt string) { geminiPrint(w, prompt) }

func geminiResume(w *world, id, prompt string) error {
	w.Helper()
	_, err := w.try("-m", geminiModel, "--yolo", "--resume", id, "-p", prompt)
	return err
}

func geminiOpen(w *world, id string) *terminal {
	w.Helper()
	t := w.open(append(resuming(id), "-m", geminiModel, "--yolo")...)
	geminiGreets(t)
	return t
}

func geminiLists(w *world) map[string]string {
	w.Helper()
	t := geminiOpen(w, "")
	t.press("-l", "/resume")
	t.settles()
	t.press("Enter")
	browser := t.still(2 * steady)
	t.shut()
	return map[string]string{"gemini --list-sessions": w.headless("--list-sessions"), "/resume": browser}
}

func geminiGreets(t *terminal) {
	t.Helper()
	t.greets("Type your message")
}
