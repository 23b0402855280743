package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/term"
)

// TestStatIsGits: --stat is to the column what git prints, at every width.
func TestStatIsGits(t *testing.T) {
	t.Parallel()
	lines := func(word string, n int) string { return strings.Repeat(word+"\n", n) }
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"gone": lines("gone", 40), "one": "1\n", "some/where/quite/far/down/below/in/the/tree/file.go": lines("old", 500),
		"src/a/kept.go": lines("kept", 30), "zero": "", "bin": "\x00" + noise(1, 1000), "moved": lines("moved",
			3), "ünïcode/日本語": lines("x", 3),
		"both": lines("a", 12),
	})
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.quotePath=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("add", "-A")
	git("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false", "commit", "-qm", "before")
	mustHere(t, dir, "init", "--agents", "none")
	write(t, dir, map[string]string{
		"one": "1\n2\n", "some/where/quite/far/down/below/in/the/tree/file.go": lines("old", 2) + lines("new",
			777), "added": lines("added", 7),
		"bin": "\x00" + noise(2, 2345), "ünïcode/日本語": lines("y", 4), "both": lines("b", 1) + lines("a", 11),
	})
	must(t, os.Remove(filepath.Join(dir, "gone")), os.Chmod(filepath.Join(dir, "zero"), 0o755),
		os.MkdirAll(filepath.Join(dir, "src/b"), 0o755), os.Rename(filepath.Join(dir, "src/a/kept.go"),
			filepath.Join(dir, "src/b/kept.go")),
		os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "removed")))
	git("add", "-A")
	for _, width := range []int{20, 40, 79, 80, 120, 200, 2000} {
		s, out, errs := term.Test("", true, "PAGER=cat")
		s.Width = width
		if code := execute(context.Background(), []string{"-C", dir, "--color", "never", "diff", "--stat"}, s); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if got, want := out.String(), git("diff", "--cached", "-M100%", fmt.Sprintf("--stat=%d", width)); got != want {
			t.Errorf("%d columns: got\n%swant\n%s", width, got, want)
		}
	}
}
