package history_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/transcript"
)

// Codex goes back in its terminal: it opens the conversation anew in another file, and the prompts that are heard count
// on. The turn that was left behind can still be named, and so can the one after it.
func TestTurnsAfterCodexWentBack(t *testing.T) {
	p := enginetest.NewProject(t)
	dir := filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20")
	p.Must(os.MkdirAll(dir, 0o700))
	const id = "01a1f867-63c3-7113-a272-12955c35fe69"
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	send := func(kind hooks.Kind, path string) {
		t.Helper()
		ev := hooks.Event{Agent: hooks.Codex, Session: id, Cwd: p.Root, Kind: kind, Transcript: path, Prompt: "p", Source: "resume"}
		_, err := p.E.Worktree.Handle(enginetest.Bg, ev, capture.HandleOptions{Tier: tier})
		p.Must(err)
	}
	first := filepath.Join(dir, "rollout-2026-11-20T10-01-27-"+id+".jsonl")
	send(hooks.Prompt, first)
	send(hooks.Stop, first)
	send(hooks.Prompt, first)
	p.Must(os.WriteFile(first, p.Sample(hooks.Codex, "0.169.0-backtrack.jsonl"), 0o600)) // both turns
	send(hooks.Stop, first)
	second := filepath.Join(dir, "rollout-2026-11-20T10-01-55-"+id+"_01a1f867-d129-71a2-90bf-1093d529b6b0.jsonl")
	segment := p.Sample(hooks.Codex, "0.169.0-backtrack-segment.jsonl")
	p.Must(os.WriteFile(second, segment[:nthLine(segment, 1)], 0o600))
	send(hooks.SessionStart, second)
	p.Must(os.WriteFile(second, segment[:nthLine(segment, 2)], 0o600))
	p.Settle() // captured without an event, in the turn that was left
	p.Must(os.WriteFile(second, segment, 0o600))
	send(hooks.Prompt, second) // taken in so late that the prompt is there
	send(hooks.Stop, second)

	l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: "codex/" + id}, 0)
	p.Must(err)
	if len(l.Turns) != 3 || l.Turns[0].Gone || !l.Turns[1].Gone || l.Turns[2].Gone || l.Turns[1].Summary != "TURN-2 please" ||
		l.Turns[2].Summary != "NEXT after backtrack" {
		t.Fatalf("%+v", l.Turns)
	}
	last := map[string]string{"turn:2": l.Turns[1].Last, "turn:3": l.Turns[2].Last}
	for name, want := range map[string]int{"turn:2": 2, "turn:3": 3} {
		f, err := p.E.Restorer.Fork(enginetest.Bg, name,
			restore.Options{DryRun: true, Env: p.Env(), Session: model.SessionChoice{Session: "codex/" + id}})
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

// Droid writes what goes ahead of a prompt long before its prompt: a turn that has begun that far is not the end of the
// one before.
func TestTurnsOfDroid(t *testing.T) {
	p := enginetest.NewProject(t)
	dir := filepath.Join(p.User(), ".factory", "sessions", "-p")
	p.Must(os.MkdirAll(dir, 0o700))
	all := p.Sample(hooks.Droid, "0.225.2-2turns.jsonl")
	c, err := transcript.Scan(transcript.Droid, transcript.Source{ReaderAt: bytes.NewReader(all), Size: int64(len(all))})
	p.Must(err)
	const id = "d61a2912-c39e-4e7b-91b4-f3e510aed192"
	file := filepath.Join(dir, id+".jsonl")
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	send := func(kind hooks.Kind) {
		t.Helper()
		_, err := p.E.Worktree.Handle(enginetest.Bg, hooks.Event{
			Agent: hooks.Droid, Session: id, Cwd: p.Root, Kind: kind, Transcript: file,
			Prompt: "p",
		}, capture.HandleOptions{Tier: tier})
		p.Must(err)
	}
	upTo := func(n int64) { p.Must(os.WriteFile(file, all[:n], 0o600)) }
	two := c.Turns[1]
	if two.At <= two.Start {
		t.Fatalf("%+v has nothing ahead of its prompt", two)
	}
	send(hooks.Prompt)
	upTo(c.Turns[0].End)
	send(hooks.Stop)
	upTo(two.At)
	p.Settle()
	send(hooks.Prompt)
	upTo(int64(len(all)))
	send(hooks.Stop)
	l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: "droid/" + id}, 0)
	p.Must(err)
	if len(l.Turns) != 2 || l.Turns[0].User != c.Turns[0].User || l.Turns[1].User != two.User || l.Turns[0].Gone || l.Turns[1].Gone {
		t.Fatalf("%+v", l.Turns)
	}
}
