package sessions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
)

// TestPromise19PositionAgrees: whatever restores, saves and turns come in what order, every answer means the same
// session, its cursor is what the worktree was set to, the conversation that a restore names is the one that goes on,
// and what an undo took a redo brings back.
func TestPromise19PositionAgrees(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 42} { // 42: redo after an undo-restore over another branch
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			positionAgrees(t, rand.New(rand.NewPCG(seed, 19)))
		})
	}
}

func positionAgrees(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	p, k := enginetest.Begun(t)
	n := 0
	next := func() string { n++; return fmt.Sprint("v", n) }
	for range 3 {
		k.Take("say "+next(), p.Edits("f", fmt.Sprint(n)))
	}
	talkers := map[string]*enginetest.Talker{k.Name(): k}
	var log []string
	o := restore.Options{Env: p.Env(), Session: model.SessionChoice{Choose: true}, Scope: refs.Scope{Exact: true}}
	var forks []*model.Fork
	agree := func(what string, res *restore.Result) {
		t.Helper()
		log = append(log, what)
		if res != nil && res.Conversation != nil && res.Conversation.Fork != nil {
			forks = append(forks, res.Conversation.Fork)
		}
		at, err := p.E.Sessions.Position()
		p.Must(err)
		cur, err := p.E.Sessions.Current(at.Session)
		p.Must(err)
		if p.Read("f") != p.Cat(cur, "f") {
			t.Fatalf("%q: the current checkpoint of %s is not what the files are", log, at.Session)
		}
		st, err := p.E.Status(enginetest.Bg, nil)
		p.Must(err)
		list, _, err := p.E.History.SessionList(enginetest.Bg, true, 0)
		p.Must(err)
		i := slices.IndexFunc(list, func(s model.SessionInfo) bool { return s.Current })
		if st.Position != at.Session || st.Current.ID != cur.ID || i < 0 || list[i].Name != at.Session {
			t.Fatalf("%q: the project stands at %s, status says %s, sessions %+v", log, at.Session, st.Position, list)
		}
		if res != nil && res.Conversation != nil && res.Conversation.Mode != model.ConversationNone &&
			res.Conversation.Session != at.Session {
			t.Fatalf("%q: %+v, and the project stands at %s", log, res.Conversation, at.Session)
		}
		if s := p.E.Log.Session(at.Session); s == nil || s.Left {
			t.Fatalf("%q: %s goes on, and was left: %+v", log, at.Session, s)
		}
	}
	for range 14 {
		switch rnd.IntN(7) {
		case 0, 1:
			name := fmt.Sprint("turn:", 1+rnd.IntN(3))
			res, err := p.E.Restorer.Checkout(enginetest.Bg, name, o)
			if err != nil {
				continue // that session has fewer turns
			}
			agree("checkout "+name, res)
		case 2:
			before := p.Read("f")
			res, err := p.E.Restorer.Undo(enginetest.Bg, 1, o)
			if err != nil {
				continue
			}
			agree("undo", res)
			if rnd.IntN(2) == 0 {
				res, err = p.E.Restorer.Redo(enginetest.Bg, 1, o)
				p.Must(err)
				agree("redo", res)
				if p.Read("f") != before {
					t.Fatalf("%q: f is %.5q, was %.5q", log, p.Read("f"), before)
				}
			}
		case 3:
			res, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, o)
			if err != nil {
				continue
			}
			agree("undo-restore", res)
		case 4:
			p.Write("f", enginetest.Big(next()))
			at, err := p.E.Sessions.Position()
			p.Must(err)
			cp := p.Save("mine")
			if cp.Session != at.Session || cp.Cause.Turn != p.E.Log.Session(at.Session).Turn ||
				cp.Cause.Prompt != p.E.Log.Session(at.Session).Prompt {
				t.Fatalf("%q: the project stands at %s, and what was saved says %+v of %s", log, at.Session, cp.Cause, cp.Session)
			}
			agree("save", nil)
		case 5:
			at, err := p.E.Sessions.Position()
			p.Must(err)
			if talkers[at.Session] == nil {
				i := slices.IndexFunc(forks, func(f *model.Fork) bool { return f.Session == at.Session })
				if i < 0 {
					t.Fatalf("%q: nobody made %s", log, at.Session)
				}
				talkers[at.Session] = p.Opened(forks[i])
				talkers[at.Session].Start()
			}
			talkers[at.Session].Take("say "+next(), p.Edits("f", fmt.Sprint(n)))
			agree("turn in "+at.Session, nil)
		case 6:
			p.Reopen()
			p.Must(p.E.Log.LoadSessions())
			agree("reopen", nil)
		}
	}
	p.Verify()
}

// A save behind a cut in place carries the prompt of the turn that is left, and behind an undo-restore that of the turn
// that came back.
func TestPromise19SaveBehindACutInPlace(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", p.Edits("f", "2"))
	_, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env(), InPlace: true, Force: true})
	p.Must(err)
	for turn, prompt := range []string{1: "one", 2: "two"} {
		if turn == 0 {
			continue
		}
		if turn == 2 {
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env(), Force: true})
			p.Must(err)
		}
		p.Write("g", enginetest.Big(prompt))
		if cp := p.Save("mine"); cp.Session != k.Name() || cp.Cause.Turn != uint64(turn) || cp.Cause.Prompt != prompt {
			t.Errorf("a save behind turn %d is of turn %d of %s, %q", turn, cp.Cause.Turn, cp.Session, cp.Cause.Prompt)
		}
	}
}

// That a turn is over which ended without a word is seen half a minute later. Nobody has worked then: the project
// stands where a person has gone back to meanwhile, in another session.
func TestPromise19QuietTurnBehindACheckout(t *testing.T) {
	for _, changed := range []bool{false, true} {
		t.Run(fmt.Sprint(changed), func(t *testing.T) {
			p, k := enginetest.Begun(t)
			k.Take("one", p.Edits("f", "1"))
			k.Take("two", p.Edits("f", "2"))
			a := p.Agent("a")
			a.Prompt("go")
			a.Run("1", p.Edits("g", "1")) // Esc while the model thinks: no hook fires
			o := restore.Options{Session: model.SessionChoice{Session: k.Name()}}
			fork := p.Back("turn:1", o).Conversation.Fork
			if changed {
				p.Write("mine", "1")
			}
			now := time.Now().Add(2 * model.QuietAfter)
			p.E.Log.Now = func() time.Time { return now }
			p.Settle()
			if s := p.Session("claude/a"); s.Busy {
				t.Fatalf("the turn is not over: %+v", s)
			}
			at, names, err := p.E.Sessions.Active()
			p.Must(err)
			if at.Session != fork.Session || len(names) > 0 {
				t.Errorf("the project stands at %+v of %q, want at %s", at, names, fork.Session)
			}
		})
	}
}

// TestPositionReadsFew: where the project stands costs as much with many sessions at work as with one.
func TestPositionReadsFew(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	reads := func() uint64 {
		_, err := p.E.Sessions.Position() // what is new is read once
		p.Must(err)
		before := p.E.Log.DB.Reads()
		_, err = p.E.Sessions.Position()
		p.Must(err)
		return p.E.Log.DB.Reads() - before
	}
	p.Agent(enginetest.ClaudeID(1)).Send(hooks.Event{Kind: hooks.Prompt, Prompt: "one"}, capture.HandleOptions{})
	one := reads()
	for n := range 50 {
		p.Agent(enginetest.ClaudeID(n+2)).Send(hooks.Event{Kind: hooks.Prompt, Prompt: "more"}, capture.HandleOptions{})
	}
	if many := reads(); many > one {
		t.Errorf("with 51 sessions at work %d reads, with one %d", many, one)
	}
}
