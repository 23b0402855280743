package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/bench/workload"
	"rewind/hooks"
)

// A whole run of the operation hook on a small tree: real client and daemon, calls that are checkpoints, nothing left behind.
func TestHookRun(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	scratch, file := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
	var out, errs bytes.Buffer
	err := run([]string{"-ops", "hook", "-sizes", "300", "-calls", "4", "-bursts", "1", "-idle", "0", "-scratch", scratch, "-json", file}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Hooks []hookJSON }
	if err := json.Unmarshal(b, &got); err != nil || len(got.Hooks) != 1 {
		t.Fatalf("JSON: %v\n%s", err, b)
	}
	var names []string
	for _, r := range got.Hooks[0].Peers {
		names = append(names, r.Name)
		if len(r.Calls) != 4 {
			t.Errorf("%s: %d calls, want 4", r.Name, len(r.Calls))
		}
		if d := r.Daemon; d != nil && (d.Single != warmCalls+4 || d.Together < 1 || len(d.Cold) != coldStarts || !d.Unchanged) {
			t.Errorf("%s: %+v", r.Name, d)
		}
	}
	if want := []string{"floor", "rewind", "rewind-scan", "rewind-unchanged", "git-tree"}; !slices.Equal(names, want) {
		t.Errorf("peers %q, want %q", names, want)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// The payload is one that the daemon understands as an edit of this one file.
func TestPayload(t *testing.T) {
	root := filepath.Join(t.TempDir(), "tree")
	raw, err := payload(root, workload.Edit{Path: "a/b/c/d.go", Data: []byte("package \"c\"\n\nvar x = 1\n")})
	if err != nil {
		t.Fatal(err)
	}
	ev, err := hooks.Parse(hooks.Claude, hookEvent, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(root, "a", "b", "c", "d.go")}; ev.Kind != hooks.AfterTool || ev.Cwd != root || !slices.Equal(ev.Tool.Paths, want) {
		t.Errorf("%+v, want an edit of %q", ev, want)
	}
}

// What a hook has said is counted where that may happen; whatever else went wrong is a failure.
func TestComplaints(t *testing.T) {
	var r hookResult
	for _, err := range []error{complaint("late"), nil, complaint("late"), complaint("lost")} {
		if got := r.heard(err); got != nil {
			t.Errorf("%v is an error: %v", err, got)
		}
	}
	if r.Complaints["late"] != 2 || r.Complaints["lost"] != 1 {
		t.Errorf("counted %v", r.Complaints)
	}
	if broken := errors.New("broken"); !errors.Is(r.heard(broken), broken) {
		t.Error("an error was taken for a complaint")
	}
	h := &hookRun{label: "7 files", result: []*hookResult{{Name: "rewind", Failure: "3 edits led to 2 checkpoints"}}}
	b := &bench{hookRuns: []*hookRun{h}}
	if err := b.failed(); err == nil || !strings.Contains(err.Error(), "7 files: rewind: 3 edits") {
		t.Errorf("a lost edit: %v", err)
	}
}

func TestUnwatched(t *testing.T) {
	fact := func(text string, watches int) *daemonFact {
		f := daemonFact{Watches: watches}
		if err := json.Unmarshal([]byte(text), &f.Watcher); err != nil {
			t.Fatal(err)
		}
		return &f
	}
	for _, c := range []struct {
		f    *daemonFact
		want string
	}{
		{fact(`{"healthy":true}`, 10), ""},
		{fact(`{"healthy":true}`, -1), ""},
		{fact(`{"healthy":true}`, 9), "9 directories of 10"},
		{fact(`{"healthy":false,"reason":"limit"}`, 10), "limit"},
		{fact(`{"healthy":true,"missed":2}`, 10), "missed 2"},
		{fact(`null`, 0), "no watcher"},
	} {
		if got := c.f.unwatched(10); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}

func TestParseSizes(t *testing.T) {
	got, err := parseSizes("500,1k,28k")
	if err != nil || !slices.Equal(got, []int{500, 1000, 28000}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "k", "0", "-1k", "1m", "1k,", "2000k"} {
		if _, err := parseSizes(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
