package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"rewind/bench/workload"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
)

// BenchmarkDetect looks for the sessions that others were made of, in a project with 74 and one with 1,000 sessions
// (650 MB) that are known: an import that finds nothing new, in a daemon that has just begun. Event is the first prompt
// of a copy of 300 kB that names nothing.
func BenchmarkDetect(b *testing.B) {
	b.Run("known", func(b *testing.B) { detect(b, (*project).indexed) })
	b.Run("known1000", func(b *testing.B) {
		detect(b, func(p *project) (total int64) {
			for i := range 1000 {
				t := p.talk(i+1, 650e3)
				total += int64(len(readFile(b, t.path)))
				_ = t.f.Close()
			}
			return total
		})
	})
	b.Run("event", detectEvent)
}

func readFile(b *testing.B, path string) []byte {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func detect(b *testing.B, fill func(*project) int64) {
	b.Helper()
	p := conversing(b)
	size := fill(p)
	env := value.AgentEnv{Home: value.Text(p.user())}
	ask := func() {
		if _, err := p.e.Talks.Import(b.Context(), env, nil); err != nil {
			b.Fatal(err)
		}
	}
	ask()
	for b.Loop() {
		b.StopTimer()
		p.close()
		p.open()
		b.StartTimer()
		ask()
	}
	b.ReportMetric(float64(size)/1e6, "MB")
}

func detectEvent(b *testing.B) {
	const copies = 50
	p := conversing(b)
	p.watch()
	of := make([]*talk, copies)
	for i := range of {
		of[i] = p.talk(i+1, 300e3)
		of[i].hook()
		of[i].stop()
	}
	p.settle()
	n := copies
	var hook, rest []time.Duration
	for range b.N {
		for _, t := range of {
			n++
			id := sessionID(n)
			path := p.sessionPath(id)
			if err := os.WriteFile(path, bytes.ReplaceAll(readFile(b, t.path), []byte(t.id), []byte(id)), 0o600); err != nil {
				b.Fatal(err)
			}
			ev := hooks.Event{
				Agent: hooks.Claude, Kind: hooks.Prompt, Name: "UserPromptSubmit", Session: id, Transcript: path,
				Cwd:    p.root,
				Prompt: "go on",
			}
			began := time.Now()
			_, err := p.e.Worktree.Handle(b.Context(), ev, capture.HandleOptions{ID: 1<<62 | uint64(n)})
			if err != nil {
				b.Fatal(err)
			}
			hook = append(hook, time.Since(began))
			began = time.Now()
			p.settle()
			rest = append(rest, time.Since(began))
		}
	}
	all, err := p.e.Log.Sessions()
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range all {
		if s.Fork == nil && len(s.ID) > 0 && s.ID > sessionID(copies) {
			b.Fatalf("%s was not found", s.Name)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(hook))/1e6, "ms-hook")
	b.ReportMetric(float64(median(rest))/1e6, "ms-followup")
}

// BenchmarkSwitch goes to and fro between the branches of a session and of its fork, which differ in 100 of 28,000
// files; git does the same in a copy of the tree, in turns.
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
	t.stop() // else it is at work, and what it has changed stays
	p.settle()
	f, err := p.e.Restorer.Fork(b.Context(), "turn:1", restore.Options{
		Session: model.SessionChoice{Session: string(hooks.Claude) + "/" + t.id},
		Env:     value.AgentEnv{Home: value.Text(p.user())},
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
	var ours, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		r, err := p.e.Restorer.Switch(b.Context(), to[i%2], restore.Options{})
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
