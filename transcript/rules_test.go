package transcript

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestMarks: a title loses what earlier forks and copies have put before it, and nothing of a person's.
func TestMarks(t *testing.T) {
	for title, want := range map[string]string{
		"": "", "x": "[Copy] x", "[Fork] x": "[Copy] x", "[Copy] [Fork @12] x": "[Copy] x",
		"[Fork @3] [Copy] x": "[Copy] x",
		"[Fork @] x":         "[Copy] [Fork @] x", "[Fork @a] x": "[Copy] [Fork @a] x", "[WIP] x": "[Copy] [WIP] x",
		"[Fork": "[Copy] [Fork",
	} {
		if got := CopyTitle(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// TestGeminiName: which files are sessions of Gemini.
func TestGeminiName(t *testing.T) {
	for name, want := range map[string]bool{
		"session-2026-11-20T10-05-0a1b2c3d.json": true, "session-2026-11-20T10-05-0a1b2c3d.jsonl": true,
		"2026-11-20T10-05-0a1b2c3d.json": false, "session-2026-11-20T10-05-0a1b2c3d": false,
		"session-2026-11-20T10-05-0a1b2c3d.txt": false,
		"session-2026-11-20T10-05-0a1b2c3.json": false, "session-2026-11-20T10-05_0a1b2c3d.json": false,
		"session-.json":                          false,
		"session-2026-11-20T10-05-0a1b2c3g.json": false, "session-2026-13-20T10-05-0a1b2c3d.json": false,
	} {
		if got := geminiName(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// chainOf makes records of Claude's.
func chainOf(records ...string) string {
	out := ""
	for i, r := range records {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, i)
		}
		out += fmt.Sprintf(`{"parentUuid":%s,"uuid":"00000000-0000-4000-8000-%012d","sessionId":"s",%s}`, parent,
			i+1, r) + "\n"
	}
	return out
}

// TestBegunIn: the directory of a session is that of its first record with one; a subagent's file has none.
func TestBegunIn(t *testing.T) {
	const at, side, none = `"cwd":"/d","isSidechain":false,"type":"user"`,
		`"cwd":"/d","isSidechain":true,"type":"user"`, `"type":"user"`
	for what, tt := range map[string]struct {
		records []string
		want    string
	}{
		"of its first record": {[]string{at}, "/d"}, "of a later one": {[]string{none, at}, "/d"},
		"a subagent's": {[]string{side}, ""}, "behind a record without one": {[]string{none, side, none}, ""},
		"a subagent's line first": {[]string{side, none, at}, "/d"},
	} {
		root := fstest.MapFS{"s.jsonl": {Data: []byte(chainOf(tt.records...))}}
		if got, err := begunIn(Claude, root, "s.jsonl"); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

// TestMessagesCounted: parts of one message count once, those without an id each.
func TestMessagesCounted(t *testing.T) {
	reply := func(id string) string {
		return `"type":"assistant","message":{` + id + `"role":"assistant","content":[{"type":"text","text":"x"}]}`
	}
	prompt := `"type":"user","message":{"role":"user","content":"do it"}`
	for what, tt := range map[string]struct {
		records []string
		want    int
	}{
		"a prompt": {[]string{prompt}, 1}, "an answer": {[]string{prompt, reply(`"id":"a",`)}, 2},
		"in two parts":  {[]string{prompt, reply(`"id":"a",`), reply(`"id":"a",`)}, 2},
		"two answers":   {[]string{prompt, reply(`"id":"a",`), reply(`"id":"b",`)}, 3},
		"without an id": {[]string{prompt, reply(""), reply("")}, 3},
	} {
		b := chainOf(tt.records...)
		c, err := Scan(Claude, Source{
			ReaderAt: strings.NewReader(b), Size: int64(len(b)), Name: "s.jsonl", Ended: true,
		})
		if err != nil || c.Messages != tt.want {
			t.Errorf("%s: %d messages, want %d, %v", what, c.Messages, tt.want, err)
		}
	}
}

// TestTargetsAround: calls are looked for around places only, and the last place may lie far before the end.
func TestTargetsAround(t *testing.T) {
	call := func(id string) string {
		return `"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"` + id +
			`","name":"Write","input":{"file_path":"/` + id + `"}}]}`
	}
	long := `"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", 5000) + `"}`
	b := chainOf(call("a"), long, call("b"), long, call("c"), long)
	src := Source{ReaderAt: strings.NewReader(b), Size: int64(len(b)), Name: "s.jsonl", Ended: true}
	place := func(id string) int64 { return int64(strings.Index(b, `"id":"`+id)) }
	wanted := map[string]bool{"a": true, "b": true, "c": true}
	for want, places := range map[string][]int64{
		"": nil, "a": {place("a")}, "b": {place("b")}, "a b": {place("a"), place("b")},
		"a b c": {place("a"), place("b"), place("c")},
	} {
		got, err := Targets(Claude, src, places, 1000, wanted)
		if err != nil || len(got) != len(strings.Fields(want)) {
			t.Errorf("%q: %v, %v", want, got, err)
		}
		for _, id := range strings.Fields(want) {
			if got[id] != "/"+id {
				t.Errorf("%q: %v", want, got)
			}
		}
	}
}

// TestTyped: what only the client put in, in tags, is no prompt.
func TestTyped(t *testing.T) {
	const tag, text, image, empty = `{"type":"text","text":"<system-reminder>x"}`, `{"type":"text","text":"do it"}`,
		`{"type":"image"}`, `{"type":"text","text":""}`
	for content, want := range map[string]int{
		tag: 0, text: 1, image: 1, tag + "," + text: 1, tag + "," + image: 1, text + "," + tag: 1, empty: 1,
		tag + "," + tag:   0,
		tag + "," + empty: 1,
	} {
		b := chainOf(`"type":"user","message":{"role":"user","content":[` + content + `]}`)
		c, err := Scan(Claude, Source{
			ReaderAt: strings.NewReader(b), Size: int64(len(b)), Name: "s.jsonl", Ended: true,
		})
		if err != nil || len(c.Turns) != want {
			t.Errorf("%s: %d turns, want %d, %v", content, len(c.Turns), want, err)
		}
	}
}
