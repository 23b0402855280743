package hooks

import (
	"bytes"
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
