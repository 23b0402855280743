package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/internal/value"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is a session file of testdata.
type sample struct {
	agent Agent
	name  string // agent/file
	data  []byte
	over  bool // nobody writes to it any more
}

func (s sample) source() Source {
	return Source{ReaderAt: bytes.NewReader(s.data), Size: int64(len(s.data)), Name: s.name, Ended: s.over}
}

func samples(t testing.TB) []sample {
	t.Helper()
	var out []sample
	for _, agent := range value.Agents() {
		for _, ext := range []string{"jsonl", "json"} {
			files, err := filepath.Glob(filepath.Join("testdata", string(agent), "*."+ext))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, sample{agent: agent, name: string(agent) + "/" + filepath.Base(f), data: data})
			}
		}
	}
	if len(out) < 10 {
		t.Fatalf("%d samples", len(out))
	}
	return out
}

var forkTime = time.Date(2026, 11, 21, 8, 30, 0, 5e6, time.UTC)

const forkID = "0f0f0f0f-1111-4222-8333-444455556666"

func forkOf(c *Conversation, cut int64) Fork {
	return Fork{Cut: cut, ID: forkID, Title: ForkTitle(c.Title, 0), Time: forkTime, From: c.ID}
}

func TestGolden(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			base := filepath.Join("testdata", strings.TrimSuffix(filepath.FromSlash(s.name), filepath.Ext(s.name)))
			golden(t, base+".golden", describe(t, s))
			if cut, err := CutTurn(s.agent, s.source(), 1); err == nil && hasAll(s) {
				golden(t, base+".fork", writeFork(t, s, cut.Offset))
			}
		})
	}
}

// hasAll says whether all of a conversation is in its file.
func hasAll(s sample) bool {
	c, err := Scan(s.agent, s.source())
	return err == nil && c.Base == nil
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs:\n%s", name, firstDifference(string(got), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func writeFork(t testing.TB, s sample, cut int64) []byte {
	t.Helper()
	c, err := Scan(s.agent, s.source())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteFork(&b, s.agent, s.source(), forkOf(c, cut)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// describe is all that is known of a session file, as text.
func describe(t *testing.T, s sample) []byte {
	t.Helper()
	var b bytes.Buffer
	ends := []int64{}
	if err := Read(s.agent, s.source(), 0, func(r *Record) error {
		ends = append(ends, r.Offset+r.Size)
		fmt.Fprintln(&b, recordLine(r))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c, err := Scan(s.agent, s.source())
	if err != nil {
		t.Fatal(err)
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(c); err != nil {
		t.Fatal(err)
	}
	for i, end := range ends {
		cut, err := CutAt(s.agent, s.source(), end)
		fmt.Fprintf(&b, "cut behind record %d: %s\n", i+1, cutLine(cut, err, ends))
	}
	for n := range len(c.Turns) + 2 {
		cut, err := CutTurn(s.agent, s.source(), n)
		fmt.Fprintf(&b, "cut at turn %d: %s\n", n, cutLine(cut, err, ends))
	}
	messages, err := Messages(s.agent, s.source(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		fmt.Fprintf(&b, "%s: %q %v %v line %d\n", m.Who, oneLine(m.Text, 60), m.Calls, m.Results, m.Line)
	}
	return b.Bytes()
}

var kinds = map[Kind]string{
	Other: "-", Prompt: "PROMPT", Reply: "reply", Result: "result", Context: "context", Compact: "COMPACT", Rewound: "REWOUND",
	Broken: "BROKEN",
}

func recordLine(r *Record) string {
	line := fmt.Sprintf("%d %s %s", r.Line, kinds[r.Kind], r.Type)
	if r.Side {
		line += " side"
	}
	if r.Hidden {
		line += " hidden"
	}
	for _, c := range r.Calls {
		line += fmt.Sprintf(" call(%s %s %q)", short(c.ID), c.Name, c.Target)
	}
	for _, id := range r.Results {
		line += fmt.Sprintf(" result(%s)", short(id))
	}
	if r.Text != "" {
		line += fmt.Sprintf(" %q", oneLine(r.Text, 60))
	}
	return line
}

func short(id string) string { return id[max(0, len(id)-6):] }

func cutLine(cut Cut, err error, ends []int64) string {
	switch {
	case errors.Is(err, ErrEmpty):
		return "empty"
	case errors.Is(err, ErrNoTurn):
		return "no turn"
	case err != nil:
		return err.Error()
	}
	record := 0
	for i, end := range ends {
		if end == cut.Offset {
			record = i + 1
		}
	}
	line := fmt.Sprintf("record %d, turn %d, %d messages, last %s, %d dropped", record, cut.Turn, cut.Messages, short(cut.LastMessage),
		cut.Dropped)
	if cut.Compaction != nil {
		line += fmt.Sprintf(", compacted at line %d", cut.Compaction.Line)
	}
	if cut.LaterCompaction {
		line += ", compacted later"
	}
	return line
}
