package gitinfo

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What HEAD's log tells of a time: the newest move that is not younger; nothing of what was before the first, and what
// is no line of a log is passed over.
func TestHeadIn(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 40) }
	log := strings.Repeat("0", 40) + " " + id("a") + " A B <a@b> 100 +0000\tcommit (initial): x\n" +
		"no line\n" +
		id("a") + " " + id("b") + " <a@b> 200 -0730\tcheckout: moving from x to y 300 +0000\n" +
		id("b") + " " + id("c") + " A <a@b> x +0000\tcommit: its time is none\n" +
		id("b") + " " + id("d") + " A <a@b> 300 +0000"
	for at, want := range map[int64]string{99: "", 100: "a", 199: "a", 200: "b", 299: "b", 300: "d", 4000: "d"} {
		if want != "" {
			want = id(want)
		}
		if got := headIn([]byte(log), time.Unix(at, 999)); got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
}

// A branch is named by whoever wrote a session file: what git would take for more than a name is none.
func TestCommitBefore(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "one")
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := r.CommitBefore("main", time.Unix(1_700_000_000, 0)); err != nil || !isHash(id) {
		t.Errorf("main: %q, %v", id, err)
	}
	if id, err := r.CommitBefore("main", time.Unix(1_699_999_999, 0)); err != nil || id != "" {
		t.Errorf("before it began: %q, %v", id, err)
	}
	others := []string{"main~0", "main^0", "main@{0}", "main..main", "../heads/main", "-n", "", "a:b", "none"}
	for _, name := range others {
		if id, _ := r.CommitBefore(name, time.Unix(1_700_000_001, 0)); id != "" {
			t.Errorf("%q: %q", name, id)
		}
	}
}
