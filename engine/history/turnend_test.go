package history_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/hooks"
)

// A turn's moments, oldest first: p prompt, t tool event that changed nothing of its own, w work of its calls, s stop, a subagent's
// event, o a session opened or ended, x a cut in place. The capital one is the end.
func TestPromise19TurnEnd(t *testing.T) {
	for _, moments := range []string{
		"P", "pT", "ptW", "ptwS", "ptwSo", "ptwSoo", "pwSa", "pwSao", "pwsW", "pwsWo", "pwsaWaps", "pwsaWas", "pwsWta", "pwSp", "pwSps",
		"pWo", "ptWoo", "pTo", "Po",
		"pwAo", "pwSxo", "pwSxa", "psxpwS", "pSs", "pswsW", "pWoo", "pwA",
		"poT", "powA",
	} {
		want := strings.IndexFunc(moments, func(r rune) bool { return r >= 'A' && r <= 'Z' })
		var end history.TurnEnd[int]
		words := map[byte]history.TurnWord{
			'p': history.WordLoose, 't': history.WordTool, 'w': history.WordTool, 's': history.WordStop,
			'a': history.WordLoose, 'o': history.WordAside,
		}
		asked := false
		for i := len(moments) - 1; i >= 0; i-- {
			c := moments[i] | 0x20
			switch c {
			case 'x':
				end.Cut(asked)
			default:
				end.Older(words[c], c == 'w', &i)
			}
			asked = c == 'p'
		}
		end.Leave()
		if end.At == nil || *end.At != want {
			t.Errorf("%s: the end is at %v, want %d", moments, end.At, want)
		}
	}
}

// A turn that ends without a word, and a person who works on meanwhile: what that one did is found when the turn is seen to be over, and
// is not in it.
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
	l, err := p.E.History.ReadTurns(k.Name(), history.AllTurns)
	p.Must(err)
	for n, prompt := range map[uint64]string{2: "two", 3: "three"} {
		if f := l.Turns[n]; f == nil || f.Prompt != prompt {
			t.Errorf("turn %d: %+v", n, f)
		}
	}
	if !l.Turns[2].Over || l.Turns[3].Over {
		t.Error("which of the turns is over is not known")
	}
}
