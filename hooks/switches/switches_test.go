package switches

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"rewind/internal/value"
)

// disk is files by their paths; a text that begins with "error:" cannot be read.
type disk map[string]string

func (d disk) Read(name string) ([]byte, error) {
	text, ok := d[name]
	switch {
	case !ok:
		return nil, nil
	case strings.HasPrefix(text, "error:"):
		return nil, errors.New(text)
	}
	return []byte(text), nil
}

func (d disk) List(dir string) (out []string) {
	for name := range d {
		if path.Dir(name) == dir {
			out = append(out, path.Base(name))
		}
	}
	return out
}

const command = "'/h/.rewind/system/smart-checkpoint' stop --agent gemini"

// told is a verdict in a line.
func told(v Verdict) string {
	show := func(word string, s *Switch) string {
		if s == nil {
			return ""
		}
		return fmt.Sprintf("%s %s=%s %s:%d ", word, s.Setting, s.Value, s.File, s.Line)
	}
	out := show("off", v.Off) + show("some", v.Some)
	for _, u := range v.Unread {
		out += "unread " + u.File + " "
	}
	if out == "" {
		return "on"
	}
	return strings.TrimSpace(out)
}

func at(agent value.Agent, files disk, vars map[string]string) Verdict {
	dir := map[value.Agent]string{
		value.Claude: "/h/.claude", value.Codex: "/h/.codex", value.Gemini: "/h/.gemini", value.Droid: "/h/.factory",
	}
	p := Places{Var: func(name string) string { return vars[name] }, Dir: dir[agent], Project: "/p"}
	return Look(agent, p, files, []string{command})
}

type example struct {
	name  string
	files disk
	want  string
}

func check(t *testing.T, agent value.Agent, list []example) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			if got := told(at(agent, c.files, nil)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// Every line of this and of the next three was tried with the real program (docs/hooks.md); which it was is said there.
func TestClaude(t *testing.T) {
	const user, project, local = "/h/.claude/settings.json", "/p/.claude/settings.json",
		"/p/.claude/settings.local.json"
	const managed, more = "/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/"
	const on, off = `{"disableAllHooks":false}`, `{"disableAllHooks":true}`
	check(t, value.Claude, []example{
		{"nothing", disk{}, "on"},
		{
			"user", disk{user: "{\n  \"x\": [1],\n  \"disableAllHooks\": true\n}"}, "off disableAllHooks=true " +
				user + ":3",
		},
		{"user true, project false", disk{user: off, project: on}, "on"},
		{"user false, project true", disk{user: on, project: off}, "off disableAllHooks=true " + project + ":1"},
		{"local", disk{local: off}, "off disableAllHooks=true " + local + ":1"},
		{"local false, project true", disk{local: on, project: off}, "on"},
		{"machine", disk{managed: off, local: on}, "off disableAllHooks=true " + managed + ":1"},
		{"machine false, project true", disk{managed: on, project: off}, "on"},
		{"machine's folder", disk{more + "10-a.json": off}, "off disableAllHooks=true " + more + "10-a.json:1"},
		{"machine's folder takes back", disk{managed: off, more + "10-a.json": on}, "on"},
		{"the later name counts", disk{more + "10-a.json": off, more + "20-a.json": on}, "on"},
		{"hidden, or no json", disk{more + ".a.json": off, more + "a.json.bak": off}, "on"},
		{"only the machine's hooks", disk{managed: `{"allowManagedHooksOnly":true}`}, "off allowManagedHooksOnly=true " + managed + ":1"},
		{"taken back", disk{managed: `{"allowManagedHooksOnly":true}`, more + "1.json": `{"allowManagedHooksOnly":false}`}, "on"},
		{"in a project that says nothing", disk{project: `{"allowManagedHooksOnly":true}`}, "on"},
		{
			"only hooks of plugins",
			disk{managed: "{\"strictPluginOnlyCustomization\":[\n\"hooks\"]}"},
			`off strictPluginOnlyCustomization="hooks" ` + managed + ":2",
		},
		{"only agents of plugins", disk{managed: `{"strictPluginOnlyCustomization":["agents"]}`}, "on"},
		{"all of plugins", disk{managed: `{"strictPluginOnlyCustomization":true}`}, "off strictPluginOnlyCustomization=true " + managed + ":1"},
		{"broken", disk{project: `{"disableAllHooks":true,`}, "on"},
		{"comment", disk{project: "// x\n" + off}, "on"},
		{"comma", disk{project: `{"disableAllHooks":true,}`}, "on"},
		{"byte order mark", disk{project: "\xef\xbb\xbf" + off}, "off disableAllHooks=true " + project + ":1"},
		{"string", disk{project: `{"disableAllHooks":"true"}`}, "on"},
		{"string, user true", disk{project: `{"disableAllHooks":"false"}`, user: off}, "off disableAllHooks=true " + user + ":1"},
		{"null, user true", disk{project: `{"disableAllHooks":null}`, user: off}, "off disableAllHooks=true " + user + ":1"},
		{"twice", disk{project: `{"disableAllHooks":false,"disableAllHooks":true}`}, "off disableAllHooks=true " + project + ":1"},
		{"twice, other way", disk{project: `{"disableAllHooks":true,"disableAllHooks":false}`}, "on"},
		{"spelled with escapes", disk{project: `{"disable\u0041llHooks":true}`}, "off disableAllHooks=true " + project + ":1"},
		{"below another key", disk{project: `{"env":{"disableAllHooks":true}}`}, "on"},
		{"no object", disk{project: `[true]`}, "on"},
		{
			"cannot be read", disk{project: "error: no", user: off}, "off disableAllHooks=true " + user + ":1 unread " +
				project,
		},
		{"empty", disk{project: ""}, "on"},
	})
	v := Look(value.Claude, Places{
		Var: func(string) string { return "" }, Dir: "/h/.claude", Darwin: true,
	}, disk{"/Library/Application Support/ClaudeCode/managed-settings.json": off}, nil)
	if v.Off == nil || v.Off.Layer != Machine {
		t.Errorf("macOS: %+v", v)
	}
}

func TestCodex(t *testing.T) {
	const user, project, system = "/h/.codex/config.toml", "/p/.codex/config.toml", "/etc/codex/config.toml"
	const managed, required = "/etc/codex/managed_config.toml", "/etc/codex/requirements.toml"
	const on, off = "[features]\nhooks = true\n", "[features]\nhooks = false\n"
	const trusted = "[projects.\"/p\"]\ntrust_level = \"trusted\"\n"
	check(t, value.Codex, []example{
		{"user", disk{user: "model = \"x\"\n\n" + off}, "off features.hooks=false " + user + ":4"},
		{"dotted", disk{user: "features.hooks = false\n"}, "off features.hooks=false " + user + ":1"},
		{
			"in one line", disk{user: "a = 1\nfeatures = { x = true, hooks = false }\n"}, "off features.hooks=false " +
				user + ":2",
		},
		{"quoted", disk{user: "[ \"features\" ]\n\"hooks\" = false\n"}, "off features.hooks=false " + user + ":2"},
		{"old name", disk{user: "[features]\ncodex_hooks = false\n"}, "off features.codex_hooks=false " + user + ":2"},
		{"both names", disk{user: "[features]\ncodex_hooks = false\nhooks = true\n"}, "on"},
		{"another table", disk{user: "[other]\nhooks = false\n"}, "on"},
		{"project", disk{user: trusted, project: off}, "off features.hooks=false " + project + ":2"},
		{"project that nobody trusts", disk{user: "model = \"x\"\n", project: off}, "on"},
		{
			"project that is not trusted",
			disk{user: strings.Replace(trusted, "trusted\"\n", "untrusted\"\n", 1), project: off},
			"on",
		},
		{"user false, project true", disk{user: off + trusted, project: on}, "on"},
		{"system", disk{system: off}, "off features.hooks=false " + system + ":2"},
		{"system false, user true", disk{system: off, user: on}, "on"},
		{"managed false, user true", disk{managed: off, user: on}, "off features.hooks=false " + managed + ":2"},
		{"required false", disk{required: off, user: on}, "off features.hooks=false " + required + ":2"},
		{"required true", disk{required: on, user: off}, "on"},
		{
			"required, other table",
			disk{required: "[feature_requirements]\nhooks = false\n"},
			"off feature_requirements.hooks=false " + required + ":2",
		},
		{
			"only the machine's hooks",
			disk{required: "allow_managed_hooks_only = true\n"},
			"off allow_managed_hooks_only=true " + required + ":1",
		},
		{"string", disk{user: "[features]\nhooks = \"false\"\n"}, "on"},
		{"broken", disk{user: off + "x"}, "on"},
		{"features is no table", disk{user: "features = 3\n"}, "on"},
	})
}

func TestGemini(t *testing.T) {
	const user, project = "/h/.gemini/settings.json", "/p/.gemini/settings.json"
	const system, defaults = "/etc/gemini-cli/settings.json", "/etc/gemini-cli/system-defaults.json"
	const on, off = `{"hooksConfig":{"enabled":true}}`, `{"hooksConfig":{"enabled":false}}`
	check(t, value.Gemini, []example{
		{"user", disk{user: off}, "off hooksConfig.enabled=false " + user + ":1"},
		{"project", disk{project: off}, "off hooksConfig.enabled=false " + project + ":1"},
		{"user false, project true", disk{user: off, project: on}, "on"},
		{"system false, user true", disk{user: on, system: off}, "off hooksConfig.enabled=false " + system + ":1"},
		{"defaults", disk{defaults: off}, "off hooksConfig.enabled=false " + defaults + ":1"},
		{"defaults false, user true", disk{defaults: off, user: on}, "on"},
		{
			"comments",
			disk{project: "// c\n{\"hooksConfig\": {\n/* x\n*/ \"enabled\": false } }"},
			"off hooksConfig.enabled=false " + project + ":4",
		},
		{
			"a comment in a string",
			disk{project: `{"a":"/*","hooksConfig":{"enabled":false},"b":"*/ // \""}`},
			"off hooksConfig.enabled=false " + project + ":1",
		},
		{"comma", disk{project: `{"hooksConfig":{"enabled":false},}`}, "on"},
		{"string", disk{project: `{"hooksConfig":{"enabled":"false"}}`}, "off hooksConfig.enabled=false " + project + ":1"},
		{"null", disk{project: `{"hooksConfig":{"enabled":null}}`}, "on"},
		{"twice", disk{project: `{"hooksConfig":{"enabled":false,"enabled":true}}`}, "on"},
		{"the old place", disk{project: `{"hooks":{"enabled":false}}`}, "on"},
		{"of 0.26", disk{user: `{"tools":{"enableHooks":false}}`}, "off tools.enableHooks=false " + user + ":1"},
		{
			"a hook of ours by its command",
			disk{project: `{"hooksConfig":{"disabled":["x","` + command + `"]}}`},
			`some hooksConfig.disabled="` + command + `" ` + project + ":1",
		},
		{"a hook of others", disk{project: `{"hooksConfig":{"disabled":["x",3]}}`}, "on"},
		{"a folder that is not trusted", disk{project: off, "/h/.gemini/trustedFolders.json": `{"/p":"DO_NOT_TRUST"}`}, "on"},
		{
			"a folder that is trusted",
			disk{project: off, "/h/.gemini/trustedFolders.json": `{"/p":"TRUST_FOLDER"}`},
			"off hooksConfig.enabled=false " + project + ":1",
		},
	})
	v := at(value.Gemini, disk{"/x/s.json": off}, map[string]string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/x/s.json"})
	if got, want := told(v), "off hooksConfig.enabled=false /x/s.json:1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDroid(t *testing.T) {
	const user, project, machine = "/h/.factory/settings.json", "/p/.factory/settings.json",
		"/etc/factory/settings.json"
	const userHooks, projectHooks = "/h/.factory/hooks.json", "/p/.factory/hooks.json"
	const on, off = `{"hooks":{"hooksDisabled":false}}`, `{"hooks":{"hooksDisabled":true}}`
	const on2, off2 = `{"hooksDisabled":false}`, `{"hooksDisabled":true}`
	check(t, value.Droid, []example{
		{"user", disk{user: off}, "off hooks.hooksDisabled=true " + user + ":1"},
		{"user, with comments", disk{user: "// x\n" + off}, "off hooks.hooksDisabled=true " + user + ":2"},
		{"project", disk{project: off}, "off hooks.hooksDisabled=true " + project + ":1"},
		{"project's hooks.json", disk{projectHooks: off2}, "off hooksDisabled=true " + projectHooks + ":1"},
		{
			"project's hooks/hooks.json",
			disk{"/p/.factory/hooks/hooks.json": off2},
			"off hooksDisabled=true /p/.factory/hooks/hooks.json:1",
		},
		{"of two hooks.json the outer one", disk{projectHooks: on2, "/p/.factory/hooks/hooks.json": off2}, "on"},
		{
			"local files say nothing",
			disk{"/p/.factory/settings.local.json": off, "/h/.factory/settings.local.json": off},
			"on",
		},
		{"user's hooks.json", disk{userHooks: off2}, "off hooksDisabled=true " + userHooks + ":1"},
		{"user true, project false", disk{user: off, project: on}, "on"},
		{"user false, project true", disk{user: on, project: off}, "off hooks.hooksDisabled=true " + project + ":1"},
		{"machine", disk{machine: off, project: on}, "off hooks.hooksDisabled=true " + machine + ":1"},
		{"machine false", disk{machine: on, project: off}, "on"},
		{"machine's hooks.json", disk{"/etc/factory/hooks.json": off2}, "on"},
		{"settings true, hooks.json false", disk{user: off, userHooks: on2}, "on"},
		{
			"settings false, hooks.json true", disk{user: on, userHooks: off2}, "off hooksDisabled=true " +
				userHooks + ":1",
		},
		{"settings true, hooks.json silent", disk{user: off, userHooks: `{"Stop":[]}`}, "off hooks.hooksDisabled=true " + user + ":1"},
		{"the other shape", disk{projectHooks: off}, "on"},
		{"broken", disk{project: `{"hooks":{"hooksDisabled":true},`}, "on"},
		{"comma", disk{project: `{"hooks":{"hooksDisabled":true},}`}, "on"},
		{"string", disk{project: `{"hooks":{"hooksDisabled":"true"}}`}, "on"},
	})
}

// Where the project is the person's home a file is one file, and is told once.
func TestProjectIsHome(t *testing.T) {
	p := Places{Var: func(string) string { return "" }, Dir: "/h/.claude", Project: "/h"}
	v := Look(value.Claude, p, disk{"/h/.claude/settings.json": "error: no"}, nil)
	if len(v.Unread) != 1 {
		t.Errorf("%+v", v)
	}
}

// What lies in a project may be anything.
func FuzzLook(f *testing.F) {
	for _, seed := range []string{
		`{"disableAllHooks":true}`, "// x\n{\"hooksConfig\":{\"enabled\":false}}", "[features]\nhooks = false", "{\"a\":\"\\", "/*", "//",
		"[\n=\n", "\xef\xbb\xbf{}", strings.Repeat("[", 20000), `{"hooksConfig":{"disabled":[[1]]}}`,
	} {
		f.Add(seed)
	}
	names := []string{
		"/p/.claude/settings.json", "/p/.codex/config.toml", "/p/.gemini/settings.json", "/p/.factory/settings.json",
		"/h/.codex/config.toml", "/h/.gemini/trustedFolders.json",
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := disk{}
		for _, n := range names {
			files[n] = text
		}
		for _, agent := range value.Agents() {
			v := at(agent, files, nil)
			for _, s := range []*Switch{v.Off, v.Some} {
				if s != nil && (s.Line < 0 || s.Line > 1+strings.Count(text, "\n")) {
					t.Errorf("%s: %+v", agent, s)
				}
			}
		}
	})
}
