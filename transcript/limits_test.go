package transcript

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// What is kept of each field of a record: so many bytes; an id or a path that is longer is none.
func TestLimits(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	read := func(line string) (r Record) {
		t.Helper()
		if err := Read(Claude, lines(line), 0, func(got *Record) error { r = *got; return nil }); err != nil {
			t.Fatal(err)
		}
		return r
	}
	says := func(block string) Record {
		return read(`{"type":"assistant","uuid":"u","message":{"id":"m","content":[` + block + `]}}`)
	}
	call := func(id, name, command string) Call {
		block := `{"type":"tool_use","id":%q,"name":%q,"input":{"command":%q}}`
		return says(fmt.Sprintf(block, id, name, command)).Calls[0]
	}
	whole := func(source Source) *Conversation { return scan(t, Claude, source) }
	for name, c := range map[string]struct {
		limit int
		cut   bool // else what is longer is none
		of    func(n int) string
	}{
		"id": {128, false, func(n int) string { return read(`{"type":"user","uuid":"` + long(n) + `"}`).ID }},
		"parent": {128, false, func(n int) string {
			return read(`{"type":"user","uuid":"u","parentUuid":"` + long(n) + `","message":{"content":"x"}}`).Parent
		}},
		"call":   {128, false, func(n int) string { return call(long(n), "x", "x").ID }},
		"tool":   {128, true, func(n int) string { return call("x", long(n), "x").Name }},
		"target": {200, true, func(n int) string { return call("x", "x", long(n)).Target }},
		"text":   {4096, true, func(n int) string { return says(`{"type":"text","text":"` + long(n) + `"}`).Text }},
		"cwd": {4096, false, func(n int) string {
			return whole(lines(claudeUser("p", long(n-1)))).Cwd
		}},
		"title": {200, true, func(n int) string {
			return whole(lines(`{"type":"custom-title","sessionId":"s","customTitle":"` + long(n) + `"}`)).Title
		}},
		"summary": {100, true, func(n int) string {
			return whole(lines(`{"type":"user","uuid":"p","message":{"content":"` + long(n) + `"}}`)).Turns[0].Summary
		}},
	} {
		for n := c.limit - 1; n <= c.limit+1; n++ {
			want := min(n, c.limit)
			if n > c.limit && !c.cut {
				want = 0
			}
			if got := c.of(n); len(got) != want {
				t.Errorf("%s of %d: %d are kept, want %d", name, n, len(got), want)
			}
		}
	}
	if got := says(`{"type":"text","text":"a"},{"type":"image"}`).Text; got != "a\n[image]" {
		t.Errorf("a text and an image: %q", got)
	}
	for n := 255; n <= 257; n++ {
		block := strings.Repeat(`,{"type":"tool_use","id":"x","name":"y"}`, n)[1:]
		if got := len(says(block).Calls); got != min(n, 256) {
			t.Errorf("%d calls: %d are kept", n, got)
		}
		block = strings.Repeat(`,{"type":"tool_result","tool_use_id":"x"}`, n)[1:]
		if got := len(says(block).Results); got != min(n, 256) {
			t.Errorf("%d results: %d are kept", n, got)
		}
		open, parent := []string{claudeUser("p", "")}, "p"
		for i := range n {
			open = append(open, fmt.Sprintf(`{"type":"assistant","uuid":"u%d","parentUuid":%q,"message":{"id":"m",`+
				`"content":[{"type":"tool_use","id":"c%[1]d","name":"y"}]}}`, i, parent))
			parent = fmt.Sprintf("u%d", i)
		}
		pending := whole(lines(open...)).Pending
		if want := fmt.Sprintf("c%d", max(0, n-256)); len(pending) != min(n, 256) || pending[0].ID != want {
			t.Errorf("%d open calls: %d are kept from %+v on", n, len(pending), pending[0])
		}
	}
	for n := 15; n <= 17; n++ {
		c := whole(lines(append([]string{claudeUser("p", "/")}, strings.Split(long(n), "")...)...))
		if got := len(c.Broken); got != min(n, 16) || c.Broken[0] != 2 {
			t.Errorf("%d broken lines: %v", n, c.Broken)
		}
	}
}

func claudeUser(id, cwd string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"cwd":%q,"message":{"content":"hi"}}`, id, "/"+cwd)
}

// The argument that says most of a call is its target, wherever it stands; one that says nothing gives way.
func TestTargets(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"b","file_path":"a"}`: "a", `{"file_path":"a","path":"b"}`: "a", `{"prompt":"x","url":"u"}`: "u",
		`{"file_path":"","path":"b"}`: "b", `{"file_path":7,"path":"b"}`: "b", `{"other":"x"}`: "", `{}`: "", `7`: "",
		`" a  b\n"`: "a b", `{"prompt":"p"}`: "p", `{"command":["a"],"cmd":"c"}`: "c", `["a"]`: "",
		`{"command":"a\tb\u0000c"}`: "a b c", `{"path":"a","path":"b"}`: "a",
	} {
		line := `{"type":"assistant","uuid":"u","message":{"id":"m","content":[` +
			`{"type":"tool_use","id":"c","input":` + input + `}]}}`
		err := Read(Claude, lines(line), 0, func(r *Record) error {
			if len(r.Calls) != 1 || r.Calls[0].Target != want {
				t.Errorf("%s: %+v, want %q", input, r.Calls, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A file that is not as long as it was, or cannot be read, is no fork: the error is the reader's own.
func TestCopyFails(t *testing.T) {
	broken := errors.New("disk gone")
	src := bytesSource("session", []byte("0123456789"))
	short := Source{ReaderAt: src, Size: 20, Name: "session"}
	for _, c := range []struct {
		src  Source
		want error
	}{
		{src, nil},
		{short, io.ErrUnexpectedEOF},
		{Source{ReaderAt: failing{src, 5, broken}, Size: 10, Name: "session"}, broken},
	} {
		if err := newOutput(io.Discard, c.src).copy(0, c.src.Size); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

// What is left out says why; a file in which a subagent alone speaks is none of those.
func TestFindPasses(t *testing.T) {
	root := sessionsOfClaude()
	root["projects/-home-dev-my-proj/c"+otherID[1:]+".jsonl"] = &fstest.MapFile{Data: []byte("{\"type\":\"mode\"}\n")}
	_, passed, err := Find(Claude, root, "/home/dev/my.proj")
	if err != nil {
		t.Fatal(err)
	}
	got := map[byte]error{}
	for _, p := range passed {
		got[p.Path[len("projects/-home-dev-my-proj/")]] = p.Why
	}
	want := map[byte]error{'4': ErrNothing, '6': ErrNowhere, '7': ErrNoFile, 'c': ErrNowhere}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What a message says is told by all of it: no two that differ are the same.
func TestContent(t *testing.T) {
	call := func(id, name, target string) Record { return Record{Calls: []Call{{id, name, target}}} }
	seen := map[uint64]int{}
	for i, r := range []Record{
		{},
		{Kind: Reply},
		{Text: "a"},
		call("", "", ""), call("a", "", ""), call("", "a", ""), call("", "", "a"),
		{Results: []string{"a"}},
		{Results: []string{"a", ""}},
		{Results: []string{"", "a"}},
	} {
		h := content(&line{Record: r})
		if other, ok := seen[h]; ok {
			t.Errorf("%d and %d are the same", i, other)
		}
		seen[h] = i
	}
	for agent, names := range map[Agent]bool{Claude: true, Codex: true, Gemini: false, Droid: false} {
		if f := (&foreign{agent: agent}); f.namesParent() != names {
			t.Errorf("%s names the parent: %v", agent, !names)
		}
	}
}

// The end of the last line is found from behind, over any number of bytes that have none.
func TestLinesEnd(t *testing.T) {
	for _, n := range []int{0, 1, 4094, 4095, 4096, 4097, 9000} {
		tail := strings.Repeat("x", n)
		for text, want := range map[string]int64{
			tail: 0, "\n" + tail: 1, "a\n\n" + tail: 3, tail + "\n": int64(n) + 1,
		} {
			if got := linesEnd(bytesSource("s", []byte(text)), 0); got != want {
				t.Errorf("%d bytes, %.5q: %d, want %d", n, text, got, want)
			}
		}
	}
	src := bytesSource("s", []byte("a\nbc"))
	if got := linesEnd(src, 2); got != 2 {
		t.Errorf("behind the last newline: %d", got)
	}
	if got := linesEnd(Source{ReaderAt: src, Size: 9, Name: "s"}, 0); got != -1 {
		t.Errorf("of a file that is shorter: %d", got)
	}
}

// The records of one message are one text and one list of calls, within the limits.
func TestJoin(t *testing.T) {
	of := func(text string, calls int) (m said) {
		m.Text, m.Calls = text, make([]Call, calls)
		return m
	}
	for _, c := range []struct{ a, b, want string }{{"", "", ""}, {"a", "", "a"}, {"", "b", "b"}, {"a", "b", "a\nb"}} {
		m := of(c.a, 0)
		if m.join(of(c.b, 0), maxText); m.Text != c.want || m.Cut {
			t.Errorf("%q and %q: %q, cut %v", c.a, c.b, m.Text, m.Cut)
		}
	}
	for _, c := range [][3]int{{0, 1, 1}, {255, 1, 256}, {255, 2, 256}, {256, 1, 256}, {10, 300, 256}} {
		m := of("", c[0])
		if m.join(of("", c[1]), maxText); len(m.Calls) != c[2] {
			t.Errorf("%d and %d calls: %d", c[0], c[1], len(m.Calls))
		}
	}
	m := of(strings.Repeat("a", maxText-1), 0)
	if m.join(of("b", 0), maxText); len(m.Text) != maxText || !m.Cut {
		t.Errorf("a long message: %d bytes, cut %v", len(m.Text), m.Cut)
	}
}
