package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// TestPromise19PositionAgrees: whatever restores, saves and turns come in what order, every answer means the same session, its cursor is what the worktree was set
// to, the conversation that a restore names is the one that goes on, and what an undo took a redo brings back.
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
	p, k := begun(t)
	n := 0
	next := func() string { n++; return fmt.Sprint("v", n) }
	for range 3 {
		k.take("say "+next(), p.edits("f", fmt.Sprint(n)))
	}
	talkers := map[string]*talker{k.name(): k}
	var log []string
	o := restore.Options{Env: p.env(), Session: model.SessionChoice{Choose: true}, Scope: refs.Scope{Exact: true}}
	var forks []*model.Fork
	agree := func(what string, res *restore.Result) {
		t.Helper()
		log = append(log, what)
		if res != nil && res.Conversation != nil && res.Conversation.Fork != nil {
			forks = append(forks, res.Conversation.Fork)
		}
		at, err := p.e.Sessions.Position()
		p.must(err)
		cur, err := p.e.Sessions.Current(at.Session)
		p.must(err)
		if p.read("f") != p.cat(cur, "f") {
			t.Fatalf("%q: the current checkpoint of %s is not what the files are", log, at.Session)
		}
		st, err := p.e.Status(bg, nil)
		p.must(err)
		list, err := p.e.History.SessionList(bg, p.env())
		p.must(err)
		i := slices.IndexFunc(list, func(s model.SessionInfo) bool { return s.Current })
		if st.Position != at.Session || st.Current.ID != cur.ID || i < 0 || list[i].Name != at.Session {
			t.Fatalf("%q: the project stands at %s, status says %s, sessions %+v", log, at.Session, st.Position, list)
		}
		if res != nil && res.Conversation != nil && res.Conversation.Mode != model.ConversationNone && res.Conversation.Session != at.Session {
			t.Fatalf("%q: %+v, and the project stands at %s", log, res.Conversation, at.Session)
		}
		if s := p.e.Log.Records[at.Session]; s == nil || s.Left {
			t.Fatalf("%q: %s goes on, and was left: %+v", log, at.Session, s)
		}
	}
	for range 14 {
		switch rnd.IntN(7) {
		case 0, 1:
			name := fmt.Sprint("turn:", 1+rnd.IntN(3))
			res, err := p.e.Restorer.Checkout(bg, name, o)
			if err != nil {
				continue // that session has fewer turns
			}
			agree("checkout "+name, res)
		case 2:
			before := p.read("f")
			res, err := p.e.Restorer.Undo(bg, 1, o)
			if err != nil {
				continue
			}
			agree("undo", res)
			if rnd.IntN(2) == 0 {
				res, err = p.e.Restorer.Redo(bg, 1, o)
				p.must(err)
				agree("redo", res)
				if p.read("f") != before {
					t.Fatalf("%q: f is %.5q, was %.5q", log, p.read("f"), before)
				}
			}
		case 3:
			res, err := p.e.Restorer.UndoRestore(bg, 0, o)
			if err != nil {
				continue
			}
			agree("undo-restore", res)
		case 4:
			p.write("f", big(next()))
			at, err := p.e.Sessions.Position()
			p.must(err)
			cp := p.save("mine")
			if cp.Session != at.Session || cp.Cause.Turn != p.e.Log.Records[at.Session].Turn || cp.Cause.Prompt != p.e.Log.Records[at.Session].Prompt {
				t.Fatalf("%q: the project stands at %s, and what was saved says %+v of %s", log, at.Session, cp.Cause, cp.Session)
			}
			agree("save", nil)
		case 5:
			at, err := p.e.Sessions.Position()
			p.must(err)
			if talkers[at.Session] == nil {
				i := slices.IndexFunc(forks, func(f *model.Fork) bool { return f.Session == at.Session })
				if i < 0 {
					t.Fatalf("%q: nobody made %s", log, at.Session)
				}
				talkers[at.Session] = p.opened(forks[i])
				talkers[at.Session].start()
			}
			talkers[at.Session].take("say "+next(), p.edits("f", fmt.Sprint(n)))
			agree("turn in "+at.Session, nil)
		case 6:
			p.reopen()
			p.must(p.e.Log.LoadSessions())
			agree("reopen", nil)
		}
	}
	p.verify()
}

// A save behind a cut in place carries the prompt of the turn that is left, and behind an undo-restore that of the turn that came back.
func TestPromise19SaveBehindACutInPlace(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	k.take("two", p.edits("f", "2"))
	_, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Env: p.env(), InPlace: true, Force: true})
	p.must(err)
	for turn, prompt := range []string{1: "one", 2: "two"} {
		if turn == 0 {
			continue
		}
		if turn == 2 {
			_, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{Env: p.env(), Force: true})
			p.must(err)
		}
		p.write("g", big(prompt))
		if cp := p.save("mine"); cp.Session != k.name() || cp.Cause.Turn != uint64(turn) || cp.Cause.Prompt != prompt {
			t.Errorf("a save behind turn %d is of turn %d of %s, %q", turn, cp.Cause.Turn, cp.Session, cp.Cause.Prompt)
		}
	}
}
