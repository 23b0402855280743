//go:build acceptance && unix

package acceptance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// codexEvents are those of the newest version; an older one passes over what it does not know.
var codexEvents = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact",
	"PostCompact", "SubagentStart", "SubagentStop", "Interrupt", "Stop",
}

// codexOffline names the fake model as the provider, and trusts the folder. model decides whether Codex works in code mode.
func codexOffline(model string) func(*world) {
	return func(w *world) {
		w.write(filepath.Join(w.home, ".codex", "config.toml"), fmt.Sprintf(`model = %q
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = %q
wire_api = "responses"
env_key = "FAKE_KEY"
[analytics]
enabled = false
[feedback]
enabled = false
[projects.%q]
trust_level = "trusted"
`, model, w.url+"/v1", w.project))
		w.env = append(w.env, "FAKE_KEY=dummy")
	}
}

// codexRecord asks for 3 s: for SessionEnd and Interrupt Codex warns the user of more.
func codexRecord(w *world) {
	w.writeJSON(filepath.Join(w.home, ".codex", "hooks.json"), map[string]any{"hooks": w.hookSettings(codexEvents, 3, "")})
}

// codexTerminal holds the conversation in a terminal. Codex shows hooks that it has not seen and asks: the user trusts them.
func codexTerminal(w *world, prompts ...string) {
	w.Helper()
	t := w.open("--no-alt-screen", "--no-daemon")
	const trust = "Hooks need review" // 1 Review hooks, 2 Trust all and continue, 3 Continue without trusting
	asked := t.greets("›", question{trust, []string{"Down", "Enter"}}, question{"Use existing model", []string{"Down", "Enter"}})
	if !slices.Contains(asked, trust) {
		t.Errorf("%s did not ask for trust in the hooks: it knows of none, or somebody has answered for the user", t.client)
	}
	for _, p := range prompts {
		t.say(p)
	}
	t.press("-l", "/quit")
	t.settles()
	t.press("Enter")
	t.ends()
}

var codexSession = regexp.MustCompile(`(?m)^session id: (\S+)`)

// codexExec holds it by one call a prompt. Without a terminal nobody can be asked for trust, so a flag gives it; versions that do not ask do
// not know the flag.
func codexExec(flags ...string) func(*world, ...string) {
	return func(w *world, prompts ...string) {
		w.Helper()
		var session []string
		for _, p := range prompts {
			args := append(append([]string{"exec"}, flags...), session...)
			w.headless(append(args, p)...)
			m := codexSession.FindStringSubmatch(strings.Join(w.output, "\n"))
			if m == nil {
				w.Fatalf("%s: prompt %q: no session id\n%s", w.client, p, strings.Join(w.output, "\n"))
			}
			session = []string{"resume", m[1]}
		}
	}
}
