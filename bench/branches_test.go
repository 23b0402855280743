package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"rewind/bench/workload"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
)

// BenchmarkDetect looks for the sessions that others were made of, in a project with 74
// sessions that are known: an import that finds nothing new, in a daemon that has just begun.
func BenchmarkDetect(b *testing.B) {
	p := conversing(b)
	size := p.indexed()
	env := value.AgentEnv{Home: value.Text(p.user())}
	ask := func() {
		if _, err := p.e.Talks.Import(b.Context(), env, nil); err != nil {
			b.Fatal(err)
		}
	}
	ask()
	b.Run("known", func(b *testing.B) {
		p.tb = b
		for b.Loop() {
			b.StopTimer()
			p.close()
			p.open()
			b.StartTimer()
			ask()
		}
		b.ReportMetric(float64(size)/1e6, "MB")
	})
	p.tb = b
}

// BenchmarkSwitch goes to and fro between the branches of a session and of its fork, which differ in 100 of 28,000 files; git does the same
// in a copy of the tree, in turns.
func BenchmarkSwitch(b *testing.B) {
	const files, differ = 28_000, 100
	root := filepath.Join(b.TempDir(), "tree")
	if err := workload.Generate(b.Context(), root, workload.Spec{Files: files, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	found, err := workload.Files(root)
	if err != nil {
		b.Fatal(err)
	}
	all := workload.Editable(found)
	var paths []string
	for i := range differ {
		paths = append(paths, all[i*len(all)/differ])
	}
	beside := root + "-git"
	if err := workload.Copy(b.Context(), beside, root); err != nil {
		b.Fatal(err)
	}
	git := func(args ...string) time.Duration {
		cmd := exec.CommandContext(b.Context(), "git", append([]string{
			"-C", beside, "-c", "user.name=b", "-c", "user.email=b@b", "-c", "core.autocrlf=false",
		}, args...)...)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v %s", args, err, out)
		}
		return time.Since(began)
	}
	git("init", "-q", "-b", "one")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	git("switch", "-q", "-c", "two")
	p := newProject(b, root)
	p.watch()
	t := p.talk(1, 20<<10)
	t.hook()
	p.settle()
	f, err := p.e.Restorer.Fork(b.Context(), "turn:1", restore.Options{
		Session: model.SessionChoice{Session: string(hooks.Claude) + "/" + t.id}, Env: value.AgentEnv{Home: value.Text(p.user())},
	})
	if err != nil {
		b.Fatal(err)
	}
	var there []string
	for _, path := range paths {
		there = append(there, filepath.Join(root, filepath.FromSlash(path)))
		if err := os.WriteFile(filepath.Join(beside, filepath.FromSlash(path)), fmt.Appendln(nil, 1), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	git("commit", "-qam", "two")
	p.branchEdit(1, f.Fork, there...)
	to := [2]string{string(hooks.Claude) + "/" + t.id, f.Session}
	its := [2]string{"one", "two"}
	o := restore.Options{} // the first session has a turn that has not ended: it is at work, and its changes would stay
	o.Exact = true
	var ours, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		r, err := p.e.Restorer.Switch(b.Context(), to[i%2], o)
		ours = append(ours, time.Since(began))
		if err != nil || r.Changed != differ {
			b.Fatalf("%+v, %v", r, err)
		}
		theirs = append(theirs, git("switch", "-q", its[i%2]))
	}
	b.ReportMetric(float64(median(ours))/1e6, "ms-switch")
	b.ReportMetric(float64(median(theirs))/1e6, "ms-git")
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "ratio")
}
