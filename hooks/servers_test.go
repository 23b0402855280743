package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const serverProgram = "/home/a b/.rewind/system/rewind"

// TestServerGoldens: what each agent's file looks like with the server in it, and that it is gone again to the byte.
func TestServerGoldens(t *testing.T) {
	for _, c := range []struct {
		agent        Agent
		before, with string
	}{
		{Claude, "{\n  \"numStartups\": 3\n}\n", "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"rewind\": {\n" +
			"      \"type\": \"stdio\",\n      \"command\": \"" + serverProgram + "\",\n" +
			"      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"},
		{Gemini, `{"mcpServers": {}}`, `{"mcpServers": {"rewind": {"command": "` + serverProgram + `", "args": ["mcp"]}}}`},
		{
			Codex, "model = \"x\"\n", "model = \"x\"\n\n[mcp_servers.rewind]\ncommand = \"" + serverProgram +
				"\"\nargs = [\"mcp\"]\n",
		},
		{Codex, "", "[mcp_servers.rewind]\ncommand = \"" + serverProgram + "\"\nargs = [\"mcp\"]\n"},
		{
			Codex, "[a]\r\nb = 1", "[a]\r\nb = 1\r\n\r\n[mcp_servers.rewind]\r\ncommand = \"" + serverProgram +
				"\"\r\nargs = [\"mcp\"]\r\n",
		},
	} {
		got, err := RegisterServer(c.agent, []byte(c.before), serverProgram)
		if err != nil || !strings.HasPrefix(c.with, "{\"mcp") && string(got) != c.with {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.agent, err, got, c.with)
		}
		if again, err := RegisterServer(c.agent, got, serverProgram); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: registered again: %v\n%s", c.agent, err, again)
		}
		if back, err := UnregisterServer(c.agent, got, []byte(c.before)); err != nil || string(back) != c.before {
			t.Errorf("%s: taken out: %v\n%q", c.agent, err, back)
		}
		moved, err := RegisterServer(c.agent, got, "/other/rewind")
		if want := bytes.Replace(got, []byte(serverProgram), []byte("/other/rewind"), 1); err != nil ||
			!bytes.Equal(moved, want) {
			t.Errorf("%s: another program: %v\n%s", c.agent, err, moved)
		}
	}
}

// TestServerBesideChanges: what a person, or the agent, wrote since stays, and only ours goes.
func TestServerBesideChanges(t *testing.T) {
	for _, c := range []struct {
		agent              Agent
		before, with, want string
	}{
		{
			Codex, "model = \"x\"\n",
			"model = \"y\"\n\n[mcp_servers.rewind]\ncommand = \"/r/rewind\"\nargs = [\"mcp\"]\n" +
				"enabled = true\n\n[mcp_servers.rewind.tools.list]\napproval_mode = \"approve\"\n\n# mine\n[z]\na = 1\n",
			"model = \"y\"\n\n# mine\n[z]\na = 1\n",
		},
		{
			Codex, "", "a = 1\n[mcp_servers.rewind]\ncommand = \"/r/rewind\"\nargs = [\"mcp\"]\n", "a = 1\n", // no blank line between
		},
		{
			Claude, `{}`, `{"mcpServers":{"a":{"command":"x"},"rewind":{"command":"/r/rewind","args":["mcp"],"env":{"A":"b"}}},"n":1}`,
			`{"mcpServers":{"a":{"command":"x"}},"n":1}`,
		},
		{
			Droid, "", "{ // mine\n\"mcpServers\":{\"rewind\":{\"command\":\"/r/rewind\",\"args\":[\"mcp\"]}}}\n",
			"{ // mine}\n",
		},
	} {
		if p, err := RegisteredServer(c.agent, []byte(c.with)); err != nil || p != "/r/rewind" {
			t.Errorf("%s: registered is %q, %v", c.agent, p, err)
		}
		got, err := UnregisterServer(c.agent, []byte(c.with), []byte(c.before))
		if c.agent == Droid {
			if err != nil || !strings.Contains(string(got), "// mine") || strings.Contains(string(got), "rewind") {
				t.Errorf("%s: %v\n%s", c.agent, err, got)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%q\nwant\n%q", c.agent, err, got, c.want)
		}
	}
}

// One that is registered already is left as somebody has written it.
func TestServerRegisteredStays(t *testing.T) {
	file := `{"mcpServers": {"rewind": {"command": "\/r\/rewind", "args": ["mcp"]}}}`
	if got, err := RegisterServer(Claude, []byte(file), "/r/rewind"); err != nil || string(got) != file {
		t.Errorf("%s, %v", got, err)
	}
}

// TestServerRefused: another server of that name, and what cannot be understood, are left alone.
func TestServerRefused(t *testing.T) {
	for _, c := range []struct {
		agent      Agent
		file, says string
	}{
		{Claude, `{"mcpServers": {"rewind": {"command": "npx", "args": ["rewind-mcp"]}}}`, "line 1, column 27: another MCP server"},
		{Claude, `{"mcpServers": {"rewind": {"command": "/r/rewind", "args": ["mcp", "-x"]}}}`, "another MCP server"},
		{Claude, `{"mcpServers": []}`, "an object"},
		{Gemini, `{"mcpServers": {}, "mcpServers": {}}`, "twice"},
		{Codex, "[mcp_servers.rewind]\nurl = \"http://x\"\n", "another MCP server"},
		{Codex, "mcp_servers = {}\n", "mcp_servers"},
		{Codex, "a = [\n", "line"},
		{Codex, "x = 1\n\"", "line 2"},
	} {
		if got, err := RegisterServer(c.agent, []byte(c.file), serverProgram); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %s: %v\n%s", c.agent, c.file, err, got)
		}
	}
	multi := "a = '''\n[mcp_servers.rewind]\n'''\n" // only looks like it
	if got, err := RegisterServer(Codex, []byte(multi), serverProgram); err != nil ||
		!bytes.HasPrefix(got, []byte(multi)) {
		t.Errorf("%v\n%s", err, got)
	} else if _, err := unregisterTOML(got); err == nil {
		t.Error("a table within a text was cut out")
	} else if back, err := UnregisterServer(Codex, got, []byte(multi)); err != nil || string(back) != multi {
		t.Errorf("%v\n%s", err, back)
	}
}

func TestServerFile(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		env   map[string]string
		want  string
	}{
		{Claude, nil, "/h/.claude.json"},
		{Claude, map[string]string{"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"},
		{Codex, nil, "/h/.codex/config.toml"},
		{Codex, map[string]string{"CODEX_HOME": "/c"}, "/c/config.toml"},
		{Gemini, nil, "/h/.gemini/settings.json"},
		{Droid, nil, "/h/.factory/mcp.json"},
		{"amp", nil, ""},
	} {
		if got := ServerFile(c.agent, envOf(c.env), "/h"); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.agent, c.env, got, c.want)
		}
	}
	for text, want := range map[string]bool{`{"mcpServers":{"rewind":{}}}`: true, "mcp": false, "rewind": false} {
		if MentionsServer([]byte(text)) != want {
			t.Errorf("%q mentions the server: %v", text, !want)
		}
	}
}

// A program of ours is known by its name and its arguments, wherever it lies.
func TestIsServer(t *testing.T) {
	for _, c := range []struct {
		command string
		args    []string
		want    bool
	}{
		{"rewind", []string{"mcp"}, true},
		{"/r/rewind", []string{"mcp"}, true},
		{`C:\r\rewind.exe`, []string{"mcp"}, true},
		{"/rewind/other", []string{"mcp"}, false},
		{"/r/rewind-x", []string{"mcp"}, false},
		{"/r/rewind", nil, false},
		{"/r/rewind", []string{"mcp", "-x"}, false},
		{"/r/rewind", []string{"serve"}, false},
		{"", []string{"mcp"}, false},
	} {
		if isServer(c.command, c.args) != c.want {
			t.Errorf("%q %q: %v", c.command, c.args, !c.want)
		}
	}
}

// What is taken out of Codex's file is the table, those below it and the blank line in front; what stands behind it in
// comments is of the next.
func TestUnregisterTOML(t *testing.T) {
	const ours = "[mcp_servers.rewind]\ncommand = \"/r/rewind\"\nargs = [\"mcp\"]\n"
	for file, want := range map[string]string{
		ours:                                     "",
		"\n" + ours:                              "",
		ours + "\n[a]\nb = 1\n":                  "[a]\nb = 1\n",
		ours + "\n# of a\n[a]\n":                 "# of a\n[a]\n",
		"x = 1\n" + ours + "\n# of a\n[a]\n":     "x = 1\n\n# of a\n[a]\n",
		"x = 1\n\n" + ours + "\n[a]\n":           "x = 1\n\n[a]\n",
		"x = 1\n\n\n" + ours:                     "x = 1\n\n",
		"x = 1\n\n" + ours + "# the end\n":       "x = 1\n# the end\n",
		"x = 1\n\n" + ours + "# a\n\nenv = {}\n": "x = 1\n",
		"x = 1\n\n" + ours + "[mcp_servers.rewind.env]\nA = \"b\"\n[mcp_servers.other]\nurl = \"u\"\n": "x = 1\n" +
			"[mcp_servers.other]\nurl = \"u\"\n",
		"x = 1\r\n\r\n" + strings.ReplaceAll(ours, "\n", "\r\n"):                                  "x = 1\r\n",
		"[mcp_servers.a]\n" + ours:                                                                "[mcp_servers.a]\n",
		" [ mcp_servers . \"rewind\" ] # ours" + strings.TrimPrefix(ours, "[mcp_servers.rewind]"): "",
	} {
		got, err := unregisterTOML([]byte(file))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", file, got, err, want)
		}
	}
	const text = "a = '''\n[mcp_servers.rewind]\n[b]\n'''\n" // only looks like it
	for _, file := range []string{
		"", "x = 1\n", "x = [\n", "mcp_servers.rewind.command = \"/r/rewind\"\n", text, text + ours,
	} {
		if got, err := unregisterTOML([]byte(file)); err == nil {
			t.Errorf("%q: %q", file, got)
		}
	}
}

func TestRegisterTOML(t *testing.T) {
	const table = "[mcp_servers.rewind]\ncommand = \"/r/rewind\"\nargs = [\"mcp\"]\n"
	for file, want := range map[string]string{
		"":            table,
		" \n":         " \n" + table,
		"\n[a]\n":     "\n[a]\n\n" + table,
		"a = 1":       "a = 1\n\n" + table,
		"a = 1\r\n":   "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n"),
		"a = 1\n\n":   "a = 1\n\n\n" + table,
		table + "b=1": table + "b=1",
		"[mcp_servers.rewind]\ncommand = \"/o/rewind\" # c\nargs = [\"mcp\"]\n": "[mcp_servers.rewind]\n" +
			"command = \"/r/rewind\" # c\nargs = [\"mcp\"]\n",
	} {
		got, err := registerTOML([]byte(file), "/r/rewind")
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", file, got, err, want)
		}
	}
	for file, says := range map[string]string{
		"[mcp_servers.rewind]\ncommand = '/o/rewind'\nargs = [\"mcp\"]\n": "correct its command by hand",
		"[mcp_servers.rewind]\ncommand = \"/r/rewind\"\nargs = [7]\n":     "another MCP server",
		"mcp_servers.a.url = 'x'\n":                                       "written in one line",
		"[mcp_servers.rewind]\nx = \"\"\"\ncommand = \"/o/rewind\"\n\"\"\"\n " +
			"command = \"/o/rewind\"\nargs = [\"mcp\"]\n": "without another change",
		"mcp_servers = 7\n": "written in one line",
		"[[mcp_servers]]\n": "cannot be added without another change",
	} {
		if got, err := registerTOML([]byte(file), "/r/rewind"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %q, %v; want %q", file, got, err, says)
		}
	}
}

// What a file says beside our server is all that it says, but for a list of servers that is empty without it.
func TestWithout(t *testing.T) {
	for file, want := range map[string]string{
		"": "map[]", "a = 1\n": "map[a:1]", "mcp_servers = 7\n": "map[mcp_servers:7]", "[mcp_servers]\n": "map[]",
		"[mcp_servers.rewind]\n": "map[]", "[mcp_servers.a]\n": "map[mcp_servers:map[a:map[]]]",
		"[x.rewind]\n": "map[x:map[rewind:map[]]]",
		"b = 2\n[mcp_servers.rewind]\n[mcp_servers.c]\nx = 1\n": "map[b:2 mcp_servers:map[c:map[x:1]]]",
	} {
		read, err := parseTOML([]byte(file))
		if got := fmt.Sprint(map[string]any(read.without())); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", file, got, err, want)
		}
	}
}

// A string of any text is read again as the same.
func TestTOMLString(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "/a b": `"/a b"`, `a"b\c`: `"a\"b\\c"`, "é世": `"é世"`,
		"\x01\n\u2028": `"\U00000001\U0000000A\U00002028"`,
	} {
		got := tomlString(text)
		if back, err := parseTOML([]byte("x = " + got)); got != want || err != nil || back["x"] != text {
			t.Errorf("%q: %s, want %s; read %v, %v", text, got, want, back, err)
		}
	}
}

// What rewind's list of servers is left with, by what it was before.
func TestUnregisterServerLeaves(t *testing.T) {
	const ours = `{"command": "/r/rewind", "args": ["mcp"]}`
	for _, c := range []struct{ file, backup, want string }{
		{`{"mcpServers": {"rewind": ` + ours + `}, "n": 1}`, `{}`, `{ "n": 1}`},
		{`{"mcpServers": {"rewind": ` + ours + `}, "n": 1}`, `{`, `{ "n": 1}`},
		{`{"mcpServers": {"rewind": ` + ours + `}, "n": 1}`, `{"mcpServers": {}}`, `{"mcpServers": {}, "n": 1}`},
		{`{"mcpServers": {"rewind": ` + ours + ` /* c */}, "n": 1}`, `{}`, `{"mcpServers": { /* c */}, "n": 1}`},
		{`{"mcpServers": {"a": {}, "rewind": ` + ours + `}}`, `{}`, `{"mcpServers": {"a": {}}}`},
		{`{"mcpServers": {"rewind": ` + ours + `}}`, `{"mcpServers": {"rewind": ` + ours + `}}`, `{"mcpServers": {}}`},
		{`{"mcpServers": {}}`, `{}`, `{"mcpServers": {}}`},
	} {
		got, err := UnregisterServer(Claude, []byte(c.file), []byte(c.backup))
		if err != nil || string(got) != c.want {
			t.Errorf("%s, was %s: %s, %v; want %s", c.file, c.backup, got, err, c.want)
		}
	}
	for _, file := range []string{
		`{"mcpServers": {"rewind": /* c */ ` + ours + `}}`, `{"mcpServers": {"rewind" /* c */: ` + ours + `}}`,
	} {
		got, err := UnregisterServer(Claude, []byte(file), nil)
		if err == nil || !strings.Contains(err.Error(), "by hand") {
			t.Errorf("%s: %s, %v", file, got, err)
		}
	}
	if got, err := RegisterServer(Claude, nil, "/\xff/rewind"); err == nil {
		t.Errorf("a program that is no UTF-8: %q", got)
	}
}

// What is ours is an object with a command of our name and its arguments.
func TestServerIsOurs(t *testing.T) {
	for entry, want := range map[string]bool{
		`{"command": "/r/rewind", "args": ["mcp"]}`: true, `{"args": ["mcp"], "command": "rewind", "env": {}}`: true,
		`{"command": "/r/rewind"}`: false, `{"args": ["mcp"]}`: false, `{"command": "/r/rewind", "args": "mcp"}`: false,
		`{"command": "/r/rewind", "args": []}`: false, `{"command": "/r/rewind", "args": ["mcp", "x"]}`: false,
		`{"command": 7, "args": ["mcp"]}`: false, `{"command": ["/r/rewind"], "args": ["mcp"]}`: false,
		`{"command": "/r/rewind", "command": "/r/rewind", "args": ["mcp"]}`: false,
		`{"command": "/r/rewind", "args": ["mcp"], "args": ["mcp"]}`:        false,
		`"/r/rewind mcp"`: false, `null`: false,
	} {
		program, err := RegisteredServer(Claude, []byte(`{"mcpServers": {"rewind": `+entry+`}}`))
		if (program != "") != want || errors.Is(err, ErrForeignServer) == want {
			t.Errorf("%s: %q, %v", entry, program, err)
		}
	}
}

// TestServerRapid: in any way of writing a file, and without a backup, to register and to take out leaves every other
// byte, but for space.
func TestServerRapid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := &document{T: rt, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")}
		var pairs []string
		if d.chance(2) {
			pairs = append(pairs, "a", d.value(2))
		}
		if d.chance(2) {
			pairs = append(pairs, "mcpServers", d.object("other", d.value(1)))
		}
		file := []byte(d.object(pairs...))
		with, err := RegisterServer(Claude, file, serverProgram)
		if err != nil {
			rt.Fatalf("%s: %v", file, err)
		}
		if p, err := RegisteredServer(Claude, with); err != nil || p != serverProgram {
			rt.Fatalf("%s: %q, %v", with, p, err)
		}
		if back, err := UnregisterServer(Claude, with, file); err != nil || !bytes.Equal(back, file) {
			rt.Fatalf("%s: %v\n%s", file, err, back)
		}
		changed := append(bytes.Clone(with), d.newline...)
		back, err := UnregisterServer(Claude, changed, file)
		if err != nil || squeezed(back) != squeezed(file) {
			rt.Fatalf("%q\n%q: %v", file, back, err)
		}
	})
}

// squeezed is a text without its space and without the commas that stand before a bracket.
func squeezed(b []byte) string {
	s := strings.Join(strings.Fields(string(b)), "")
	return strings.NewReplacer(",}", "}", ",]", "]").Replace(s)
}

// FuzzServerTOML: whatever Codex's file is, it is refused or means the same but for our server.
func FuzzServerTOML(f *testing.F) {
	for _, s := range []string{
		"", "a = 1\n", "[mcp_servers.x]\ncommand='a'\n",
		"[mcp_servers.rewind]\ncommand = \"/rewind\"\nargs = [\"mcp\"]\n[b]\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		before, err := parseTOML(file)
		if err != nil {
			return
		}
		with, err := registerTOML(file, serverProgram)
		if err != nil {
			return
		}
		without, err := unregisterTOML(with)
		if err != nil {
			return
		}
		after, err := parseTOML(without)
		if err != nil || fmt.Sprint(before.without()) != fmt.Sprint(after) &&
			fmt.Sprint(before.without()) != fmt.Sprint(after.without()) {
			t.Fatalf("%q became %q: %v", file, without, err)
		}
	})
}
