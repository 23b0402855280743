//go:build acceptance

package acceptance

import "path/filepath"

var droidEvents = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop", "PreCompact", "Notification",
}

// droidSettings names the fake model as a model with a key of the user's own.
func droidSettings(w *world, hooks map[string]any) {
	settings := map[string]any{
		"customModels": []any{map[string]any{
			"model": "fake-model", "id": "custom:fake-0", "index": 0, "displayName": "Fake", "baseUrl": w.url, "apiKey": "dummy",
			"provider": "anthropic", "maxOutputTokens": 8192,
		}},
		"sessionDefaultSettings": map[string]any{"model": "custom:fake-0"}, "model": "custom:fake-0",
		"cloudSessionSync": false, "enableDroidShield": false,
	}
	if hooks != nil {
		settings["hooks"] = hooks
	}
	w.writeJSON(filepath.Join(w.home, ".factory", "settings.json"), settings)
}

// droidOffline: air-gapped, it asks nobody for a login.
func droidOffline(w *world) {
	droidSettings(w, nil)
	w.env = append(w.env, "FACTORY_AIRGAP_ENABLED=true", "FACTORY_DISABLE_KEYRING=true", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false",
		"FACTORY_OTEL_ENABLED=false", "FACTORY_API_KEY=fk-dummy", "FACTORY_API_BASE_URL="+w.url+"/factory")
}

func droidRecord(w *world) { droidSettings(w, w.hookSettings(droidEvents, 20, "*")) }

// droidTerminal holds the conversation in a terminal: without one Droid fires no UserPromptSubmit and asks its maker
// for a session to resume.
func droidTerminal(w *world, prompts ...string) {
	w.Helper()
	t := droidOpen(w, "")
	for _, p := range prompts {
		t.say(p)
	}
	droidLeave(t)
}

// droidLeave presses what a user does: the first one clears what is typed, the second one ends.
func droidLeave(t *terminal) {
	t.Helper()
	t.press("C-c")
	t.settles()
	if _, ok := t.screen(); ok {
		t.press("C-c")
	}
	t.ends()
}

func droidBegin(w *world, prompt string) { droidTerminal(w, prompt) }

func droidResume(w *world, id, prompt string) error {
	w.Helper()
	t := droidOpen(w, id)
	t.say(prompt)
	droidLeave(t)
	return nil
}

func droidOpen(w *world, id string) *terminal {
	w.Helper()
	t := w.open(append(resuming(id), "--auto", "high")...)
	droidGreets(t)
	return t
}

func droidLists(w *world) map[string]string {
	w.Helper()
	return map[string]string{"droid --resume": w.picker("--resume")}
}

func droidGreets(t *terminal) {
	t.Helper()
	t.greets("─", question{"Trust this folder?", []string{"Enter"}})
}
