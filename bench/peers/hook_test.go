package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rewind/api"
	"rewind/bench/workload"
	"rewind/hooks"
	"rewind/internal/torture"
)

// The hooks in all detail on a small tree: real client and daemon, calls that are checkpoints, many at once, cold
// starts, nothing left behind.
func TestHookRun(t *testing.T) {
	if !torture.Today(1) { // the tool is tested here, and no promise: on one day of three
		return
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	scratch, file := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
	var out, errs bytes.Buffer
	err := run([]string{
		"-rows", "hook,unchanged,daemon", "-corpus", "generated", "-files", "300", "-rounds", "4", "-bursts", "1",
		"-idle",
		"0", "-age", "0", "-scratch", scratch, "-json", file,
	}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got kept
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("JSON: %v\n%s", err, b)
	}
	seen := map[string]int{}
	for _, l := range got.Table {
		seen[l.What] = len(l.Values)
		if l.Failure != "" || l.Peer != "" && len(l.Peers) != len(l.Values) {
			t.Errorf("%+v", l)
		}
	}
	want := map[string]int{
		"hook, one file edited": 4, "hook, nothing changed": 4, "64 hooks at once": burst,
		"64 hooks at once, watcher off":     burst,
		"64 hooks at once, the 99th of 100": 1,
		"a hook that starts the daemon":     coldStarts,
	}
	if runtime.GOOS == "linux" {
		want["processor at rest"], want["memory at most"] = 1, 1
	}
	if !maps.Equal(seen, want) {
		t.Errorf("lines and values %v, want %v", seen, want)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// The payload is one that the daemon understands as an edit of this one file.
func TestPayload(t *testing.T) {
	root := filepath.Join(t.TempDir(), "tree")
	raw := payload(root, workload.Edit{Path: "a/b/c/d.go", Data: []byte("package \"c\"\n\nvar x = 1\n")})
	ev, err := hooks.Parse(hooks.Claude, hookEvent, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(root, "a", "b", "c", "d.go")}; ev.Kind != hooks.AfterTool || ev.Cwd != root ||
		!slices.Equal(ev.Tool.Paths, want) {
		t.Errorf("%+v, want an edit of %q", ev, want)
	}
}

// What a hook has said is counted; what is not as it should be is thrown to where the measurement began, whatever else
// breaks goes on.
func TestComplaints(t *testing.T) {
	s := &site{said: map[string]int{}}
	for _, said := range []string{"late", "", "late", "lost"} {
		s.heard("rewind", said)
	}
	if s.said[`rewind said "late"`] != 2 || s.said[`rewind said "lost"`] != 1 || len(s.said) != 2 {
		t.Errorf("counted %v", s.said)
	}
	broken := errors.New("broken")
	if err := caught(func() { must(broken) }); !errors.Is(err, broken) {
		t.Errorf("caught %v", err)
	}
	if err := caught(func() { want(3 < 2, "%d edits led to 2 checkpoints", 3) }); err == nil ||
		err.Error() != "3 edits led to 2 checkpoints" {
		t.Errorf("a lost edit: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a bug was taken for a failure")
		}
	}()
	_ = caught(func() { panic("a bug") })
}

func TestUnwatched(t *testing.T) {
	for _, c := range []struct {
		said string
		seen int
		want string
	}{
		{`{"healthy":true}`, 10, ""},
		{`{"healthy":true}`, -1, ""},
		{`{"healthy":true}`, 9, "9 directories of 10"},
		{`{"healthy":false,"reason":"limit"}`, 10, "limit"},
		{`{"healthy":true,"missed":2}`, 10, "missed 2"},
		{`null`, 0, "no watcher"},
	} {
		var said *api.Watcher
		if err := json.Unmarshal([]byte(c.said), &said); err != nil {
			t.Fatal(err)
		}
		if got := unwatched(said, c.seen, 10); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %d: %q, want %q", c.said, c.seen, got, c.want)
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

// gc removes the older half of a store beside hooks and alone, and every figure is there.
func TestCollectRun(t *testing.T) {
	if !torture.Today(2) { // the tool is tested here, and no promise: on one day of three
		return
	}
	scratch, file := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
	var out, errs bytes.Buffer
	err := run([]string{
		"-rows", "gc", "-corpus", "generated", "-files", "20", "-checkpoints", "100", "-rounds", "1", "-quick",
		"-scratch",
		scratch, "-json", file,
	}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got kept
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, l := range got.Table {
		if l.Failure != "" {
			t.Errorf("%+v", l)
		}
	}
	if n := len(claims["gc"]) + len(claims["gc beside"]) + len(claims["gc hooks"]); runtime.GOOS == "linux" &&
		len(got.Table) != n {
		t.Errorf("%d lines, want %d\n%s", len(got.Table), n, &out)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
