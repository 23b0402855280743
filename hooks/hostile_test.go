package hooks

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// hostile is T15's corpus, as far as it is small; seeds of the fuzz targets too.
func hostile() []string {
	all := []string{
		`{"session_id":"../../../etc/passwd","cwd":"../..","transcript_path":"../x","tool_use_id":"../y"}`,
		`{"session_id":"/etc/passwd","cwd":"/../../etc","transcript_path":"/a/../../b","agent_id":"/"}`,
		`{"session_id":"a\u0000b","cwd":"/a\u0000b","transcript_path":"/\u0000","tool_input":{"file_path":"\u0000"}}`,
		"{\"session_id\":\"a\x00b\",\"cwd\":\"/\x00\",\"prompt\":\"\x00\x01\x1f\"}",
		"{\"session_id\":\"\U0001F600\",\"cwd\":\"/\U0001F600\",\"prompt\":\"\U0001F600\"}",
		"{\"session_id\":\"\xff\xfe\",\"cwd\":\"/\xff\",\"prompt\":\"\xc3\x28\xed\xa0\x80\",\"hook_event_name\":\"\xff\"}",
		`{"session_id":"\ud800","prompt":"\udc00\ud800","cwd":"/\ud800\ud800"}`,
		`{"session_id":"a","session_id":"b","session_id":["c"],"hook_event_name":"Stop","hook_event_name":"PreToolUse"}`,
		`{"session_id":{"session_id":"a"},"cwd":["/"],"prompt":true,"tool_name":null,"tool_input":"x","tool_response":[]}`,
		`{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Add File: ../../x\n*** Move to: /etc/y\n"}}`,
		`{"__proto__":{"session_id":"a"},"constructor":{},"SESSION_ID":"b"}`,
		strings.Repeat("{", 1000), strings.Repeat("[", 1000), strings.Repeat(`{"a":`, 1000), strings.Repeat(`{"tool_input":`, 1000),
		`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("}", 1000) + `}`,
	}
	for _, key := range []string{"prompt", "session_id", "cwd", "tool_name", "x"} {
		all = append(all, `{"`+key+`":"`+strings.Repeat("é", 5000)+`","session_id":"a"}`, `{"`+strings.Repeat(key, 5000)+`":1}`)
	}
	return all
}

func TestT15Corpus(t *testing.T) {
	for _, payload := range hostile() {
		for _, agent := range []Agent{Claude, Codex, Gemini, Droid, "amp", "../x"} {
			ev, err := Parse(agent, "pre-tool-use", strings.NewReader(payload))
			if err != nil && !errors.Is(err, errPayload) {
				t.Errorf("%.100q: %v", payload, err)
			}
			checkEvent(t, ev)
		}
	}
}

// TestT15Truncated cuts every sample at every byte: the event is still there by its word, and says nothing that the
// whole payload does not say.
func TestT15Truncated(t *testing.T) {
	for _, s := range samples(t) {
		whole := parse(t, s.agent, "stop", string(s.data))
		end := strings.LastIndexByte(string(s.data), '}')
		for n := range s.data {
			ev, err := Parse(s.agent, "stop", strings.NewReader(string(s.data[:n])))
			if (n <= end) != errors.Is(err, errPayload) {
				t.Fatalf("%s, %d bytes: %v", s.name, n, err)
			}
			if ev.Name != whole.Name && (ev.Name != "stop" || ev.Kind != Stop && (ev.Kind != SubagentStop || ev.Subagent == "")) {
				t.Fatalf("%s, %d bytes: %+v", s.name, n, ev)
			}
			for _, pair := range [][2]string{
				{ev.Session, whole.Session},
				{ev.Cwd, whole.Cwd},
				{ev.Transcript, whole.Transcript},
				{ev.Subagent, whole.Subagent},
				{ev.Prompt, whole.Prompt},
				{ev.Source, whole.Source},
				{ev.Reason, whole.Reason},
				{ev.Model, whole.Model},
				{ev.Tool.Name, whole.Tool.Name},
			} {
				if pair[0] != "" && pair[0] != pair[1] {
					t.Fatalf("%s, %d bytes: %q, whole %q", s.name, n, pair[0], pair[1])
				}
			}
			checkEvent(t, ev)
		}
	}
}

// stream makes a long payload without holding it: head, body n times, tail.
func stream(head, body string, n int, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), &repeat{body: body, left: n * len(body)}, strings.NewReader(tail))
}

type repeat struct {
	body     string
	at, left int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.left > 0 {
		c := copy(p[n:], r.body[r.at:])
		n, r.left, r.at = n+c, r.left-c, (r.at+c)%len(r.body)
	}
	return n, nil
}

// heldWhile reads r and collects at every MiB: most is the most bytes that were
// held then, whatever the collector's pace.
type heldWhile struct {
	r          io.Reader
	since      int
	most, seen uint64
}

func (h *heldWhile) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if h.since += n; h.since >= 1<<20 {
		h.since = 0
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		h.most, h.seen = max(h.most, now.HeapAlloc), h.seen+1
	}
	return n, err
}

// TestT15Memory reads what is far larger than the memory it may take.
func TestT15Memory(t *testing.T) {
	const long, size, limit = 100 << 20, 12 << 20, 3 << 20 // bytes
	const depth = 1_000_000
	head, tail := `{"hook_event_name":"PreToolUse","tool_name":"Bash",`, `,"session_id":"after","cwd":"/after"}`
	for name, c := range map[string]struct {
		r     io.Reader
		after bool // what comes behind is understood
	}{
		"string, skipped":   {stream(head+`"x":"`, "a long line ", long/12, `"`+tail), true},
		"string, escapes":   {stream(head+`"x":"`, `\u00e9\n\"`, size/10, `"`+tail), true},
		"prompt":            {stream(head+`"prompt":"`, "é", long/2, `"`+tail), true},
		"prompt, escapes":   {stream(head+`"prompt":"`, `\n`, size/2, `"`+tail), true},
		"id":                {stream(head+`"tool_use_id":"`, "a", size, `"`+tail), true},
		"path":              {stream(head+`"transcript_path":"`, "/a", size/2, `"`+tail), true},
		"key":               {stream(head+`"`, "k", size, `":1`+tail), true},
		"number":            {stream(head+`"x":`, "1", size, tail), true},
		"spaces":            {stream(head+`"x":`, " ", size, "1"+tail), true},
		"command":           {stream(head+`"tool_input":{"command":"`, "é ", size/3, `"}`+tail), true},
		"patch, one line":   {stream(head+`"tool_input":{"command":"*** Add File: `, "a", size, `"}`+tail), true},
		"patch, many files": {stream(head+`"tool_input":{"command":"`, `*** Add File: a\n`, size/17, `"}`+tail), true},
		"keys":              {stream(head+`"a":0`, `,"session_id":"x"`, 2*size/17, tail), true},
		"tool inputs":       {stream(head+`"a":0`, `,"tool_input":{"file_path":"x"}`, 2*size/31, tail), true},
		"array":             {stream(head+`"x":[0`, `,{"a":[]}`, size/9, "]"+tail), true},
		"deep arrays":       {io.MultiReader(stream(head+`"x":`, "[", depth, ""), stream("", "]", depth, tail)), true},
		"deep objects":      {io.MultiReader(stream(head+`"x":`, `{"a":`, depth, "0"), stream("", "}", depth, tail)), true},
		"deep tool_input": {
			io.MultiReader(stream(head+`"tool_input":`, `{"tool_input":`, depth, "0"), stream("", "}", depth, tail)),
			true,
		},
		"deep and not ended": {stream(head+`"x":`, "[", depth, ""), false},
		"line and not ended": {stream(head+`"prompt":"`, "x", size, ""), false},
		"not JSON":           {stream("", "x", size, ""), false},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		held := &heldWhile{r: c.r}
		// Of these, each value takes the place of the one before: what is held counts, not what was allocated.
		replaced := name == "keys" || name == "tool inputs"
		if replaced {
			c.r = held
		}
		ev, err := Parse(Codex, "pre-tool-use", c.r)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		if replaced {
			took = held.most - min(before.HeapAlloc, held.most)
		}
		if replaced && held.seen == 0 {
			t.Errorf("%s: nothing was measured", name)
		}
		if took > limit {
			t.Errorf("%s: %d bytes of memory, want at most %d", name, took, limit)
		}
		if c.after != (err == nil) || c.after != (ev.Session == "after" && ev.Cwd == "/after") || ev.Kind != BeforeTool {
			t.Errorf("%s: %+v, %v", name, ev, err)
		}
		checkEvent(t, ev)
	}
}
