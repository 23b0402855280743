package hooks

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func parse(t *testing.T, agent Agent, word, payload string) Event {
	t.Helper()
	ev, err := Parse(agent, word, strings.NewReader(payload))
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return ev
}

// call is a payload of a tool call; input is JSON.
func call(event, tool, input string) string {
	return fmt.Sprintf(`{"hook_event_name":%q,"tool_name":%q,"tool_input":%s}`, event, tool, input)
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		word  string
		name  string
		want  Kind
	}{
		{Claude, "", "SessionStart", SessionStart},
		{Claude, "", "UserPromptSubmit", Prompt},
		{Claude, "", "PreToolUse", BeforeTool},
		{Claude, "", "PostToolUse", AfterTool},
		{Claude, "", "PostToolUseFailure", AfterTool},
		{Claude, "", "Stop", Stop},
		{Claude, "", "StopFailure", Stop},
		{Claude, "", "SubagentStart", SubagentStart},
		{Claude, "", "SubagentStop", SubagentStop},
		{Claude, "", "PreCompact", Compact},
		{Claude, "", "PostCompact", Compact},
		{Claude, "", "SessionEnd", SessionEnd},
		{Claude, "stop", "Notification", Other}, // known, and of no use
		{Claude, "stop", "BeforeAgent", Stop},   // Gemini's: not known here
		{Claude, "stop", "stop", Stop},
		{Claude, "", "stop", Other},
		{Codex, "", "SessionStart", SessionStart},
		{Codex, "", "UserPromptSubmit", Prompt},
		{Codex, "", "PreToolUse", BeforeTool},
		{Codex, "", "PostToolUse", AfterTool},
		{Codex, "", "Stop", Stop},
		{Codex, "", "Interrupt", Stop},
		{Codex, "", "SubagentStart", SubagentStart},
		{Codex, "", "SubagentStop", SubagentStop},
		{Codex, "", "PreCompact", Compact},
		{Codex, "", "SessionEnd", SessionEnd},
		{Codex, "stop", "PreModelRequest", Other},
		{Gemini, "", "SessionStart", SessionStart},
		{Gemini, "", "BeforeAgent", Prompt},
		{Gemini, "", "BeforeTool", BeforeTool},
		{Gemini, "", "AfterTool", AfterTool},
		{Gemini, "", "AfterAgent", Stop},
		{Gemini, "", "SessionEnd", SessionEnd},
		{Gemini, "pre-compact", "PreCompress", Other}, // in front of every call of the model
		{Gemini, "", "UserPromptSubmit", Other},
		{Droid, "", "SessionStart", SessionStart},
		{Droid, "", "UserPromptSubmit", Prompt},
		{Droid, "", "PreToolUse", BeforeTool},
		{Droid, "", "PostToolUse", AfterTool},
		{Droid, "", "Stop", Stop},
		{Droid, "", "SubagentStop", SubagentStop},
		{Droid, "", "PreCompact", Compact},
		{Droid, "", "SessionEnd", SessionEnd},
		{"amp", "", "BeforeAgent", Prompt},
		{"amp", "", "Interrupt", Stop},
		{"amp", "stop", "Whatever", Stop},
		{"amp", "whatever", "Whatever", Other},
	} {
		ev := parse(t, c.agent, c.word, fmt.Sprintf(`{"hook_event_name":%q}`, c.name))
		if ev.Kind != c.want || ev.Name != c.name || ev.Agent != c.agent {
			t.Errorf("%s %s %q: %+v, want %s", c.agent, c.name, c.word, ev, c.want)
		}
	}
	for word, kind := range words {
		if ev := parse(t, Gemini, word, `{}`); ev.Kind != kind || ev.Name != word {
			t.Errorf("word %s: %+v, want %s", word, ev, kind)
		}
	}
}

func TestTools(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		class Class
		tools string
	}{
		{Claude, Editor, "Write Edit MultiEdit NotebookEdit"},
		{Claude, Reader, "Read Glob Grep LS NotebookRead WebFetch WebSearch TodoRead TodoWrite TaskCreate TaskGet TaskList TaskUpdate " +
			"TaskOutput BashOutput AskUserQuestion EnterPlanMode ExitPlanMode exit_plan_mode ToolSearch"},
		{
			Claude, Changer,
			"Bash PowerShell Agent Task Skill LSP EnterWorktree KillShell mcp__x__Read write_file read Nonsense",
		},
		{Codex, Reader, "update_plan view_image web_search request_user_input read_file list_dir grep_files"},
		{Codex, Changer, "Bash shell exec mcp__fs__write list_mcp_resources Write"},
		{Gemini, Editor, "write_file replace"},
		{Gemini, Reader, "read_file read_many_files list_directory glob search_file_content grep_search web_fetch google_web_search " +
			"write_todos ask_user get_internal_docs"},
		{
			Gemini, Changer,
			"run_shell_command save_memory activate_skill delegate_to_agent discovered_tool_x mcp_x_y Write",
		},
		{Droid, Editor, "Create Edit MultiEdit"},
		{Droid, Reader, "Read LS Grep Glob WebSearch FetchUrl TodoWrite AskUser"},
		{Droid, Changer, "Execute Task Skill ExitSpecMode mcp__x__y Write"},
		{"amp", Changer, "Read Write Bash"},
	} {
		for _, name := range strings.Fields(c.tools) {
			got := parse(t, c.agent, "pre-tool-use", call("", name, `{"file_path":"a"}`)).Tool
			if got.Class != c.class || got.Name != name || got.Target != "a" ||
				(len(got.Paths) == 1) != (c.class == Editor) {
				t.Errorf("%s %s: %+v, want %s", c.agent, name, got, c.class)
			}
		}
	}
	var listed []string
	for _, d := range []dialect{claude, codex, gemini, droid} {
		listed = slices.AppendSeq(listed, maps.Keys(d.tools))
	}
	if len(listed) != 4+20+1+7+2+11+5+8 {
		t.Errorf("%d tools are in the tables: this test does not name them all", len(listed))
	}
}

func TestToolInput(t *testing.T) {
	long := strings.Repeat("d/", maxPath/2)
	for name, c := range map[string]struct {
		agent  Agent
		tool   string
		input  string
		class  Class
		paths  []string
		target string
	}{
		"notebook":        {Claude, "NotebookEdit", `{"notebook_path":"/n.ipynb"}`, Editor, []string{"/n.ipynb"}, "/n.ipynb"},
		"path":            {Droid, "Create", `{"path":"rel/x"}`, Editor, []string{"rel/x"}, "rel/x"},
		"longest path":    {Claude, "Write", `{"file_path":"` + long + `"}`, Editor, []string{long}, long[:maxTarget]},
		"path too long":   {Claude, "Write", `{"file_path":"` + long + `x"}`, Changer, nil, long[:maxTarget]},
		"NUL in path":     {Claude, "Write", `{"file_path":"a\u0000b"}`, Changer, nil, "a b"},
		"NUL first":       {Claude, "Write", `{"file_path":"\u0000b"}`, Changer, nil, "b"},
		"no path":         {Claude, "Write", `{"content":"x"}`, Changer, nil, ""},
		"path no string":  {Claude, "Write", `{"file_path":["a"]}`, Changer, nil, ""},
		"input no object": {Claude, "Write", `"file_path"`, Changer, nil, ""},
		"deeper":          {Claude, "Write", `{"x":{"file_path":"a"},"y":[{"command":"b"}]}`, Changer, nil, ""},
		"shell":           {Codex, "Bash", `{"command":"cd x\n\tmake  all\n"}`, Changer, nil, "cd x  make  all"},
		"control":         {Claude, "Bash", `{"command":"\u001b[31mred\u0085\u2028x"}`, Changer, nil, "[31mred  x"},
		"long command":    {Claude, "Bash", `{"command":"` + strings.Repeat("é", 150) + `"}`, Changer, nil, strings.Repeat("é", 100)},
		"description":     {Claude, "Agent", `{"description":"sub","prompt":"go"}`, Changer, nil, "sub"},
		"patch": {
			Codex, "apply_patch",
			`{"command":"*** Begin Patch\n*** Add File: a b.txt\n+*** Add File: no\n*** Update File: c\r\n*** Move to: d/é\n@@\n-x\n+y\n*** Delete File: /e\n*** End Patch"}`,
			Editor,
			[]string{"a b.txt", "c", "d/é", "/e"},
			"a b.txt, c, d/é, /e",
		},
		"patch, last line": {Codex, "apply_patch", `{"command":"*** Delete File: x"}`, Editor, []string{"x"}, "x"},
		"patch, indented":  {Codex, "apply_patch", `{"command":"  *** Add File: x \n+y"}`, Editor, []string{"x"}, "x"},
		"patch, far indented": {
			Codex, "apply_patch", `{"command":"` + strings.Repeat(`\t`, 5000) + `*** Add File: x\n"}`, Editor,
			[]string{"x"},
			"x",
		},
		"patch, a gap": {
			Codex, "apply_patch", `{"command":"*** Add File: x` + strings.Repeat(" ", 5000) + `y\n"}`, Changer, nil,
			"*** Add File: x",
		},
		"patch, as input":   {Droid, "ApplyPatch", `{"input":"*** Update File: x\n"}`, Editor, []string{"x"}, "x"},
		"patch, no file":    {Codex, "apply_patch", `{"command":"rm -rf x"}`, Changer, nil, "rm -rf x"},
		"patch, empty name": {Codex, "apply_patch", `{"command":"*** Add File: \n"}`, Changer, nil, "*** Add File:"},
		"patch, long name": {
			Codex, "apply_patch", `{"command":"*** Add File: a\n*** Add File: ` + long + `x\n"}`, Changer, nil,
			"*** Add File: a *** Add File: " + long[:maxTarget-30],
		},
		"patch, most files": {
			Codex, "apply_patch", `{"command":"` + strings.Repeat(`*** Add File: a\n`, maxPaths) + `"}`, Editor,
			slices.Repeat([]string{"a"}, maxPaths), strings.Repeat("a, ", 66) + "a,",
		},
		"patch, many files": {
			Codex, "apply_patch", `{"command":"` + strings.Repeat(`*** Add File: a\n`, maxPaths+1) + `"}`, Changer, nil,
			strings.Repeat("*** Add File: a ", 12) + "*** Add",
		},
		"patch, in the shell": {
			Codex, "Bash", `{"command":"apply_patch <<'E'\n*** Add File: x\nE"}`, Changer, nil,
			"apply_patch <<'E' *** Add File: x E",
		},
		"the last counts":  {Claude, "Write", `{"file_path":"a","file_path":"b"}`, Editor, []string{"b"}, "b"},
		"the last is none": {Claude, "Write", `{"file_path":"a","file_path":null}`, Changer, nil, ""},
	} {
		got := parse(t, c.agent, "pre-tool-use", call("", c.tool, c.input)).Tool
		if got.Class != c.class || !slices.Equal(got.Paths, c.paths) || got.Target != strings.TrimSpace(c.target) {
			t.Errorf("%s: %s %.100q %q, want %s %.100q %q", name, got.Class, got.Paths, got.Target, c.class, c.paths,
				c.target)
		}
	}
	mcp := parse(t, Gemini, "", `{"hook_event_name":"BeforeTool","tool_name":"glob","mcp_context":{"server_name":"x"}}`)
	if mcp.Tool.Class != Changer {
		t.Errorf("a server's glob: %s", mcp.Tool.Class)
	}
}

func TestCallID(t *testing.T) {
	before := call("BeforeTool", "replace", `{"file_path":"/a","n":[1, 2.5e3, true],"s":"a \" b"}`)
	id := parse(t, Gemini, "", before).Tool.Call
	if len(id) != 18 || !strings.HasPrefix(id, "h-") || !isID([]byte(id)) {
		t.Fatalf("id %q", id)
	}
	for payload, same := range map[string]bool{
		call("AfterTool", "replace", `{"file_path":"/a","n":[1, 2.5e3, true],"s":"a \" b"}`):                 true,
		call("AfterTool", "replace", "{ \"file_path\" :\"/a\",\n\"n\":[1,2.5e3,true] , \"s\":\"a \\\" b\"}"): true,
		`{"tool_input":{"file_path":"/a","n":[1,2.5e3,true],"s":"a \" b"},"tool_name":"replace"}`:            true,
		call("AfterTool", "replace", `{"file_path":"/a","n":[1,2.5e3,true],"s":"a  \" b"}`):                  false,
		call("AfterTool", "write_file", `{"file_path":"/a","n":[1,2.5e3,true],"s":"a \" b"}`):                false,
		call("AfterTool", "replace", `{"file_path":"/a","n":[12.5e3,true],"s":"a \" b"}`):                    false,
	} {
		if got := parse(t, Gemini, "post-tool-use", payload).Tool.Call; (got == id) != same {
			t.Errorf("%s: %s, the other is %s, want the same: %v", payload, got, id, same)
		}
	}
	for payload, want := range map[string]string{
		`{"tool_use_id":"toolu_1","tool_name":"Bash","tool_input":{}}`: "toolu_1",
		`{"tool_use_id":"../x"}`: hashed("../x"),
		`{"tool_name":"Bash"}`:   "",
	} {
		if got := parse(t, Claude, "pre-tool-use", payload).Tool.Call; got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
	cut, err := Parse(Gemini, "pre-tool-use", strings.NewReader(before[:len(before)-3]))
	if !errors.Is(err, errPayload) || cut.Tool.Call != "" || cut.Tool.Target != "/a" {
		t.Errorf("cut input: %+v, %v", cut, err)
	}
}

func hashed(id string) string { return fmt.Sprintf("x-%x", sha256.Sum256([]byte(id)))[:34] }

func TestIDs(t *testing.T) {
	long := strings.Repeat("a", maxID)
	for id, safe := range map[string]bool{
		"c9455afc-4741-4ac5-9e9b-ead6c3afbe0a": true,
		"a":                                    true,
		"ses_01.B-x":                           true,
		"a..b":                                 true,
		long:                                   true,
		long + "a":                             false,
		strings.Repeat("a", 100_000):           false,
		strings.Repeat("é", 64):                false,
		strings.Repeat("é", 70):                false,
		"../../etc/passwd":                     false,
		"/etc/passwd":                          false,
		"..":                                   false,
		".hidden":                              false,
		"-rf":                                  false,
		"a\x00b":                               false,
		"a b":                                  false,
		"a+b":                                  false,
		"a\\b":                                 false,
		"a:b":                                  false,
		"\U0001F600":                           false,
		"a\n":                                  false,
	} {
		quoted, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		want := id
		if !safe {
			want = hashed(id)
		}
		ev := parse(t, Droid, "session-start", fmt.Sprintf(`{"session_id":%s,"previous_session_id":%[1]s,"agent_id":%[1]s}`, quoted))
		if ev.Session != want || ev.Previous != want || ev.Subagent != want {
			t.Errorf("%.40q: %q %q %q, want %q", id, ev.Session, ev.Previous, ev.Subagent, want)
		}
	}
	for _, payload := range []string{`{}`, `{"session_id":""}`, `{"session_id":null}`, `{"session_id":7}`, `{"session_id":{"a":"b"}}`} {
		if ev := parse(t, Claude, "stop", payload); ev.Session != "" {
			t.Errorf("%s: session %q", payload, ev.Session)
		}
	}
}

func TestFields(t *testing.T) {
	prompt := strings.Repeat("x", maxPrompt-1) + "é"
	for name, c := range map[string]struct {
		agent   Agent
		payload string
		want    Event
	}{
		"paths": {
			Claude, `{"hook_event_name":"Stop","cwd":"/a//b/../c/","transcript_path":"/t.jsonl","model":"m"}`,
			Event{Kind: Stop, Name: "Stop", Cwd: "/a/c", Transcript: "/t.jsonl", Model: "m"},
		},
		"relative": {Claude, `{"hook_event_name":"Stop","cwd":"a/b","transcript_path":"~/x"}`, Event{Kind: Stop, Name: "Stop"}},
		"NUL":      {Claude, `{"hook_event_name":"Stop","cwd":"/a\u0000","transcript_path":"/\u0000"}`, Event{Kind: Stop, Name: "Stop"}},
		"too long": {Claude, `{"hook_event_name":"Stop","cwd":"/` + strings.Repeat("a", maxPath) + `"}`, Event{Kind: Stop, Name: "Stop"}},
		"prompt": {
			Codex, `{"hook_event_name":"UserPromptSubmit","prompt":"` + prompt + `"}`,
			Event{Kind: Prompt, Name: "UserPromptSubmit", Prompt: prompt[:maxPrompt-1]},
		},
		"no prompt": {Gemini, `{"hook_event_name":"AfterAgent","prompt":"x"}`, Event{Kind: Stop, Name: "AfterAgent"}},
		"notice": {
			Claude, `{"hook_event_name":"UserPromptSubmit","prompt":"\n<task-notification>\n<task-id>a</task-id>"}`,
			Event{
				Kind: Prompt, Name: "UserPromptSubmit", Prompt: "\n<task-notification>\n<task-id>a</task-id>",
				Notice: true,
			},
		},
		"no notice": {
			Claude, `{"hook_event_name":"UserPromptSubmit","prompt":"why <task-notification>?"}`,
			Event{Kind: Prompt, Name: "UserPromptSubmit", Prompt: "why <task-notification>?"},
		},
		"another agent's": {
			Codex, `{"hook_event_name":"UserPromptSubmit","prompt":"<task-notification>"}`,
			Event{Kind: Prompt, Name: "UserPromptSubmit", Prompt: "<task-notification>"},
		},
		"start": {
			Droid, `{"hook_event_name":"SessionStart","source":"resume","previous_session_id":"p","reason":"r"}`,
			Event{Kind: SessionStart, Name: "SessionStart", Source: "resume", Previous: "p"},
		},
		"end": {
			Claude, `{"hook_event_name":"SessionEnd","source":"s","reason":"clear"}`,
			Event{Kind: SessionEnd, Name: "SessionEnd", Reason: "clear"},
		},
		"interrupted": {
			Claude, `{"hook_event_name":"PostToolUse","tool_response":{"interrupted":true}}`,
			Event{Kind: AfterTool, Name: "PostToolUse", Failed: true},
		},
		"not": {
			Claude, `{"hook_event_name":"PostToolUse","tool_response":{"interrupted":false,"error":"x"}}`,
			Event{Kind: AfterTool, Name: "PostToolUse"},
		},
		"text": {
			Codex, `{"hook_event_name":"PostToolUse","tool_response":"interrupted"}`,
			Event{Kind: AfterTool, Name: "PostToolUse"},
		},
		"failure": {
			Claude, `{"hook_event_name":"PostToolUseFailure"}`,
			Event{Kind: AfterTool, Name: "PostToolUseFailure", Failed: true},
		},
		"error": {
			Gemini, `{"hook_event_name":"AfterTool","tool_response":{"error":{"message":"x"}}}`,
			Event{Kind: AfterTool, Name: "AfterTool", Failed: true},
		},
		"no error": {
			Gemini, `{"hook_event_name":"AfterTool","tool_response":{"error":null}}`,
			Event{Kind: AfterTool, Name: "AfterTool"},
		},
		"mark":        {Claude, "\uFEFF" + `{"hook_event_name":"Stop"}`, Event{Kind: Stop, Name: "Stop"}},
		"escaped key": {Claude, `{"hook\u005fevent_name":"St\u006fp"}`, Event{Kind: Stop, Name: "Stop"}},
		"last counts": {
			Claude, `{"hook_event_name":"Stop","hook_event_name":"SessionEnd","tool_input":{},"cwd":"/a","cwd":1}`,
			Event{Kind: SessionEnd, Name: "SessionEnd"},
		},
		"other case": {Claude, `{"hook_event_name":"Stop","Session_ID":"a","CWD":"/"}`, Event{Kind: Stop, Name: "Stop"}},
	} {
		c.want.Agent = c.agent
		if got := parse(t, c.agent, "", c.payload); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

// What is kept of each field: so many bytes, and a path or an id that is longer is none, or another.
func TestLimits(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	of := func(event, key string, n int) Event {
		return parse(t, Claude, "", fmt.Sprintf(`{"hook_event_name":%q,%q:%q}`, event, key, long(n)))
	}
	for name, c := range map[string]struct {
		limit int
		of    func(n int) string
	}{
		"source": {64, func(n int) string { return of("SessionStart", "source", n).Source }},
		"reason": {64, func(n int) string { return of("SessionEnd", "reason", n).Reason }},
		"event":  {64, func(n int) string { return of(long(n), "x", 1).Name }},
		"word":   {64, func(n int) string { return parse(t, Claude, long(n), `{}`).Name }},
		"model":  {128, func(n int) string { return of("Stop", "model", n).Model }},
		"tool":   {128, func(n int) string { return of("PreToolUse", "tool_name", n).Tool.Name }},
		"prompt": {256, func(n int) string { return of("UserPromptSubmit", "prompt", n).Prompt }},
		"line":   {200, func(n int) string { return oneLine(long(n)) }},
		"command": {200, func(n int) string {
			return parse(t, Claude, "", call("PreToolUse", "Bash", `{"command":"`+long(n)+`"}`)).Tool.Target
		}},
		"description": {200, func(n int) string {
			return parse(t, Claude, "", call("PreToolUse", "Task", `{"description":"`+long(n)+`"}`)).Tool.Target
		}},
	} {
		for n := c.limit - 1; n <= c.limit+1; n++ {
			if got := c.of(n); got != long(min(n, c.limit)) {
				t.Errorf("%s of %d: %d are kept, want %d", name, n, len(got), min(n, c.limit))
			}
		}
	}
	for n, want := range map[int]int{4095: 4095, 4096: 4096, 4097: 0} {
		path := "/" + long(n-1)
		ev := parse(t, Claude, "", fmt.Sprintf(`{"hook_event_name":"Stop","cwd":%q,"transcript_path":%[1]q}`, path))
		if len(ev.Cwd) != want || len(ev.Transcript) != want {
			t.Errorf("paths of %d: %d, %d", n, len(ev.Cwd), len(ev.Transcript))
		}
		for _, key := range []string{"file_path", "path", "notebook_path"} {
			got := parse(t, Claude, "", call("PreToolUse", "Edit", fmt.Sprintf(`{%q:%q}`, key, path))).Tool
			if len(strings.Join(got.Paths, "")) != want {
				t.Errorf("%s of %d: %d", key, n, len(got.Paths))
			}
		}
		input := fmt.Sprintf(`{"command":%q}`, "*** Update File: "+path)
		patch := parse(t, Codex, "", call("PreToolUse", "apply_patch", input)).Tool
		if len(strings.Join(patch.Paths, "")) != want {
			t.Errorf("a patch's path of %d: %d paths", n, len(patch.Paths))
		}
	}
	for n, same := range map[int]bool{127: true, 128: true, 129: false} {
		if ev := of("Stop", "session_id", n); (ev.Session == long(n)) != same {
			t.Errorf("an id of %d: %s", n, ev.Session)
		}
	}
	for n, class := range map[int]Class{255: Editor, 256: Editor, 257: Changer} {
		input := `{"command":"` + strings.Repeat(`*** Add File: a\n`, n) + `"}`
		if got := parse(t, Codex, "", call("PreToolUse", "apply_patch", input)).Tool; got.Class != class {
			t.Errorf("a patch of %d files: %s", n, got.Class)
		}
	}
	if got := parse(t, Claude, "\xffé", `{}`).Name; got != "\uFFFDé" {
		t.Errorf("a word that is no UTF-8: %q", got)
	}
}

// TestLyingAgent reads every payload as every agent's: nothing breaks, what a name cannot tell the word does, and no
// tool of another agent counts as one that changes nothing.
func TestLyingAgent(t *testing.T) {
	for _, s := range samples(t) {
		for _, agent := range []Agent{Claude, Codex, Gemini, Droid, "amp"} {
			ev := parse(t, agent, "pre-tool-use", string(s.data))
			if ev.Kind == BeforeTool && ev.Tool.Class == Reader {
				t.Errorf("%s as %s: a Reader: %+v", s.name, agent, ev.Tool)
			}
			checkEvent(t, ev)
		}
	}
	ev := parse(t, Claude, "prompt", `{"hook_event_name":"BeforeAgent","prompt":"hi","session_id":"s"}`)
	if ev.Kind != Prompt || ev.Prompt != "hi" || ev.Session != "s" {
		t.Errorf("Gemini's prompt as Claude's: %+v", ev)
	}
}

// checkEvent holds what is said of every Event, whatever the payload was.
func checkEvent(t testing.TB, ev Event) {
	t.Helper()
	for _, id := range []string{ev.Session, ev.Previous, ev.Subagent, ev.Tool.Call} {
		if id != "" && (len(id) > maxID || !isID([]byte(id))) {
			t.Errorf("id %q", id)
		}
	}
	for _, path := range []string{ev.Cwd, ev.Transcript} {
		if path != "" && (path[0] != '/' || len(path) > maxPath || strings.ContainsRune(path, 0)) {
			t.Errorf("path %.100q", path)
		}
	}
	if len(ev.Tool.Paths) > maxPaths || (len(ev.Tool.Paths) > 0) != (ev.Tool.Class == Editor) {
		t.Errorf("%s with %d paths", ev.Tool.Class, len(ev.Tool.Paths))
	}
	check := func(limit int, texts ...string) {
		for _, s := range texts {
			if !utf8.ValidString(s) || len(s) > limit {
				t.Errorf("%d bytes, limit %d, valid UTF-8: %v", len(s), limit, utf8.ValidString(s))
			}
		}
	}
	check(maxWord, ev.Name, ev.Source, ev.Reason)
	check(maxName, ev.Model, ev.Tool.Name)
	check(maxPrompt, ev.Prompt)
	check(maxTarget, ev.Tool.Target)
	check(maxPath, ev.Tool.Paths...)
	if strings.ContainsAny(ev.Tool.Target, "\n\r\x00\x1b") {
		t.Errorf("target %q", ev.Tool.Target)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(string(s.agent), "stop", s.data)
	}
	for _, p := range hostile() {
		f.Add("codex", "pre-tool-use", []byte(p))
	}
	f.Fuzz(func(t *testing.T, agent, word string, payload []byte) { fuzzed(t, Agent(agent), word, payload) })
}

func FuzzClaude(f *testing.F) { fuzzAgent(f, Claude) }
func FuzzCodex(f *testing.F)  { fuzzAgent(f, Codex) }
func FuzzGemini(f *testing.F) { fuzzAgent(f, Gemini) }
func FuzzDroid(f *testing.F)  { fuzzAgent(f, Droid) }

func fuzzAgent(f *testing.F, agent Agent) {
	for _, s := range samples(f) {
		if s.agent == agent {
			f.Add("pre-tool-use", s.data)
		}
	}
	for _, p := range hostile() {
		f.Add("stop", []byte(p))
	}
	f.Fuzz(func(t *testing.T, word string, payload []byte) { fuzzed(t, agent, word, payload) })
}

func fuzzed(t *testing.T, agent Agent, word string, payload []byte) {
	ev, err := Parse(agent, word, strings.NewReader(string(payload)))
	if err != nil && !errors.Is(err, errPayload) {
		t.Errorf("an error of another kind: %v", err)
	}
	if json.Valid(payload) && (err == nil) != (strings.TrimLeft(string(payload), " \t\r\n")[0] == '{') {
		t.Errorf("valid JSON: %v", err)
	}
	checkEvent(t, ev)
	slow, slowErr := Parse(agent, word, io.MultiReader(&oneByte{payload}))
	if !reflect.DeepEqual(ev, slow) || fmt.Sprint(err) != fmt.Sprint(slowErr) {
		t.Errorf("byte by byte:\n%+v %v\n%+v %v", ev, err, slow, slowErr)
	}
}

// oneByte gives one byte at a time.
type oneByte struct{ b []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	if len(o.b) == 0 {
		return 0, io.EOF
	}
	p[0], o.b = o.b[0], o.b[1:]
	return 1, nil
}
