package capture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/refs"
	"rewind/tree"
)

// TestSaveNotes: where nothing has changed, a message is put on the checkpoint that is there, and no message is none.
func TestSaveNotes(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	first := p.Save("first")
	for _, message := range []string{"", "again"} {
		before := p.E.Log.DB.LastSeq()
		r, err := p.E.Worktree.Save(enginetest.Bg, "", message, nil)
		p.Must(err)
		noted := message != ""
		if r.Checkpoint.ID != first.ID || !r.Unchanged || r.Noted != noted || (p.E.Log.DB.LastSeq() > before) != noted {
			t.Errorf("%q: %+v", message, r)
		}
	}
	if l := p.Listed(); len(l) != 1 || !slices.Equal(l[0].Messages, []string{"again"}) {
		t.Errorf("%+v", l)
	}
	if _, err := p.E.Worktree.Save(enginetest.Bg, "none", "x", nil); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("in a session that is not known: %v", err)
	}
}

// TestNotRecorded: the end of a session that nothing was heard of, what only reads, and an event of no kind leave
// nothing behind.
func TestNotRecorded(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	p.Save("first")
	a := p.Agent("a")
	p.Write("f", "2")
	before := p.E.Log.DB.LastSeq()
	for what, ev := range map[string]hooks.Event{
		"a session's end":  {Kind: hooks.SessionEnd},
		"what only reads":  {Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Read", Call: "r", Class: hooks.Reader}},
		"an event of none": {Kind: 0},
		"a subagent":       {Kind: hooks.SubagentStart, Subagent: "s"},
		"a subagent's end": {Kind: hooks.SubagentStop, Subagent: "s"},
	} {
		h := a.Send(ev, capture.HandleOptions{})
		if h.Recorded || h.New || p.E.Log.DB.LastSeq() != before {
			t.Errorf("%s: %+v", what, h)
		}
	}
}

// TestToldEdits: what lies outside of the project is told as edited by the end of a call that names it, if that did not
// fail.
func TestToldEdits(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a := p.Agent("a")
	a.Prompt("x")
	edit := hooks.Tool{Name: "Edit", Call: "e", Class: hooks.Editor, Paths: []string{"/elsewhere/x"}}
	for _, tt := range []struct {
		ev   hooks.Event
		want string
	}{
		{hooks.Event{Kind: hooks.BeforeTool, Tool: edit}, ""},
		{hooks.Event{Kind: hooks.AfterTool, Tool: edit, Failed: true}, ""},
		{hooks.Event{Kind: hooks.BeforeTool, Tool: edit}, ""},
		{hooks.Event{Kind: hooks.AfterTool, Tool: edit}, "/elsewhere/x"},
	} {
		a.Send(tt.ev, capture.HandleOptions{})
		if got := strings.Join(p.Session(a.Name()).Uncaptured, " "); got != tt.want {
			t.Errorf("%d, failed %v: %q", tt.ev.Kind, tt.ev.Failed, got)
		}
	}
}

// TestRepositoryGone: that a repository is gone is found until somebody saves without it, however many events come.
func TestRepositoryGone(t *testing.T) {
	p := enginetest.NewProject(t)
	const head = "0123456789abcdef0123456789abcdef01234567"
	for name, content := range map[string]string{"HEAD": head + "\n", "objects/x": "", "refs/x": "", "config": ""} {
		p.Write(".git/"+name, content)
	}
	p.Write("f", "0")
	p.Save("with a repository")
	gone := func(what string, want bool) {
		t.Helper()
		checks, found := p.E.Worktree.CheckGit(), false
		for _, c := range checks {
			found = found ||
				strings.Contains(string(c.Text), "the repository is gone") && strings.Contains(string(c.Text), head[:8])
		}
		if found != want {
			t.Errorf("%s: %+v", what, checks)
		}
	}
	gone("it is there", false)
	p.Must(os.RemoveAll(p.Path(".git")))
	a := p.Agent("a")
	a.Prompt("x")
	for _, text := range []string{"1", "2", "3"} {
		a.Run(text, func() { p.Write("f", text) })
		gone("behind "+text, true)
	}
	p.Save("without one") // though no file has changed
	gone("saved without", false)
}

// TestMissing: of what a target did not capture, that is missing which is not there now. What is missed most is first.
func TestMissing(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("there", "x")
	p.Write("file/below", "x")
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	skip := func(reason byte, paths ...string) (list []tree.Skip) {
		for _, path := range paths {
			list = append(list, tree.Skip{Path: path, Reason: reason})
		}
		return list
	}
	then := slices.Concat(
		skip(
			tree.ReasonPipe,
			"pipe",
		),
		skip(tree.ReasonIgnored, "ignored b", "ignored a", "there"),
		skip(tree.ReasonPurged, "purged"),
		skip(tree.ReasonSize, "large", "large now"),
		skip(tree.ReasonUnreadable, "a locked one"),
		skip(tree.ReasonSecret, "secret", "there/below", "none/below"),
		skip(tree.ReasonTorn, "torn"),
	)
	now := skip(tree.ReasonSize, "large now")
	for asked, want := range map[string]string{
		"":        "none/below, secret, there/below, a locked one, large, purged, ignored a, ignored b, pipe",
		"ignored": "",
		"large":   "large",
		"none":    "none/below",
	} {
		var only refs.PathSet
		if asked != "" {
			only = refs.PathSet{asked}
		}
		list, err := capture.Missing(root, then, now, only)
		p.Must(err)
		var got []string
		for _, s := range list {
			got = append(got, s.Path)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%q: %s, want %s", asked, got, want)
		}
	}
	for path, want := range map[string][2]bool{
		"there": {false, true}, "file": {true, true}, "no": {}, "there/x": {}, "no/x": {},
	} {
		dir, is, err := capture.OnDisk(root, path)
		if err != nil || [2]bool{dir, is} != want {
			t.Errorf("%s: a directory %v, there %v, %v", path, dir, is, err)
		}
	}
}

// TestLanes: a session of Droid's that another one called works in a lane of that one, by the first line of its file;
// one whose caller is not known here does not. What was found once stays.
func TestLanes(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	dir := filepath.Join(p.User(), ".factory", "sessions", "x")
	p.Must(os.MkdirAll(dir, 0o700))
	id := func(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }
	told := func(n, caller int, text string) string {
		path := filepath.Join(dir, id(n)+".jsonl")
		head := `{"type":"session_start","id":"` + id(n) + `"`
		if caller > 0 {
			head += `,"callingSessionId":"` + id(caller) + `"`
		}
		if caller >= 0 {
			p.Must(os.WriteFile(path, []byte(head+"}\n"), 0o600))
		}
		p.Write("f", text)
		ev := hooks.Event{
			Agent: hooks.Droid, Session: id(n), Cwd: p.Root, Transcript: path, Kind: hooks.AfterTool,
			Tool: hooks.Tool{Name: "Execute", Call: text},
		}
		h, err := p.E.Worktree.Handle(enginetest.Bg, ev, capture.HandleOptions{Tier: tier})
		p.Must(err)
		return p.Get(h).Session
	}
	for _, tt := range []struct{ n, caller, want int }{
		{1, 0, 1},  // a person's
		{2, 1, 1},  // its worker
		{3, 2, 1},  // the worker's worker
		{4, 99, 4}, // of somebody unknown
		{5, 5, 5},  // of itself
		{2, 1, 1},  // once more
		{6, -1, 6}, // has written nothing yet
		{6, 1, 1},  // is somebody's worker
	} {
		if got := told(tt.n, tt.caller, fmt.Sprint(tt.n, tt.caller, len(p.Listed()))); got != "droid/"+id(tt.want) {
			t.Errorf("%d, called by %d, is of %s", tt.n, tt.caller, got)
		}
	}
	p.Reopen()
	if got := told(2, 0, "after a restart"); got != "droid/"+id(1) {
		t.Errorf("after a restart it is of %s", got)
	}
	if s := p.E.Log.Session("droid/" + id(3)); s == nil || s.LaneOf != "droid/"+id(1) || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// TestGoesOnFrom: a session of Droid's that goes on from another one, as its first event says, has that one's lineage.
func TestGoesOnFrom(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	dir := filepath.Join(p.User(), ".factory", "sessions", "x")
	p.Must(os.MkdirAll(dir, 0o700))
	id := func(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }
	for n, tt := range []struct{ previous, want string }{
		{"", ""},
		{id(0), "droid/" + id(0)},
		{id(2), ""}, // itself
		{id(9), ""}, // unknown
	} {
		path := filepath.Join(dir, id(n)+".jsonl")
		p.Must(os.WriteFile(path, []byte(`{"type":"session_start","id":"`+id(n)+"\"}\n"), 0o600))
		ev := hooks.Event{
			Agent: hooks.Droid, Session: id(n), Cwd: p.Root, Transcript: path, Kind: hooks.SessionStart,
			Source: "startup", Previous: tt.previous,
		}
		_, err := p.E.Worktree.Handle(enginetest.Bg, ev, capture.HandleOptions{Tier: tier})
		p.Must(err)
		got := ""
		if l := p.Session("droid/" + id(n)).Fork; l != nil {
			got = l.Session
		}
		if got != tt.want {
			t.Errorf("%d goes on from %q: %q, want %q", n, tt.previous, got, tt.want)
		}
	}
}

// TestSaveAtTip: what is unsaved at the newest state of a session is saved for that session only. The operation of a
// step that goes on from the newest one tells of no ref, and where the cursor had gone back it tells where the branch
// was.
func TestSaveAtTip(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	changes := func() (n int) {
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			n = len(op.Changes)
			return kv.ErrStop
		}))
		return n
	}
	save := func(session string) string {
		defer p.E.Log.Hold()()
		cp, err := p.E.Worktree.SaveAtTip(enginetest.Bg, session, "unsaved", nil)
		p.Must(err)
		if cp == nil {
			return ""
		}
		return cp.Cause.Message + " of " + cp.Session
	}
	p.Write("f", "mine")
	for _, tt := range []struct{ session, want string }{
		{model.Manual, ""}, {k.Name(), "unsaved of " + k.Name()}, {k.Name(), ""},
	} {
		if got := save(tt.session); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.session, got, tt.want)
		}
	}
	if n := changes(); n != 0 {
		t.Errorf("a step tells of %d refs", n)
	}
	p.Checkout("turn:1", restore.Options{CodeOnly: true})
	p.Write("f", "mine again")
	if got := save(k.Name()); got != "unsaved of "+k.Name() {
		t.Errorf("behind a checkout: %q", got)
	}
	if n := changes(); n != 1 {
		t.Errorf("a step behind a checkout tells of %d refs", n)
	}
}

// TestLeavesOut: an editor's lock or swap file is left out unless an ignore file above it lets it in.
func TestLeavesOut(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("kept/.gitignore", "!*.swp\n")
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	for path, want := range map[string]bool{
		".f.swp": true, "f.swp.txt": false, "d/.f.swp": true, "kept/.f.swp": false, "kept/d/.f.swp": false,
	} {
		if got, err := p.E.Worktree.LeavesOut(root, path); err != nil || got != want {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}
