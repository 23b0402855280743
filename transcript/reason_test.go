package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// claudeLine is a line of a chain, the newest of which is the parent unless one is named.
type claudeLines struct {
	text []string
	last string
}

func (c *claudeLines) add(kind, id, parent, message string) *claudeLines {
	if parent == "" {
		parent = c.last
	}
	named := quoted(parent)
	if parent == "" || parent == "root" {
		named = "null"
	}
	c.text = append(c.text, fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":%q,"message":%s}`, kind, id, named, forkID,
		message))
	c.last = id
	return c
}

func (c *claudeLines) prompt(id, parent string) *claudeLines {
	return c.add("user", id, parent, `{"content":"`+id+`"}`)
}

func (c *claudeLines) reply(id string) *claudeLines {
	return c.add("assistant", id, "", `{"id":"m`+id+`","content":[{"type":"text","text":"`+id+`"}]}`)
}

func (c *claudeLines) call(id string) *claudeLines {
	return c.add("assistant", id, "", `{"id":"m`+id+`","content":[{"type":"tool_use","id":"t`+id+`","name":"Bash"}]}`)
}

func (c *claudeLines) result(id string) *claudeLines {
	return c.add("user", "r"+id, "", `{"content":[{"type":"tool_result","tool_use_id":"t`+id+`"}]}`)
}

func (c *claudeLines) esc() *claudeLines {
	return c.add("user", fmt.Sprint("esc", len(c.text)), "", `{"content":[{"type":"text","text":"[Request interrupted by user]"}]}`)
}

// TestCutReasons holds where turns end that nothing has answered, or in which a call is open, and why: never in what
// the person had thrown away.
func TestCutReasons(t *testing.T) {
	nth := func(n int) string { return fmt.Sprintf("turn %d", n) }
	of := func() *claudeLines { return new(claudeLines) }
	bare := func(turn, ends int) string {
		if ends == 0 {
			return fmt.Sprintf("nothing has answered the prompt of turn %d, and nothing that was there before it is left: there is "+
				"nothing to fork", turn)
		}
		return fmt.Sprintf("nothing has answered the prompt of turn %d, and it ends with turn %d, which was there before", turn, ends)
	}
	for _, tt := range []struct {
		name  string
		lines *claudeLines
		turn  int
		end   int // the line that the cut is behind; 0: there is none
		why   string
	}{
		{"answered", of().prompt("a", "").reply("b"), 1, 2, ""},
		{"interrupted", of().prompt("a", "").reply("b").prompt("c", "").esc(), 2, 2, bare(2, 1)},
		{
			"interrupted, gone on", of().prompt("a", "").reply("b").prompt("c", "").esc().prompt("d", "").reply("e"), 2,
			2, bare(2, 1),
		},
		{
			"gone back, interrupted", of().prompt("a", "").reply("b").prompt("c", "").reply("d").prompt("e", "b").esc(),
			3, 2, bare(3, 1),
		},
		{
			"gone back twice",
			of().prompt("a", "").reply("b").prompt("c", "").reply("d").prompt("e", "b").reply("f").prompt("g",
				"b").esc(),
			4, 2, bare(4, 1),
		},
		{
			"gone back over an interruption",
			of().prompt("a", "").reply("b").prompt("c", "").esc().prompt("d", "").reply("e").prompt("f",
				"e").esc(), 4, 6, bare(4, 3),
		},
		{"cleared, interrupted", of().prompt("a", "").reply("b").prompt("c", "root").esc(), 2, 0, bare(2, 0)},
		{"the first, interrupted", of().prompt("a", "").esc(), 1, 0, bare(1, 0)},
		{
			"in a call", of().prompt("a", "").reply("b").prompt("c", "").call("d"), 2, 3,
			"the call of Bash had no result yet",
		},
		{
			"in the second call", of().prompt("a", "").call("b").result("b").call("c"), 1, 3,
			"the call of Bash had no result yet",
		},
		{"in the first call of all", of().prompt("a", "").call("b"), 1, 1, "the call of Bash had no result yet"},
		{
			"gone back, in a call",
			of().prompt("a", "").reply("b").prompt("c", "").reply("d").prompt("e", "b").call("f"), 3, 5,
			"the call of Bash had no result yet",
		},
		{
			"cleared, in a call", of().prompt("a", "").reply("b").prompt("c", "root").call("d"), 2, 3,
			"the call of Bash had no result yet",
		},
		{"a result that is lost", of().prompt("a", "").call("b").reply("c"), 1, 3, ""},
	} {
		ends := []int64{0}
		for _, l := range tt.lines.text {
			ends = append(ends, ends[len(ends)-1]+int64(len(l))+1)
		}
		src := lines(tt.lines.text...)
		cut, err := CutTurn(Claude, src, tt.turn)
		switch {
		case tt.end == 0:
			if !errors.Is(err, ErrEmpty) || !strings.HasSuffix(err.Error(), ": "+tt.why) {
				t.Errorf("%s: %+v, %v", tt.name, cut, err)
			}
		case err != nil || cut.Offset != ends[tt.end] || cut.Because(nth) != tt.why:
			t.Errorf("%s: %+v, %q, %v; want behind line %d", tt.name, cut, cut.Because(nth), err, tt.end)
		default:
			fork(t, Claude, src, cut.Offset)
		}
	}
}

// TestCutAll holds what a copy of a session is that ends in a call, or has no prompt that is still there.
func TestCutAll(t *testing.T) {
	codex := codexLines(codexSays("user", "one"),
		codexItem(`{"type":"function_call","call_id":"c","name":"exec_command","arguments":"{}"}`))
	rolled := codexLines(codexSays("user", "one"), codexSays("assistant", "1"), codexEvent(`{"type":"thread_rolled_back","num_turns":1}`))
	droid := `{"type":"session_start","id":"` + forkID + `"}` + "\n" +
		`{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"one"}]}}` + "\n" +
		`{"type":"message","id":"b","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Execute"}]}}` + "\n"
	gemini := geminiData(geminiUser("p1", "one"), geminiModel("m", "", `,"toolCalls":[{"id":"t","name":"run"}]`))
	open := new(claudeLines).prompt("a", "").call("b")
	middle := new(claudeLines).result("x").reply("y")
	for _, tt := range []struct {
		name     string
		agent    Agent
		src      Source
		dropped  int
		dangling string
	}{
		{"Claude", Claude, lines(open.text...), 0, "Bash"},
		{"Codex", Codex, text("x", codex), 0, "exec_command"},
		{"Droid", Droid, text("x", droid), 0, "Execute"},
		{"Gemini", Gemini, text("x.jsonl", gemini), 1, ""},
		{"from the middle", Claude, lines(middle.text...), 0, ""},
		{"nothing left", Codex, text("x", rolled), 0, ""},
		{"nothing said", Claude, lines(`{"type":"mode","sessionId":"x"}`), 0, ""},
		{"nothing", Claude, lines(), 0, ""},
	} {
		cut, err := CutAll(tt.agent, tt.src)
		if err != nil || cut.Dropped != tt.dropped || (cut.Dangling != nil) != (tt.dangling != "") ||
			cut.Dangling != nil &&
				cut.Dangling.Name != tt.dangling {
			t.Errorf("%s: %+v, %v", tt.name, cut, err)
			continue
		}
		f := Fork{Cut: cut.Offset, ID: forkID, Time: forkTime, Clone: true}
		var b bytes.Buffer
		if err := WriteFork(&b, tt.agent, tt.src, f); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if cut.Messages > 0 {
			if err := checkFork(tt.agent, bytesSource("fork.jsonl", b.Bytes()), tt.src, f); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			f.Clone = false
			err := checkFork(tt.agent, bytesSource("fork.jsonl", b.Bytes()), tt.src, f)
			if err == nil && (tt.dangling != "" || tt.name == "from the middle" || tt.name == "nothing left") {
				t.Errorf("%s: a fork may be so", tt.name)
			}
		}
	}
}

// TestCheckForkLines holds that what is wrong with a fork is told by the source's line, whatever was left out in front
// of it.
func TestCheckForkLines(t *testing.T) {
	c := new(claudeLines).prompt("a", "").result("b").call("b").result("b").reply("c")
	all := []string{`{"type":"mode","sessionId":"s"}`, "", c.text[0], "no JSON", c.text[1], `{"type":"mode","sessionId":"s"}`}
	src := lines(append(all, c.text[2:]...)...)
	src.Name = "/home/session.jsonl"
	f := Fork{Cut: src.Size, ID: forkID, Title: "t", From: "s", Time: forkTime}
	var b bytes.Buffer
	if err := WriteFork(&b, Claude, src, f); err != nil {
		t.Fatal(err)
	}
	const want = `/home/session.jsonl:7: a copy of it could not be gone on with: calls "tb", which line 5 has answered before`
	if err := checkFork(Claude, bytesSource("fork", b.Bytes()), src, f); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := WriteCheckedFork(io.Discard, Claude, src, f, "fork"); err == nil || err.Error() != want {
		t.Errorf("checked while it is written: %v", err)
	}
}

// TestWriteCheckedFork: what is checked meanwhile is written as it is otherwise, and an error in writing is that error.
func TestWriteCheckedFork(t *testing.T) {
	full, forked := errors.New("no space"), 0
	for _, s := range samples(t) {
		src := s.source()
		cut, err := CutAll(s.agent, src)
		if err != nil {
			continue
		}
		f := Fork{Cut: cut.Offset, ID: forkID, Title: "t", From: "s", Time: forkTime, Clone: true}
		var plain, checked bytes.Buffer
		if err := WriteFork(&plain, s.agent, src, f); err != nil {
			continue // it begins in another file
		}
		forked++
		err = WriteCheckedFork(&checked, s.agent, src, f, src.Name)
		same := checkFork(s.agent, bytesSource(src.Name, plain.Bytes()), src, f)
		if fmt.Sprint(err) != fmt.Sprint(same) || err == nil && !bytes.Equal(plain.Bytes(), checked.Bytes()) {
			t.Errorf("%s: %v, wants %v; %d of %d bytes", src.Name, err, same, checked.Len(), plain.Len())
		}
		if err := WriteCheckedFork(noRoom{full}, s.agent, src, f, src.Name); !errors.Is(err, full) {
			t.Errorf("%s: nothing can be written: %v", src.Name, err)
		}
	}
	if forked < 20 {
		t.Errorf("%d samples were forked", forked)
	}
}

// noRoom is a writer that cannot write.
type noRoom struct{ err error }

func (f noRoom) Write([]byte) (int, error) { return 0, f.err }

// TestBreaks holds where a chain is broken: where a line names one that is not there, and nowhere else.
func TestBreaks(t *testing.T) {
	for _, s := range samples(t) {
		want := 0
		if s.name == "claude/2.1.328-queued-interrupted.jsonl" { // it was cut under a client that had it open
			want = 1
		}
		if c := scan(t, s.agent, s.source()); len(c.Breaks) != want {
			t.Errorf("%s: %+v", s.name, c.Breaks)
		}
	}
	c := new(claudeLines).prompt("a", "").reply("b").prompt("c", "lost").reply("d").prompt("e", "d").reply("f")
	if got := scan(t, Claude, lines(c.text...)).Breaks; len(got) != 1 || got[0].Turn != 2 || got[0].Line != 3 {
		t.Errorf("%+v", got)
	}
	boundary := `{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"x","uuid":"g"}`
	src := lines(append(c.text, boundary,
		`{"type":"user","isCompactSummary":true,"uuid":"h","parentUuid":"g","message":{"content":"s"}}`)...)
	for n, want := range map[int]int{1: 0, 2: 3, 3: 3} {
		cut, err := CutTurn(Claude, src, n)
		if err != nil || (cut.Break != nil) != (want > 0) || cut.Break != nil && cut.Break.Line != want {
			t.Errorf("turn %d: %+v, %v", n, cut, err)
		}
	}
	if cut, err := CutAt(Claude, src, src.Size); err != nil || cut.Break != nil || cut.Compaction == nil {
		t.Errorf("behind a summary nobody looks further back: %+v, %v", cut, err)
	}
}

// TestClaudeCommand holds what is shown of a command that is a prompt.
func TestClaudeCommand(t *testing.T) {
	long := strings.Repeat("word ", 200)
	for in, want := range map[string]string{
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>158</command-args>": "/review 158",
		"<command-message>init is analyzing…</command-message>\n<command-name>/init</command-name>":                         "/init",
		" <command-message>x</command-message><command-name>/x</command-name><command-args></command-args>":                 "/x",
		"<command-message>The \"pdf\" skill is running</command-message>\n<command-name>pdf</command-name>":                 "/pdf",
		"<command-message>r</command-message><command-name>/r</command-name><command-args>a\nb</command-args> and more":     "/r a b",
		"<command-message>r</command-message><command-name>/r</command-name><command-args>" + long +
			"</command-args>": oneLine("/r "+long, maxSummary),
		"<command-message>without a name":                   "<command-message>without a name",
		"say <command-message>r</command-message>":          "say <command-message>r</command-message>",
		"what is <command-name>/clear</command-name> about": "what is <command-name>/clear</command-name> about",
	} {
		c := scan(t, Claude, lines(`{"type":"user","uuid":"u","sessionId":"s","message":{"content":`+quoted(in)+`}}`))
		if len(c.Turns) != 1 || c.Turns[0].Summary != want || c.Title != want {
			t.Errorf("%s: %+v", in, c.Turns)
		}
	}
	if c := scan(t, Claude, lines(`{"type":"user","uuid":"u","message":{"content":"Operation stopped by hook: no"}}`)); len(c.Turns) != 0 {
		t.Errorf("what a hook has stopped is a prompt: %+v", c.Turns)
	}
}

// TestGeminiDocumentBroken holds that what is no message is left out of a fork of a document, wherever it stands.
func TestGeminiDocumentBroken(t *testing.T) {
	one, two := geminiUser("p1", "one"), geminiModel("m1", "1", "")
	for _, list := range [][]string{
		{"7", one, two},
		{one, "[]", two},
		{one, two, "null"},
		{"7", "8", one, "9", two, "10"},
	} {
		src := text("x.json", "{\n \"sessionId\": \"s\",\n \"messages\": [\n  "+strings.Join(list, ",\n  ")+"\n ]\n}\n")
		cut, err := CutAll(Gemini, src)
		if err != nil || cut.Messages != 2 {
			t.Fatalf("%v: %+v, %v", list, cut, err)
		}
		f := Fork{Cut: cut.Offset, ID: forkID, Title: "t", Time: forkTime}
		var b bytes.Buffer
		if err := WriteFork(&b, Gemini, src, f); err != nil {
			t.Fatal(err)
		}
		if err := checkFork(Gemini, bytesSource("f.json", b.Bytes()), src, f); err != nil {
			t.Errorf("%v: %v\n%s", list, err, b.String())
		}
	}
}
