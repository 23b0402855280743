package history_test

import (
	"errors"
	"fmt"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
)

// TestTreeReadsItsFamily: for the tree of one family no session file of another one is read.
func TestTreeReadsItsFamily(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	other := p.Talker(2)
	other.Take("other", nil)
	for _, k := range []*enginetest.Talker{first, other} {
		k.Append(fmt.Sprintf(`{"type":"custom-title","customTitle":"typed","sessionId":%q}`+"\n", k.ID))
	}
	titles := func() map[string]string {
		t.Helper()
		list, err := p.E.History.Names(enginetest.Bg)
		p.Must(err)
		out := map[string]string{}
		for _, n := range list {
			out[n.Name] = n.Title
		}
		return out
	}
	for _, all := range []bool{false, true} {
		tree, err := p.E.History.FamilyTree(enginetest.Bg, first.Name(), all, nil)
		p.Must(err)
		if tree.Branches[0].Title != "typed" {
			t.Errorf("the tree says %q", tree.Branches[0].Title)
		}
		want := map[bool]string{false: "other", true: "typed"}[all]
		if got := titles(); got[first.Name()] != "typed" || got[other.Name()] != want {
			t.Errorf("after the tree of all families, %t: %q", all, got)
		}
	}
}

// TestAsideOfFork: who stands on a fork has what its original did up to the fork point on the line, and what that did
// since aside; what sessions of other families did is not aside.
func TestAsideOfFork(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:1", of).Fork)
	first.Take("three", p.Edits("f", "3"))
	other := p.Agent("other")
	other.Prompt("beside")
	other.Run("c", func() { p.Write("g", "1") })
	other.Stop()
	kid.Take("kid's", p.Edits("f", "4"))
	aside := func(rows bool) (got []string) {
		t.Helper()
		if rows {
			res, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{})
			p.Must(err)
			for i := range res.Rows {
				got = append(got, fmt.Sprint(res.Rows[i].Prompt, res.Rows[i].Aside))
			}
			return got
		}
		res, err := p.E.History.List(enginetest.Bg, history.ListOptions{Steps: true})
		p.Must(err)
		off, err := p.E.History.OtherLine()
		p.Must(err)
		for i := range res.Checkpoints {
			l := &res.Checkpoints[i]
			is, err := off(l.Checkpoint)
			if p.Must(err); is && !l.Aside {
				t.Errorf("%s is on another line, and not aside", l.Cause.Prompt)
			}
			got = append(got, fmt.Sprint(l.Cause.Prompt, l.Aside))
		}
		return got
	}
	for _, rows := range []bool{true, false} {
		enginetest.Equal(t, fmt.Sprint("rows ", rows), aside(rows), []string{
			"kid'sfalse", "besidefalse", "threetrue", "twotrue", "onefalse", "false",
		})
	}
	first.Take("four", p.Edits("f", "5"))
	enginetest.Equal(t, "back at the original", aside(true), []string{
		"fourfalse", "kid'strue", "besidefalse", "threefalse", "twofalse", "onefalse", "false",
	})
}

// TestAsideBehindAForkPoint: who stands on a fork that was made within a turn has on the line what the original did in
// that turn before, and what it did in it since aside.
func TestAsideBehindAForkPoint(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	first.Ask("three")
	first.Work(p.Edits("f", "3"))
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:3", of).Fork)
	first.Work(p.Edits("f", "4"))
	first.Say("done: three")
	first.Stop()
	kid.Take("kid's", p.Edits("f", "5"))
	res, err := p.E.History.List(enginetest.Bg, history.ListOptions{Steps: true})
	p.Must(err)
	var got []string
	for i := range res.Checkpoints {
		l := &res.Checkpoints[i]
		got = append(got, fmt.Sprint(p.Cat(l.Checkpoint, "f")[:1], l.Aside))
	}
	enginetest.Equal(t, "aside", got, []string{"5false", "4true", "3false", "2false", "1false", "0false"})
}

// forkOfForks is a session of two turns, a fork of it with one more, a fork of that, and one of that.
func forkOfForks(t *testing.T) (p *enginetest.Project, line []*enginetest.Talker) {
	t.Helper()
	p, first := enginetest.TwoTurns(t)
	line = append(line, first)
	for n := range 3 {
		at := line[len(line)-1]
		of := restore.Options{Session: model.SessionChoice{Session: at.Name()}}
		kid := p.Opened(p.Fork(fmt.Sprintf("turn:%d", n+2), of).Fork)
		kid.Take(fmt.Sprint("of ", n), p.Edits("f", fmt.Sprint(n+3)))
		line = append(line, kid)
	}
	return p, line
}

// TestLongAncestry: a fork of a fork of a fork hangs below each of them, as deep as that many forks; its fork points
// are told from the nearest to the farthest.
func TestLongAncestry(t *testing.T) {
	t.Parallel()
	p, line := forkOfForks(t)
	h, last := p.E.History, line[3]
	tree, err := h.FamilyTree(enginetest.Bg, "", false, nil)
	p.Must(err)
	for i := range tree.Branches {
		b := &tree.Branches[i]
		parent := ""
		if i > 0 {
			parent = line[i-1].Name()
		}
		if b.Branch != line[i].Name() || b.Depth != i || b.Parent != parent {
			t.Errorf("branch %d: %s below %s, depth %d", i, b.Branch, b.Parent, b.Depth)
		}
		if i > 0 && b.Fork.Depth != i {
			t.Errorf("the fork point of branch %d has depth %d", i, b.Fork.Depth)
		}
	}
	forks, err := h.Forks(enginetest.Bg, p.Env(), last.Name())
	p.Must(err)
	if len(forks) != 1 || forks[0].Own != 1 || len(forks[0].Lineage) != 3 {
		t.Fatalf("%+v", forks)
	}
	for i, l := range forks[0].Lineage {
		if l.Session != line[2-i].Name() || l.Both != 4-i {
			t.Errorf("fork point %d: %d turns of %s", i, l.Both, l.Session)
		}
	}
}

// TestTurnsOfAncestors: a fork of a fork of a fork has the turns of all.
func TestTurnsOfAncestors(t *testing.T) {
	t.Parallel()
	p, line := forkOfForks(t)
	h, last := p.E.History, line[3]
	p.Must(p.E.Log.LoadSessions())
	for n, want := range map[uint64]int{1: 0, 2: 0, 3: 1, 4: 2, 5: 3} {
		if of, number := h.TurnOf(last.Name(), n); of != line[want].Name() || number != n {
			t.Errorf("turn %d is turn %d of %s", n, number, of)
		}
		cp, err := h.Resolve(fmt.Sprintf("turn:%d@%s", n, last.Name()))
		p.Must(err)
		if got := p.Cat(cp, "f")[:1]; got != fmt.Sprint(n) {
			t.Errorf("turn %d has %s", n, got)
		}
		row, err := h.TurnRow(enginetest.Bg, fmt.Sprintf("turn:%d@%s", n, last.Name()), "")
		if p.Must(err); row == nil || row.ID != cp.ID || row.Of != line[want].Name() {
			t.Errorf("the row of turn %d: %+v", n, row)
		}
	}
}

// TestTreeOfNoSession: where the project stands on nobody's session the tree is that of the newest one; without any it
// is empty.
func TestTreeOfNoSession(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	tree := func(session string) *history.Tree {
		t.Helper()
		tree, err := p.E.History.FamilyTree(enginetest.Bg, session, false, nil)
		p.Must(err)
		return tree
	}
	none := tree("")
	if none.Of != "" || none.Current != model.Manual || len(none.Branches)+none.Others > 0 {
		t.Errorf("%+v", none)
	}
	for n := range 3 {
		k := p.Talker(n + 1)
		k.Used(fmt.Sprint("long ago ", n))
		k.Say(fmt.Sprint("done ", n))
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	newest, _, err := p.E.History.SessionList(enginetest.Bg, true, 1)
	p.Must(err)
	for session, of := range map[string]string{"": newest[0].Name, "00000002": p.Talker(2).Name()} {
		got := tree(session)
		if got.Of != of || len(got.Branches) != 1 || got.Others != 2 {
			t.Fatalf("of %q: %+v", session, got)
		}
		if b := &got.Branches[0]; b.Branch != of || b.Current {
			t.Errorf("of %q: %+v", session, b)
		}
	}
	if _, err := p.E.History.FamilyTree(enginetest.Bg, "none", true, nil); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
