package ledger_test

import (
	"fmt"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// What comes behind a turn's stop is in the turn if a call of its session did it. That, the prompt and the conversation
// are what the checkpoint says, and what cannot be read says nothing.
func TestWhatCheckpointsSay(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	const own, other, step, seen = "claude/own", "claude/other", refs.KindCheckpoint, refs.KindEvent
	made := func(session string, by ...string) objstore.ID {
		return put(p, model.Checkpoint{Seq: 1, Session: session, By: by})
	}
	part := model.Checkpoint{Seq: 1, Session: own, Owned: []model.Owned{{By: []string{own}, Paths: []string{"f"}}}}
	talks := model.Checkpoint{Seq: 1, Session: own, Cause: model.Cause{Event: model.EventSave, Prompt: "x"}}
	talks.Conversation = model.TranscriptEnd{Transcript: enginetest.TestID("talk"), Path: "/x", Length: 7}
	lost, nonsense := enginetest.TestID("lost"), p.PutNonsense(objstore.Checkpoint, model.Checkpoint{})
	for i, c := range []struct {
		name  string
		kind  refs.Kind
		word  hooks.Kind
		names objstore.ID
		want  string
	}{
		{"its step", step, hooks.AfterTool, made(own, other, own), "end 2, found 2, steps 1"},
		{"its part of a step", step, hooks.AfterTool, put(p, part), "end 2, found 2, steps 1"},
		{"a step of another one's calls", step, hooks.AfterTool, made(own, other), "end 1, found 2, steps 1"},
		{"a step in a conversation", step, hooks.AfterTool, put(p, talks), "end 1, asked 2, heard 2"},
		{"a lost step", step, hooks.AfterTool, lost, "end 1, found 2, steps 1"},
		{"a step that is none", step, hooks.AfterTool, nonsense, "end 1, found 2, steps 1"},
		{"found by another one's event", seen, hooks.AfterTool, made(other, other, own), "end 2, found 2"},
		{"another one's", seen, hooks.AfterTool, made(other, other), "end 1, found 2"},
		{"its own, of before", seen, hooks.AfterTool, made(own, own), "end 1, found 2"},
		{"its own, with a notice", seen, hooks.Compact, made(other, own), "end 1, found 2"},
		{"lost", seen, hooks.AfterTool, lost, "end 1, found 2"},
		{"none", seen, hooks.AfterTool, nonsense, "end 1, found 2"},
		{"no step", seen, hooks.AfterTool, objstore.ID{}, "end 1"},
	} {
		n := uint64(i) + 1
		op := event(own, n, c.word)
		op.Kind, op.Checkpoint = c.kind, c.names
		commit(p, event(own, n, hooks.Prompt), event(own, n, hooks.Stop), op)
		list := rows(p, own)
		row := list[len(list)-1]
		got := fmt.Sprint("end ", row.End-row.First)
		for _, f := range []struct {
			name string
			seq  uint64
		}{{"asked", row.Asked}, {"found", row.Found}, {"heard", row.Heard}} {
			if f.seq > 0 {
				got += fmt.Sprint(", ", f.name, " ", f.seq-row.First)
			}
		}
		if row.Steps > 0 {
			got += fmt.Sprint(", steps ", row.Steps)
		}
		if got != c.want || len(list) != i+1 {
			t.Errorf("%s: row %d, %s, want %s", c.name, len(list), got, c.want)
		}
	}
	p.SameTurns(own)
}
