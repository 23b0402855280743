package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/bench/workload"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
)

// branched gives a project whose one session was forked into a thousand, in chains of ten, each of which has changed a
// file of its own and one that fifty others have changed, too. It is made once a process.
func branched(b *testing.B) *project {
	b.Helper()
	const name, branches, deep, sharing = "branched", 1000, 10, 50
	p := shared.projects[name]
	if p == nil {
		root := filepath.Join(shared.dir, name)
		if err := workload.Generate(b.Context(), root, workload.Spec{Files: 1000, Seed: 1}); err != nil {
			b.Fatal(err)
		}
		p = newProject(b, root)
		shared.projects[name] = p
		p.watch()
		t := p.talk(1, 20<<10)
		t.hook()
		p.settle()
		first, of := string(hooks.Claude)+"/"+t.id, ""
		for i := range branches {
			if i%deep == 0 {
				of = first
			}
			f, err := p.e.Restorer.Fork(b.Context(), "turn:1", restore.Options{
				Session: model.SessionChoice{Session: of}, Env: value.AgentEnv{Home: value.Text(p.user())},
			})
			if err != nil {
				b.Fatal(err)
			}
			of = f.Session
			dir := filepath.Join(root, fmt.Sprintf("part-%d", i%(branches/sharing)))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			p.branchEdit(uint64(i), f.Fork, filepath.Join(dir, fmt.Sprintf("own-%d", i)), filepath.Join(dir, "shared"))
		}
	}
	p.tb = b
	return p
}

// branchEdit is a turn of a fork that writes some files.
func (p *project) branchEdit(n uint64, f *model.Fork, paths ...string) {
	p.tb.Helper()
	_, id := model.SplitSession(f.Session)
	for k, ev := range []hooks.Event{
		{Kind: hooks.Prompt, Name: "UserPromptSubmit", Prompt: "go on"},
		{Kind: hooks.BeforeTool, Name: "PreToolUse"},
		{Kind: hooks.AfterTool, Name: "PostToolUse"},
		{Kind: hooks.Stop, Name: "Stop"},
	} {
		ev.Agent, ev.Session, ev.Transcript, ev.Cwd = hooks.Claude, id, f.Path, p.root
		if ev.Kind == hooks.BeforeTool || ev.Kind == hooks.AfterTool {
			ev.Tool = hooks.Tool{Name: "Bash", Call: fmt.Sprintf("call-%d", n)}
		}
		if ev.Kind == hooks.AfterTool {
			for _, path := range paths {
				if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n", n), 0o644); err != nil {
					p.tb.Fatal(err)
				}
			}
		}
		if _, err := p.e.Worktree.Handle(p.tb.Context(), ev, capture.HandleOptions{ID: 1<<40 | n<<4 | uint64(k)}); err != nil {
			p.tb.Fatal(err)
		}
	}
}

// The tree of a thousand branches, ten deep: again and again, and first after the store was opened.
func BenchmarkTree1000(b *testing.B) {
	p := branched(b)
	ask := func(b *testing.B) {
		t, err := p.e.History.FamilyTree(b.Context(), "", false, nil)
		if err != nil || len(t.Branches) != 1001 || t.Branches[10].Depth != 10 || t.Branches[1].Work.Files != 2 {
			b.Fatal(t, err)
		}
	}
	ask(b)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			ask(b)
		}
	})
	p.reopened(b, ask)
}
