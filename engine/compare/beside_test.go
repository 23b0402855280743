package compare_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/compare"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/internal/value"
)

// TestBeside: the ancestor of two states, each in a worktree of its own, is the newest that both descend from,
// whichever worktree is asked; both answers say the same of the sides, and of what both changed.
func TestBeside(t *testing.T) {
	inProjects(t, 15, func(t *rapid.T, p *enginetest.Project, dir string) {
		write := func(p *enginetest.Project, n int) {
			p.Write(rapid.SampledFrom([]string{"a", "b", "d/c"}).Draw(t, "path"),
				fmt.Sprintf("%d\n2\n3\n4\n5\n6\n7\n8\n9\n", n))
			p.Save("")
		}
		for n := range rapid.IntRange(1, 4).Draw(t, "before") {
			write(p, n)
		}
		q := p.Beside(mkdir(t, dir, "q"))
		defer q.Close()
		for n := range rapid.IntRange(1, 8).Draw(t, "after") {
			in := rapid.SampledFrom([]*enginetest.Project{p, q}).Draw(t, "where")
			if all := made(in); rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				exactly(in, all[rapid.IntRange(0, len(all)-1).Draw(t, "to")].ID)
			} else {
				write(in, 100+n)
			}
		}
		of := func(p *enginetest.Project) *model.Checkpoint {
			all := made(p)
			return all[rapid.IntRange(0, len(all)-1).Draw(t, "of")]
		}
		for range 4 {
			a, b := of(p), of(q)
			r, err := p.E.Compare(enginetest.Bg, q.E, compare.Options{A: a.ID.String(), B: b.ID.String()}, 0)
			p.Must(err)
			back, err := q.E.Compare(enginetest.Bg, p.E, compare.Options{A: b.ID.String(), B: a.ID.String()}, 0)
			p.Must(err)
			var want *model.Checkpoint
			ofA, ofB := lineage(p, a), lineage(q, b)
			for id, cp := range ofA {
				if ofB[id] != nil && (want == nil || cp.Seq > want.Seq) {
					want = cp
				}
			}
			if want == nil || r.Ancestor == nil || back.Ancestor == nil || r.Ancestor.ID != want.ID ||
				back.Ancestor.ID != want.ID {
				t.Fatalf("the ancestor of %s and %s is %v and %v, want %v", a.ID.Short(), b.ID.Short(), r.Ancestor,
					back.Ancestor, want)
			}
			if r.Divergence != back.Divergence || len(r.Overlaps) != len(back.Overlaps) {
				t.Fatalf("divergence %v and %v, overlaps %v and %v", r.Divergence, back.Divergence, r.Overlaps,
					back.Overlaps)
			}
			for i := range r.Overlaps {
				if x, y := r.Overlaps[i], back.Overlaps[i]; x.Path != y.Path || x.Verdict != y.Verdict ||
					x.Places != y.Places {
					t.Fatalf("%v and %v", x, y)
				}
			}
			for i := range r.Sides {
				if x, y := r.Sides[i], back.Sides[1-i]; len(x.Steps) != len(y.Steps) ||
					len(x.Changes) != len(y.Changes) {
					t.Fatalf("side %d: %d steps and %d changes, or %d and %d", i, len(x.Steps), len(x.Changes),
						len(y.Steps), len(y.Changes))
				}
			}
		}
	})
}

// TestBesideOverlap: what both worktrees changed is merged, whichever store has the contents.
func TestBesideOverlap(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p.Save("")
	q := p.Beside(t.TempDir())
	t.Cleanup(q.Close)
	p.Write("f", "0\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p.Save("")
	q.Write("f", "1\n2\n3\n4\n5\n6\n7\n8\n0\n")
	q.Save("")
	for _, in := range [][2]*enginetest.Project{{p, q}, {q, p}} {
		r, err := in[0].E.Compare(enginetest.Bg, in[1].E, compare.Options{A: "@", B: "@"}, 0)
		p.Must(err)
		if len(r.Overlaps) != 1 || r.Overlaps[0].Verdict != value.OverlapClean {
			t.Errorf("%+v", r.Overlaps)
		}
	}
}
