package gitinfo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commits that brought lines, through a rename to an odd name, of the lines that are asked for; nothing that the
// repository names is run.
func TestBlameAt(t *testing.T) {
	sandbox(t)
	root := t.TempDir()
	git(t, root, "init", "-q")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(message string) string {
		git(t, root, "add", "-A")
		git(t, root, "commit", "-q", "-m", message, "--date", "2026-11-01T10:00:00Z")
		return strings.TrimSpace(git(t, root, "rev-parse", "HEAD"))
	}
	ran := filepath.Join(t.TempDir(), "ran")
	write("a", "one\ntwo\nthree\nfour\nfive\n")
	first := commit("first")
	odd := "odd \"name\"\t\nö"
	git(t, root, "mv", "a", odd)
	commit("moved")
	write(odd, "one\ntwo\nnew\nfour\nfive\n")
	write(".gitattributes", "* diff=evil\n")
	git(t, root, "config", "diff.evil.textconv", "touch "+ran+"; cat")
	last := commit("an\x1b[31m edit\n\nbody")
	write(odd, "the working tree does not count\n")
	repo, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := repo.BlameAt(last, odd, [][2]int{{2, 3}, {5, 5}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]struct{ id, path string }{2: {first, "a"}, 3: {last, odd}, 5: {first, "a"}} {
		l := lines[n]
		if l.Commit == nil || l.Commit.ID != want.id || l.Path != want.path || l.Line != n || l.Commit.Author != "n" ||
			l.Commit.Time.Unix() != 1793527200 {
			t.Errorf("line %d: %+v of %+v", n, l, l.Commit)
		}
	}
	if len(lines) != 3 || lines[3].Commit.Summary != "an\x1b[31m edit" {
		t.Errorf("%d lines, %+v", len(lines), lines[3].Commit)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the repository's was run")
	}
	if b, err := repo.FileAt(last, odd, 22); err != nil || string(b) != "one\ntwo\nnew\nfour\nfive\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := repo.FileAt(last, odd, 21); err == nil {
		t.Errorf("more than was asked for: %q", b)
	}
	for _, c := range []struct{ commit, path string }{
		{last, "absent"},
		{strings.Repeat("0", 40), odd},
		{"--help", odd},
		{"HEAD", odd},
		{"", odd},
	} {
		if _, err := repo.BlameAt(c.commit, c.path, nil, false); err == nil {
			t.Errorf("blame of %q %q", c.commit, c.path)
		}
		if _, err := repo.FileAt(c.commit, c.path, 1<<20); err == nil {
			t.Errorf("file of %q %q", c.commit, c.path)
		}
	}
}

func FuzzParseBlame(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add([]byte(id + " 1 2 1\nauthor a\nauthor-time 1\nsummary s\nfilename \"a\\tb\"\n\ttext\n" + id + " 3 4\n\t\n"))
	f.Add([]byte(id + " 1 2 1\nauthor a"))
	f.Fuzz(func(t *testing.T, out []byte) {
		lines, err := parseBlame(out)
		if err != nil {
			return
		}
		for n, l := range lines {
			if n < 1 || l.Line < 1 || l.Commit == nil || !isHash(l.Commit.ID) {
				t.Errorf("line %d: %+v", n, l)
			}
		}
	})
}

// A repository that lacks objects and says where they can be had is not believed: git would run what it names to get
// them. Nothing goes over the network.
func TestBlameFetchesNothing(t *testing.T) {
	sandbox(t)
	root := t.TempDir()
	git(t, root, "init", "-q")
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, root, "add", "-A")
	git(t, root, "commit", "-q", "-m", "first")
	head := strings.TrimSpace(git(t, root, "rev-parse", "HEAD"))
	blob := strings.TrimSpace(git(t, root, "rev-parse", "HEAD:a"))
	ran := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
		"remote.origin.url": "ext::touch " + ran, "protocol.ext.allow": "always",
	} {
		git(t, root, "config", key, value)
	}
	if err := os.Remove(filepath.Join(root, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	mayFail(root, "cat-file", "blob", head+":a")
	if _, err := os.Lstat(ran); err != nil {
		t.Skip("git does not fetch here")
	}
	if err := os.Remove(ran); err != nil {
		t.Fatal(err)
	}
	repo, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := repo.FileAt(head, "a", 1<<20); err == nil {
		t.Errorf("it has %q", b)
	}
	if _, err := repo.BlameAt(head, "a", [][2]int{{1, 1}}, false); err == nil {
		t.Error("it is blamed")
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("git has run what the repository names")
	}
}
