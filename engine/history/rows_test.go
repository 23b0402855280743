package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/tree"
)

// TestRowsOverlap: turns of two sessions that overlap are a row each, with what each changed, taken together; its
// checkpoint is what turn:N is. What a person saved, or changed between two turns, is none of theirs.
func TestRowsOverlap(t *testing.T) {
	p := enginetest.NewProject(t)
	remove := func(name string) { p.Must(os.Remove(filepath.Join(p.Root, name))) }
	a, b := p.Agent("a"), p.Agent("b")
	p.Write("old", "1")
	p.Save("begin")
	a.Start()
	b.Start()
	a.Prompt("first of a")
	b.Prompt("first of b")
	a.Run("a1", func() { p.Write("x1", "1"); p.Write("x2", "1"); p.Write("both", "a") })
	b.Run("b1", func() { p.Write("y1", "1"); p.Write("both", "b") })
	a.Run("a2", func() { remove("x2"); remove("old"); p.Write("x3", "1") })
	a.Stop()
	b.Run("b2", func() { p.Write("y1", "2"); p.Write("y2", "1") })
	b.Stop()
	p.Write("mine", "1")
	a.Prompt("second of a")
	a.Stop()
	p.Write("kept", "1")
	p.Save("by hand")

	res, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	var got []string
	for i := range res.Rows {
		r := &res.Rows[i]
		said := r.Prompt
		if r.Turn == 0 {
			said = r.Cause.Message
		}
		got = append(got, fmt.Sprintf("%s %d %q +%d ~%d -%d", r.Of, r.Turn, said, r.Counts.Added, r.Counts.Modified, r.Counts.Deleted))
		if r.Turn == 0 {
			continue
		}
		cp, err := p.E.History.Resolve(fmt.Sprintf("turn:%d@%s", r.Turn, r.Of))
		if p.Must(err); cp.ID != r.ID {
			t.Errorf("turn %d of %s: its row has %s, its name is %s", r.Turn, r.Of, r.ID.Short(), cp.ID.Short())
		}
	}
	want := []string{
		`claude/a 0 "by hand" +1 ~0 -0`, `claude/a 2 "second of a" +0 ~0 -0`, `claude/a 0 "" +1 ~0 -0`,
		`claude/b 1 "first of b" +2 ~1 -0`, `claude/a 1 "first of a" +3 ~0 -1`, `manual 0 "begin" +1 ~0 -0`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for limit := 1; limit <= len(res.Rows); limit++ {
		few, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{Limit: limit})
		p.Must(err)
		for i := range few.Rows {
			if few.Rows[i].ID != res.Rows[i].ID || few.Rows[i].Prompt != res.Rows[i].Prompt || few.Rows[i].Counts != res.Rows[i].Counts {
				t.Errorf("with limit %d row %d is another one", limit, i)
			}
		}
		if len(few.Rows) != limit || few.More != (limit < len(res.Rows)) {
			t.Errorf("limit %d: %d rows, more: %v", limit, len(few.Rows), few.More)
		}
	}
	// Fewer changes of a row are the first of them, the first time and when they are known, and all are counted.
	for most := 1; most <= 5; most++ {
		for range 2 {
			few, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{Changes: most})
			p.Must(err)
			for i := range few.Rows {
				all, r := &res.Rows[i], &few.Rows[i]
				n := min(most, len(all.Changes))
				same := slices.Equal(paths(r.Changes), paths(all.Changes[:n]))
				if r.Counts != all.Counts || !same || r.Cut != (len(all.Changes) > n) {
					t.Errorf("at most %d changes of row %d: %v %v, cut: %v", most, i, r.Counts, paths(r.Changes), r.Cut)
				}
				clear(r.Changes) // they are the caller's
			}
		}
	}
}

func paths(list []tree.Change) (out []string) {
	for _, ch := range list {
		out = append(out, ch.Path)
	}
	return out
}
