package history_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"rewind/engine/enginetest"
)

// gitOf runs git in a project, as nobody's configuration says; env is added to its environment.
func gitOf(p *enginetest.Project, env ...string) func(args ...string) string {
	return func(args ...string) string {
		p.T.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir = p.Root
		cmd.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.T.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
}

// TestCommitIsAState: a commit names the state with its files: the one that was there before the commit, if nothing has
// changed with it; the newest that stood on it, said to have work on top, if it was never captured.
func TestCommitIsAState(t *testing.T) {
	p := enginetest.NewProject(t)
	git := gitOf(p)
	commit := func(message string) string {
		t.Helper()
		git("add", "-A")
		git("commit", "-q", "-m", message)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q")
	p.Write("a", "zero\n")
	commit("zero")
	p.Save("zero")
	p.Write("a", "one\n")
	one := p.Save("one") // it stands on zero, and is what is committed
	first := commit("one")
	p.Write("a", "two\n")
	p.Save("two")
	p.Write("a", "three\n") // committed and never captured
	second := commit("three")
	p.Write("a", "four\n")
	four := p.Save("four")
	for _, c := range []struct{ commit, want, notice string }{
		{first, one.ID.String(), ""},
		{first[:9], one.ID.String(), ""},
		{second, four.ID.String(), "with the work on top"},
	} {
		p.E.Log.Project.Notices = nil
		cp, err := p.E.History.Resolve(c.commit)
		if p.Must(err); cp.ID.String() != c.want {
			t.Errorf("%s is %s, want %.8s", c.commit, cp.ID.Short(), c.want)
		}
		notices := strings.Join(p.E.Log.Project.Notices, "\n")
		if !strings.Contains(notices, c.notice) || (notices == "") != (c.notice == "") {
			t.Errorf("%s: %q, want %q", c.commit, notices, c.notice)
		}
	}
}
