package hooks

import (
	"bytes"
	cli "flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateSettings = cli.Bool("update-settings", false, "write testdata/settings/*.after")

const testBin = "/home/x/.rewind/system/smart-checkpoint"

// wantHooks is a small set of hooks for an agent: one event with a matcher, one without, one for tools.
func wantHooks(agent Agent) []Registration {
	first, tool, last, unit := "UserPromptSubmit", "PostToolUse", "Stop", 1
	if agent == Gemini {
		first, tool, last, unit = "BeforeAgent", "AfterTool", "AfterAgent", 1000
	}
	return []Registration{
		{first, "", HookCommand(testBin, "prompt", agent), 5 * unit},
		{tool, "*", HookCommand(testBin, "after-tool", agent), 5 * unit},
		{last, "", HookCommand(testBin, "stop", agent), 10 * unit},
	}
}

// Each testdata/settings/<agent>-<case>.before becomes .after, and .before again.
func TestSettingsGolden(t *testing.T) {
	before, err := filepath.Glob("testdata/settings/*.before")
	if err != nil || len(before) < 20 {
		t.Fatalf("%d files, %v", len(before), err)
	}
	for _, path := range before {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".before"), func(t *testing.T) {
			word, _, _ := strings.Cut(filepath.Base(path), "-")
			agent := Agent(word)
			file := readFile(t, path)
			after := strings.TrimSuffix(path, ".before") + ".after"
			got, err := Register(agent, file, wantHooks(agent))
			if err != nil {
				t.Fatal(err)
			}
			if *updateSettings {
				if err := os.WriteFile(after, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := readFile(t, after); !bytes.Equal(got, want) {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			checkRegistered(t, agent, file, got, wantHooks(agent))
		})
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSettingsRefused(t *testing.T) {
	stop := []Registration{{"Stop", "", HookCommand(testBin, "stop", Claude), 5}}
	for _, c := range []struct{ file, want string }{
		{`[]`, `line 1, column 1: the file is an array, expected an object`},
		{"\n  \"x\"", `line 2, column 3: the file is a string, expected an object`},
		{`{"hooks": []}`, `line 1, column 11: "hooks" is an array, expected an object`},
		{`{"hooks": null}`, `"hooks" is null, expected an object`},
		{`{"hooks": {"Stop": {}}}`, `line 1, column 20: "Stop" is an object, expected an array`},
		{"{\n\t\"hooks\": {\n\t\t\"Stop\": true}}", `line 3, column 11: "Stop" is true, expected an array`},
		{`{"hooks": {"Stop": [1]}}`, `a matcher group of Stop is a number, expected an object`},
		{`{"hooks": {"Stop": [{}]}}`, `"hooks" of a matcher group of Stop is null, expected an array`},
		{`{"hooks": {"Stop": [{"hooks": {}}]}}`, `"hooks" of a matcher group of Stop is an object, expected an array`},
		{`{"hooks": {"Stop": [{"hooks": ["x"]}]}}`, `a hook of Stop is a string, expected an object`},
		{"{\"hooks\": {},\n \"hooks\": {}}", `line 2, column 2: "hooks" is there twice`},
		{`{"hooks": {}, "h\u006foks": {}}`, `line 1, column 15: "hooks" is there twice`},
		{`{"hooks": {"Stop": [], "Stop": []}}`, `column 24: "Stop" is there twice`},
		{`{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}`, `"hooks" is there twice`},
		{`{"hooks": {"Stop": [{"hooks": [{"command": "a", "command": "b"}]}]}}`, `"command" is there twice`},
		{`{"a": 1`, `line 1, column 8: `},
		{"{\n  \"a\": tru\n}", `line 2, column 8: `},
		{`{"a": 1} x`, `line 1, column 10: `},
		{strings.Repeat("[", 1001), `line 1, column 1001: nested deeper than 1000`},
		{strings.Repeat(`{"a":`, 1<<20), `nested deeper than 1000`},
		{`{"a": /* `, `line 1, column `},
		{"\x00", `line 1, column 1: `},
	} {
		got, err := Register(Claude, []byte(c.file), stop)
		if err == nil || got != nil || !strings.HasPrefix(err.Error(), "hooks: settings: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %q, %v; want the error %q", c.file, got, err, c.want)
		}
	}
	for _, c := range []Registration{{"Stop", "", "/x/other", 1}, {"Stop", "", "/\xff/smart-checkpoint", 1}} {
		if got, err := Register(Claude, nil, []Registration{c}); err == nil {
			t.Errorf("%q: %q", c.Command, got)
		}
	}
}

// What is no event, and events in which nothing is wanted, may have any shape.
func TestSettingsForeignShapes(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		file  string
	}{
		{Gemini, `{"hooks": {"enabled": true, "disabled": ["x"], "notifications": {"a": 1}}}`},
		{Droid, `{"hooks": {"hooksDisabled": false, "Notification": "odd"}}`},
		{Claude, `{"a": 1, "a": 2, "deep": ` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`},
		{Claude, `{"mcp": {"hooks": {"Stop": 7}}, "hooks": {"Other": [1, {"hooks": 3}, {"hooks": [4]}]}}`},
		{Claude, "{} // the end"},
		{Claude, "{\"a\": \"\xff\"}"},
	} {
		got, err := Register(c.agent, []byte(c.file), wantHooks(c.agent))
		if err != nil {
			t.Errorf("%.60s: %v", c.file, err)
			continue
		}
		checkRegistered(t, c.agent, []byte(c.file), got, wantHooks(c.agent))
	}
}

func TestIsOurs(t *testing.T) {
	for command, want := range map[string]bool{
		testBin: true, HookCommand(testBin, "stop", Claude): true, "smart-checkpoint stop": true, "'smart-checkpoint' stop": true,
		`"C:\Users\x y\smart-checkpoint.exe" stop`: true, "env A=1 ~/.rewind/system/smart-checkpoint stop": true,
		HookCommand("/home/o'neil $x/smart-checkpoint", "stop", Codex): true,
		"/src/smart-checkpoint/lint.sh":                                false,
		"/bin/smart-checkpoints":                                       false,
		"/bin/not-smart-checkpoint":                                    false,
		"echo smart-checkpoint":                                        false,
		"":                                                             false,
		"/src/smart-checkpoint/bin/smart-checkpoint stop":              true,
		"cd /src/smart-checkpoint-x && ./smart-checkpoint.sh":          false,
	} {
		if isOurs(command) != want {
			t.Errorf("%q: %v", command, !want)
		}
	}
}

func TestSettingsLarge(t *testing.T) {
	file := []byte(`{"big": [` + strings.Repeat("\n  {\"k\": \""+strings.Repeat("value // ", 30)+"\", \"n\": [1, 2, 3]},",
		36_000) + "\n  0],\n  // note\n  \"hooks\": {}\n}\n")
	if len(file) < 10<<20 {
		t.Fatal(len(file))
	}
	got, err := Register(Claude, file, wantHooks(Claude))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Unregister(Claude, got, file); err != nil || !bytes.Equal(back, file) {
		t.Fatal("not the same again", err)
	}
}

// checkRegistered holds what Register and Unregister promise for a file in which nothing is ours.
func checkRegistered(t interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, agent Agent, before, after []byte, want []Registration,
) {
	t.Helper()
	found, err := Registered(agent, after)
	if err != nil || !sameSet(found, want) {
		t.Fatalf("registered %v, %v; want %v\n%s", found, err, want, after)
	}
	again, err := Register(agent, after, want)
	if err != nil || !bytes.Equal(again, after) {
		t.Errorf("a second time: %v\n%s\nfirst\n%s", err, again, after)
	}
	if ours, err := Registered(agent, before); err != nil || len(ours) > 0 {
		return
	}
	back, err := Unregister(agent, after, before)
	if err != nil || !bytes.Equal(back, before) {
		t.Errorf("back: %v\n%q\nwant\n%q", err, back, before)
	}
	if len(before) > 0 && back == nil {
		t.Errorf("the file would go")
	}
}

func sameSet(a, b []Registration) bool {
	b = slices.Clone(b)
	for _, r := range a {
		i := slices.Index(b, r)
		if i < 0 {
			return false
		}
		b = slices.Delete(b, i, i+1)
	}
	return len(b) == 0
}
