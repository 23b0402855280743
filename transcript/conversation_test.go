package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func claudeSays(n int) []string {
	var out []string
	for i := range n {
		parent := fmt.Sprintf(`"r%d"`, i-1)
		if i == 0 {
			parent = "null"
		}
		out = append(out,
			fmt.Sprintf(`{"type":"user","uuid":"p%d","parentUuid":%s,"sessionId":"%s","message":{"content":"prompt %d"}}`, i, parent,
				forkID, i+1),
			fmt.Sprintf(
				`{"type":"assistant","uuid":"r%d","parentUuid":"p%d","message":{"id":"m%d","content":[{"type":"text","text":"reply %d"}]}}`,
				i, i, i, i+1))
	}
	return out
}

// TestRead holds what a reader is told: where records are, what is broken, that a line without an end is none, and its
// own error.
func TestRead(t *testing.T) {
	text := strings.Join(claudeSays(2), "\n") + "\nbroken\n{\"torn\":tr"
	src := bytesSource("session", []byte(text))
	var got []string
	if err := Read(Claude, src, 0, func(r *Record) error {
		got = append(got, text[r.Offset:r.Offset+r.Size])
		if r.Line != len(got) || (r.Kind == Broken) != (r.Line == 5) || r.Kind == Broken && r.Err == nil {
			t.Errorf("%+v", r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "") != strings.TrimSuffix(text, "{\"torn\":tr") {
		t.Errorf("%q", got)
	}
	from, n := int64(len(got[0])+len(got[1])), 0
	if err := Read(Claude, src, from, func(r *Record) error {
		if n++; r.Line != n || n == 1 && (r.Offset != from || r.ID != "p1") {
			t.Errorf("%+v", r)
		}
		return nil
	}); err != nil || n != 3 {
		t.Errorf("%d records, %v", n, err)
	}
	stop := errors.New("stop")
	if err := Read(Claude, src, 0, func(*Record) error { return stop }); !errors.Is(err, stop) ||
		err.Error() != "stop" {
		t.Errorf("%v", err)
	}
	broken := errors.New("disk gone")
	err := Read(Claude, Source{ReaderAt: failing{src, 100, broken}, Size: src.Size, Name: "session"}, 0,
		func(*Record) error { return nil })
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, broken) || e.Name != "session" {
		t.Errorf("%v", err)
	}
	if err := Read("opencode", src, 0, func(*Record) error { return nil }); err == nil {
		t.Error("an agent that is not known is read")
	}
	c := scan(t, Claude, src)
	if len(c.Broken) != 1 || c.Broken[0] != 5 || c.End != int64(len(text)-len("{\"torn\":tr")) {
		t.Errorf("%+v", c)
	}
}

// failing fails behind n bytes.
type failing struct {
	io.ReaderAt
	n   int64
	err error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.n {
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestCutErrors(t *testing.T) {
	src := lines(claudeSays(3)...)
	for n, want := range map[int]string{
		0: "cut test at turn 0: no such turn: there are 3", 4: "cut test at turn 4: no such turn: there are 3",
		-1: "cut test at turn -1: no such turn: there are 3",
	} {
		if _, err := CutTurn(Claude, src, n); !errors.Is(err, ErrNoTurn) || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	for _, at := range []int64{-5, 0, 1} {
		want := fmt.Sprintf("cut test at byte %d: no prompt before this place, there is nothing to fork", at)
		if _, err := CutAt(Claude, src, at); !errors.Is(err, ErrEmpty) || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	if cut, err := CutAt(Claude, src, src.Size+1000); err != nil || cut.Offset != src.Size || cut.Turn != 3 ||
		cut.Messages != 6 ||
		cut.LastMessage != "r2" {
		t.Errorf("%+v, %v", cut, err)
	}
}

func TestMessages(t *testing.T) {
	text := claudeSays(5)
	text = append(text, `{"type":"user","uuid":"x","isMeta":true,"message":{"content":"meta"}}`,
		`{"type":"assistant","uuid":"y","message":{"id":"m9","content":[{"type":"text","text":"`+strings.Repeat("é", 3000)+`"}]}}`,
		`{"type":"assistant","uuid":"z","message":{"id":"m9","content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls\n-l"}}]}}`)
	for n := range 12 {
		got, err := Messages(Claude, lines(text...), n)
		if err != nil || len(got) != n && n < 11 {
			t.Fatalf("%d of %d, %v", len(got), n, err)
		}
		for i, m := range got {
			at := max(11-n, 0) + i
			switch {
			case at == 10:
				if m.Who != "assistant" || !m.Cut || len(m.Text) != 4096 || m.Line != 12 || len(m.Calls) != 1 ||
					m.Calls[0] != (Call{"1", "Bash", "ls -l"}) {
					t.Errorf("%d: %+v", at, m)
				}
			case at%2 == 0:
				if m.Who != "user" || m.Text != fmt.Sprintf("prompt %d", at/2+1) || m.Line != at+1 {
					t.Errorf("%d: %+v", at, m)
				}
			case m.Who != "assistant" || m.Text != fmt.Sprintf("reply %d", at/2+1):
				t.Errorf("%d: %+v", at, m)
			}
		}
	}
	back := append(claudeSays(3), `{"type":"user","uuid":"b","parentUuid":"r0","message":{"content":"back"}}`)
	got, err := Messages(Claude, lines(back...), 10)
	if err != nil || len(got) != 3 || got[2].Text != "back" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPromise19AnswerBeforePrompt has a reply stand before its prompt in the file, as Claude 2.1.30 writes it when the
// disk is slow: it is read behind it, whatever is asked for, and the chain is whole.
func TestPromise19AnswerBeforePrompt(t *testing.T) {
	reply := new(claudeLines).prompt("a", "").reply("b")
	reply.text[0], reply.text[1] = reply.text[1], reply.text[0]
	text := reply.prompt("c", "b").reply("d").text
	if c := scan(t, Claude, lines(text...)); len(c.Breaks) != 0 || len(c.Turns) != 2 {
		t.Errorf("%+v", c)
	}
	for n, want := range map[int][]string{
		2: {"user", "assistant"}, 3: {"assistant", "user", "assistant"},
		9: {"user", "assistant", "user", "assistant"},
	} {
		got, err := Messages(Claude, lines(text...), n)
		var who []string
		for _, m := range got {
			who = append(who, m.Who)
		}
		if err != nil || !slices.Equal(who, want) {
			t.Errorf("the last %d: %v, %v", n, who, err)
		}
	}
}

func TestCheck(t *testing.T) {
	text := claudeSays(2)
	call := `{"type":"assistant","uuid":"c","message":{"id":"x","content":[{"type":"tool_use","id":"1","name":"Bash"}]}}`
	result := `{"type":"user","uuid":"d","message":{"content":[{"type":"tool_result","tool_use_id":"1"}]}}`
	side := `{"type":"assistant","uuid":"e","isSidechain":true,"message":{"id":"y","content":[{"type":"tool_use","id":"1","name":"Bash"}]}}`
	if err := Check(Claude, lines(append(text, result, side)...), forkID); err != nil {
		t.Errorf("a call of a subagent: %v", err)
	}
	for want, src := range map[string]Source{
		"": lines(append(text, call, result)...),
		`test:5: call "1" of "Bash" has no result`:            lines(append(text, call)...),
		`test:6: calls "1", which line 5 has answered before`: lines(append(text, result, call)...),
		`test:5: names session "x", not "` + forkID +
			`"`: lines(append(text, `{"type":"mode","session_id":"x"}`)...),
		"test:5: byte " + fmt.Sprint(len(strings.Join(text, "\n"))+1) + ": wants '{'": lines(append(text, "x")...),
		`test: is of session "", not "` + forkID +
			`"`: lines(`{"type":"user","uuid":"c","message":{"content":"hi"}}`),
		"test: no prompt before this place, there is nothing to fork": lines(`{"type":"mode","sessionId":"` + forkID + `"}`),
		"test:5: a line without an end": bytesSource("test",
			[]byte(strings.Join(text, "\n")+"\n{\"type\"")),
	} {
		err := Check(Claude, src, forkID)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestForkBeyond holds that nothing behind the cut is looked at.
func TestForkBeyond(t *testing.T) {
	text := strings.Join(claudeSays(2), "\n") + "\n"
	for _, agent := range []Agent{Claude, Droid} {
		f := Fork{Cut: int64(len(text)), ID: forkID, Title: "t", From: "s", Time: forkTime}
		var short, long bytes.Buffer
		if err := WriteFork(&short, agent, bytesSource("short", []byte(text)), f); err != nil {
			t.Fatal(err)
		}
		more := bytesSource("long", []byte(text+`{"type":"custom-title","customTitle":"x"}`+"\n"+strings.Join(claudeSays(4), "\n")))
		more.ReaderAt = failing{more.ReaderAt, int64(len(text)), errors.New("read behind the cut")}
		if err := WriteFork(&long, agent, more, f); err != nil || !bytes.Equal(short.Bytes(), long.Bytes()) {
			t.Errorf("%s: %v", agent, err)
		}
	}
}
