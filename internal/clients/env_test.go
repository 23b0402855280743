package clients

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewind/internal/value"
	"rewind/transcript"
)

func TestRoot(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	other := filepath.Join(t.TempDir(), "other")
	tests := []struct {
		agent transcript.Agent
		vars  map[string]value.Text
		want  string
	}{
		{transcript.Claude, nil, filepath.Join(home, ".claude")},
		{transcript.Claude, map[string]value.Text{"CLAUDE_CONFIG_DIR": value.Text(other)}, other},
		{transcript.Codex, nil, filepath.Join(home, ".codex")},
		{transcript.Codex, map[string]value.Text{"CODEX_HOME": value.Text(other), "CLAUDE_CONFIG_DIR": "/else"}, other},
		{transcript.Gemini, nil, filepath.Join(home, ".gemini")},
		{
			transcript.Gemini,
			map[string]value.Text{"GEMINI_CLI_HOME": value.Text(other)},
			filepath.Join(other, ".gemini"),
		},
		{transcript.Droid, nil, filepath.Join(home, ".factory")},
		{
			transcript.Droid,
			map[string]value.Text{"FACTORY_HOME_OVERRIDE": value.Text(other)},
			filepath.Join(other, ".factory"),
		},
		{"nobody", nil, ""},
	}
	for _, tt := range tests {
		if got := Root(value.AgentEnv{Home: value.Text(home), Vars: tt.vars}, tt.agent); got != tt.want {
			t.Errorf("Root(%s) with %v = %q, want %q", tt.agent, tt.vars, got, tt.want)
		}
	}
}

func TestProgram(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	put(t, filepath.Join(a, "codex"), "no program")
	if err := os.Mkdir(filepath.Join(b, "claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := put(t, filepath.Join(b, "codex"), "#!/bin/sh\n")
	if err := os.Chmod(want, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(b)
	env := value.AgentEnv{Path: value.Text(".:" + a + "::" + b)}
	if got := program(env, "codex"); got != want {
		t.Errorf("program(codex) = %q, want %q", got, want)
	}
	if got := program(env, "claude"); got != "" {
		t.Errorf("program(claude) = %q, which is a directory", got)
	}
	if got := program(value.AgentEnv{Path: "."}, "codex"); got != "" {
		t.Errorf("program(codex) = %q, of a relative directory", got)
	}
}

// TestEnviron holds that a program of the person's gets nothing of what this process has.
func TestEnviron(t *testing.T) {
	t.Setenv("REWIND_SECRET", "x")
	t.Setenv("LANG", "C.UTF-8")
	env := environ(value.AgentEnv{Home: "/home/dev", Path: "/bin", Vars: map[string]value.Text{"CODEX_HOME": "/old"}},
		"CODEX_HOME=/new")
	if slices.Contains(env, "REWIND_SECRET=x") || !slices.Contains(env, "LANG=C.UTF-8") ||
		!slices.Contains(env, "HOME=/home/dev") ||
		env[len(env)-1] != "CODEX_HOME=/new" {
		t.Errorf("environment %q", env)
	}
}
