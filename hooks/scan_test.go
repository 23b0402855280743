package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// scan returns what is picked of data.
func scan(data []byte) (*payload, error) {
	var p payload
	err := p.read(bytes.NewReader(data))
	return &p, err
}

// TestScanAgainstEncodingJSON holds the picked values of everything valid in the corpora against encoding/json.
func TestScanAgainstEncodingJSON(t *testing.T) {
	valid := 0
	for _, s := range samples(t) {
		valid += against(t, s.data)
	}
	for _, p := range append(hostile(), escapes...) {
		valid += against(t, []byte(p))
	}
	if valid < 150 {
		t.Errorf("%d valid payloads, want at least 150", valid)
	}
}

var escapes = []string{
	`{"prompt":"\u0041\u00e9\u20ac\ud83d\ude00\"\\\/\b\f\n\r\t"}`,
	`{"prompt":"\ud83d"}`,
	`{"prompt":"\ude00\ud83d"}`,
	`{"prompt":"\ud83d\ud83d\ude00"}`,
	`{"prompt":"\ud83d\u0041"}`,
	`{"prompt":"\ud83dx\ude00"}`,
	`{"prompt":"\ud83d\n"}`,
	`{"prompt":"\uD83D\uDE00\uFFFF\u0000"}`,
	"{\"prompt\":\"\xff\xfe\xc3(\xe2\x82\xf0\x9f\x98\xed\xa0\x80\"}",
	"{\"prompt\":\"\xf0\x9f\x98\x80\u2028\u00e9\"}",
	"{\"prom\xffpt\":\"x\",\"prompt\":\"y\"}",
	`{"":"","prompt":"","session_id":"a","tool_input":{"":{}},"x":[[],{},[{}],"]}",-1.5E+3,null]}`,
	" \t\r\n{ \"prompt\" : \"x\" , \"cwd\" : \"/\" } \n",
	`{"tool_input":{"file_path":"a"},"tool_input":{"path":"b"}}`,
	`{"tool_input":{"file_path":"a"},"tool_input":7}`,
	`{"tool_input":{"command":"a","input":"b"}}`,
	`{"session_id":"a","session_id":["b"]}`,
	`{"tool_response":{"interrupted":true,"interrupted":false}}`,
	`{"tool_response":{"interrupted":true},"tool_response":"x"}`,
}

// against compares one payload and returns 1 if it is valid JSON.
func against(t *testing.T, data []byte) int {
	t.Helper()
	var all map[string]any
	var raw map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil || json.Unmarshal(data, &raw) != nil || all == nil {
		return 0
	}
	p, err := scan(data)
	if err != nil {
		t.Fatalf("%.200q: %v", data, err)
	}
	same := func(key string, got *text, value any) {
		t.Helper()
		want, _ := value.(string)
		if got.cut {
			want = want[:min(len(want), len(got.b))]
		}
		if got.String() != want {
			t.Errorf("%.200q: %s is %q, encoding/json says %q", data, key, got, want)
		}
	}
	for key, got := range map[string]*text{
		"hook_event_name": &p.event, "session_id": &p.session, "previous_session_id": &p.previous, "agent_id": &p.sub,
		"tool_use_id": &p.call, "transcript_path": &p.transcript, "cwd": &p.cwd, "source": &p.source,
		"reason": &p.reason, "prompt": &p.prompt, "model": &p.model, "tool_name": &p.tool,
	} {
		same(key, got, all[key])
	}
	in, _ := all["tool_input"].(map[string]any)
	for key, got := range map[string]*text{
		"file_path": &p.input.file, "path": &p.input.path, "notebook_path": &p.input.notebook, "description": &p.input.description,
	} {
		same(key, got, in[key])
	}
	if _, both := in["input"]; !both {
		same("command", &p.input.command, in["command"])
	}
	response, _ := all["tool_response"].(map[string]any)
	if p.interrupted != (response["interrupted"] == true) {
		t.Errorf("%.200q: interrupted is %v", data, p.interrupted)
	}
	if input, ok := raw["tool_input"]; ok {
		var b bytes.Buffer
		if err := json.Compact(&b, input); err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b.Bytes()); !bytes.Equal(sum[:], p.input.sum) {
			t.Errorf("%.200q: the hash of tool_input is not that of its compact form", data)
		}
	} else if p.input.sum != nil {
		t.Errorf("%.200q: a hash of no tool_input", data)
	}
	return 1
}

// TestReaders holds that it does not matter how the bytes come, and that a reader's error is not swallowed.
func TestReaders(t *testing.T) {
	for _, s := range samples(t) {
		want := parse(t, s.agent, "", string(s.data))
		for name, r := range map[string]io.Reader{
			"one byte":  iotest.OneByteReader(bytes.NewReader(s.data)),
			"half":      iotest.HalfReader(bytes.NewReader(s.data)),
			"with data": iotest.DataErrReader(bytes.NewReader(s.data)),
		} {
			got, err := Parse(s.agent, "", r)
			if err != nil || show("", reflect.ValueOf(got)) != show("", reflect.ValueOf(want)) {
				t.Errorf("%s, %s: %+v, %v", s.name, name, got, err)
			}
		}
	}
	broken := errors.New("broken pipe")
	for _, text := range []string{"", `{"session_id":"a"`, `{"session_id":"a"}`} {
		ev, err := Parse(Claude, "stop", io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || !errors.Is(err, errPayload) || ev.Kind != Stop || (text != "") != (ev.Session == "a") {
			t.Errorf("%q: %+v, %v", text, ev, err)
		}
	}
	if _, err := Parse(Claude, "stop", idle{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

// idle never has anything and never ends.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestMalformed(t *testing.T) {
	for _, payload := range []string{
		``, ` `, `x`, `[]`, `"a"`, `null`, `}`, `{`, `{]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{a:1}`, `{'a':1}`,
		`{"a":1 "b":2}`, `{"a":]}`, `{"a":,}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12g4"}`, `{"a":"\ud83d\u"}`,
		`{"a":[}`, `{"a":1}}`, `{"a":1}{}`, `{"a":1}x`, `{"a":@}`, `{"session_id":"a`, `{"session_id":"a\`, "{\"a\":\x00}",
	} {
		ev, err := Parse(Claude, "stop", strings.NewReader(payload))
		if !errors.Is(err, errPayload) || ev.Kind != Stop || ev.Session != "" {
			t.Errorf("%q: %+v, %v", payload, ev, err)
		}
	}
	_, err := Parse(Claude, "stop", strings.NewReader(`{"a":@}`))
	if want := `hooks: parse payload of "claude": bad payload: byte 5: wants a value`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = Parse(Claude, "stop", strings.NewReader(`{"a":`))
	if want := `hooks: parse payload of "claude": bad payload: byte 5: ends too early`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.data)
	}
	for _, p := range append(hostile(), escapes...) {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if against(t, data) == 0 {
			if _, err := scan(data); err != nil && !errors.Is(err, errPayload) {
				t.Errorf("an error of another kind: %v", err)
			}
		}
	})
}
