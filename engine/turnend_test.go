package engine

import (
	"os"
	"strings"
	"testing"
	"time"

	"rewind/hooks"
)

// A turn's moments, oldest first: p prompt, t tool event that changed nothing of its own, w work of its calls, s stop, a subagent's
// event, o a session opened or ended, x a cut in place. The capital one is the end.
func TestPromise19TurnEnd(t *testing.T) {
	for _, moments := range []string{
		"P", "pT", "ptW", "ptwS", "ptwSo", "ptwSoo", "pwSa", "pwSao", "pwsW", "pwsWo", "pwsaWaps", "pwsaWas", "pwsWta", "pwSp", "pwSps",
		"pWo", "ptWoo", "pTo", "Po",
		"pwAo", "pwSxo", "pwSxa", "psxpwS", "pSs", "pswsW", "pWoo", "pwA",
	} {
		want := strings.IndexFunc(moments, func(r rune) bool { return r >= 'A' && r <= 'Z' })
		var end turnEnd[int]
		words := map[byte]turnWord{'p': wordLoose, 't': wordTool, 'w': wordTool, 's': wordStop, 'a': wordLoose, 'o': wordAside}
		asked := false
		for i := len(moments) - 1; i >= 0; i-- {
			c := moments[i] | 0x20
			switch c {
			case 'x':
				end.cut(asked)
			default:
				end.older(words[c], c == 'w', &i)
			}
			asked = c == 'p'
		}
		end.leave()
		if end.at == nil || *end.at != want {
			t.Errorf("%s: the end is at %v, want %d", moments, end.at, want)
		}
	}
}

// A turn that ends without a word, and a person who works on meanwhile: what that one did is found when the turn is seen to be over, and
// is not in it.
func TestPromise19QuietTurnWithoutTheHands(t *testing.T) {
	p, k := begun(t)
	k.ask("one")
	k.work(p.edits("f", "1"))
	p.edits("f", "2")() // Esc while the model thinks: no hook fires
	now := time.Now().Add(2 * quietAfter)
	p.e.now = func() time.Time { return now }
	p.must(os.Chtimes(k.file, time.Now(), time.Now()))
	p.settle()
	if s := p.session(k.name()); s.Busy || s.Event != "stop" {
		t.Fatalf("the turn is not over: %+v", s)
	}
	if got := p.at(k, "turn:1"); got != "1" {
		t.Errorf("turn:1 has the code %s, want 1", got)
	}
	if cp, err := p.e.Resolve("@"); err != nil || p.cat(cp, "f")[:1] != "2" {
		t.Errorf("the person's change is not captured: %v, %v", cp, err)
	}
}

// An event that waits behind another one of its session is of its own turn.
func TestPromise19EventsOfOneBatch(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	p.e.mu.Lock()
	var batch []*arrival
	for _, ev := range []hooks.Event{{Kind: hooks.Prompt, Prompt: "two"}, {Kind: hooks.Stop}, {Kind: hooks.Prompt, Prompt: "three"}} {
		ev.Agent, ev.Session, ev.Cwd, ev.Transcript = hooks.Claude, k.id, p.root, k.file
		a := &arrival{e: p.e, ev: ev, o: HandleOptions{Tier: k.tier}, act: hooks.Decide(ev), name: k.name(), done: make(chan struct{})}
		batch = append(batch, a)
	}
	err := p.e.takeAll(bg, batch)
	p.e.mu.Unlock()
	p.must(err)
	l, err := p.e.readTurns(k.name(), allTurns)
	p.must(err)
	for n, prompt := range map[uint64]string{2: "two", 3: "three"} {
		if f := l.turns[n]; f == nil || f.prompt != prompt {
			t.Errorf("turn %d: %+v", n, f)
		}
	}
	if !l.turns[2].over || l.turns[3].over {
		t.Error("which of the turns is over is not known")
	}
}
