package restore_test

import (
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// refusedSecond is a session of four turns, of which the conversation has not the second: another hook refused it.
func refusedSecond(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	t.Helper()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "refused"}, capture.HandleOptions{})
	k.Stop()
	k.Take("three", p.Edits("f", "3"))
	k.Take("four", p.Edits("f", "4"))
	p.Settle()
	return p, k
}

// A turn ahead is told by its number, which may be another one than its place in the conversation.
func TestForwardTellsNumbers(t *testing.T) {
	t.Parallel()
	p, k := refusedSecond(t)
	of := model.SessionChoice{Session: k.Name()}
	p.Back("turn:1", restore.Options{Session: of, InPlace: true})
	p.Settle()
	for n, want := range map[int]struct {
		turn int
		code string
	}{1: {3, "3"}, 2: {4, "4"}} {
		r, err := p.E.Restorer.Forward(enginetest.Bg, n, restore.Options{Env: p.Env(), Session: of})
		p.Must(err)
		if r.Conversation.Turn != want.turn || p.Read("f") != enginetest.Big(want.code) {
			t.Errorf("%d ahead: %+v, f %.3q", n, r.Conversation, p.Read("f"))
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{Env: p.Env()})
		p.Must(err)
	}
}

// What lies behind a target that another session's turn names is counted on the branch that goes back, by its steps.
func TestBehindATurnOfAnother(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	b := p.Talker(2)
	b.Take("only talk", nil)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	o := restore.Options{DryRun: true, Session: model.SessionChoice{Session: k.Name()}}
	got := p.Back("turn:1@"+b.Name(), o).Behind
	if got == nil || got.Session != k.Name() || got.Checkpoints != 1 || got.Turns != 1 {
		t.Errorf("%+v", got)
	}
}
