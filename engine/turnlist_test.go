package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/transcript"
)

// Codex goes back in its terminal: it opens the conversation anew in another file, and the prompts that are heard count on. The turn that was left behind
// can still be named, and so can the one after it.
func TestTurnsAfterCodexWentBack(t *testing.T) {
	p := newProject(t)
	dir := filepath.Join(p.user(), ".codex", "sessions", "2026", "11", "20")
	p.must(os.MkdirAll(dir, 0o700))
	const id = "01a1f867-63c3-7113-a272-12955c35fe69"
	sample := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", "transcript", "testdata", "codex", name))
		p.must(err)
		return b
	}
	tier, err := hooks.LoadTier("balanced")
	p.must(err)
	send := func(kind hooks.Kind, path string) {
		t.Helper()
		ev := hooks.Event{Agent: hooks.Codex, Session: id, Cwd: p.root, Kind: kind, Transcript: path, Prompt: "p", Source: "resume"}
		_, err := p.e.Worktree.Handle(bg, ev, capture.HandleOptions{Tier: tier})
		p.must(err)
	}
	first := filepath.Join(dir, "rollout-2026-11-20T10-01-27-"+id+".jsonl")
	send(hooks.Prompt, first)
	send(hooks.Stop, first)
	send(hooks.Prompt, first)
	p.must(os.WriteFile(first, sample("0.169.0-backtrack.jsonl"), 0o600)) // both turns
	send(hooks.Stop, first)
	second := filepath.Join(dir, "rollout-2026-11-20T10-01-55-"+id+"_01a1f867-d129-71a2-90bf-1093d529b6b0.jsonl")
	segment := sample("0.169.0-backtrack-segment.jsonl")
	p.must(os.WriteFile(second, segment[:nthLine(segment, 1)], 0o600))
	send(hooks.SessionStart, second)
	p.must(os.WriteFile(second, segment[:nthLine(segment, 2)], 0o600))
	p.settle() // captured without an event, in the turn that was left
	p.must(os.WriteFile(second, segment, 0o600))
	send(hooks.Prompt, second) // taken in so late that the prompt is there
	send(hooks.Stop, second)

	l, err := p.e.History.Turns(bg, model.SessionChoice{Session: "codex/" + id})
	p.must(err)
	if len(l.Turns) != 3 || l.Turns[0].Gone || !l.Turns[1].Gone || l.Turns[2].Gone || l.Turns[1].Summary != "TURN-2 please" || l.Turns[2].Summary != "NEXT after backtrack" {
		t.Fatalf("%+v", l.Turns)
	}
	last := map[string]string{"turn:2": l.Turns[1].Last, "turn:3": l.Turns[2].Last}
	for name, want := range map[string]int{"turn:2": 2, "turn:3": 2} {
		f, err := p.e.Restorer.Fork(bg, name, restore.ForkOptions{DryRun: true, Session: model.SessionChoice{Session: "codex/" + id}})
		if err != nil || f.Cut.Turn != want || f.From.Message != last[name] {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// nthLine is where line n of b ends.
func nthLine(b []byte, n int) int {
	for i, c := range b {
		if c == '\n' {
			if n--; n == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// Droid writes what goes ahead of a prompt long before its prompt: a turn that has begun that far is not the end of the one before.
func TestTurnsOfDroid(t *testing.T) {
	p := newProject(t)
	dir := filepath.Join(p.user(), ".factory", "sessions", "-p")
	p.must(os.MkdirAll(dir, 0o700))
	all, err := os.ReadFile(filepath.Join("..", "transcript", "testdata", "droid", "0.225.2-2turns.jsonl"))
	p.must(err)
	c, err := transcript.Scan(transcript.Droid, transcript.Source{ReaderAt: bytes.NewReader(all), Size: int64(len(all))})
	p.must(err)
	const id = "d61a2912-c39e-4e7b-91b4-f3e510aed192"
	file := filepath.Join(dir, id+".jsonl")
	tier, err := hooks.LoadTier("balanced")
	p.must(err)
	send := func(kind hooks.Kind) {
		t.Helper()
		_, err := p.e.Worktree.Handle(bg, hooks.Event{Agent: hooks.Droid, Session: id, Cwd: p.root, Kind: kind, Transcript: file, Prompt: "p"}, capture.HandleOptions{Tier: tier})
		p.must(err)
	}
	upTo := func(n int64) { p.must(os.WriteFile(file, all[:n], 0o600)) }
	two := c.Turns[1]
	if two.At <= two.Start {
		t.Fatalf("%+v has nothing ahead of its prompt", two)
	}
	send(hooks.Prompt)
	upTo(c.Turns[0].End)
	send(hooks.Stop)
	upTo(two.At)
	p.settle()
	send(hooks.Prompt)
	upTo(int64(len(all)))
	send(hooks.Stop)
	l, err := p.e.History.Turns(bg, model.SessionChoice{Session: "droid/" + id})
	p.must(err)
	if len(l.Turns) != 2 || l.Turns[0].User != c.Turns[0].User || l.Turns[1].User != two.User || l.Turns[0].Gone || l.Turns[1].Gone {
		t.Fatalf("%+v", l.Turns)
	}
}
