package transcript

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const codexOld = "01a1f866-12ce-71c0-b377-5762b05bda7d"

// The id of a thread may stand anywhere: a fork changes it where the client reads it, and nowhere in what a model was
// sent.
func TestCodexForkRewrites(t *testing.T) {
	const other = "01a1f866-0000-71c0-b377-5762b05bda7d"
	old := quoted(codexOld)
	kept := []string{
		codexSays("user", codexOld),
		codexItem(`{"type":"function_call","call_id":"c","name":"t","thread_id":` + old + `,"arguments":"{\"thread_id\":\"` + codexOld +
			`\"}"}`),
		codexItem(`{"type":"function_call_output","call_id":"c","output":{"session_id":` + old + `}}`),
		`{"type":"compacted","payload":{"message":"` + codexOld + `","replacement_history":[{"thread_id":` + old + `}]}}`,
		codexEvent(`{"type":"item_completed","thread_id":"` + other + `","item":{"content":[{"thread_id":` + old +
			`}],"result":{"thread_id":` + old + `}}}`),
		codexEvent(`{"type":"x","cwd":` + old + `,"id":` + old + `,"thread_id":7,"session_id":["` + codexOld + `"]}`),
		`{"type":"event_msg","payload":{"type":"x","a":` + strings.Repeat("[", 40) + `{"thread_id":` + old + `}` + strings.Repeat("]",
			40) + `}}`,
		"{\"type\":\"event_msg\",\"n\":1.50e+3, \"bad\":\"\xff\\u00e9\\/\" , \"payload\":{}}",
		codexSays("assistant", "ok"),
	}
	changed := []string{
		codexEvent(`{"type":"thread_settings_applied","thread_id":` + old + `}`),
		`{"type":"token_usage_record","payload":{"thread_id":` + old + `,"deep":[{"x":{"session_id" : ` + old + ` }}]}}`,
		`{"type":"event_msg","payload":{"type":"x","thread_id":"01a1f866\u002d12ce-71c0-b377-5762b05bda7d"}}`,
	}
	// left out: an id in them would be the old one
	broken := []string{"no JSON " + codexOld, "", `{"type":"response_item","payload":{"thread_id":` + old}
	data := codexLines(slices.Concat(kept, broken, changed)...)
	var b strings.Builder
	if err := WriteFork(&b, Codex, text("x", data), Fork{Cut: int64(len(data)), ID: forkID, From: codexOld}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if want := strings.NewReplacer(codexOld, forkID, `"exec"`, `"cli"`).Replace(strings.SplitN(data, "\n", 2)[0]); lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
	for i, line := range kept {
		if lines[i+1] != line {
			t.Errorf("got  %s\nwant %s", lines[i+1], line)
		}
	}
	for i, line := range changed {
		want := strings.NewReplacer(codexOld, forkID, `01a1f866\u002d12ce-71c0-b377-5762b05bda7d`, forkID).Replace(line)
		if got := lines[len(kept)+i+1]; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A client before 0.169 copies its parent's records behind its own session_meta, with the parent's.
func TestCodexInheritedMeta(t *testing.T) {
	data := codexLines(
		`{"type":"session_meta","payload":{"id":"01a1f866-0000-71c0-b377-5762b05bda7d","cwd":"/home/dev/other","cli_version":"0.1"}}`,
		codexSays("user", "one"), codexSays("assistant", "1"),
	)
	data = strings.Replace(data, `"source":"exec"`, `"source":"vscode","forked_from_id":"01a1f866-0000-71c0-b377-5762b05bda7d"`, 1)
	c := scan(t, Codex, text("x", data))
	if c.ID != codexOld || c.Cwd != "/home/dev/proj" || c.Parent.Session != "01a1f866-0000-71c0-b377-5762b05bda7d" ||
		c.Version != "" {
		t.Errorf("%+v", c)
	}
	out := fork(t, Codex, text("x", data), c.End)
	if strings.Count(out, "session_meta") != 1 || !strings.Contains(out, `"source":"vscode","forked_from_id":"`+codexOld+`"`) {
		t.Error(out)
	}
}

func TestCodexPlace(t *testing.T) {
	const day, id = "/home/dev/.codex/sessions/2026/11/20/", "01a1f867-63c3-7113-a272-12955c35fe69"
	for _, tt := range []struct{ path, root, id string }{
		{day + "rollout-2026-11-20T10-01-27-" + id + ".jsonl", "/home/dev/.codex", id},
		{day + "rollout-2026-11-20T10-01-27-" + id + ".jsonl.zst", "/home/dev/.codex", id},
		{
			day + "rollout-2026-11-20T10-01-55-" + id + "_01a1f867-d129-71a2-90bf-1093d529b6b0.jsonl",
			"/home/dev/.codex", id,
		},
		{"/srv/codex home/archived_sessions/rollout-2026-11-20T10-01-27-" + id + ".jsonl", "/srv/codex home", id},
		{day + "rollout-2026-11-20T10-01-27-" + id + ".json", "", ""},
		{day + "rollout-2026-11-20T10-01-27-" + id[1:] + ".jsonl", "", ""},
		{day + "rollout-2026-11-20T10-01-27-" + id + "_x.jsonl", "", ""},
		{day + "rollout-2026-13-20T10-01-27-" + id + ".jsonl", "", ""},
		{"/home/dev/.codex/sessions/2026/11/rollout-2026-11-20T10-01-27-" + id + ".jsonl", "", ""},
		{"/home/dev/.codex/sessions/2026/11/x/rollout-2026-11-20T10-01-27-" + id + ".jsonl", "", ""},
		{"/home/dev/.codex/sessions/2026/11/20/../20/rollout-2026-11-20T10-01-27-" + id + ".jsonl", "", ""},
		{"/sessions/2026/11/20/rollout-2026-11-20T10-01-27-" + id + ".jsonl", "", ""},
	} {
		root, got, err := SessionFile(Codex, tt.path)
		if root != tt.root || got != tt.id || (err == nil) != (tt.root != "") {
			t.Errorf("%s: %q %q %v", tt.path, root, got, err)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local) //nolint:gosmopolitan // the client names files by local time
	to, err := ForkPath(Codex, "/home/dev/.codex/archived_sessions/rollout-2026-11-20T10-01-27-"+id+".jsonl", forkID,
		at.UTC())
	if want := "/home/dev/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + forkID + ".jsonl"; to != want {
		t.Error(to, err)
	}
	if _, _, err := SessionFile(Codex, to); err != nil {
		t.Error(err)
	}
	if got := strings.Join(Resume(Codex, id), " "); got != "codex resume "+id {
		t.Error(got)
	}
	first, second := NewID(Codex, at, [16]byte{6: 0xff, 15: 1}), NewID(Codex, at.Add(time.Millisecond), [16]byte{})
	if !ValidID(first) || first[14] != '7' || first >= second {
		t.Error(first, second)
	}
}

func TestCodexFind(t *testing.T) {
	meta := func(cwd, more string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{"type":"session_meta","payload":{"id":"` + codexOld + `","cwd":"` + cwd + `"` + more + `}}` +
			"\n")}
	}
	const a, b = "01a1f867-63c3-7113-a272-12955c35fe61", "01a1f867-63c3-7113-a272-12955c35fe62"
	const c, d = "01a1f867-63c3-7113-a272-12955c35fe63", "01a1f867-63c3-7113-a272-12955c35fe64"
	root := fstest.MapFS{
		"sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + a + ".jsonl":           meta("/p", ""),
		"sessions/2026/11/21/rollout-2026-11-21T10-00-00-" + a + "_" + b + ".jsonl": meta("/p", ""),
		"sessions/2026/11/20/rollout-2026-11-20T11-00-00-" + b + ".jsonl":           meta("/other", ""),
		"sessions/2026/11/20/rollout-2026-11-20T12-00-00-" + c + ".jsonl":           meta("/p", `,"thread_source":"subagent"`),
		"sessions/2026/11/20/rollout-2026-11-20T12-00-01-" + d + ".jsonl":           meta("/p", `,"source":{"subagent":"review"}`),
		"sessions/2026/11/20/rollout-2026-11-20T13-00-00-" + c + ".txt":             meta("/p", ""),
		"sessions/2026/11/20/notes/rollout-2026-11-20T13-00-00-" + c + ".jsonl":     meta("/p", ""),
		"archived_sessions/rollout-2026-11-20T14-00-00-" + forkID + ".jsonl":        meta("/p", ""),
		"archived_sessions/rollout-2026-11-20T14-00-00-" + codexOld + ".jsonl.zst":  {Data: []byte("\x28\xb5\x2f\xfd")},
	}
	got, _, err := Find(Codex, root, "/p")
	want := "sessions/2026/11/21/rollout-2026-11-21T10-00-00-" + a + "_" + b +
		".jsonl archived_sessions/rollout-2026-11-20T14-00-00-" +
		forkID + ".jsonl"
	if err != nil || strings.Join(got, " ") != want {
		t.Error(got, err)
	}
	if got, _, err := Find(Codex, fstest.MapFS{}, "/p"); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}
