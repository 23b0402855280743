package passage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/transcript"
)

// passagesOf gives the passages of a session file, a line each: record, part, text with "|" for newlines.
func passagesOf(t *testing.T, agent transcript.Agent, file string) []string {
	t.Helper()
	var out []string
	ps := Reader{Passage: func(r *transcript.Record, p *Passage) error {
		text := strings.ReplaceAll(strings.TrimSuffix(string(p.Text), "\n"), "\n", "|")
		out = append(out, fmt.Sprintf("%d %s: %s", r.Line, p.Part, text))
		return nil
	}}
	src := transcript.Source{ReaderAt: strings.NewReader(file), Size: int64(len(file)), Name: "x.jsonl", Ended: true}
	if err := ps.Read(agent, src, 0); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPassages: what was said is unescaped, whoever wrote it, and each text has its part.
func TestPassages(t *testing.T) {
	for _, c := range []struct {
		agent transcript.Agent
		line  string
		want  []string
	}{
		{transcript.Claude, `{"type":"user","message":{"role":"user","content":"pass=\"a\\nb\"\nnext \u00fc"},"uuid":"1-2-3"}`, []string{
			`1 prompt: pass="a\nb"|next ü`,
		}},
		{transcript.Claude, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hmm hmm",` +
			`"signature":"c2lnbg"},{"type":"text","text":"said"},` +
			`{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"echo one"}}]}}`, []string{
			`1 thinking: "thinking": "hmm hmm"`, `1 reply: "text": "said"`, `1 tool input: "name": "Bash"|"command": "echo one"`,
		}},
		{transcript.Claude, `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"out put"}]},` +
			`"toolUseResult":{"stdout":"out put"}}`, []string{
			`1 tool output: "content": "out put"|"stdout": "out put"`,
		}},
		{transcript.Codex, `{"type":"response_item","payload":{"type":"function_call","name":"shell",` +
			`"arguments":"{\"command\":[\"bash\",\"-lc\",\"x=\\\"1 2\\\"\"]}"}}`, []string{
			`1 tool input: "name": "shell"|"command": "bash"|"command": "x="1 2""`,
		}},
		{
			transcript.Codex, `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"done\\n\"}"}}`,
			[]string{`1 tool output: done|`},
		},
		{transcript.Codex, `{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"I think"}]}}`, []string{
			`1 thinking: "text": "I think"`,
		}},
		{transcript.Gemini, `{"id":"1","type":"gemini","content":"said","thoughts":[{"description":"I think"}],"toolCalls":[{"name":"sh",` +
			`"args":{"c":"go on"},"result":[{"functionResponse":{"response":{"output":"out put"}}}]}]}`, []string{
			`1 reply: "content": "said"`, `1 thinking: "description": "I think"`, `1 tool input: "c": "go on"`,
			`1 tool output: "output": "out put"`,
		}},
		{transcript.Claude, `no JSON at all`, []string{`1 other: no JSON at all`}},
		{transcript.Claude, `{"a":"text one","b":`, []string{`1 other: {"a":"text one","b":`}},
	} {
		got := passagesOf(t, c.agent, c.line+"\n")
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s %.40s:\n%s\nwant\n%s", c.agent, c.line, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestPassagesOfImages: a run of base64 is left out, and what is behind it is read; a text that is longer than a
// passage comes in several.
func TestPassagesOfImages(t *testing.T) {
	image := strings.Repeat("iVBORw0KGgo", 1<<18)
	line, _ := json.Marshal(map[string]any{"type": "user", "text": "before data:image/png;base64," + image + " behind"})
	got := passagesOf(t, transcript.Claude, string(line)+"\n")
	if len(got) != 1 || !strings.HasSuffix(got[0], "before data:image/png;base64,| behind") || len(got[0]) > 200 {
		t.Errorf("%.300q", got)
	}
	long := strings.Repeat("some words of a text\n", 3<<20/21) + "THE END"
	line, _ = json.Marshal(map[string]any{"type": "user", "text": long})
	ends, size := 0, 0
	src := transcript.Source{ReaderAt: bytes.NewReader(append(line, '\n')), Size: int64(len(line) + 1), Name: "x.jsonl"}
	ps := Reader{Passage: func(_ *transcript.Record, p *Passage) error {
		size += len(p.Text)
		if i := bytes.Index(p.Text, []byte("THE END")); i >= 0 {
			ends++
			from, to := p.Range(1 + bytes.Count(p.Text[:i], []byte("\n")))
			at := int64(bytes.Index(line, []byte("THE END")))
			if from > at || to < at+7 || to-from > 8<<10 {
				t.Errorf("the end is at %d: %d to %d", at, from, to)
			}
		}
		if len(p.Text) > maxPassage+2*placeEvery {
			t.Errorf("a passage of %d bytes", len(p.Text))
		}
		return nil
	}}
	err := ps.Read(transcript.Claude, src, 0)
	if most := len(long) + 4*(passageOverlap+placeEvery); err != nil || ends != 1 || size < len(long) || size > most {
		t.Errorf("%d ends, %d bytes of %d, %v", ends, size, len(long), err)
	}
}

// FuzzPassages: whatever a line is, what it says is found where the range of its line is, and memory is bounded.
func FuzzPassages(f *testing.F) {
	for _, pattern := range []string{"../testdata/*/*.jsonl", "../testdata/*/*.json"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add([]byte(`{"a":"{\"b\":\"[\\\"c c c\\\"]\"}","d":"\u0000\ud800 x"}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, agent := range []transcript.Agent{transcript.Claude, transcript.Codex, transcript.Gemini, transcript.Droid} {
			src := transcript.Source{ReaderAt: bytes.NewReader(file), Size: int64(len(file)), Name: "x.jsonl", Ended: true}
			ps := Reader{Passage: func(r *transcript.Record, p *Passage) error {
				for n := range min(1+bytes.Count(p.Text, []byte("\n")), 64) {
					from, to := p.Range(n + 1)
					if from > to || from < r.Offset || to > r.Offset+r.Size {
						t.Fatalf("line %d: %d to %d in a record from %d to %d", n, from, to, r.Offset, r.Offset+r.Size)
					}
				}
				if p.Part == "" || len(p.Text) == 0 || bytes.IndexByte(p.Text, 0) >= 0 && r.Kind != transcript.Broken {
					t.Fatalf("part %q of %d bytes", p.Part, len(p.Text))
				}
				return nil
			}}
			if err := ps.Read(agent, src, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}
