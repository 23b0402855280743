package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/relay/hookwire"
	"rewind/internal/textdiff"
)

var updateAnswers = flag.Bool("update", false, "write testdata/answers.txt anew")

// The answers of the API, byte for byte but for what no two runs have in common: scripts of others read them. Every
// time is in UTC, wherever the daemon runs. What list and show tell of a checkpoint is held by the scripts of
// cmd/rewind.
func TestAnswers(t *testing.T) {
	zone := time.Local
	time.Local = time.FixedZone("elsewhere", 5*3600) // before anything runs, and again after all of it has ended
	t.Cleanup(func() { time.Local = zone })
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	r.d.settling.End() // what it would do when it comes to it
	p := r.newProject(t)
	a := &answers{t: t, r: r, p: p, user: t.TempDir()}
	a.replace = strings.NewReplacer(p.ProjectDir(), "<root>", r.home, "<home>", a.user, "<user>")
	a.talk()

	env := api.AgentEnv{Home: api.Text(a.user)}
	one, two := api.Walk{Session: "claude/" + first}, api.Walk{Session: "claude/" + second}
	ask(a, "status", api.Status, api.StatusRequest{Project: p})
	ask(a, "sessions", api.Sessions, api.SessionsRequest{Project: p, Env: env})
	ask(a, "turns", api.Turns, api.TurnsRequest{Project: p, Walk: one})
	ask(a, "turns: which session", api.Turns, api.TurnsRequest{Project: p, Walk: api.Walk{Session: "0000000"}})
	ask(a, "turns: none of that number", api.Show, api.ShowRequest{Project: p, Checkpoint: api.Text("turn:9@" + first)})
	ask(a, "sessions: none of that name", api.Turns, api.TurnsRequest{Project: p, Walk: api.Walk{Session: "00000003"}})
	ask(a, "show: it is a session", api.Show, api.ShowRequest{Project: p, Checkpoint: "make it two"})
	ask(a, "tree: no such directory", api.Tree, api.TreeRequest{Project: api.Project{Dir: p.Dir + "x"}})
	ask(a, "tree: no absolute directory", api.Tree, api.TreeRequest{Project: api.Project{Dir: "p"}})
	ask(a, "tree: one branch, and the places of all", api.Tree,
		api.TreeRequest{Project: p, All: true, From: 1, Limit: 1})
	ask(a, "sessions: the newest", api.Sessions, api.SessionsRequest{Project: p, Env: env, Limit: 1})
	for _, store := range []string{"", "nope", "../../etc"} {
		ask(a, "join: no such store", api.JoinStore, api.JoinRequest{Project: p, Store: store})
		ask(a, "remove: no such store", api.RemoveStore, api.RemoveStoreRequest{Project: p, Store: store})
	}
	ask(a, "join: no absolute directory", api.JoinStore, api.JoinRequest{Project: api.Project{Dir: "p"}, Store: "nope"})
	ask(a, "messages", api.Messages, api.MessagesRequest{Project: p, Walk: one, Limit: 2})
	ask(a, "files", api.Files, api.FilesRequest{Project: p, Checkpoint: "@", Limit: 1})
	ask(a, "diff", api.Diff, api.DiffRequest{Project: p, Walk: one, From: "turn:1", To: "turn:2", Context: 1})
	ask(a, "compare", api.Compare, api.CompareRequest{
		Project: p, Walk: one, A: "turn:1", B: api.Text("session:claude/" + second), Context: 1,
	})
	ask(a, "grep", api.Grep,
		api.GrepRequest{Project: p, Pattern: "two", Conversation: true, Code: true, Before: 1, After: 1})
	ask(a, "blame", api.Blame, api.BlameRequest{Project: p, Path: "a"})
	ask(a, "paths", api.Paths, api.PathsRequest{Project: p, Paths: []api.Text{"a"}})
	ask(a, "ops", api.Ops, api.OpsRequest{Project: p, Limit: 3})
	ask(a, "fork: no env", api.MakeFork, api.ForkRequest{Project: p, Walk: one, Checkpoint: "turn:1"})
	ask(a, "clone: no env", api.MakeClone, api.CloneRequest{Project: p, Walk: two})
	ask(a, "forks: delete, no env", api.ManageForks, api.ManageRequest{
		Project: p, Do: api.DoDelete, Sessions: []string{one.Session}, LastCopy: true,
	})
	ask(a, "fork, dry run", api.MakeFork,
		api.ForkRequest{Project: p, Walk: one, Env: env, Checkpoint: "turn:1", DryRun: true})
	ask(a, "fork", api.MakeFork, api.ForkRequest{Project: p, Walk: one, Env: env, Checkpoint: "turn:1"})
	ask(a, "forks", api.Forks, api.ForksRequest{Project: p, Env: env})
	ask(a, "tree", api.Tree, api.TreeRequest{Project: p, All: true})
	ask(a, "list of turns, kin", api.List, api.ListRequest{Project: p, Turns: true, Kin: true, Limit: 2})
	ask(a, "forks: rename", api.ManageForks, api.ManageRequest{
		Project: p, Env: env, Do: api.DoRename, Sessions: []string{one.Session}, Title: "with a name",
	})
	ask(a, "forks: delete, a last copy", api.ManageForks, api.ManageRequest{
		Project: p, Env: env, Do: api.DoDelete, Sessions: []string{one.Session},
	})
	ask(a, "forks: prune, dry run", api.PruneForks, api.PruneRequest{Project: p, Env: env, Unused: true, DryRun: true})
	ask(a, "forks: back", api.UndoRestore, api.UndoRestoreRequest{Project: p, Wish: api.Wish{Env: env}})
	ask(a, "clone", api.MakeClone, api.CloneRequest{Project: p, Walk: two, Env: env})
	put(t, p.ProjectDir(), "new", "in no checkpoint")
	ask(a, "save", api.Save, api.SaveRequest{Project: p, Message: "all of it"})
	put(t, p.ProjectDir(), "newer", "in no checkpoint")
	ask(a, "layout", api.LayOut, api.LayOutRequest{
		Project: p, Walk: one, Checkpoint: "turn:1",
		Into: api.Text(filepath.Join(a.user, "into")),
	})
	ask(a, "checkout, dry run", api.Checkout, api.CheckoutRequest{
		Project: p, Walk: one, Checkpoint: "turn:1",
		Wish: api.Wish{Env: env, DryRun: true},
	})
	ask(a, "checkout", api.Checkout, api.CheckoutRequest{
		Project: p, Walk: one, Checkpoint: "turn:1",
		Wish: api.Wish{Env: env, Exact: true},
	})
	ask(a, "undo-restore", api.UndoRestore, api.UndoRestoreRequest{Project: p, Wish: api.Wish{Env: env}})
	ask(a, "switch", api.Switch,
		api.SwitchRequest{Project: p, Branch: "make it two", Wish: api.Wish{Env: env}, Tag: "left"})
	ask(a, "switch: the one before", api.Switch,
		api.SwitchRequest{Project: p, Branch: "-", Wish: api.Wish{Env: env, DryRun: true}})
	ask(a, "switch: which session", api.Switch,
		api.SwitchRequest{Project: p, Branch: "0000000", Wish: api.Wish{Env: env}})
	ask(a, "future", api.Future, api.FutureRequest{Project: p, Walk: api.Walk{Session: "claude/" + first}})
	ask(a, "forward", api.Forward, api.ForwardRequest{Project: p, Walk: one, Wish: api.Wish{Env: env}, Turns: 9})
	ask(a, "pick, dry run", api.Pick, api.MergeRequest{Project: p, Walk: one, Change: "turn:1", DryRun: true})
	ask(a, "revert", api.Revert, api.MergeRequest{Project: p, Walk: one, Change: "turn:2"})
	ask(a, "config", api.Config, api.ConfigRequest{Project: p})
	ask(a, "verify", api.Verify, api.VerifyRequest{Project: p})
	ask(a, "repair", api.Repair, api.RepairRequest{Project: p})
	ask(a, "gc", api.GC, api.GCRequest{Project: p, DryRun: true})
	ask(a, "purge", api.Purge, api.PurgeRequest{Project: p, Paths: []api.Text{"a"}, DryRun: true})
	ask(a, "stores", api.Stores, api.StoresRequest{Project: p})
	ask(a, "hooks", api.SetHooks, api.HooksRequest{Project: p, Env: env, Agents: []api.Agent{"claude"}, DryRun: true})

	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	fmt.Fprintln(&a.out, "## values, and values that are rare")
	for _, v := range []any{
		api.Conflict{Path: "p", Reason: "r"},
		api.Conflict{Path: "p\xff", Reason: "r", SavedAs: "s\xff"},
		api.Lost{Kind: "blob", ID: "i", Place: "p\xff"},
		api.Affected{Checkpoint: "c"},
		api.Affected{Checkpoint: "c", Whole: true, Paths: []api.Text{"p\xff"}, More: 1, Conversation: true, Note: true},
		api.Activity{},
		api.Activity{What: "undo", Process: 1, Files: 1, Total: 2, Bytes: 3},
		api.Watcher{},
		api.Watcher{Healthy: true, Directories: 1, Reason: "r", Since: at, Missed: 1},
		api.Kept{Path: "p\xff"},
		api.Kept{Path: "p", Dir: true, Reason: "session", By: "claude/s", Shared: true},
		api.Taken{},
		api.Taken{By: "claude/s", Paths: []api.Text{"p\xff"}},
		api.Without{},
		api.Without{Path: "p\xff", What: []string{"setuid"}},
		api.Said{},
		api.BlamedLine{},
		api.BlamedLine{Text: "\xff", Cut: true, Origin: 1, Line: 2},
		api.Turn{},
		api.Break{},
		api.Compaction{},
		api.Setting{},
		api.Hunk{},
		textdiff.Line{Op: '+', Text: []byte("\xff"), NoEOL: true},
		api.Progress{},
		api.Progress{Phase: "p", Files: 1, Total: 2, Bytes: 3},
		api.Unsearched{},
		api.Unsearched{TooLarge: []api.Text{"p"}, Gone: []api.Text{"q"}},
		api.AtWork{},
		api.Candidate{},
		api.SessionInfo{},
		api.Fork{},
		api.ForkInfo{},
		api.Conversation{},
		api.JoinResponse{},
		api.AdoptResponse{},
		api.TurnsResponse{},
		api.FutureResponse{},
		api.Ahead{},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&a.out, "%s\n", b)
	}

	golden := filepath.Join("testdata", "answers.txt")
	if *updateAnswers {
		if err := os.WriteFile(golden, a.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(a.out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || got[i] != lines[i] {
			t.Fatalf("line %d of %s is %q now, of %d lines", i+1, golden, got[min(i, len(got)-1)], len(got))
		}
	}
}

// The sessions of the answers: one has two turns, the other is at work.
const (
	first  = "00000001-0000-4000-8000-000000000000"
	second = "00000002-0000-4000-8000-000000000000"
)

// answers is what was asked, and what came.
type answers struct {
	t       *testing.T
	r       *running
	p       api.Project
	user    string // the home of the agents' person
	out     bytes.Buffer
	replace *strings.Replacer
	events  int
	uuid    string // of the newest line of a session file
}

// talk is what the agents do before anybody asks.
func (a *answers) talk() {
	tool := filepath.Join(a.p.ProjectDir(), "tool")
	put(a.t, a.p.ProjectDir(), "tool", "a restore gives it no setuid")
	if err := os.Chmod(tool, os.ModeSetuid|0o755); err != nil {
		a.t.Fatal(err)
	}
	a.turn(first, "make it two", "one\ntwo\nthree\n")
	if err := os.Remove(tool); err != nil {
		a.t.Fatal(err)
	}
	a.turn(first, "make it four", "one\ntwo\nfour\n")
	a.uuid = ""
	a.hook(second, "user-prompt-submit", "UserPromptSubmit", "look\x1b at two")
	a.line(second, "user", `{"role":"user","content":"look at two"}`)
	a.hook(second, "pre-tool-use", "PreToolUse", "")
}

// turn is a whole one in which a tool writes the file a.
func (a *answers) turn(session, prompt, content string) {
	a.t.Helper()
	a.hook(session, "user-prompt-submit", "UserPromptSubmit", prompt)
	a.line(session, "user", fmt.Sprintf(`{"role":"user","content":%q}`, prompt))
	a.line(session, "assistant",
		`{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"a"}}],"stop_reason":"tool_use"}`)
	a.hook(session, "pre-tool-use", "PreToolUse", "")
	put(a.t, a.p.ProjectDir(), "a", content)
	a.hook(session, "post-tool-use", "PostToolUse", "")
	a.line(session, "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}`)
	a.line(session, "assistant",
		`{"id":"n","type":"message","role":"assistant","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}`)
	a.hook(session, "stop", "Stop", "")
}

func (a *answers) file(session string) string {
	return filepath.Join(a.user, ".claude", "projects", regexp.MustCompile(`[^0-9A-Za-z]`).ReplaceAllString(a.p.ProjectDir(), "-"),
		session+".jsonl")
}

// line appends a record to a session's file.
func (a *answers) line(session, kind, message string) {
	a.t.Helper()
	a.events++
	parent := "null"
	if a.uuid != "" {
		parent = `"` + a.uuid + `"`
	}
	a.uuid = fmt.Sprintf("%08x-1111-4111-8111-000000000000", a.events)
	if err := os.MkdirAll(filepath.Dir(a.file(session)), 0o700); err != nil {
		a.t.Fatal(err)
	}
	f, err := os.OpenFile(a.file(session), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	_, err = fmt.Fprintf(f,
		`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-11-20T10:00:%02d.000Z","cwd":%q,"sessionId":%q,"version":"2.1.328"}`+"\n",
		parent, kind, message, a.uuid, a.events, a.p.ProjectDir(), session)
	if err != nil {
		a.t.Fatal(err)
	}
}

// hook posts an event of a session.
func (a *answers) hook(session, event, name, prompt string) {
	a.t.Helper()
	a.events++
	tool := "Write"
	if strings.HasPrefix(session, "00000002") { // its shell may change any file
		tool = "Bash"
	}
	b, err := json.Marshal(map[string]any{
		"session_id": session, "hook_event_name": name, "cwd": a.p.ProjectDir(), "transcript_path": a.file(session),
		"prompt":    prompt,
		"tool_name": tool, "tool_use_id": "t1",
		"tool_input": map[string]any{"file_path": filepath.Join(a.p.ProjectDir(), "a")},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	status, warn, _ := a.r.post(a.t, "claude", event, a.p.ProjectDir(), fmt.Sprintf("%016x", a.events), time.Minute,
		bytes.NewReader(b))
	if status != hookwire.Done || warn != "" {
		a.t.Fatalf("%s: %d %s", event, status, warn)
	}
}

// ask writes down what a route answers.
func ask[Req, Resp any](a *answers, title string, route api.Route[Req, Resp], req Req) {
	a.t.Helper()
	raw, err := api.Call(a.t.Context(), a.r.client, api.Route[Req, json.RawMessage](route), req, nil)
	if told := (*api.Error)(nil); errors.As(err, &told) {
		raw, err = json.Marshal(told)
	}
	if err != nil {
		a.t.Fatalf("%s: %v", title, err)
	}
	var b bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	a.write(&b, d, "")
	fmt.Fprintf(&a.out, "## %s\n%s\n", title, b.Bytes())
}

// What no two runs have in common: times, and ids but for those that the test gives.
var (
	times   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	ids     = regexp.MustCompile(`\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,64})\b`)
	folders = regexp.MustCompile(`/projects/[^/]+/`)
	numbers = []string{
		"disk_bytes", "disk_before", "disk_after", "bytes", "captured_bytes", "session_bytes", "checked", "pid",
		"operation", "seq",
		"older", "end",
	}
)

func likeAny(text string) string {
	text = ids.ReplaceAllStringFunc(text, func(id string) string {
		if strings.HasPrefix(id, "000000") {
			return id
		}
		return "<id>"
	})
	return folders.ReplaceAllString(times.ReplaceAllString(text, "<time>"), "/projects/<folder>/")
}

// write copies a value of JSON, members in their order, without what no two runs have in common; a checkpoint by what
// it is of alone.
func (a *answers) write(w io.Writer, d *json.Decoder, indent string) {
	tok, err := d.Token()
	if err != nil {
		a.t.Fatal(err)
	}
	switch v := tok.(type) {
	case json.Delim:
		var members []string
		checkpoint, message := false, false
		for d.More() {
			var one bytes.Buffer
			if v == '{' {
				key, err := d.Token()
				if err != nil {
					a.t.Fatal(err)
				}
				checkpoint, message = checkpoint || key == "tree", message || key == "who"
				fmt.Fprintf(&one, "%s: ", key)
				if key == "short" || message && key == "at" || slices.Contains(numbers, key.(string)) {
					one.WriteString("_")
					a.write(io.Discard, d, "")
					members = append(members, one.String())
					continue
				}
			}
			a.write(&one, d, indent+"\t")
			members = append(members, one.String())
		}
		end, err := d.Token()
		if err != nil {
			a.t.Fatal(err)
		}
		switch {
		case v == '[' && len(members) > 20: // patterns of a setting
			fmt.Fprintf(w, "[...]")
		case checkpoint:
			fmt.Fprint(w, "<checkpoint>")
		case len(members) == 0:
			fmt.Fprintf(w, "%v%v", v, end)
		default:
			fmt.Fprintf(w, "%v\n%s\t%s\n%s%v", v, indent, strings.Join(members, "\n"+indent+"\t"), indent, end)
		}
	case string:
		fmt.Fprintf(w, "%q", likeAny(a.replace.Replace(v)))
	default:
		fmt.Fprintf(w, "%v", v)
	}
}
