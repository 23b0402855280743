package transcript

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rewind/internal/torture"
	"rewind/internal/value"
)

// hostile are session files that nobody has written in good faith, or that were cut off; seeds of the fuzz targets too.
func hostile() []string {
	id := `"sessionId":"` + forkID + `"`
	return []string{
		"", "\n", "\n\n\n", "null\n", "[]\n", "{}\n", "{\n", "}\n", "{}", "{\"a\":1", "{}{}\n", "\"\\", "\x00\x00\n", "\xef\xbb\xbf{}\n",
		strings.Repeat("\x00", 4096) + "\n",
		`{"type":"user","uuid":"../../x","parentUuid":"\u0000",` + id + `,"message":{"role":"user","content":"hi"}}` + "\n",
		`{"type":"user","uuid":"a",` + id +
			`,"message":{"content":"one"},"uuid":"b","message":{"content":"two"},"forkedFrom":1,"forkedFrom":{"sessionId":"x","messageUuid":"y"}}` + "\n",
		`{"type":"user","uuid":"a",` + id +
			`,"message":{"content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"x"}]}}` + "\n",
		`{"type":"assistant","uuid":"b","parentUuid":"b",` + id +
			`,"message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"n","input":{"command":["x"]}}]}}` + "\n",
		"{\"type\":\"user\",\"uuid\":\"\xff\xfe\"," + id + ",\"message\":{\"content\":\"\xc3\x28\xed\xa0\x80\"}}\n",
		`{"type":"user","uuid":"` + strings.Repeat("u", 300) + `",` + id + `,"message":{"content":"long id"}}` + "\n",
		`{"type":"system","subtype":"compact_boundary","uuid":"c",` + id + `,"compactMetadata":` + strings.Repeat("[",
			2000) + strings.Repeat("]", 2000) + "}\n",
		`{"type":"user","uuid":"d","message":` + strings.Repeat(`{"content":[`, 3000) + strings.Repeat("]}", 3000) + "}\n",
		`{"type":` + strings.Repeat("[", 100000) + "\n" + `{"type":"user","uuid":"e","message":{"content":"after"}}` + "\n",
		`{"type":"session_start","id":"../x","title":7,"parent":{},"cwd":"/../.."}` + "\n" +
			`{"type":"message","id":"m","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}` + "\n",
		`{"type":"session_start","id":"a"}` + "\n" + `{"type":"session_start","id":"b","title":"x","sessionTitle":null}` + "\n",
		`{"timestamp":"x","type":"session_meta","payload":{"id":"../x","history_base":{"thread_id":"","end_ordinal_exclusive":-1,"end_byte_offset":1e99}}}` + "\n",
		`{"timestamp":"","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}` + "\n",
		`{"timestamp":"","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":99999999999999999999}}` + "\n",
		`{"sessionId":"x","projectHash":"y"}` + "\n" + `{"id":"1","type":"user","content":"hi"}` + "\n" +
			`{"$set":{"messages":[{"id":"1","type":"user","content":"hi"},{"id":"1"},7]}}` + "\n" + `{"$rewindTo":"1"}` + "\n",
		`{"sessionId":"x","messages":[{"id":"1","type":"user","content":"hi"},{"id":"2","type":"gemini","content":"ho"}]}`,
		"{\n \"messages\": [\n  {\"id\":\"1\",\"type\":\"user\",\"content\":\"hi\"},\n  7, [], {\n", "{\n\"sessionId\":1,\"messages\":{}}",
		"{\"messages\":[],\"messages\":[{}]}",
	}
}

func FuzzSession(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.data, int64(len(s.data)))
		f.Add(s.data[:len(s.data)*2/3], int64(len(s.data)/2))
	}
	for _, text := range hostile() {
		f.Add([]byte(text), int64(len(text)))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int64) {
		for _, agent := range value.Agents() {
			survive(t, agent, data, at)
		}
	})
}

func TestHostile(t *testing.T) {
	for _, text := range hostile() {
		for _, agent := range value.Agents() {
			survive(t, agent, []byte(text), int64(len(text)))
		}
	}
}

// survive does all that there is to be done with a session file. Nothing may panic, and errors are of the kinds that
// are promised.
func survive(t *testing.T, agent Agent, data []byte, at int64) {
	t.Helper()
	src := bytesSource("fuzz", data)
	kind := func(what string, err error) {
		t.Helper()
		var e *Error
		if err != nil && !errors.As(err, &e) && !errors.Is(err, ErrEmpty) && !errors.Is(err, ErrNoTurn) {
			t.Errorf("%s: %s: an error of another kind: %v", agent, what, err)
		}
	}
	end := int64(0)
	err := Read(agent, src, 0, func(r *Record) error {
		if r.Offset < end || r.Size <= 0 || r.Offset+r.Size > src.Size || (r.Kind == Broken) != (r.Err != nil) {
			t.Fatalf("%s: record %+v behind byte %d of %d", agent, r, end, src.Size)
		}
		end = r.Offset + r.Size
		return nil
	})
	kind("read", err)
	c, err := Scan(agent, src)
	kind("scan", err)
	if err == nil && c.End > src.Size {
		t.Fatalf("%s: ends at %d of %d", agent, c.End, src.Size)
	}
	_, err = Messages(agent, src, 3)
	kind("messages", err)
	kind("check", Check(agent, src, forkID))
	_, err = Common(agent, src, bytesSource("part", data[:max(0, min(at, src.Size))]))
	kind("common", err)
	_, err = CutTurn(agent, src, 1)
	kind("cut a turn", err)
	cut, err := CutAt(agent, src, at)
	kind("cut", err)
	if err == nil {
		if cut.Offset > at || cut.Offset <= 0 || cut.Offset > src.Size {
			t.Fatalf("%s: cut at %d of %d: %+v", agent, at, src.Size, cut)
		}
		kind("cut in place", WriteCut(io.Discard, agent, src, cut.Offset))
		var fork bytes.Buffer
		err := WriteFork(&fork, agent, src, Fork{Cut: cut.Offset, ID: forkID, Title: "t", From: "f", Time: forkTime})
		kind("fork", err)
		if err == nil {
			kind("check the fork", Check(agent, bytesSource("fork", fork.Bytes()), forkID))
		}
	}
}

// long is head, then fill again and again, then tail: a file of any size without its bytes.
type long struct {
	head, fill, tail string
	times            int64
}

func (l long) size() int64 {
	return int64(len(l.head)) + l.times*int64(len(l.fill)) + int64(len(l.tail))
}

func (l long) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < l.size() {
		var from string
		switch body := off - int64(len(l.head)); {
		case body < 0:
			from = l.head[off:]
		case body < l.times*int64(len(l.fill)):
			from = l.fill[body%int64(len(l.fill)):]
		default:
			from = l.tail[body-l.times*int64(len(l.fill)):]
		}
		c := copy(p[n:], from)
		n += c
		off += int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// longSize is how long a line is, in bytes, and what reading it may take: less than the line has.
func longSize() (size, bound int64) {
	if torture.Full() {
		return 100 << 20, 48 << 20
	}
	return 32 << 20, 24 << 20
}

// TestLongLine holds that a line of 100 MB, or one of a million levels, costs a bounded memory, whatever is done with
// it. What is counted is all that was ever allocated.
func TestLongLine(t *testing.T) {
	size, bound := longSize()
	text := strings.Repeat(`a \"quoted\" line of text, é\n`, 100)
	uuids := `"6974450b-d3fa-4c15-8b65-e83aa00e2948",`
	lines := map[string]long{}
	for name, s := range map[string][3]string{
		"prompt": {`{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"`, text, `"}}`},
		"result": {`{"type":"user","uuid":"a","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"`, text, `"}]}]}}`},
		"blocks": {
			`{"type":"assistant","uuid":"a","sessionId":"s","message":{"id":"m","content":[`,
			`{"type":"tool_use","id":"t","name":"n","input":{"command":"c"}},`, `{}]}}`,
		},
		"uuids": {
			`{"type":"system","subtype":"compact_boundary","uuid":"a","sessionId":"s","compactMetadata":{"uuids":[`, uuids,
			`""]}}`,
		},
		"unknown":   {`{"type":"new","uuid":"a","sessionId":"s","x":[`, `{"y":[1,2,{"z":null}]},`, `0]}`},
		"key":       {`{"type":"new","uuid":"a","sessionId":"s","`, text, `":1}`},
		"id":        {`{"type":"user","sessionId":"s","uuid":"`, text, `"}`},
		"droid":     {`{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"`, text, `"}]}}`},
		"codex":     {`{"timestamp":"","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"`, text, `"}]}}`},
		"gemini":    {`{"id":"a","type":"user","content":[{"text":"`, text, `"}]}`},
		"documents": {`{"$set":{"messages":[`, `{"id":"a","type":"user","content":"x"},`, `{}]}}`},
	} {
		fill := strings.Repeat(s[1], 64<<10/len(s[1])+1)
		lines[name] = long{head: s[0], fill: fill, tail: s[2] + "\n", times: size / int64(len(fill))}
	}
	lines["deep"] = long{
		head: `{"type":"user","uuid":"a","sessionId":"s","message":`, fill: strings.Repeat("[", 64<<10), tail: "\n",
		times: 16,
	}
	for i, name := range slices.Sorted(maps.Keys(lines)) {
		if !torture.Today(i) {
			continue
		}
		l := lines[name]
		t.Run(name, func(t *testing.T) {
			src := Source{ReaderAt: l, Size: l.size(), Name: name}
			agent := Claude
			switch name {
			case "droid", "codex", "gemini":
				agent = Agent(name)
			case "documents":
				agent = Gemini
			}
			all := map[string]func() error{
				"cut":  func() error { _, err := CutAt(agent, src, src.Size); return err },
				"fork": func() error { return WriteFork(io.Discard, agent, src, Fork{Cut: src.Size, ID: forkID, From: "s"}) },
			}
			if name == "prompt" {
				all["scan"] = func() error { _, err := Scan(agent, src); return err }
				all["messages"] = func() error { _, err := Messages(agent, src, 10); return err }
				all["check"] = func() error { return Check(agent, src, "s") }
			}
			for what, run := range all {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := run()
				runtime.ReadMemStats(&after)
				if got := int64(after.TotalAlloc - before.TotalAlloc); got > bound {
					t.Errorf("%s: %d MiB (%v)", what, got>>20, err)
				}
			}
		})
	}
}
