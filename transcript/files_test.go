package transcript

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestCodexFiles: the files of a thread, the newest name first, by its id and by that of a segment.
func TestCodexFiles(t *testing.T) {
	id := func(n string) string { return n + otherID[1:] }
	name := func(day, id string) string { return "rollout-2026-11-" + day + "T10-01-55-" + id + ".jsonl" }
	root := fstest.MapFS{}
	for _, path := range []string{
		"sessions/2026/11/20/" + name("20", id("1")), "sessions/2026/11/21/" + name("21", id("1")+"_"+id("2")),
		"sessions/2026/11/22/" + name("22", id("3")), "archived_sessions/" + name("19", id("1")) + ".zst",
		"sessions/2026/11/20/rollout-x.jsonl", "sessions/2026/11/" + name("23", id("1")),
	} {
		root[path] = &fstest.MapFile{Data: []byte("{}\n"), ModTime: time.Unix(1, 0)}
	}
	all := "21 20 19"
	for of, want := range map[string]string{id("1"): all, id("2"): all, id("3"): "22", id("4"): ""} {
		list, err := CodexFiles(root, of)
		if err != nil {
			t.Fatal(err)
		}
		var days []string
		for _, path := range list {
			_, day, _ := strings.Cut(path, "rollout-2026-11-")
			days = append(days, day[:2])
		}
		if got := strings.Join(days, " "); got != want {
			t.Errorf("%s: %s, want %s", of, got, want)
		}
	}
	for _, bad := range []string{"", "../x", "*"} {
		if list, err := CodexFiles(root, bad); err == nil {
			t.Errorf("%q: %q", bad, list)
		}
	}
	for path, want := range map[string]string{
		name("20", id("1")): id("1"), "a/" + name("21", id("1")+"_"+id("2")): id("2"), "x": "",
	} {
		if got := CodexBaseID(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestRecent: files that were written after a moment, the newest first, of one project, and of no more than are asked
// for.
func TestRecent(t *testing.T) {
	root := sessionsOfClaude()
	at := time.Unix(1_800_000_000, 0)
	n := 0
	for _, path := range []string{"1", "3"} {
		f := root["projects/-home-dev-my-proj/"+path+otherID[1:]+".jsonl"]
		f.ModTime = at.Add(time.Duration(n) * time.Second)
		n++
	}
	for _, tt := range []struct {
		since time.Time
		most  int
		want  string
	}{
		{at.Add(-1), 9, "3 1"},
		{at, 9, "3"},
		{at.Add(time.Second), 9, ""},
		{at.Add(-1), 1, "3"},
		{at.Add(-1), 0, ""},
	} {
		list, err := Recent(Claude, root, "/home/dev/my.proj", tt.since, tt.most)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range list {
			_, name, _ := strings.Cut(g.Path, "my-proj/")
			got = append(got, name[:1])
			if g.Size != int64(len(root[g.Path].Data)) || !g.At.Equal(root[g.Path].ModTime) {
				t.Errorf("%+v", g)
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("since %v, %d: %q, want %q", tt.since.Sub(at), tt.most, got, tt.want)
		}
	}
}

// TestReadingHalfALine: what is read before a line is complete is read once.
func TestReadingHalfALine(t *testing.T) {
	line := func(n string) string {
		return `{"type":"user","uuid":"` + n + otherID[1:] + `","parentUuid":null,"sessionId":"` + otherID +
			`","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"say ` + n + `"}}` + "\n"
	}
	data := line("1") + line("2")
	r := NewReading(Claude)
	for _, size := range []int{10, len(data) / 2, len(data) - 1, len(data)} {
		c, err := r.On(text("x.jsonl", data[:size]))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(data[:size], "\n"); len(c.Turns) != want {
			t.Errorf("of %d bytes: %d turns, want %d", size, len(c.Turns), want)
		}
	}
}
