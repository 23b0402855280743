package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fork for another directory lies where the agent looks for sessions of that one, says so wherever the original names
// its own, and is otherwise the fork that it would be.
func TestForkForAnotherDirectory(t *testing.T) {
	const one, two = "/w/pro.ject one", "/w/try two"
	gemini := func(dir, name string) string {
		return "/.gemini/tmp/" + geminiHash(dir) + "/chats/session-" + name + ".jsonl"
	}
	codex := "/.codex/sessions/2026/11/20/rollout-2026-11-20T10-01-27-" + otherID + ".jsonl"
	for _, c := range []struct {
		agent    Agent
		sample   string
		from, to string // below the home
	}{
		{
			Claude, "claude/2.1.328-2turns-resumed.jsonl", "/.claude/projects/-w-pro-ject-one/" + otherID + ".jsonl",
			"/.claude/projects/-w-try-two/" + forkID + ".jsonl",
		},
		{Codex, "codex/0.169.0-2turns.jsonl", codex, ""},
		{
			Droid, "droid/0.225.2-2turns.jsonl", "/.factory/sessions/-w-pro.ject one/" + otherID + ".jsonl",
			"/.factory/sessions/-w-try two/" + forkID + ".jsonl",
		},
		{
			Gemini, "gemini/0.61.0-2turns-resumed.jsonl", gemini(one, "2026-11-20T10-11-40050841"),
			gemini(two, forkTime.UTC().Format(geminiStamp)+"-"+forkID[:8]),
		},
	} {
		t.Run(string(c.agent), func(t *testing.T) {
			raw := begunAt(t, c.agent, c.sample, one)
			home := t.TempDir()
			from := home + c.from
			writeAt(t, from, raw)
			root, _, err := SessionFile(c.agent, from)
			if err != nil {
				t.Fatal(err)
			}
			to, err := MovedPath(c.agent, os.DirFS(root), from, forkID, forkTime, one, two)
			if err != nil || c.to != "" && to != home+c.to {
				t.Fatalf("goes to %s, %v", to, err)
			}
			f := Fork{Cut: int64(len(raw)), ID: forkID, Title: "t", Time: forkTime, From: otherID}
			var here, there bytes.Buffer
			src := Source{ReaderAt: bytes.NewReader(raw), Size: int64(len(raw)), Name: from}
			if err := WriteFork(&here, c.agent, src, f); err != nil {
				t.Fatal(err)
			}
			f.Root, f.To = one, two
			if err := WriteFork(&there, c.agent, src, f); err != nil {
				t.Fatal(err)
			}
			fork := Source{ReaderAt: bytes.NewReader(there.Bytes()), Size: int64(there.Len()), Name: to}
			if err := checkFork(c.agent, fork, src, f); err != nil {
				t.Error(err)
			}
			want := here.String() // and not what a tool was asked for
			for _, at := range []string{`"cwd":"`, `workspace_roots":["`} {
				want = strings.ReplaceAll(want, at+one, at+two)
			}
			want = strings.ReplaceAll(want, geminiHash(one), geminiHash(two))
			if there.String() != want || want == here.String() {
				was, is := strings.Split(want, "\n"), strings.Split(there.String(), "\n")
				for i := range min(len(was), len(is)) {
					if was[i] != is[i] {
						t.Errorf("line %d:\n%s\nwant\n%s", i+1, is[i], was[i])
					}
				}
			}
			writeAt(t, to, there.Bytes())
			for dir, path := range map[string]string{one: from, two: to} {
				found, _, err := Find(c.agent, os.DirFS(root), dir)
				if err != nil || len(found) != 1 || filepath.Join(root, found[0]) != path {
					t.Errorf("%s has %q, %v; want %s", dir, found, err, path)
				}
			}
		})
	}
}

// A project whose folder Claude would name by a hash that nobody knows has no place for a fork.
func TestForkForADirectoryWithALongPath(t *testing.T) {
	from := "/h/.claude/projects/-w/" + otherID + ".jsonl"
	if to, err := MovedPath(Claude, os.DirFS("/h/.claude"), from, forkID, forkTime, "/w", "/"+strings.Repeat("x", 300)); err == nil {
		t.Errorf("goes to %s", to)
	}
}

// begunAt is a sample as if it had been begun in dir.
func begunAt(t *testing.T, agent Agent, sample, dir string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", sample))
	if err != nil {
		t.Fatal(err)
	}
	c := scan(t, agent, Source{ReaderAt: bytes.NewReader(raw), Size: int64(len(raw)), Name: sample})
	old := c.Cwd
	if agent == Gemini {
		_, old, _ = strings.Cut(string(raw), `"projectHash":"`)
		old, dir = old[:64], geminiHash(dir)
	}
	if old == "" {
		t.Fatal("the sample does not say where it was begun")
	}
	return bytes.ReplaceAll(raw, []byte(old), []byte(dir))
}

func writeAt(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
