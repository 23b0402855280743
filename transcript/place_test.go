package transcript

import (
	"errors"
	"io/fs"
	"reflect"
	"sort"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"rewind/internal/value"
)

const otherID = "11111111-2222-4333-8444-555555555555"

func TestSessionFile(t *testing.T) {
	type want struct{ root, id, fork string }
	for _, c := range []struct {
		agent Agent
		path  string
		want  want // root "": refused
	}{
		{
			Claude, "/home/dev/.claude/projects/-home-dev-proj/" + otherID + ".jsonl",
			want{"/home/dev/.claude", otherID, "/home/dev/.claude/projects/-home-dev-proj/" + forkID + ".jsonl"},
		},
		{Claude, "/c/projects/x/" + otherID + ".jsonl", want{"/c", otherID, "/c/projects/x/" + forkID + ".jsonl"}},
		{
			Droid, "/home/dev/.factory/sessions/-p/" + otherID + ".jsonl",
			want{"/home/dev/.factory", otherID, "/home/dev/.factory/sessions/-p/" + forkID + ".jsonl"},
		},
		{Claude, "/projects/x/" + otherID + ".jsonl", want{}},
		{Claude, "/home/dev/.claude/projects/x/y/" + otherID + ".jsonl", want{}},
		{Claude, "/home/dev/.claude/projects/x/agent-a08b79ed.jsonl", want{}},
		{Claude, "/home/dev/.claude/projects/x/" + otherID + "/subagents/agent-a08b79ed.jsonl", want{}},
		{Claude, "/home/dev/.claude/projects/x/" + otherID + ".json", want{}},
		{Claude, "/home/dev/.claude/projects/../projects/x/" + otherID + ".jsonl", want{}},
		{Claude, "/home/dev/.claude/projects//x/" + otherID + ".jsonl", want{}},
		{Claude, "/home/dev/.claude/projects/x\x00/" + otherID + ".jsonl", want{}},
		{Claude, "/home/dev/.claude/projects/x\n/" + otherID + ".jsonl", want{}},
		{Claude, "/" + strings.Repeat("x/", 3000) + "projects/x/" + otherID + ".jsonl", want{}},
		{Droid, "/home/dev/.claude/projects/x/" + otherID + ".jsonl", want{}},
		{"opencode", "/home/dev/.claude/projects/x/" + otherID + ".jsonl", want{}},
	} {
		root, id, err := SessionFile(c.agent, c.path)
		if c.want.root == "" {
			if err == nil {
				t.Errorf("%s: %.200q is taken: %q, %q", c.agent, c.path, root, id)
			}
			continue
		}
		if err != nil || root != c.want.root || id != c.want.id {
			t.Errorf("%s: %s: %q, %q, %v", c.agent, c.path, root, id, err)
		}
		if fork, err := ForkPath(c.agent, c.path, forkID, forkTime); err != nil || fork != c.want.fork {
			t.Errorf("%s: the fork of %s goes to %q, %v", c.agent, c.path, fork, err)
		}
		if _, err := ForkPath(c.agent, c.path, "../x", forkTime); err == nil {
			t.Errorf("%s: a fork with an id that is none", c.agent)
		}
	}
	var e *Error
	if _, _, err := SessionFile(Claude, "projects/x/"+otherID+".jsonl"); !errors.As(err, &e) {
		t.Errorf("a relative path: %v", err)
	}
}

func TestSides(t *testing.T) {
	from, to := "/f/sessions/x/"+otherID, "/f/sessions/x/"+forkID
	if got, want := Sides(Droid, from+".jsonl",
		to+".jsonl"), []Side{{from + ".settings.json", to + ".settings.json", true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := Sides(Claude, from+".jsonl", to+".jsonl"); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestIDs(t *testing.T) {
	for _, agent := range value.Agents() {
		a, b := NewID(agent, forkTime, [16]byte{15: 1}), NewID(agent, forkTime, [16]byte{15: 2})
		if !ValidID(a) || a == b || a != NewID(agent, forkTime, [16]byte{15: 1}) {
			t.Errorf("%s: %s, %s", agent, a, b)
		}
		if got, want := Resume(agent, a), a; len(got) != 3 || got[0] != string(agent) || got[2] != want {
			t.Errorf("%s: %q", agent, got)
		}
	}
	if got, want := NewID(Claude, time.Time{}, [16]byte{0xff, 14: 0xff, 15: 1}), "ff000000-0000-4000-8000-00000000ff01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, id := range []string{
		"", "x", otherID + "0", otherID[1:], strings.ReplaceAll(otherID, "-", "_"), "../" + otherID[3:],
		"gggggggg-2222-4333-8444-555555555555", otherID[:35] + "\n",
	} {
		if ValidID(id) {
			t.Errorf("%q is taken", id)
		}
	}
	if Resume("opencode", otherID) != nil {
		t.Error("a command line for an agent that is not known")
	}
}

func claudeFile(cwd, more string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(`{"type":"mode","sessionId":"x"}` + "\n" + more + `{"type":"user","uuid":"a","cwd":"` + cwd +
		`","message":{"content":"hi"}}` + "\n")}
}

// sessionsOfClaude is a folder with what may stand in it.
func sessionsOfClaude() fstest.MapFS {
	id := func(n string) string { return n + otherID[1:] + ".jsonl" }
	side := `{"type":"user","uuid":"s","isSidechain":true,"cwd":"/elsewhere"}` + "\n"
	return fstest.MapFS{
		"projects/-home-dev-my-proj/" + id("1"): claudeFile("/home/dev/my.proj", ""),
		// another project of the same name
		"projects/-home-dev-my-proj/" + id("2"): claudeFile("/home/dev/my-proj", ""),
		"projects/-home-dev-my-proj/" + id("3"): claudeFile("/home/dev/my.proj", side),
		"projects/-home-dev-my-proj/" + id("4"): {Data: []byte{}},
		"projects/-home-dev-my-proj/" + id("5"): {Data: []byte(side)},
		"projects/-home-dev-my-proj/" + id("6"): {Data: []byte("no JSON\n" + strings.Repeat("\x00",
			100))},
		"projects/-home-dev-my-proj/" + id("7"): {Mode: fs.ModeDir},
		"projects/-home-dev-my-proj/agent-a08b79ed.jsonl": claudeFile("/home/dev/my.proj",
			""),
		"projects/-home-dev-my-proj/" + otherID +
			"/subagents/agent-a08b79ed.jsonl": claudeFile("/home/dev/my.proj", ""),
		"projects/-home-dev-my-proj2/" +
			id("8"): claudeFile("/home/dev/my.proj", ""),
		"sessions/-home-dev-my.proj/" +
			id("9"): {Data: []byte(`{"type":"session_start","id":"a","cwd":"/home/dev/my.proj"}` + "\n")},
		"sessions/-home-dev-my-proj/" + id("a"): {Data: []byte(`{"type":"session_start","id":"a","cwd":"/home/dev/my/proj"}` + "\n")},
	}
}

func TestFind(t *testing.T) {
	id := func(n string) string { return n + otherID[1:] + ".jsonl" }
	root := sessionsOfClaude()
	long := "/" + strings.Repeat("long/", 60) + "project"
	root["projects/"+dashes(long)[:200]+"-abc123/"+id("b")] = claudeFile(long, "")
	for _, c := range []struct {
		agent   Agent
		project string
		want    []string
	}{
		{
			Claude, "/home/dev/my.proj",
			[]string{"projects/-home-dev-my-proj/" + id("1"), "projects/-home-dev-my-proj/" + id("3")},
		},
		{Claude, "/home/dev/my-proj", []string{"projects/-home-dev-my-proj/" + id("2")}},
		{Claude, long, []string{"projects/" + dashes(long)[:200] + "-abc123/" + id("b")}},
		{Claude, "/nowhere", nil},
		{Droid, "/home/dev/my.proj", []string{"sessions/-home-dev-my.proj/" + id("9")}},
	} {
		got, _, err := Find(c.agent, root, c.project)
		sort.Strings(got)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %.40s: %q, %v", c.agent, c.project, got, err)
		}
	}
	for _, agent := range value.Agents() {
		if got, _, err := Find(agent, fstest.MapFS{}, "/home/dev/proj"); err != nil || got != nil {
			t.Errorf("%s, no folder: %q, %v", agent, got, err)
		}
	}
}

func TestSideOf(t *testing.T) {
	side := "/f/sessions/x/" + otherID + ".settings.json"
	if got, ok := SideOf(Droid, side); !ok || got != "/f/sessions/x/"+otherID+".jsonl" {
		t.Errorf("%q, %v", got, ok)
	}
	for _, c := range []struct {
		agent Agent
		path  string
	}{{Claude, side}, {Codex, side}, {"other", side}, {Droid, "/f/sessions/x/" + otherID + ".jsonl"}, {Droid, ""}} {
		if got, ok := SideOf(c.agent, c.path); ok {
			t.Errorf("%s: %q is beside %q", c.agent, c.path, got)
		}
	}
}
