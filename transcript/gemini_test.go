package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func geminiData(lines ...string) string {
	meta := `{"sessionId":"40050841-0b0c-47f8-b082-9485cbec393e","projectHash":"d0","startTime":"2026-01-01T00:00:00.000Z","kind":"main"}`
	return meta + "\n" + strings.Join(lines, "\n") + "\n"
}

func geminiUser(id, text string) string {
	return `{"id":"` + id + `","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":` + quoted(text) + `}]}`
}

func geminiModel(id, text, more string) string {
	return `{"id":"` + id + `","type":"gemini","content":` + quoted(text) + more + `}`
}

func geminiSet(messages ...string) string {
	return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}`
}

// cuts is where a session ends for each of its records: the number of the record at which the file would be cut.
func cuts(t testing.TB, agent Agent, data string) string {
	t.Helper()
	src := text("x", data)
	ends := map[int64]int{}
	var list []int64
	err := Read(agent, src, 0, func(r *Record) error {
		list = append(list, r.Offset+r.Size)
		ends[r.Offset+r.Size] = r.Line
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, end := range list {
		cut, err := CutAt(agent, src, end)
		switch {
		case errors.Is(err, ErrEmpty):
			out = append(out, "-")
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, fmt.Sprint(ends[cut.Offset]))
		}
	}
	return strings.Join(out, " ")
}

func turnsOf(c *Conversation) string {
	var out []string
	for _, turn := range c.Turns {
		word := turn.Summary
		if turn.Gone {
			word += " (gone)"
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

func TestGeminiLines(t *testing.T) {
	const (
		context  = `{"id":"c","type":"user","content":[{"text":"<session_context>\nwhere we are"}]}`
		call     = `,"toolCalls":[{"id":"t1","name":"write_file","args":{"file_path":"a.txt"},"status":"executing"}]`
		called   = `,"toolCalls":[{"id":"t1","name":"write_file","args":{"file_path":"a.txt"},"result":[{"functionResponse":{"id":"t1"}}]}]`
		response = `{"id":"r","type":"user","content":[{"functionResponse":{"id":"t1","name":"write_file","response":{}}}]}`
	)
	one, two := geminiUser("p1", "one"), geminiUser("p2", "two")
	first, second := geminiModel("m1", "1", ""), geminiModel("m2", "2", "")
	for _, tt := range []struct {
		name  string
		lines []string
		cuts  string // of the metadata's line, and of these
		turns string
	}{
		{"context alone is empty", []string{geminiSet(context), context}, "- - -", ""},
		{"plain", []string{geminiSet(context), one, first, two}, "- - 3 4 5", "one, two"},
		{
			"resumed",
			[]string{one, first, geminiSet(context), `{"$set":{"sessionId":"x"}}`, geminiSet(context, one, first), two},
			"- 2 3 3 3 6 7", "one, two",
		},
		{
			"resumed and not told the rest",
			[]string{one, first, geminiSet(context), two, second},
			"- 2 3 3 5 6",
			"one (gone), two",
		},
		{
			"rewound to a prompt",
			[]string{one, first, two, second, `{"$rewindTo":"p2"}`, geminiUser("p3", "three")},
			"- 2 3 4 5 6 7",
			"one, two (gone), three",
		},
		{"rewound to the first prompt", []string{one, first, `{"$rewindTo":"p1"}`, two}, "- 2 3 - 5", "one (gone), two"},
		{"rewound to a message", []string{one, first, two, second, `{"$rewindTo":"m1"}`}, "- 2 3 4 5 6", "one, two (gone)"},
		{"rewound to the last message", []string{one, first, two, second, `{"$rewindTo":"m2"}`}, "- 2 3 4 5 6", "one, two"},
		{"rewound to nothing known", []string{one, first, `{"$rewindTo":"?"}`}, "- 2 3 -", "one (gone)"},
		{"a call is open", []string{one, geminiModel("m1", "1", call), response, second}, "- 2 2 4 5", "one"},
		{
			"a call is open, its message comes again",
			[]string{one, first, geminiModel("m1", "1", call), geminiModel("m1", "1", called), response},
			"- 2 2 2 5 6", "one",
		},
		{
			"a call is open, and gone",
			[]string{one, first, two, geminiModel("m2", "", call), `{"$rewindTo":"p2"}`},
			"- 2 3 4 4 6",
			"one, two (gone)",
		},
		{"a call as a part", []string{
			one, `{"id":"m","type":"gemini","content":[{"functionCall":{"id":"t1","name":"x","args":{}}}]}`,
			response,
		}, "- 2 2 4", "one"},
		{
			"a call in $set",
			[]string{one, first, geminiSet(one, geminiModel("m1", "", call)), response},
			"- 2 3 3 5", "one",
		},
		{
			"a call answered in $set",
			[]string{one, geminiSet(one, geminiModel("m1", "", call), response), first},
			"- 2 3 4", "one",
		},
		{
			"$set leaves a turn out",
			[]string{one, first, two, second, geminiSet(one, first)},
			"- 2 3 4 5 6",
			"one, two (gone)",
		},
		{"$set begins it", []string{geminiSet(context, one, first, two, second)}, "- 2", "one, two"},
		{
			"compressed",
			[]string{one, first, two, second, geminiSet(geminiUser("s", "<state_snapshot>…"), two, second)},
			"- 2 3 4 5 6",
			"one, two",
		},
		{"a prompt that is said again", []string{one, first, one}, "- 2 3 4", "one"},
		{"broken", []string{one, "{", `{"id":5}`, `{"$set":7}`, `{"$rewindTo":null}`, first}, "- 2 3 4 5 6 7", "one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := geminiData(tt.lines...)
			if got := cuts(t, Gemini, data); got != tt.cuts {
				t.Errorf("cuts %s, want %s", got, tt.cuts)
			}
			if got := turnsOf(scan(t, Gemini, text("x", data))); got != tt.turns {
				t.Errorf("turns %s, want %s", got, tt.turns)
			}
		})
	}
}

func TestGeminiTitle(t *testing.T) {
	one := geminiUser("p1", "one")
	for _, tt := range []struct{ data, want string }{
		{geminiData(one), "one"},
		{geminiData(one, `{"$set":{"summary":"A title"}}`, geminiUser("p2", "two")), "A title"},
		{geminiData(one, `{"$set":{"summary":"A title"}}`, `{"$set":{"summary":"[Fork]\nA title"}}`), "[Fork] A title"},
		{geminiData(one, `{"$set":{"summary":""}}`, `{"$set":{"summary":7}}`), "one"},
		{geminiData(
			`{"id":"p1","type":"user","displayContent":[{"text":"see @a.txt"}],"content":[{"text":"see @a.txt"},{"text":"--- all of a.txt"}]}`), "see @a.txt"},
		{geminiData(`{"id":"p1","type":"user","content":[{"text":"see @a.txt"}],"displayContent":"typed"}`), "typed"},
	} {
		if got := scan(t, Gemini, text("x", tt.data)).Title; got != tt.want {
			t.Errorf("%q, want %q of %s", got, tt.want, tt.data)
		}
	}
}

func TestGeminiFork(t *testing.T) {
	const old = "40050841-0b0c-47f8-b082-9485cbec393e"
	keep := geminiUser("p1", `{"sessionId":"`+old+`"}`)
	data := geminiData(`{"$set":{"sessionId":"`+old+`","messages":[{"sessionId":"`+old+`"}]}}`, keep,
		`{"id":"m","sessionId":"`+old+`","type":"gemini","content":"x"}`)
	lines := strings.Split(fork(t, Gemini, text("x", data), int64(len(data))), "\n")
	want := strings.Split(strings.ReplaceAll(data, old, forkID), "\n")
	want[1] = `{"$set":{"sessionId":"` + forkID + `","messages":[{"sessionId":"` + old + `"}]}}`
	want[2] = keep
	want[len(want)-1] = `{"$set":{"summary":"[Fork] {\"sessionId\":\"` + old + `\"}","lastUpdated":"2026-11-21T08:30:00.005Z"}}`
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("got  %s\nwant %s", lines[i], want[i])
		}
	}
	if err := WriteFork(new(bytes.Buffer), Gemini, text("x", keep+"\n"),
		Fork{Cut: int64(len(keep) + 1), ID: forkID}); !errors.Is(err, errGeminiSession) {
		t.Error(err)
	}
}

func TestGeminiDocument(t *testing.T) {
	data := load(t, "gemini/0.26.0-3turns.json")
	src := sample{agent: Gemini, name: "x", data: data}.source() // no name that tells
	cut, err := CutTurn(Gemini, src, 2)
	if err != nil {
		t.Fatal(err)
	}
	type document struct {
		SessionID, Summary, ProjectHash string
		Messages                        []struct{ ID string }
	}
	read := func(s string) (d document) {
		if err := json.Unmarshal([]byte(s), &d); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
		return d
	}
	whole := read(string(data))
	forked := read(fork(t, Gemini, src, cut.Offset))
	if forked.SessionID != forkID || forked.Summary != "[Fork] TURN-1 please" ||
		forked.ProjectHash != whole.ProjectHash ||
		len(forked.Messages) != 6 {
		t.Errorf("%+v", forked)
	}
	titled := strings.Replace(string(data), `"messages": [`, `"summary": "old \"title\"", "messages": [`, 1)
	if c := scan(t, Gemini, text("x.json", titled)); c.Title != `old "title"` {
		t.Error(c.Title)
	}
	if got := read(fork(t, Gemini, text("x.json", titled), int64(len(titled)))); got.Summary != `[Fork] old "title"` ||
		len(got.Messages) != 8 {
		t.Errorf("%+v", got)
	}
	late := strings.TrimSuffix(string(data), "\n}") + ",\n  \"summary\": \"late\"\n}"
	if c := scan(t, Gemini, text("x.json", late)); c.Title != "late" || len(c.Turns) != 3 ||
		c.Turns[2].End >= int64(len(late))-10 {
		t.Errorf("%+v", c)
	}
	if at, err := CutAt(Gemini, text("x.json", late), int64(len(late))); err != nil || at.Turn != 3 ||
		at.Offset >= int64(len(late))-10 {
		t.Error(at, err)
	}
	for _, source := range []string{string(data), late} {
		var b bytes.Buffer
		if err := WriteCut(&b, Gemini, text("x.json", source), cut.Offset); err != nil {
			t.Fatal(err)
		}
		got, want := read(b.String()), read(source)
		if got.SessionID != whole.SessionID || len(got.Messages) != 6 || got.Summary != want.Summary {
			t.Errorf("%+v", got)
		}
		b.Reset()
		if err := WriteCut(&b, Gemini, text("x.json", source), int64(len(source))); err != nil || b.String() != source {
			t.Error(err)
		}
	}
	if err := WriteCut(new(bytes.Buffer), Gemini, text("x.json", string(data)), cut.Offset-1); !errors.Is(err, errGeminiEnd) {
		t.Error(err)
	}
	var third []string
	err = Read(Gemini, text("x.json", string(data)), scan(t, Gemini, src).Turns[2].Start, func(r *Record) error {
		third = append(third, fmt.Sprint(r.Line, r.Text))
		return nil
	})
	if err != nil || strings.Join(third, ",") != "1TURN-3 please,2TURN-3 complete." {
		t.Error(third, err)
	}
}

func TestGeminiDocumentErrors(t *testing.T) {
	const user = `{"id":"p","type":"user","content":"hi"}`
	for _, tt := range []struct{ data, want string }{
		{`{"sessionId":"x","messages":[` + user + `,7,` + user + `]}`, ""},
		{`{"messages":[` + user + `]}`, ""},
		{`{"sessionId":"x","messages":[]}`, ""},
		{`{"sessionId":"x"}`, "no messages"},
		{`{"sessionId":"x","messages":7}`, "no messages"},
		{`{"sessionId":"x","messages":[` + user + `]} x`, "more than one value"},
		{`{"sessionId":"x","messages":[` + user + `]`, "x.json:1: byte 69: ends too early"},
		{`{"sessionId":"x","messages":[` + user, "x.json:1: byte 68: ends too early"},
		{`{"sessionId":"x","messages":[` + user + `,{"id":`, "x.json:2: byte 75: ends too early"},
		{`{"sessionId":"x","messages":[` + user + ` ` + user, "x.json:1: "},
		{`[]`, "x.json: byte 0: "},
		{``, "x.json: byte 0: "},
	} {
		_, err := Scan(Gemini, text("x.json", tt.data))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.data, err)
		}
		var wrong *Error
		if err != nil && !errors.As(err, &wrong) {
			t.Errorf("%T", err)
		}
	}
	stop := errors.New("stop")
	if err := Read(Gemini, text("x.json", `{"messages":[`+user+`]}`), 0, func(*Record) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	for _, data := range []string{`{"messages":[` + user, `{"sessionId":"x","messages":[`, `{"sessionId":"x","messages":[]}`} {
		if err := WriteFork(new(bytes.Buffer), Gemini, text("x.json", data), Fork{Cut: int64(len(data)), ID: forkID}); err == nil {
			t.Errorf("a fork of %s", data)
		}
	}
}

// TestIsDocument: an older file of Gemini's is one document; those of lines, and of agents that nobody knows, are none.
func TestIsDocument(t *testing.T) {
	for _, tt := range []struct {
		agent Agent
		data  string
		want  bool
	}{
		{Gemini, `{"sessionId":"x","messages":[]}`, true},
		{Gemini, geminiData(geminiUser("a", "one")), false},
		{Claude, `{"type":"user"}` + "\n", false},
		{Codex, `{"type":"user"}` + "\n", false},
		{"other", `{"messages":[]}`, false},
	} {
		name := map[bool]string{true: "x.json", false: "x.jsonl"}[tt.want]
		if got := IsDocument(tt.agent, text(name, tt.data)); got != tt.want {
			t.Errorf("%s %.20s: %v", tt.agent, tt.data, got)
		}
	}
}
