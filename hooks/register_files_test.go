package hooks

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
)

func TestSettingsFile(t *testing.T) {
	for _, c := range []struct {
		agent     Agent
		env       map[string]string
		files     map[string]string
		want      string
		installed bool
	}{
		{Claude, nil, nil, "/h/.claude/settings.json", false},
		{Claude, nil, map[string]string{"/h/.claude": ""}, "/h/.claude/settings.json", true},
		{Claude, map[string]string{"CLAUDE_CONFIG_DIR": "/c"}, map[string]string{"/h/.claude": ""}, "/c/settings.json", false},
		{Codex, map[string]string{"CODEX_HOME": "/c x"}, map[string]string{"/c x": ""}, "/c x/hooks.json", true},
		{Codex, nil, nil, "/h/.codex/hooks.json", false},
		{Gemini, map[string]string{"GEMINI_CLI_HOME": "/g"}, map[string]string{"/g/.gemini": ""}, "/g/.gemini/settings.json", true},
		{Gemini, nil, nil, "/h/.gemini/settings.json", false},
		{Droid, nil, map[string]string{"/h/.factory": ""}, "/h/.factory/settings.json", true},
		{Droid, map[string]string{"FACTORY_HOME_OVERRIDE": "/f"}, nil, "/f/.factory/settings.json", false},
		{Droid, nil, map[string]string{"/h/.factory/hooks.json": `{"Stop": []}`}, "/h/.factory/hooks.json", false},
		{Droid, nil, map[string]string{"/h/.factory/hooks.json": `{"showHookOutput": true}`}, "/h/.factory/settings.json", false},
		{Droid, nil, map[string]string{"/h/.factory/hooks.json": `{"hooks": {"Stop": []}}`}, "/h/.factory/settings.json", false},
		{Droid, nil, map[string]string{"/h/.factory/hooks.json": `{"Stop": [`}, "/h/.factory/settings.json", false},
		{Droid, nil, map[string]string{"/h/.factory/hooks.json": "unreadable"}, "/h/.factory/settings.json", false},
		{Droid, nil, map[string]string{"/h/.factory/hooks/hooks.json": `{"Stop": []}`}, "/h/.factory/hooks/hooks.json", false},
		{
			Droid, nil,
			map[string]string{"/h/.factory/settings.json": "{}", "/h/.factory/hooks.json": `{"Stop": []}`},
			"/h/.factory/hooks.json", false,
		},
		{
			Droid, nil,
			map[string]string{"/h/.factory/hooks.json": "{}", "/h/.factory/hooks/hooks.json": `{"Stop": []}`},
			"/h/.factory/settings.json", false,
		},
		{Agent("other"), nil, nil, "", false},
	} {
		path, installed := SettingsFile(c.agent, func(k string) string { return c.env[k] }, "/h",
			func(p string) bool { _, ok := c.files[filepath.ToSlash(p)]; return ok },
			func(p string) ([]byte, error) {
				if b := c.files[filepath.ToSlash(p)]; b != "unreadable" {
					return []byte(b), nil
				}
				return nil, errors.New("permission denied")
			})
		if filepath.ToSlash(path) != c.want || installed != c.installed {
			t.Errorf("%s %v %v: %s, %v", c.agent, c.env, c.files, path, installed)
		}
	}
}

func TestCodexTrusted(t *testing.T) {
	const path = "/h/.codex/hooks.json"
	file, err := Register(Codex, readFile(t, "testdata/settings/codex-description.before"), wantHooks(Codex))
	if err != nil {
		t.Fatal(err)
	}
	record := func(format, event string, i int, rest string) string {
		return fmt.Sprintf("[hooks.state."+format+"]\n%s\n", fmt.Sprintf("%s:%s:%d:0", path, event, i), rest)
	}
	const hash = `trusted_hash = "sha256:00ff"`
	two := "model = \"x\"\n[hooks.state]\n" + record("%q", "user_prompt_submit", 0, hash) + record("'%s'", "post_tool_use", 0,
		"enabled = true\r\n"+hash)
	for name, c := range map[string]struct {
		toml    string
		trusted bool
	}{
		"none":         {"", false},
		"two of three": {two, false},
		"all":          {two + record("%q", "stop", 1, hash) + "[other]\nenabled = false\n", true},
		"other index":  {two + record("%q", "stop", 0, hash), false},
		"no hash":      {two + record("%q", "stop", 1, `enabled = true`), false},
		"off":          {two + record("%q", "stop", 1, hash+"\nenabled = false"), false},
		"in a string":  {two + "x = '''\n" + record("%q", "stop", 1, hash) + "'''\n", false},
		"comment":      {two + "# " + record("%q", "stop", 1, hash), false},
		"odd header":   {two + "[hooks.state.\"\n[hooks.state.\n", false},
	} {
		if trusted, known := CodexTrusted([]byte(c.toml), path, file); trusted != c.trusted || !known {
			t.Errorf("%s: %v, %v", name, trusted, known)
		}
	}
	for _, b := range []string{"", "{", `{"hooks": {}}`} {
		if trusted, known := CodexTrusted([]byte(two), path, []byte(b)); trusted || known {
			t.Errorf("%q: %v, %v", b, trusted, known)
		}
	}
}

// The tables of Codex's trust in any form in which they are written; what stands in a text of several lines is none.
func TestHookStates(t *testing.T) {
	type states = map[string]hookState
	for text, want := range map[string]states{
		"":                                   {},
		"enabled = false\n":                  {},
		"[hooks.state]\nenabled = false\n":   {},
		"[hooks.state.a]\nenabled = false\n": {},
		"[hooks.state.\"a\"]\n[b]\nenabled = false\n":                      {},
		"[hooks.state.\"a\"]\ntrusted_hash = \"sha256:1\"\n":               {"a": {hash: true}},
		"[hooks.state.'a']\n trusted_hash='sha256:1'\n":                    {"a": {hash: true}},
		"[hooks.state.\"a\\\"b\"]\nenabled = false\nno value\n":            {`a"b`: {off: true}},
		"[hooks.state.\"a\"]\ntrusted_hash = \"sha1:1\"\nenabled = true\n": {"a": {}},
		"[hooks.state.\"a\"]\ntrusted_hash = \"sha256:1\"\n[hooks.state.\"b\"]\nenabled = false\n": {
			"a": {hash: true}, "b": {off: true},
		},
		"[hooks.state.\"a\"]\nx = \"\"\"one\"\"\"\nenabled = false\n":     {"a": {off: true}},
		"[hooks.state.\"a\"]\nx = \"\"\"\nenabled = false\n\"\"\"\n":      {"a": {}},
		"[hooks.state.\"a\"]\nx = \"\"\"\n'''\n\"\"\"\nenabled = false\n": {"a": {off: true}},
		"[hooks.state.\"a\"]\nx = '''\n\"\"\"\n'''\nenabled = false\n":    {"a": {off: true}},
	} {
		if got := hookStates(text); !maps.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	for event, want := range map[string]string{"SessionStart": "session_start", "Stop": "stop", "stopNow": "stop_now"} {
		if got := snake(event); got != want {
			t.Errorf("%s: %s, want %s", event, got, want)
		}
	}
}
