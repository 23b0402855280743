//go:build acceptance

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
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PreToolUse", "PermissionRequest",
	"PostToolUse", "PreCompact",
	"PostCompact", "SubagentStart", "SubagentStop", "Interrupt", "Stop",
}

// codexOffline names the fake model as the provider, and trusts the folder. model decides whether Codex works in code
// mode.
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
	w.writeJSON(filepath.Join(w.home, ".codex", "hooks.json"),
		map[string]any{"hooks": w.hookSettings(codexEvents, 3, "")})
}

// codexTerminal holds the conversation in a terminal. Codex shows hooks that it has not seen and asks: the user trusts
// them.
func codexTerminal(w *world, prompts ...string) {
	w.Helper()
	t := w.open("--no-alt-screen", "--no-daemon")
	const trust = "Hooks need review" // 1 Review hooks, 2 Trust all and continue, 3 Continue without trusting
	asked := t.greets("›", question{trust, []string{"Down", "Enter"}},
		question{"Use existing model", []string{"Down", "Enter"}})
	if !slices.Contains(asked, trust) {
		t.Errorf("%s did not ask for trust in the hooks: it knows of none, or somebody has answered for the user",
			t.client)
	}
	for _, p := range prompts {
		t.say(p)
	}
	t.leave("/quit")
}

var codexSession = regexp.MustCompile(`(?m)^session id: (\S+)`)

// codexExec holds it by one call a prompt. Without a terminal nobody can be asked for trust, so a flag gives it;
// versions that do not ask do not know the flag.
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

// codexQuestions are what Codex may ask before it takes a prompt, with the answers of a user who trusts rewind.
var codexQuestions = []question{
	{"Hooks need review", []string{"Down", "Enter"}},
	{"Use existing model", []string{"Down", "Enter"}},
}

// codexBegin works in a terminal: the user trusts the hooks there, and what `codex exec` begins is not in the list of
// sessions.
func codexBegin(flags []string) func(*world, string) {
	return func(w *world, prompt string) {
		w.Helper()
		t := codexOpen(flags)(w, "")
		t.say(prompt)
		t.leave("/quit")
	}
}

func codexResume(w *world, id, prompt string) error {
	w.Helper()
	_, err := w.try("exec", "resume", id, prompt)
	return err
}

func codexOpen(flags []string) func(*world, string) *terminal {
	return func(w *world, id string) *terminal {
		w.Helper()
		args := flags
		if id != "" {
			args = append([]string{"resume", id}, flags...)
		}
		t := w.open(args...)
		codexGreets(t)
		return t
	}
}

func codexLists(flags []string) func(*world) map[string]string {
	return func(w *world) map[string]string {
		w.Helper()
		all := append([]string{"resume", "--include-non-interactive"}, flags...)
		return map[string]string{
			"codex resume":                           w.picker(append([]string{"resume"}, flags...)...),
			"codex resume --include-non-interactive": w.picker(all...),
		}
	}
}

func codexGreets(t *terminal) {
	t.Helper()
	t.greets("›", codexQuestions...)
}
