package history_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A turn that ends without a word, and a person who works on meanwhile: what that one did is found when the turn is
// seen to be over, and is not in it.
func TestPromise19QuietTurnWithoutTheHands(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Ask("one")
	k.Work(p.Edits("f", "1"))
	p.Edits("f", "2")() // Esc while the model thinks: no hook fires
	now := time.Now().Add(2 * model.QuietAfter)
	p.E.Log.Now = func() time.Time { return now }
	p.Must(os.Chtimes(k.File, time.Now(), time.Now()))
	p.Settle()
	if s := p.Session(k.Name()); s.Busy || s.Event != "stop" {
		t.Fatalf("the turn is not over: %+v", s)
	}
	if got := p.At(k, "turn:1"); got != "1" {
		t.Errorf("turn:1 has the code %s, want 1", got)
	}
	if cp, err := p.E.History.Resolve("@"); err != nil || p.Cat(cp, "f")[:1] != "2" {
		t.Errorf("the person's change is not captured: %v, %v", cp, err)
	}
}

// A turn during which somebody goes back behind what it did, and that changes nothing more, is what it did: in its name
// and in its row.
func TestPromise19TakenBackInTheTurn(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Ask("two")
	k.Work(p.Edits("f", "2"))
	p.Back("turn:1", restore.Options{CodeOnly: true})
	k.Work(func() {})
	k.Stop()
	for name, want := range map[string]string{"turn:1": "1", "turn:2": "2", "@": "1"} {
		if cp, err := p.E.History.Resolve(name); err != nil || p.Cat(cp, "f")[:1] != want {
			t.Errorf("%s: %v, %v, want the code %s", name, cp, err, want)
		}
	}
	res, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	for _, row := range res.Rows {
		if row.Turn > 0 && p.Cat(row.Checkpoint, "f")[:1] != fmt.Sprint(row.Turn) {
			t.Errorf("the row of turn %d has %s", row.Turn, p.Cat(row.Checkpoint, "f"))
		}
	}
}

// An event that waits behind another one of its session is of its own turn.
func TestPromise19EventsOfOneBatch(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	p.E.Log.Lock()
	var batch []*capture.Pending
	for _, ev := range []hooks.Event{{Kind: hooks.Prompt, Prompt: "two"}, {Kind: hooks.Stop}, {Kind: hooks.Prompt, Prompt: "three"}} {
		ev.Agent, ev.Session, ev.Cwd, ev.Transcript = hooks.Claude, k.ID, p.Root, k.File
		a := &capture.Pending{
			Worktree: p.E.Worktree, Event: ev, Options: capture.HandleOptions{Tier: k.Tier}, Act: hooks.Decide(ev),
			Name: k.Name(), Done: make(chan struct{}),
		}
		batch = append(batch, a)
	}
	err := p.E.Worktree.HandleBatch(enginetest.Bg, batch)
	p.E.Log.Unlock()
	p.Must(err)
	rows, err := p.E.Ledger.Turns(k.Name())
	p.Must(err)
	var got []string
	for _, r := range rows {
		asked, err := p.E.Log.Refs.Operation(r.Asked)
		p.Must(err)
		got = append(got, fmt.Sprint(r.Number, " ", asked.Message, " ", r.Over))
	}
	enginetest.Equal(t, "turns", got, []string{"1 one true", "2 two true", "3 three false"})
}
