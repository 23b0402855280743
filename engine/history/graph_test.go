package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/objstore"
)

// TestGraphIsAncestry: in random histories of three sessions, with saves, undos and checkouts between, whatever the
// list was asked for, each row goes on from the one that a reading of its whole line finds, with as many checkpoints
// between as are in no row.
func TestGraphIsAncestry(t *testing.T) {
	links, elided, forks := 0, 0, 0
	for seed := range uint64(4) {
		p := enginetest.NewProject(t)
		wander(p, rand.New(rand.NewPCG(seed, 1)))
		for _, o := range []history.RowOptions{
			{},
			{Limit: 5},
			{All: true},
			{Filter: history.Filter{Filter: value.Filter{Tool: "Write"}}},
			{Filter: history.Filter{Filter: value.Filter{Agent: "claude", Prompt: "a"}}},
			{Filter: history.Filter{Filter: value.Filter{Session: "b"}}},
		} {
			res, err := p.E.History.Rows(enginetest.Bg, o)
			p.Must(err)
			n, e, f := graphIsAncestry(t, p, res.Rows)
			graphOfSome(t, p, res.Rows)
			links, elided, forks = links+n, elided+e, forks+f
		}
		for _, steps := range []bool{true, false} {
			res, err := p.E.History.List(enginetest.Bg, history.ListOptions{Steps: steps, Limit: 20})
			p.Must(err)
			graphIsAncestry(t, p, history.StepRows(res.Checkpoints))
		}
	}
	if links < 50 || elided == 0 || forks == 0 {
		t.Errorf("%d links, %d with something elided, %d forks: that proves little", links, elided, forks)
	}
}

// wander makes a history.
func wander(p *enginetest.Project, r *rand.Rand) {
	p.Write("begin", "1")
	first := p.Save("begin")
	agents := []*enginetest.Agent{p.Agent("a"), p.Agent("b"), p.Agent("c")}
	for n := range 40 {
		a := agents[r.IntN(len(agents))]
		name := fmt.Sprintf("f%d", r.IntN(6))
		of := restore.Options{Session: model.SessionChoice{Session: a.ID}}
		switch r.IntN(9) {
		case 0, 1:
			a.Prompt(fmt.Sprintf("prompt %d%s", n, []string{" a", ""}[r.IntN(2)]))
		case 2, 3, 4:
			a.Run(fmt.Sprint("call", n), func() { p.Write(name, fmt.Sprint(n)) })
		case 5:
			a.Stop()
		case 6:
			p.Write("mine", fmt.Sprint(n))
			p.Save(fmt.Sprint("save ", n))
		case 7:
			_, _ = p.E.Restorer.Undo(context.Background(), 1, of) // there may be nothing to undo
		case 8:
			list := p.Listed()
			target := list[r.IntN(len(list))].Checkpoint
			if r.IntN(3) == 0 {
				target = first
			}
			_, _ = p.E.Restorer.Checkout(context.Background(), target.ID.String(), of)
		}
	}
}

// graphIsAncestry holds the links of rows against each row's whole line, and counts them.
func graphIsAncestry(t *testing.T, p *enginetest.Project, rows []history.Row) (links, elided, forks int) {
	t.Helper()
	got, err := p.E.History.Graph(enginetest.Bg, rows)
	p.Must(err)
	within, ends := map[objstore.ID]bool{}, map[objstore.ID]int{}
	for i := range rows {
		for _, cp := range rows[i].Steps {
			within[cp.ID] = true
			ends[cp.ID] = -1
		}
	}
	for i := range rows {
		if n := len(rows[i].Steps); n > 0 {
			ends[rows[i].Steps[n-1].ID] = i
		}
	}
	children := map[int]int{}
	for i, link := range got {
		r := &rows[i]
		from := r.Checkpoint
		want, between := -1, 0
		line := lineOf(p, from)
		if n := len(r.Steps); n > 0 {
			line = lineOf(p, r.Steps[n-1])[1:]
		}
		begins := len(line) == 0
		for k, cp := range line {
			if row, is := ends[cp.ID]; is && row >= 0 && row != i {
				want = row
				break
			}
			if !within[cp.ID] {
				between++
			}
			begins = k == len(line)-1
		}
		// Rows of turns that changed nothing hang between a state and what its session did next there: they are stepped
		// over.
		at, count, steps := link, 0, 0
		for at != nil {
			if count += at.Elided; at.Row < 0 || len(rows[at.Row].Steps) > 0 {
				break
			}
			if rows[at.Row].Of != r.Of {
				t.Fatalf("row %d of %s goes on from a turn of %s that changed nothing", i, r.Of, rows[at.Row].Of)
			}
			if at, steps = got[at.Row], steps+1; steps > len(rows) {
				t.Fatalf("row %d: a circle", i)
			}
		}
		switch {
		case want >= 0 && (at == nil || at.Row != want || count != between):
			t.Fatalf("row %d (%s): %+v, want row %d with %d between", i, from.ID.Short(), at, want, between)
		case want < 0 && at != nil && at.Row >= 0:
			t.Fatalf("row %d (%s) goes on from row %d, and nothing listed is before it", i, from.ID.Short(), at.Row)
		case want < 0 && begins && len(line) == 0 && at != nil:
			t.Fatalf("row %d (%s) goes on from nothing", i, from.ID.Short())
		}
		if link != nil && link.Row >= 0 {
			links++
			if children[link.Row]++; children[link.Row] == 2 {
				forks++
			}
			if link.Elided > 0 {
				elided++
			}
		}
	}
	return links, elided, forks
}

// graphOfSome holds the links where rows come in another order, which are the same, and where every third is left out.
func graphOfSome(t *testing.T, p *enginetest.Project, rows []history.Row) {
	t.Helper()
	want, err := p.E.History.Graph(enginetest.Bg, rows)
	p.Must(err)
	other := slices.Clone(rows)
	slices.Reverse(other)
	got, err := p.E.History.Graph(enginetest.Bg, other)
	p.Must(err)
	for i, l := range want {
		m := got[len(got)-1-i]
		if l == nil || m == nil {
			if l != m {
				t.Fatalf("row %d goes on from %+v, in another order from %+v", i, l, m)
			}
			continue
		}
		row := l.Row
		if row >= 0 {
			row = len(rows) - 1 - row
		}
		if m.Row != row || m.Elided != l.Elided {
			t.Fatalf("row %d goes on from %+v, in another order from %+v", i, l, m)
		}
	}
	var some []history.Row
	for i := range rows {
		if i%3 > 0 {
			some = append(some, rows[i])
		}
	}
	graphIsAncestry(t, p, some)
}

// TestGraphOfIdleTurns: what a session did where a turn of it that changed nothing stood goes on from that turn, with
// nothing between, also where the row of that state is not listed.
func TestGraphOfIdleTurns(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Take("talk", nil)
	k.Take("more talk", nil)
	k.Take("two", p.Edits("f", "2"))
	res, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	for _, tt := range []struct{ without, want string }{
		{"", "1+0 2+0 3+0 4+0 -"},
		{"one", "1+0 2+0 3+1 -"},
		{"more talk", "1+0 2+0 3+0 -"},
		{"two", "1+0 2+0 3+0 -"},
		{"talk", "1+0 2+0 3+0 -"},
	} {
		rows := slices.DeleteFunc(slices.Clone(res.Rows), func(r history.Row) bool {
			return r.Prompt == tt.without && r.Turn > 0
		})
		links, err := p.E.History.Graph(enginetest.Bg, rows)
		p.Must(err)
		var got []string
		for _, l := range links {
			if l == nil {
				got = append(got, "-")
				continue
			}
			got = append(got, fmt.Sprintf("%d+%d", l.Row, l.Elided))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("without %q: %s, want %s", tt.without, got, tt.want)
		}
	}
}

// lineOf is a checkpoint and all before it, by first parents.
func lineOf(p *enginetest.Project, cp *model.Checkpoint) (line []*model.Checkpoint) {
	for {
		line = append(line, cp)
		if len(cp.Parents) == 0 {
			return line
		}
		var err error
		cp, err = p.E.Log.Checkpoint(cp.Parents[0])
		p.Must(err)
	}
}
