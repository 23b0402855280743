package hooks

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// document draws a settings file in every way of writing one, and gives its comments numbers by which they can be found
// again.
type document struct {
	*rapid.T
	strict   bool // no comments, no trailing commas
	newline  string
	comments int
}

func (d *document) pick(words ...string) string { return rapid.SampledFrom(words).Draw(d.T, "word") }

func (d *document) chance(n int) bool { return rapid.IntRange(0, n-1).Draw(d.T, "chance") == 0 }

func (d *document) space() string {
	s := d.pick("", "", " ", "  ", "\t", d.newline, d.newline+"  ", d.newline+"\t\t")
	if d.strict || !d.chance(6) {
		return s
	}
	d.comments++
	return s + d.pick("/* c */ ", "/* // [ */", "// \" { /* "+d.newline, "//"+d.newline+"  ", "/**/"+d.newline)
}

func (d *document) list(open, shut string, items []string) string {
	var b strings.Builder
	b.WriteString(open)
	for i, item := range items {
		b.WriteString(d.space() + item + d.space())
		if i < len(items)-1 || !d.strict && d.chance(4) {
			b.WriteString(",")
		}
	}
	b.WriteString(d.space() + shut)
	return b.String()
}

func (d *document) object(pairs ...string) string {
	var items []string
	for i := 0; i < len(pairs); i += 2 {
		items = append(items, `"`+pairs[i]+`"`+d.space()+":"+d.space()+pairs[i+1])
	}
	return d.list("{", "}", items)
}

func (d *document) value(depth int) string {
	switch n := rapid.IntRange(0, 5).Draw(d.T, "kind"); {
	case n == 0 && depth > 0:
		return d.list("[", "]", []string{d.value(depth - 1), d.value(depth - 1)})
	case n == 1 && depth > 0:
		return d.object("hooks", d.value(depth-1), "Stop", d.value(depth-1))
	case n == 2:
		return d.list("[", "]", nil)
	case n == 3:
		return d.object()
	}
	return d.pick(`"x"`, `"// [ \" smart-checkpoint"`, "1", "-0.5e3", "true", "null")
}

// hooks draws the value of "hooks"; commands are those that its handlers may have.
func (d *document) hooks(events, commands []string) string {
	var pairs []string
	for _, event := range events {
		if !d.chance(2) {
			continue
		}
		var groups []string
		for range rapid.IntRange(0, 3).Draw(d.T, "groups") {
			var handlers []string
			for range rapid.IntRange(0, 3).Draw(d.T, "handlers") {
				pair := []string{"type", `"command"`, "command", string(hujson.String(d.pick(commands...)))}
				if d.chance(2) {
					pair = append(pair, "timeout", d.pick("1", "5", "60"))
				}
				if d.chance(4) {
					pair = append(pair, "name", d.value(1))
				}
				handlers = append(handlers, d.object(pair...))
			}
			pair := []string{"hooks", d.list("[", "]", handlers)}
			if d.chance(2) {
				pair = append([]string{"matcher", d.pick(`"*"`, `""`, `"Edit|Write"`)}, pair...)
			}
			if d.chance(5) {
				pair = append(pair, "sequential", "true")
			}
			groups = append(groups, d.object(pair...))
		}
		pairs = append(pairs, event, d.list("[", "]", groups))
	}
	return d.object(pairs...)
}

func (d *document) file(events, commands []string) []byte {
	var pairs []string
	if d.chance(2) {
		pairs = append(pairs, "model", d.value(3))
	}
	if !d.chance(4) {
		pairs = append(pairs, "hooks", d.hooks(events, commands))
	}
	if d.chance(2) {
		pairs = append(pairs, "permissions", d.value(3))
	}
	text := d.space() + d.object(pairs...) + d.space()
	if d.chance(8) {
		text = string(byteOrderMark) + text
	}
	return []byte(text)
}

func newDocument(t *rapid.T) *document {
	d := &document{T: t}
	d.strict, d.newline = d.chance(2), d.pick("\n", "\n", "\r\n")
	return d
}

var (
	someEvents = []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}
	foreign    = []string{"beep", "/src/smart-checkpoint/lint.sh", "echo 'a \\ \"b\"'"}
	ours       = []string{"/old/smart-checkpoint stop", HookCommand(testBin, "stop", Claude), HookCommand(testBin, "prompt", Claude)}
)

func drawWant(t *rapid.T) []Registration {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Registration {
		return Registration{
			Event:   rapid.SampledFrom(someEvents).Draw(t, "event"),
			Matcher: rapid.SampledFrom([]string{"", "*", "Edit|Write"}).Draw(t, "matcher"),
			Command: rapid.SampledFrom(ours).Draw(t, "command"),
			Timeout: rapid.SampledFrom([]int{0, 5, 60}).Draw(t, "timeout"),
		}
	}), 0, 6, rapid.ID[Registration]).Draw(t, "want")
}

// In a file of any shape without hooks of ours: the same bytes again, nothing of it lost in between, exactly what is
// wanted in it.
func TestRegisterForeignBytesStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, want := newDocument(t).file(someEvents, foreign), drawWant(t)
		after, err := Register(Claude, before, want)
		if err != nil {
			t.Fatalf("%v\n%q", err, before)
		}
		checkRegistered(t, Claude, before, after, want)
		checkForeign(t, before, after)
		if len(after) < len(before) || !subsequence(before, after) {
			t.Fatalf("bytes are missing:\n%q\n%q", before, after)
		}
		// Without the backup only an empty group of values may come back in another shape: the splice says the same.
		back, err := Unregister(Claude, after, []byte("not json"))
		if err != nil {
			t.Fatal(err)
		}
		checkForeign(t, before, back)
		if ours, err := Registered(Claude, back); err != nil || len(ours) > 0 {
			t.Fatalf("%v, %v", ours, err)
		}
		if got, want := comments(back), comments(before); got != want {
			t.Fatalf("comments %q, were %q", got, want)
		}
	})
}

// From any mixture of ours and foreign hooks to what is wanted and to none.
func TestRegisterUpgrade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, want := newDocument(t).file(someEvents, slices.Concat(foreign, ours)), drawWant(t)
		after, err := Register(Claude, before, want)
		if err != nil {
			t.Fatalf("%v\n%q", err, before)
		}
		checkRegistered(t, Claude, before, after, want)
		checkForeign(t, before, after)
		had, err := Registered(Claude, before)
		if err != nil {
			t.Fatal(err)
		}
		if sameSet(had, want) && hasWhole(before, want) && !bytes.Equal(before, after) {
			t.Fatalf("all was there:\n%q\n%q", before, after)
		}
		none, err := Unregister(Claude, after, nil)
		if err != nil {
			t.Fatal(err)
		}
		if none == nil {
			return
		}
		checkForeign(t, before, none)
		if ours, err := Registered(Claude, none); err != nil || len(ours) > 0 {
			t.Fatalf("%v, %v\n%q", ours, err, none)
		}
	})
}

func hasWhole(file []byte, want []Registration) bool {
	s, _ := parseSettings(Claude, file)
	found, _ := s.entries(never)
	return !slices.ContainsFunc(found, func(e entry) bool { return !e.whole }) && len(found) == len(want)
}

// subsequence reports whether all of a is in b in the same order.
func subsequence(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// comments returns the comments of a file.
func comments(file []byte) string {
	s, _ := parseSettings(Claude, file)
	var b strings.Builder
	keep := func(e hujson.Extra) {
		for i := 0; i < len(e); i++ {
			if n := commentLen(e[i:]); n > 0 {
				b.WriteString(strings.TrimSpace(string(e[i:i+n])) + ";")
				i += n - 1
			}
		}
	}
	var walk func(v hujson.Value)
	walk = func(v hujson.Value) {
		keep(v.BeforeExtra)
		switch c := v.Value.(type) {
		case *hujson.Object:
			for _, m := range c.Members {
				walk(m.Name)
				walk(m.Value)
			}
			keep(c.AfterExtra)
		case *hujson.Array:
			for _, e := range c.Elements {
				walk(e)
			}
			keep(c.AfterExtra)
		}
		keep(v.AfterExtra)
	}
	walk(s.root)
	return b.String()
}

// checkForeign compares what encoding/json sees in two files without what is ours and without what is empty for that.
func checkForeign(t *rapid.T, before, after []byte) {
	a, b := withoutOurs(t, before), withoutOurs(t, after)
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("foreign settings differ:\n%v\n%v\n%s\n%s", a, b, before, after)
	}
}

func withoutOurs(t *rapid.T, file []byte) map[string]any {
	std, err := hujson.Standardize(append(bytes.TrimPrefix(bytes.Clone(file), byteOrderMark), '\n'))
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	var root map[string]any
	if err := json.Unmarshal(std, &root); err != nil {
		t.Fatal(err)
	}
	hooks, _ := root["hooks"].(map[string]any)
	for event, v := range hooks {
		var groups []any
		for _, g := range v.([]any) {
			group := g.(map[string]any)
			group["hooks"] = slices.DeleteFunc(group["hooks"].([]any), func(h any) bool {
				return isOurs(h.(map[string]any)["command"].(string))
			})
			if len(group["hooks"].([]any)) > 0 {
				groups = append(groups, g)
			}
		}
		if hooks[event] = groups; len(groups) == 0 {
			delete(hooks, event)
		}
	}
	if len(hooks) == 0 {
		delete(root, "hooks")
	}
	return root
}

// What was not there before the first Register, and only that, goes again; also when the file has changed since.
func TestUnregister(t *testing.T) {
	want := wantHooks(Claude)
	for _, c := range []struct {
		name, backup string
		change       func(string) string
		want         string
	}{
		{
			"changed elsewhere", "{\n  \"model\": \"a\"\n}\n", func(s string) string { return strings.Replace(s, `"a"`, `"b"`, 1) },
			"{\n  \"model\": \"b\"\n}\n",
		},
		{
			"empty hooks stay", `{"model": "a", "hooks": {}}`, func(s string) string { return strings.Replace(s, `"a"`, `"b"`, 1) },
			`{"model": "b", "hooks": {}}`,
		},
		{
			"empty event stays", `{"hooks": {"Stop": []}, "model": "a"}`,
			func(s string) string { return strings.Replace(s, `"a"`, `"b"`, 1) },
			`{"hooks": {"Stop": []}, "model": "b"}`,
		},
		{
			"key after ours", "{\n  \"a\": 1\n}\n", func(s string) string { return strings.TrimSuffix(s, "\n}\n") + ",\n  \"z\": 2\n}\n" },
			"{\n  \"a\": 1,\n  \"z\": 2\n}\n",
		},
		{"foreign hook in our group", "{\"a\":1}", func(s string) string {
			return strings.Replace(s, `"timeout":10}`,
				`"timeout":10},{"command":"x"}`, 1)
		}, `{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`},
		{"comment in our event", "{\n  \"a\": 1\n}\n", func(s string) string {
			return strings.Replace(s, "\"Stop\": [",
				"\"Stop\": [ // note", 1)
		}, "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [ // note\n    ]\n  }\n}\n"},
		{
			"ours was last line", "{\n  \"a\": 1 // one\n}\n", func(s string) string { return strings.Replace(s, "1", "2", 1) },
			"{\n  \"a\": 2 // one\n}\n",
		},
		{"nothing of ours left", "{}", func(string) string { return "{ }" }, "{ }"},
	} {
		file, err := Register(Claude, []byte(c.backup), want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Unregister(Claude, []byte(c.change(string(file))), []byte(c.backup))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
	file, _ := Register(Claude, nil, want)
	if got, err := Unregister(Claude, file, nil); got != nil || err != nil {
		t.Errorf("made by us: %q, %v", got, err)
	}
	if got, err := Unregister(Claude, file, []byte{}); got == nil || len(got) > 0 || err != nil {
		t.Errorf("was empty: %q, %v", got, err)
	}
	for _, blank := range []string{" \n", "{ }", "\xef\xbb\xbf"} {
		if got, err := Unregister(Claude, []byte(blank), nil); string(got) != blank || err != nil {
			t.Errorf("%q, without ours: %q, %v", blank, got, err)
		}
	}
	if got, err := Unregister(Claude, nil, nil); got != nil || err != nil {
		t.Errorf("absent: %q, %v", got, err)
	}
	// A backup that holds hooks of ours is not what was there before them.
	newer, _ := Register(Claude, file, want[:1])
	if got, err := Unregister(Claude, newer, newer); err != nil || bytes.Contains(got, []byte(program)) {
		t.Errorf("backup with ours: %s, %v", got, err)
	}
}

// A group goes with its last hook of ours, unless it holds a comment or a key of somebody else; an event and "hooks" go
// when they are empty by that and hold none.
func TestUnregisterCuts(t *testing.T) {
	full := strings.NewReplacer(
		"@", `{"command": "/x/smart-checkpoint stop"}`, "%", `{"command": "x"}`, "<", `{"hooks": {"Stop": [{"hooks": [`,
		"~", `]}]}}`,
	).Replace
	for file, want := range map[string]string{
		`<@~`: `{}`,
		`{"hooks": {"Stop": [{"matcher": "*", "hooks": [@~`: `{}`,
		`{"hooks": {"Stop": [{"name": 1, "hooks": [@~`:      `{"hooks": {"Stop": [{"name": 1, "hooks": [~`,
		`{"hooks": {"Stop": [{/* c */"hooks": [@~`:          `{"hooks": {"Stop": [{/* c */"hooks": [~`,
		`{"hooks": {"Stop": [{"hooks"/* c */: [@~`:          `{"hooks": {"Stop": [{"hooks"/* c */: [~`,
		`{"hooks": {"Stop": [{"hooks":/* c */ [@~`:          `{"hooks": {"Stop": [{"hooks":/* c */ [~`,
		`<@]/* c */}]}}`:  `<]/* c */}]}}`,
		`</* c */@~`:      `</* c */~`,
		`<@,/* c */~`:     `</* c */~`,
		`<@],/* c */}]}}`: `<],/* c */}]}}`,
		`{"hooks": {"Stop": [/* c */{"hooks": [@~`: `{"hooks": {"Stop": [/* c */]}}`,
		`<@]}/* c */]}}`: `{"hooks": {"Stop": [/* c */]}}`,
		`{"hooks": {"Stop"/* c */: [{"hooks": [@~`: `{"hooks": {"Stop"/* c */: []}}`,
		`{"hooks": {"Stop":/* c */[{"hooks": [@~`:  `{"hooks": {"Stop":/* c */[]}}`,
		`{"hooks": {/* c */"Stop": [{"hooks": [@~`: `{"hooks": {/* c */}}`,
		`{"hooks"/* c */: {"Stop": [{"hooks": [@~`: `{"hooks"/* c */: {}}`,
		`{"hooks":/* c */{"Stop": [{"hooks": [@~`:  `{"hooks":/* c */{}}`,
		`<@,%~`:                      `<%~`,
		`<%, @~`:                     `<%~`,
		`<%, @,~`:                    `<%,~`,
		`<@]}, 7], "x": 1}, "y": 2}`: `{"hooks": {"Stop": [ 7], "x": 1}, "y": 2}`,
		`{"hooks": {"x": 1, "Stop": [{"hooks": [@]}]}, "y": 2}`: `{"hooks": {"x": 1}, "y": 2}`,
		`{"y": 2, "hooks": {"Stop": [{"hooks": [@, @~`:          `{"y": 2}`,
	} {
		got, err := Unregister(Claude, []byte(full(file)), nil)
		if err != nil || string(got) != full(want) {
			t.Errorf("%s:\n%s, %v; want\n%s", full(file), got, err, full(want))
		}
	}
}

// What is new is written as what is there: the gap of the items beside it, the newline and the indentation of the file.
func TestRegisterStyle(t *testing.T) {
	line := func(colon, comma string) string {
		text := `{"hooks":>[{"type":>"command",<"command":>"/smart-checkpoint"}]}`
		return strings.NewReplacer(">", colon, "<", comma).Replace(text)
	}
	lines := func(newline, indent, unit, colon string) (text string) {
		for i, l := range []string{
			`"hooks":{`, `>"Stop":[`, `>>{`, `>>>"hooks":[`, `>>>>{`, `>>>>>"type":"command",`,
			`>>>>>"command":"/smart-checkpoint"`, `>>>>}`, `>>>]`, `>>}`, `>]`, `}`,
		} {
			if i > 0 {
				text += newline + indent
			}
			text += strings.NewReplacer(">", unit, ":", ":"+colon).Replace(l)
		}
		return text
	}
	const group = `{"hooks":[]}`
	for file, want := range map[string]string{
		`{"a":1}`: "" +
			`{"a":1,"hooks":{"Stop":[` + line("", "") + `]}}`,
		`{"a":1,  "hooks":{"Stop":[` + group + `]}}`: "" +
			`{"a":1,  "hooks":{"Stop":[{"hooks":[]},  ` + line("", "  ") + `]}}`,
		`{"a" :  1}`: "" +
			`{"a" :  1,  "hooks":  {"Stop":  [` + line("  ", "  ") + `]}}`,
		`{"a":1,"hooks":{"Stop":[]}}`: "" +
			`{"a":1,"hooks":{"Stop":[` + line("", "") + `]}}`,
		`{"a":1,"hooks":{"Stop":[` + group + `,   ` + group + `]}}`: "" +
			`{"a":1,"hooks":{"Stop":[` + group + `,   ` + group + `,   ` + line("", "") + `]}}`,
		`{"a":1,"hooks":{"Stop":[` + group + `,]}}`: "" +
			`{"a":1,"hooks":{"Stop":[` + group + `,` + line("", "") + `,]}}`,
		`{"a": 1,"hooks":{"Stop":[` + group + `]}}`: "" +
			`{"a": 1,"hooks":{"Stop":[` + group + `,` + line(" ", "") + `]}}`,
		"{\"hooks\": {\"Stop\": [ // x\n]}}": "" +
			"{\"hooks\": {\"Stop\": [ // x\n" + line(" ", " ") + "\n]}}",
		"{\"hooks\": {\"Stop\": [\n  // x\n]}}": "" +
			"{\"hooks\": {\"Stop\": [\n  // x\n" + line(" ", " ") + "\n]}}",
		"{\n}": "" +
			"{\n  " + lines("\n", "  ", "  ", " ") + "\n}",
		"\n{}\n": "" +
			"\n{\n  " + lines("\n", "  ", "  ", " ") + "\n}\n",
		"{/* x */}": "" +
			"{/* x */\n  " + lines("\n", "  ", "  ", " ") + "\n}",
		"{\n\"a\": 1}": "" +
			"{\n\"a\": 1,\n" + lines("\n", "", "  ", " ") + "}",
		"{\r\n\t\"a\": 1\r\n}": "" +
			"{\r\n\t\"a\": 1,\r\n\t" + lines("\r\n", "\t", "\t", " ") + "\r\n}",
		"{\n   \"a\":1 // x\n}": "" +
			"{\n   \"a\":1, // x\n   " + lines("\n", "   ", "   ", "") + "\n}",
		"{ \"a\": 1 // x\n}": "" +
			"{ \"a\": 1, // x\n " + lines("\n", " ", "  ", " ") + "\n}",
		"{\"a\": 1 /* x\n\n */}": "" +
			"{\"a\": 1, /* x\n\n */ \"hooks\": {\"Stop\": [" + line(" ", " ") + "]}}",
		"{\"a\": 1,/* x */ \"b\":2}": "" +
			"{\"a\": 1,/* x */ \"b\":2, \"hooks\": {\"Stop\": [" + line(" ", " ") + "]}}",
		"{\"a\":/* x */1, \"b\":2}": "" +
			"{\"a\":/* x */1, \"b\":2, \"hooks\": {\"Stop\": [" + line(" ", " ") + "]}}",
		"{\n /* x */ \"a\":1, \"b\": 2}": "" +
			"{\n /* x */ \"a\":1, \"b\": 2,\n " + lines("\n", " ", " ", "") + "}",
	} {
		got, err := Register(Claude, []byte(file), []Registration{{"Stop", "", "/smart-checkpoint", 0}})
		if err != nil || string(got) != want {
			t.Errorf("%q:\n%q, %v; want\n%q", file, got, err, want)
		}
	}
}

// Codex knows a hook by its event, the index of its group and its index there: what need not change keeps them, and
// foreign hooks too.
func TestRegisterKeepsPositions(t *testing.T) {
	file := readFile(t, "testdata/settings/codex-upgrade.before")
	for range 2 {
		var err error
		if file, err = Register(Codex, file, wantHooks(Codex)); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Hooks map[string][]struct{ Hooks []struct{ Command string } }
		}
		if err := json.Unmarshal(file, &got); err != nil {
			t.Fatal(err)
		}
		if got.Hooks["Stop"][1].Hooks[0].Command != "mine" || !isOurs(got.Hooks["Stop"][0].Hooks[0].Command) {
			t.Errorf("moved: %v", got.Hooks["Stop"])
		}
	}
	more := append(wantHooks(Codex), Registration{"Stop", "", HookCommand(testBin, "other", Codex), 5})
	got, err := Register(Codex, file, more)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := parseSettings(Codex, got)
	found, _ := s.entries(never)
	if e := found[1]; e.Event != "Stop" || e.i != 0 {
		t.Errorf("%s %d", e.Event, e.i)
	}
	if e := found[2]; e.Event != "Stop" || e.i != 2 {
		t.Errorf("%s %d", e.Event, e.i)
	}
}

func TestHookCommand(t *testing.T) {
	if got, want := HookCommand(testBin, "session-start",
		Claude), "'/home/x/.rewind/system/smart-checkpoint' session-start --agent claude"; got != want {
		t.Errorf("%s", got)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	for _, bin := range []string{
		testBin, "/a b/smart-checkpoint", "/o'neil/smart-checkpoint", "/$HOME/`x`/\"\\/smart-checkpoint",
		"/a\nb/*/smart-checkpoint",
	} {
		line := HookCommand(bin, "stop", Codex)
		if !isOurs(line) {
			t.Errorf("%q is not ours", line)
		}
		out, err := exec.Command(sh, "-c", `printf '%s|' `+line).Output()
		if err != nil || string(out) != bin+"|stop|--agent|codex|" {
			t.Errorf("%q: %q, %v", line, out, err)
		}
	}
}

func FuzzSettings(f *testing.F) {
	for _, agent := range []Agent{Claude, Droid} {
		for _, seed := range []string{
			"", "{}", "[]", "{", "{]", `{"a":}`, `{[}`, "\xef\xbb\xbf{}\r\n", "{} // x", "{}//", "{} /", `{"hooks":{}}`,
			`{"hooks":{"Stop":[]}} `, `{"Stop":[],}`,
			`{"hooks":{"Stop":[{"matcher":null,"hooks":[{"type":"x","command":"/smart-checkpoint","timeout":1e3}, // "` + "\n" + `]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[{"command":"'/x/smart-checkpoint' stop"/**/,/**/},],"matcher":7}/**/,],},/**/}`,
			`{"h\u006foks":{"Stop":[/* */]}}`, `{"hooks":{"Stop":[],"Stop":[]}}`, "{\"a\":\"\xff\\ud800\"}", strings.Repeat("[", 2000),
		} {
			f.Add(string(agent), []byte(seed), []byte("{}"))
		}
	}
	f.Fuzz(func(t *testing.T, word string, file, backup []byte) {
		agent := Agent(word)
		want := wantHooks(agent)
		had, hadErr := Registered(agent, file)
		for _, r := range had {
			if !isOurs(r.Command) {
				t.Fatalf("%q", r.Command)
			}
		}
		if after, err := Register(agent, file, want); err == nil {
			checkRegistered(t, agent, file, after, want)
		} else if after != nil {
			t.Fatal("an error and a file")
		}
		back, err := Unregister(agent, file, backup)
		if (err != nil) != (hadErr != nil) {
			t.Fatalf("%v, but %v", err, hadErr)
		}
		if ours, err2 := Registered(agent, back); err == nil && (err2 != nil || len(ours) > 0) {
			t.Fatalf("%v, %v\n%q", ours, err2, back)
		}
	})
}
