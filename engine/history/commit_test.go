package history_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
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

// TestCommitsOfNoFiles: a commit whose files cannot be read means the newest checkpoint that stood on it, which is
// said; where several begin so, all are told, the newest first.
func TestCommitsOfNoFiles(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	gitOf(p)("init", "-q")
	begin := "0123456"
	one, two := begin+strings.Repeat("1", 33), begin+strings.Repeat("2", 33)
	var cps []*model.Checkpoint
	for n, commit := range []string{one, one, two} {
		p.Must(os.WriteFile(p.Path(".git/HEAD"), []byte(commit+"\n"), 0o644))
		p.Write("f", fmt.Sprint(n))
		cps = append(cps, p.Save(""))
	}
	p.E.Log.Project.Notices = nil
	cp, err := p.E.History.Resolve(one)
	p.Must(err)
	said := strings.Join(p.E.Log.Project.Notices, "\n")
	if cp.ID != cps[1].ID || !strings.Contains(said, "that stood on commit "+one[:12]+" is meant, since") {
		t.Errorf("%s, %q", cp.ID.Short(), said)
	}
	var several *model.CommitsError
	if _, err := p.E.History.Resolve(begin); !errors.As(err, &several) {
		t.Fatalf("%v", err)
	}
	enginetest.Equal(t, "commits", several.Commits, []string{two, one})
}

// TestCommitFarBack: a commit is the state that was committed, however much was done on top.
func TestCommitFarBack(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	git := gitOf(p)
	git("init", "-q")
	p.Write("f", "0")
	git("add", "f")
	git("commit", "-q", "-m", "one")
	cp := p.Save("committed")
	for n := range 40 {
		p.Write("f", fmt.Sprint("on top ", n))
		p.Save("")
	}
	got, err := p.E.History.Resolve(git("rev-parse", "HEAD"))
	if p.Must(err); got.ID != cp.ID {
		t.Errorf("%q", got.Cause.Message)
	}
}
