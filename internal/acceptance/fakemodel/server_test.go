package fakemodel

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/replies from what the model says")

// script with one turn that uses every kind of call.
const script = `{"auxText":"A title","turns":[
 {"match":"TURN-1","steps":[
  {"thinking":"hm","text":"Writing.","tools":[{"do":"write","path":"a.txt","content":"one\ntwo\n"},{"do":"bash","command":"ls"}]},
  {"tools":[{"do":"edit","path":"a.txt","old":"one","new":"1"}]},
  {"text":"Done."}]},
 {"match":"BROKEN","steps":[{"status":529}]},
 {"match":"BARE","needsTools":false,"steps":[{"text":"Without tools."}]}]}`

func start(t *testing.T) (*Server, string) {
	t.Helper()
	s, err := Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	m := New(s, "/proj")
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return m, server.URL
}

func post(t *testing.T, url, body string) (status int, reply string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

var made = regexp.MustCompile(`"((?:toolu|msg|resp|call|ctc|fc)_|chatcmpl-|r)[0-9a-f]{24}"|"created(_at)?":\d+`)

// plain puts fixed texts for ids and times.
func plain(s string) string {
	return made.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, `"created`) {
			return m[:strings.IndexByte(m, ':')] + ":0"
		}
		return m[:len(m)-25] + `X"`
	})
}

const (
	claudeTools   = `"tools":[{"name":"Write"},{"name":"Edit"},{"name":"Bash"}]`
	droidTools    = `"tools":[{"name":"Create"},{"name":"Edit"},{"name":"Execute"}]`
	codexTools    = `"tools":[{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"}]`
	codeModeTools = `"tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"exec"}]}]`
	geminiTools   = `"tools":[{"functionDeclarations":[{"name":"write_file"},{"name":"replace"},{"name":"run_shell_command"}]}]`
	chatTools     = `"tools":[{"type":"function","function":{"name":"shell"}},{"type":"function","function":{"name":"apply_patch"}}]`
)

// TestReplies holds every protocol against testdata/replies: what the released agents accept.
func TestReplies(t *testing.T) {
	_, url := start(t)
	for _, c := range []struct{ name, path, body string }{
		{"anthropic-stream", "/v1/messages", `{"model":"m","stream":true,"messages":[{"role":"user","content":"TURN-1"}],` +
			claudeTools + `}`},
		{"anthropic-whole", "/v1/messages", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"TURN-1"}]},
			{"role":"assistant","content":[{"type":"tool_use","name":"Write","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","content":"ok"}]}],` + droidTools + `}`},
		{
			"responses-stream", "/v1/responses",
			`{"model":"m","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"TURN-1"}]}],` +
				codexTools + `}`,
		},
		{"responses-whole", "/v1/responses", `{"model":"m","input":"TURN-1",` + codexTools + `}`},
		{
			"responses-code-mode", "/v1/responses",
			`{"model":"m","stream":true,"input":[{"role":"user","content":"TURN-1"}],` + codeModeTools + `}`,
		},
		{
			"chat-stream", "/v1/chat/completions",
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"TURN-1"}],` + chatTools + `}`,
		},
		{
			"chat-whole", "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"TURN-1"},{"role":"assistant","content":"x"},{"role":"tool","content":"y"}],` + chatTools + `}`,
		},
		{
			"gemini-stream", "/v1beta/models/g:streamGenerateContent",
			`{"contents":[{"role":"user","parts":[{"text":"TURN-1"}]}],` + geminiTools + `}`,
		},
		{
			"gemini-whole", "/v1beta/models/g:generateContent",
			`{"contents":[{"role":"user","parts":[{"text":"TURN-1"}]},{"role":"model","parts":[{"functionCall":{"name":"write_file","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"response":{"output":"ok"}}}]}],` + geminiTools + `}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, got := post(t, url+c.path, c.body)
			got = plain(got)
			file := filepath.Join("testdata", "replies", c.name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || status != http.StatusOK || got != string(want) {
				t.Errorf("status %d, %v; got:\n%s\nwant:\n%s", status, err, got, want)
			}
			for line := range strings.Lines(got) {
				data, ok := strings.CutPrefix(line, "data: ")
				if data = strings.TrimSpace(data); ok && data != "[DONE]" && !json.Valid([]byte(data)) {
					t.Errorf("no JSON: %s", data)
				}
			}
		})
	}
}

// TestSteps walks through a conversation: the reply follows from the request alone.
func TestSteps(t *testing.T) {
	m, url := start(t)
	const user, call, result = `{"role":"user","content":"TURN-1 please"}`, `{"role":"assistant","content":"x"}`,
		`{"role":"user","content":[{"type":"tool_result","content":"ok"}]}`
	join := func(parts ...string) string {
		return `{"model":"m","messages":[` + strings.Join(parts, ",") + `],` + claudeTools + `}`
	}
	bare := func(parts ...string) string { return `{"model":"m","messages":[` + strings.Join(parts, ",") + `]}` }
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{"first", join(user), `"name":"Write"`, 200},
		{"second", join(user, call, result), `"new_string":"1"`, 200},
		{"a reply in two messages is one", join(user, call, call, result), `"new_string":"1"`, 200},
		{"third", join(user, call, result, call, result), `"text":"Done."`, 200},
		{"past the end", join(user, call, result, call, result, call), `(end of script)`, 200},
		{"the last prompt counts", join(user, call, `{"role":"user","content":"TURN-1 again"}`), `"name":"Write"`, 200},
		{"the prompt mentioned last", join(`{"role":"user","content":"BROKEN, then TURN-1"}`), `"name":"Write"`, 200},
		{"a scripted error", join(`{"role":"user","content":"TURN-1, then BROKEN"}`), `scripted error`, 529},
		{"no turn", join(`{"role":"user","content":"hello"}`), `A title`, 200},
		{"a title: no tools", bare(user), `A title`, 200},
		{"a turn without tools", bare(`{"role":"user","content":"BARE"}`), `Without tools.`, 200},
		{"odd content", join(`{"role":"user","content":7}`, `{"role":"user","content":[3,{"type":"image"}]}`, user), `"name":"Write"`, 200},
		{"no JSON", `{`, `fakemodel: `, 400},
		{"wrong JSON", `{"messages":7}`, `fakemodel: `, 400},
	} {
		if status, got := post(t, url+"/v1/messages", c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: status %d, %s; want %d with %s", c.name, status, got, c.status, c.want)
		}
	}
	all := m.Requests()
	if len(all) != 14 || all[0].Turn != "TURN-1" || all[1].Step != 1 || all[8].Turn != "" || len(all[0].Tools) != 3 ||
		!strings.Contains(string(all[0].Body), "TURN-1 please") {
		t.Errorf("requests: %+v", all)
	}
	if talk := all[1].Talk; len(talk) != 3 || talk[0] != (Message{User, "TURN-1 please"}) || talk[2] != (Message{ToolRole, "ok"}) {
		t.Errorf("conversation: %+v", talk)
	}
}

// TestSideRoutes: what agents ask besides.
func TestSideRoutes(t *testing.T) {
	_, url := start(t)
	schema := `{"type":"object","properties":{"a":{"type":"array"},"b":{"type":["boolean"]},"c":{"type":"INTEGER"},"d":{"enum":["x"]},"e":{"type":"string"}}}`
	fit := `{\"a\":[],\"b\":false,\"c\":1,\"d\":\"x\",\"e\":\"fake\"}`
	for _, c := range []struct {
		path, body, want string
		status           int
	}{
		{"/v1/messages/count_tokens", `{}`, `{"input_tokens":10}`, 200},
		{"/v1beta/models/g:countTokens", `{}`, `{"totalTokens":10}`, 200},
		{"/v1/nothing", `{}`, `no such route`, 404},
		{"/v1/responses", `{"input":[],"text":{"format":{"schema":` + schema + `}}}`, fit, 200},
		{"/v1/chat/completions", `{"response_format":{"json_schema":{"schema":` + schema + `}}}`, fit, 200},
		{"/v1beta/models/g:generateContent", `{"generationConfig":{"responseSchema":` + schema + `}}`, fit, 200},
	} {
		if status, got := post(t, url+c.path, c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: status %d, %s; want %d with %s", c.path, status, got, c.status, c.want)
		}
	}
	for path, want := range map[string]int{"/v1/models": http.StatusOK, "/v1/responses": http.StatusNotFound} {
		r, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, r.StatusCode, want)
		}
	}
}
