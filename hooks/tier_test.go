package hooks

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTiers(t *testing.T) {
	want := map[string]Runtime{
		"minimal":    {AntiSpam{false, 0}, Significance{true, 50}},
		"balanced":   {AntiSpam{true, 30}, Significance{true, 50}},
		"aggressive": {AntiSpam{true, 15}, Significance{true, 50}},
	}
	files, err := tierFiles.ReadDir("tiers")
	if err != nil || len(files) != len(want) || len(Tiers()) != len(want) || !slices.Contains(Tiers(), DefaultTier) {
		t.Fatalf("%d files, tiers %v, %v", len(files), Tiers(), err)
	}
	for _, name := range Tiers() {
		tier, err := LoadTier(name)
		if err != nil || tier.Name != name || tier.Description == "" || tier.Runtime != want[name] {
			t.Errorf("%s: %+v, %v", name, tier, err)
		}
		file, err := tierFiles.ReadFile("tiers/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(file))
		d.DisallowUnknownFields()
		if err := d.Decode(&Tier{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTierHooks holds the registered events against what is promised of each tier, and against what agents know: one
// unknown event switches off all hooks of an old Claude Code.
func TestTierHooks(t *testing.T) {
	session := map[Agent]string{
		Claude: "SessionStart UserPromptSubmit Stop SessionEnd",
		Codex:  "SessionStart UserPromptSubmit Stop Interrupt SessionEnd",
		Gemini: "SessionStart BeforeAgent AfterAgent SessionEnd",
		Droid:  "SessionStart UserPromptSubmit Stop SessionEnd",
	}
	tools := map[Agent]string{
		Claude: "PreToolUse PostToolUse SubagentStop",
		Codex:  "PreToolUse PostToolUse",
		Gemini: "BeforeTool AfterTool",
		Droid:  "PreToolUse PostToolUse SubagentStop",
	}
	more := map[Agent]string{
		Claude: "PreCompact",
		Codex:  "SubagentStart SubagentStop PreCompact",
		Droid:  "PreCompact",
	}
	for _, name := range Tiers() {
		tier, err := LoadTier(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(tier.Hooks) != 4 {
			t.Errorf("%s: hooks of %d agents", name, len(tier.Hooks))
		}
		for agent, list := range tier.Hooks {
			want := strings.Fields(session[agent])
			if name != "minimal" {
				want = append(want, strings.Fields(tools[agent])...)
			}
			if name == "aggressive" {
				want = append(want, strings.Fields(more[agent])...)
			}
			var got []string
			for _, h := range list {
				got = append(got, h.Event)
				kind, known := kindOf(agent, h.Event)
				if !known || kind == Other || words[h.Command] != kind {
					t.Errorf("%s %s %s: %s, known %v, its word %q is %s", name, agent, h.Event, kind, known, h.Command, words[h.Command])
				}
				timeout, matcher := 5, ""
				switch {
				case agent == Gemini:
					timeout = 5000
				case agent == Codex && (h.Event == "SessionEnd" || h.Event == "Interrupt"):
					timeout = 3
				}
				if (agent == Claude || agent == Droid) && (kind == BeforeTool || kind == AfterTool) {
					matcher = "*"
				}
				if h.Timeout != timeout || h.Matcher != matcher {
					t.Errorf("%s %s %s: timeout %d, matcher %q, want %d, %q", name, agent, h.Event, h.Timeout, h.Matcher, timeout, matcher)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %v, want %v", name, agent, got, want)
			}
		}
	}
}

func TestTierOverrides(t *testing.T) {
	base, err := LoadTier("balanced")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		overrides []string
		want      Runtime
	}{
		"none":         {nil, base.Runtime},
		"empty":        {[]string{"", `{}`, `null`, `{"balanced":{}}`, `{"balanced":{"runtime":{}}}`}, base.Runtime},
		"another tier": {[]string{`{"minimal":{"nonsense":1},"mine":7}`}, base.Runtime},
		"one key": {
			[]string{`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":60}}}}`},
			Runtime{AntiSpam{true, 60}, Significance{true, 50}},
		},
		"in order": {[]string{
			`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":60},"significance":{"enabled":false}}}}`,
			`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":0,"enabled":false},"significance":{"minChangeSize":2147483647}}}}`,
		}, Runtime{AntiSpam{false, 0}, Significance{false, 2147483647}}},
	} {
		var overrides [][]byte
		for _, o := range c.overrides {
			overrides = append(overrides, []byte(o))
		}
		got, err := LoadTier("balanced", overrides...)
		if err != nil || got.Runtime != c.want || !reflect.DeepEqual(got.Hooks, base.Hooks) {
			t.Errorf("%s: %+v, %v, want %+v", name, got.Runtime, err, c.want)
		}
	}
}

func TestTierRefusals(t *testing.T) {
	for override, want := range map[string]string{
		`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":-1}}}}`:        `tiers.balanced.runtime.antiSpam.minIntervalSeconds: -1: valid are whole numbers from 0 to 2147483647`,
		`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":1.5}}}}`:       `tiers.balanced.runtime.antiSpam.minIntervalSeconds: 1.5: valid are whole numbers from 0 to 2147483647`,
		`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":1e3}}}}`:       `tiers.balanced.runtime.antiSpam.minIntervalSeconds: 1e3: valid are whole numbers from 0 to 2147483647`,
		`{"balanced":{"runtime":{"antiSpam":{"minIntervalSeconds":"30"}}}}`:      `tiers.balanced.runtime.antiSpam.minIntervalSeconds: "30": valid are whole numbers from 0 to 2147483647`,
		`{"balanced":{"runtime":{"significance":{"minChangeSize":2147483648}}}}`: `tiers.balanced.runtime.significance.minChangeSize: 2147483648: valid are whole numbers from 0 to 2147483647`,
		`{"balanced":{"runtime":{"significance":{"enabled":"yes"}}}}`:            `tiers.balanced.runtime.significance.enabled: "yes": valid are true and false`,
		`{"balanced":{"runtime":{"significance":{"enabled":null}}}}`:             `tiers.balanced.runtime.significance.enabled: null: valid are true and false`,
		`{"balanced":{"runtime":{"antiSpam":{"minintervalseconds":1}}}}`:         `tiers.balanced.runtime.antiSpam.minintervalseconds: unknown key: valid are enabled, minIntervalSeconds`,
		`{"balanced":{"runtime":{"spam":{}}}}`:                                   `tiers.balanced.runtime.spam: unknown key: valid are antiSpam, significance`,
		`{"balanced":{"hooks":{"claude":[{"event":"Nonsense"}]}}}`:               `tiers.balanced.hooks: unknown key: valid are runtime`,
		`{"balanced":{"runtime":7}}`:                                             `tiers.balanced.runtime: wants an object with antiSpam, significance`,
		`{"balanced":null}`:                                                      `tiers.balanced: wants an object with runtime`,
	} {
		got, err := LoadTier("balanced", []byte(`{}`), []byte(override))
		if err == nil || err.Error() != "hooks: load tier balanced: "+want || got.Name != "" {
			t.Errorf("%s: %v, want %s", override, err, want)
		}
	}
	if _, err := LoadTier("balanced", []byte(`[]`)); err == nil || !strings.Contains(err.Error(), "tiers: wants an object") {
		t.Errorf("an array: %v", err)
	}
	if _, err := LoadTier("../x"); err == nil || err.Error() != `hooks: load tier "../x": valid are minimal, balanced, aggressive` {
		t.Errorf("an unknown tier: %v", err)
	}
}

func FuzzTierOverride(f *testing.F) {
	f.Add(
		[]byte(
			`{"balanced":{"runtime":{"antiSpam":{"enabled":true,"minIntervalSeconds":1},"significance":{"enabled":true,"minChangeSize":1}}}}`))
	f.Fuzz(func(t *testing.T, override []byte) {
		tier, err := LoadTier("balanced", override)
		if r := tier.Runtime; (err == nil) != (tier.Name == "balanced") || r.AntiSpam.MinIntervalSeconds < 0 ||
			r.Significance.MinChangeSize < 0 {
			t.Errorf("%+v, %v", tier, err)
		}
	})
}

func TestTierAsks(t *testing.T) {
	for _, c := range []struct {
		tier  string
		agent Agent
		kind  Kind
		want  bool
	}{
		{"minimal", Claude, AfterTool, false},
		{"minimal", Claude, Prompt, true},
		{"minimal", Gemini, BeforeTool, false},
		{"minimal", Codex, Stop, true},
		{"balanced", Claude, AfterTool, true},
		{"balanced", Claude, Compact, false},
		{"aggressive", Claude, Compact, true},
		{"minimal", "opencode", AfterTool, true},
		{"minimal", "", AfterTool, true},
	} {
		tier, err := LoadTier(c.tier)
		if err != nil || tier.Asks(c.agent, c.kind) != c.want {
			t.Errorf("%s asks for %v of %q: want %v, %v", c.tier, c.kind, c.agent, c.want, err)
		}
	}
	if !(Tier{}).Asks(Claude, AfterTool) {
		t.Error("no tier at all asks for nothing")
	}
}
