package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func text(name, s string) Source {
	return Source{ReaderAt: strings.NewReader(s), Size: int64(len(s)), Name: name}
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func scan(t testing.TB, agent Agent, src Source) *Conversation {
	t.Helper()
	c, err := Scan(agent, src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fork is what WriteFork makes of src up to cut; it must pass Check.
func fork(t testing.TB, agent Agent, src Source, cut int64) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFork(&b, agent, src, forkOf(scan(t, agent, src), cut)); err != nil {
		t.Fatal(err)
	}
	if err := Check(agent, text("fork", b.String()), forkID); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return b.String()
}

// joined is a file of Codex behind what it continues: a segment behind all that the thread had, a fork behind the part
// that it has of it.
func joined(t testing.TB, base, segment string) sample {
	t.Helper()
	front, back := load(t, "codex/"+base+".jsonl"), load(t, "codex/"+segment+".jsonl")
	at, err := BaseOf(Codex, text(segment, string(back)))
	if err != nil || at == nil {
		t.Fatal(at, err)
	}
	if err := CodexBaseFits(text(base, string(front)), *at); err != nil {
		t.Fatal(err)
	}
	if scan(t, Codex, text(segment, string(back))).ID != at.Session {
		front = front[:at.EndOffset]
	}
	return sample{agent: Codex, name: "codex/" + segment + ".joined", data: append(slices.Clone(front), back...)}
}

func TestCodexJoined(t *testing.T) {
	for _, tt := range []struct {
		base, segment, id, parent string
		turns                     []string
	}{
		{
			"0.169.0-backtrack", "0.169.0-backtrack-segment", "01a1f867-63c3-7113-a272-12955c35fe69", "",
			[]string{"TURN-1 please", "TURN-2 please", "NEXT after backtrack"},
		},
		{
			"0.169.0-2turns", "0.169.0-2turns-fork", "01a1f866-261e-7193-aa11-1f08f64f2d6f",
			"01a1f866-12ce-71c0-b377-5762b05bda7d",
			[]string{"TURN-1 please", "TURN-2 please", "NEXT forked by client"},
		},
	} {
		t.Run(tt.segment, func(t *testing.T) {
			s := joined(t, tt.base, tt.segment)
			golden(t, filepath.Join("testdata", filepath.FromSlash(s.name)+".golden"), describe(t, s))
			c := scan(t, Codex, s.source())
			if c.ID != tt.id || c.Parent.Session != tt.parent || c.Base != nil {
				t.Errorf("session %s of %s, base %v", c.ID, c.Parent.Session, c.Base)
			}
			var turns []string
			for _, turn := range c.Turns {
				turns = append(turns, turn.Summary)
			}
			if fmt.Sprint(turns) != fmt.Sprint(tt.turns) {
				t.Errorf("turns %q", turns)
			}
			out := fork(t, Codex, s.source(), c.End)
			golden(t, filepath.Join("testdata", filepath.FromSlash(s.name)+".fork"), []byte(out))
			for _, gone := range []string{"history_base", "end_byte_offset", "forked_from", tt.id, c.Parent.Session} {
				if gone != "" && strings.Contains(out, gone) {
					t.Errorf("the fork has %s", gone)
				}
			}
			if n := strings.Count(out, `"session_meta"`); n != 1 {
				t.Errorf("%d session_meta lines", n)
			}
			live := slices.DeleteFunc(slices.Clone(c.Turns), func(turn Turn) bool { return turn.Gone })
			if again := scan(t, Codex, text("fork", out)); again.ID != forkID || len(again.Turns) != len(live) {
				t.Errorf("the fork is %s with %d turns, want %d", again.ID, len(again.Turns), len(live))
			}
		})
	}
}

// What a thread left when it went on in a segment is a branch within it, however often it did.
func TestCodexSegments(t *testing.T) {
	files := newSegments("one", "two", "three")
	check := func(what string, live []int, left string) {
		t.Helper()
		c := scan(t, Codex, text("thread", files.joined()))
		var are []int
		for i, turn := range c.Turns {
			if !turn.Gone {
				are = append(are, i+1)
			}
		}
		var ways []string
		for _, b := range Branches(c.Turns) {
			ways = append(ways, fmt.Sprint(b.After, b.Turns, b.How == BackByRecord, b.Left.IsZero()))
		}
		if fmt.Sprint(are) != fmt.Sprint(live) || strings.Join(ways, " ") != left {
			t.Errorf("%s: turns %v, left %q; want %v, %q", what, are, ways, live, left)
		}
		out := scan(t, Codex, text("fork", fork(t, Codex, text("thread", files.joined()), c.End)))
		if len(out.Turns) != len(live) {
			t.Errorf("%s: a fork has %d turns, want those that are not left: %v", what, len(out.Turns), live)
		}
		for i, turn := range out.Turns {
			if turn.Gone || turn.Summary != c.Turns[live[i]-1].Summary {
				t.Errorf("%s: turn %d of a fork is %q", what, i+1, turn.Summary)
			}
		}
	}
	check("whole", []int{1, 2, 3}, "")
	files.back(0, 1, "four", "five") // into the first file, behind "one"
	check("once", []int{1, 4, 5}, "1 [2 3] true false")
	files.back(1, 1, "six") // into the segment, behind "four"
	check("twice", []int{1, 4, 6}, "1 [2 3] true false 4 [5] true false")
	files.back(0, 1, "seven") // where the first segment began
	check("to where it went back before", []int{1, 7}, "1 [2 3] true false 1 [4 6] true false 4 [5] true false")

	// It may be read in two goes, by two processes.
	all := files.joined()
	for at := range len(files.list) {
		r := NewReading(Codex)
		if _, err := r.On(text("thread", strings.Join(files.list[:at], ""))); err != nil {
			t.Fatal(err)
		}
		if again, _ := ResumeReading(Codex, string(r.State())); at > 0 && again == nil {
			t.Fatalf("with %d files read it cannot be gone on with", at)
		} else if again != nil {
			r = again
		}
		c, err := r.On(text("thread", all))
		if want := scan(t, Codex, text("thread", all)); err != nil || fmt.Sprint(c.Turns) != fmt.Sprint(want.Turns) {
			t.Errorf("read on behind %d files: %+v, %v", at, c.Turns, err)
		}
	}
}

// segments are the files of a thread of Codex.
type segments struct {
	list []string
	ends [][]Base // of each file, where each of its turns ends
	next int64    // the next ordinal
	at   time.Time
}

func newSegments(turns ...string) *segments {
	f := &segments{at: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	f.file("", turns)
	return f
}

func (f *segments) joined() string { return strings.Join(f.list, "") }

// back goes on behind a turn of one of the files, from 1.
func (f *segments) back(file, turn int, turns ...string) {
	b := f.ends[file][turn-1]
	if file > 0 { // a segment is named by an id that is in its file's name alone
		b.Session = fmt.Sprintf("01a1f867-d129-71a2-90bf-%012d", file)
	}
	f.next = b.EndOrdinal
	f.file(fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d,"end_byte_offset":%d}`, b.Session, b.EndOrdinal,
		b.EndOffset), turns)
}

func (f *segments) file(base string, turns []string) {
	s, ends := "", []Base(nil)
	add := func(kind, payload string) {
		f.at = f.at.Add(time.Second)
		s += fmt.Sprintf(`{"timestamp":%q,"ordinal":%d,"type":%q,"payload":{%s}}`+"\n", stamp(f.at), f.next, kind, payload)
		f.next++
	}
	add("session_meta", `"id":"`+codexOld+`","cwd":"/p","source":"cli"`+base)
	for _, turn := range turns {
		add("response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"`+turn+`"}]`)
		add("response_item", `"type":"message","role":"assistant","content":[{"type":"output_text","text":"so `+turn+`"}]`)
		ends = append(ends, Base{Session: codexOld, EndOrdinal: f.next, EndOffset: int64(len(s))})
	}
	f.list, f.ends = append(f.list, s), append(f.ends, ends)
}

// A segment alone does not say how its conversation begins: a fork of it would have lost that.
func TestCodexSegmentAlone(t *testing.T) {
	src := text("segment.jsonl", string(load(t, "codex/0.169.0-backtrack-segment.jsonl")))
	err := WriteFork(new(bytes.Buffer), Codex, src, Fork{Cut: src.Size, ID: forkID})
	if !errors.Is(err, errCodexBase) || !strings.Contains(err.Error(), "segment.jsonl:1: ") {
		t.Error(err)
	}
	headless := `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}` + "\n"
	if err := WriteFork(new(bytes.Buffer), Codex, text("x", headless),
		Fork{Cut: int64(len(headless)), ID: forkID}); !errors.Is(err, errCodexMeta) {
		t.Error(err)
	}
}

func TestCodexBaseFits(t *testing.T) {
	data := string(load(t, "codex/0.169.0-backtrack.jsonl"))
	good := Base{Session: "01a1f867-63c3-7113-a272-12955c35fe69", EndOrdinal: 32, EndOffset: 14257}
	plain := string(load(t, "codex/0.125.0-1turn.jsonl"))
	first := int64(strings.IndexByte(plain, '\n') + 1)
	for _, tt := range []struct {
		name, data string
		change     func(*Base)
		why        string
	}{
		{"fits", data, func(*Base) {}, ""},
		{"ordinal", data, func(b *Base) { b.EndOrdinal++ }, "another record"},
		{"thread", data, func(b *Base) { b.Session = forkID }, "another thread"},
		{"inside of a record", data, func(b *Base) { b.EndOffset -= 2 }, "no record ends"},
		{
			"the record before", data,
			func(b *Base) { b.EndOffset = int64(strings.LastIndexByte(data[:14256], '\n') + 1) }, "another record",
		},
		{"all but the newline", data[:14256], func(*Base) {}, "ends before"},
		{"negative", data, func(b *Base) { b.EndOffset = -1 }, "ends before"},
		{
			"no ordinals", plain, func(b *Base) { *b = Base{"01a1f86c-8d36-78d3-ab11-d35d9586c418", 1, first} },
			"another record",
		},
		{
			"first record", data,
			func(b *Base) { b.EndOrdinal, b.EndOffset = 1, int64(strings.IndexByte(data, '\n')+1) }, "",
		},
	} {
		base := good
		tt.change(&base)
		err := CodexBaseFits(text("b.jsonl", tt.data), base)
		if tt.why == "" && err != nil || tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	long := `{"ordinal":0,"type":"session_meta","payload":{"id":"` + forkID + `"}}` + "\n" + `{"x":"` + strings.Repeat("y",
		300<<10) + `","ordinal":1}` + "\n"
	if err := CodexBaseFits(text("long", long), Base{forkID, 2, int64(len(long))}); err != nil {
		t.Error(err)
	}
}

// codexLines is a session whose first line is its session_meta.
func codexLines(lines ...string) string {
	meta := `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"01a1f866-12ce-71c0-b377-5762b05bda7d","cwd":"/home/dev/proj","source":"exec"}}`
	return meta + "\n" + strings.Join(lines, "\n") + "\n"
}

func codexSays(role, text string) string {
	return `{"type":"response_item","payload":{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":` +
		quoted(text) + `}]}}`
}

func codexItem(payload string) string { return `{"type":"response_item","payload":` + payload + `}` }

func codexEvent(payload string) string { return `{"type":"event_msg","payload":` + payload + `}` }

func TestCodexRecords(t *testing.T) {
	kinds := func(kinds string) string {
		return codexItem(`{"internal_chat_message_metadata_passthrough":{"content_item_kinds":[` + kinds +
			`]},"content":[{"text":"<environment_context> is what I ask about"}],"type":"message","role":"user"}`)
	}
	for _, tt := range []struct{ line, want string }{
		{codexSays("user", "fix it"), `PROMPT response_item/message "fix it"`},
		{codexSays("user", " \n<environment_context>…"), `context response_item/message hidden "<environment_context>…"`},
		{codexSays("user", "<user_instructions>…"), `context response_item/message hidden "<user_instructions>…"`},
		{codexSays("user", "# AGENTS.md instructions for /x"), `context response_item/message hidden "# AGENTS.md instructions for /x"`},
		{codexSays("user", "<SKILL>…"), `context response_item/message hidden "<SKILL>…"`},
		{codexSays("user", "<turn_aborted>…"), `context response_item/message hidden "<turn_aborted>…"`},
		{codexSays("user", "<user_shell_command>ls"), `context response_item/message hidden "<user_shell_command>ls"`},
		{codexSays("user", "<div> is broken"), `PROMPT response_item/message "<div> is broken"`},
		{codexSays("developer", "be brief"), `context response_item/message hidden "be brief"`},
		{codexSays("assistant", "done"), `reply response_item/message "done"`},
		{kinds(`"user.text"`), `PROMPT response_item/message "<environment_context> is what I ask about"`},
		{kinds(`"user.image","generic.x"`), `PROMPT response_item/message "<environment_context> is what I ask about"`},
		{kinds(`"compaction.summary"`), `context response_item/message hidden "<environment_context> is what I ask about"`},
		{kinds(``), `context response_item/message hidden "<environment_context> is what I ask about"`},
		{
			`{"metadata":{"compaction_output":true},` + codexSays("assistant", "a summary")[1:],
			`context response_item/message hidden "a summary"`,
		},
		{codexItem(`{"type":"reasoning","summary":[{"text":"hm"}]}`), `reply response_item/reasoning`},
		{
			codexItem(`{"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls -l\"]}"}`),
			`reply response_item/function_call call(c1 shell "ls -l")`,
		},
		{
			codexItem(`{"type":"function_call","name":"read","call_id":"c1","arguments":"{\"path\":\"a.txt\"}"}`),
			`reply response_item/function_call call(c1 read "a.txt")`,
		},
		{
			codexItem(`{"type":"local_shell_call","call_id":"c2","action":{"type":"exec","command":["ls","-l"]}}`),
			`reply response_item/local_shell_call call(c2  "ls -l")`,
		},
		{
			codexItem(
				`{"type":"custom_tool_call","call_id":"c3","name":"apply_patch","input":"*** Begin Patch\n*** Delete File: b.txt\n*** End Patch"}`),
			`reply response_item/custom_tool_call call(c3 apply_patch "b.txt")`,
		},
		{codexItem(`{"type":"tool_search_call","call_id":"c4","execution":"client"}`), `reply response_item/tool_search_call call(c4  "")`},
		{codexItem(`{"type":"tool_search_call","call_id":"c4","execution":"server"}`), `reply response_item/tool_search_call`},
		{codexItem(`{"type":"web_search_call","id":"w","action":{"query":"x"}}`), `reply response_item/web_search_call`},
		{codexItem(`{"type":"function_call_output","call_id":"c1","output":"o"}`), `result response_item/function_call_output result(c1)`},
		{
			codexItem(`{"type":"custom_tool_call_output","call_id":"c3","output":[{"text":"o"}]}`),
			`result response_item/custom_tool_call_output result(c3)`,
		},
		{codexItem(`{"type":"ghost_snapshot"}`), `- response_item/ghost_snapshot`},
		{codexEvent(`{"type":"thread_rolled_back","num_turns":1}`), `REWOUND event_msg/thread_rolled_back`},
		{`{"type":"compacted","payload":{"message":"sum","replacement_history":[{"type":"message","role":"user","content":[{"text":"old"}]}]}}`, `COMPACT compacted "sum"`},
		{`{"payload":{"type":"x","content":[{"text":"t"}]},"type":"unheard_of"}`, `- unheard_of/x`},
		{`{"type":"event_msg","payload":7}`, `- event_msg`},
		{`{"type":7,"payload":{"content":{"text":"t"}}}`, `-`},
		{`[1]`, `BROKEN`},
		{`{"type":"response_item","payload":{"type":"message"`, `BROKEN`},
	} {
		got := ""
		err := Read(Codex, text("x", tt.line+"\n"), 0, func(r *Record) error {
			got = strings.TrimSuffix(strings.TrimPrefix(recordLine(r), "1 "), " ")
			return nil
		})
		if err != nil || got != tt.want {
			t.Errorf("%s\n got %s %v\nwant %s", tt.line, got, err, tt.want)
		}
	}
}

func TestCodexGoneTurns(t *testing.T) {
	data := codexLines(
		codexSays("user", "one"), codexSays("assistant", "1"), codexSays("user", "two"), codexSays("assistant", "2"),
		codexSays("user", "three"), codexEvent(`{"type":"thread_rolled_back","num_turns":2}`), codexSays("user",
			"four"), codexSays("assistant", "4"),
		codexEvent(`{"type":"thread_rolled_back","num_turns":-3}`),
	)
	got := ""
	for _, turn := range scan(t, Codex, text("x", data)).Turns {
		got += fmt.Sprintf("%s %v; ", turn.Summary, turn.Gone)
	}
	if got != "one false; two true; three true; four false; " {
		t.Error(got)
	}
}

// What the client shows people comes ahead of what the model gets to see again: a fork must not end between them.
func TestCodexShownAhead(t *testing.T) {
	data := codexLines(
		codexSays("user", "one"), codexEvent(`{"type":"agent_message","message":"hello"}`), codexEvent(`{"type":"token_count"}`),
		codexSays("assistant", "hello"), codexEvent(`{"type":"agent_message","message":"hello"}`), codexEvent(`{"type":"token_count"}`),
		codexEvent(`{"type":"item_completed","item":{"id":"m2","type":"AgentMessage"}}`), codexEvent(`{"type":"turn_aborted"}`),
	)
	got := ""
	err := Read(Codex, text("x", data), 0, func(r *Record) error {
		cut, err := CutAt(Codex, text("x", data), r.Offset+r.Size)
		if err == nil {
			got += fmt.Sprint(cut.Dropped, " ")
		}
		return nil
	})
	if want := "0 1 2 0 1 2 3 0 "; err != nil || got != want {
		t.Errorf("dropped %s, want %s %v", got, want, err)
	}
}
