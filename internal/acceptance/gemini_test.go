//go:build acceptance && unix

package acceptance

import (
	"path/filepath"
)

var geminiEvents = []string{
	"SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool", "AfterTool",
	"PreCompress", "Notification",
}

// geminiSettings are the user's: nothing that reaches out, nothing that asks.
func geminiSettings(w *world, more map[string]any) {
	off := map[string]any{"enabled": false}
	settings := map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": off},
		"general": map[string]any{
			"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false,
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
	w.env = append(w.env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+w.url, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true")
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
		w.headless(append([]string{"-m", "gemini-2.5-pro", "--yolo", "-p", p}, session...)...)
		session = []string{"--resume", w.session()}
	}
}
