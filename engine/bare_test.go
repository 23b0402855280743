package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/refs"
)

// TestListDoesNotReadWhatWasThinned: of what gc has thinned a list reads nothing, once the log has been walked over, wherever it lies and also where more came since.
func TestListDoesNotReadWhatWasThinned(t *testing.T) {
	reads := func(thinned int) uint64 {
		p := newProject(t)
		p.set("gc.grace", "0s")
		for i := range thinned {
			p.write("f", fmt.Sprint(i))
			p.save("")
		}
		p.gc(gc.Options{Keep: 1})
		ids := func() (list []string) {
			r, err := p.e.History.List(bg, history.ListOptions{All: true, Limit: 100})
			p.must(err)
			for _, l := range r.Checkpoints {
				list = append(list, l.ID.String())
			}
			return list
		}
		first := ids()
		if len(first) != 1 {
			t.Fatalf("%d are left", len(first))
		}
		p.write("f", "another")
		cp := p.save("")
		for range oplog.MinBare { // a stretch that grows
			p.tagAndUntag(cp)
			if got := ids(); !slices.Equal(got, append([]string{cp.ID.String()}, first...)) {
				t.Fatalf("listed: %v", got)
			}
		}
		before := p.e.Log.DB.Reads()
		ids()
		return p.e.Log.DB.Reads() - before
	}
	few, many := reads(100), reads(500)
	if many > few+50 || few > 150 { // some of the deltas to a checkpoint
		t.Errorf("%d keys are read after 100 were thinned, %d after 500", few, many)
	}
}

// TestMadeGivesWhatTheLogHas: whatever was learned, walked over in part, and forgotten.
func TestMadeGivesWhatTheLogHas(t *testing.T) {
	p := newProject(t)
	want := func() (list []uint64) {
		p.must(p.e.Log.Refs.Newest(0, func(op *refs.Operation) error {
			if op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety {
				list = append(list, op.Seq)
			}
			return nil
		}))
		return list
	}
	got := func() (list []uint64) {
		p.must(p.e.Log.Made(func(op *refs.Operation) error {
			list = append(list, op.Seq)
			return nil
		}))
		return list
	}
	cp := p.save("")
	for i, n := range []int{1, oplog.MinBare/2 - 1, oplog.MinBare / 2, oplog.MinBare/2 + 1, 2 * oplog.MinBare, 0, oplog.MinBare / 2} {
		for range n {
			p.tagAndUntag(cp)
			if n > oplog.MinBare/2 {
				got() // a stretch is joined to another, again and again
			}
		}
		p.write("f", fmt.Sprint(i))
		p.tick = p.tick.Add(time.Minute)
		p.save("")
		for range 2 {
			if w, g := want(), got(); !slices.Equal(w, g) {
				t.Fatalf("%v, the log has %v", g, w)
			}
		}
		if len(p.e.Log.SkipIndex.Down) > i+1 {
			t.Errorf("%d stretches are remembered", len(p.e.Log.SkipIndex.Down))
		}
	}
	n := len(p.e.Log.SkipIndex.Down)
	age := p.e.Log.SkipIndex.Age()
	p.e.Log.SkipIndex.Forget()
	p.e.Log.SkipIndex.Learn(1000, 1, age)
	if len(p.e.Log.SkipIndex.Down) != 0 || n == 0 {
		t.Errorf("%d stretches, %d when they are forgotten", n, len(p.e.Log.SkipIndex.Down))
	}
}

// tagAndUntag makes two operations that are no checkpoint's.
func (p *fixture) tagAndUntag(cp *model.Checkpoint) {
	p.t.Helper()
	_, err := p.e.History.Tag(bg, "t", cp.ID.String(), false)
	p.must(err)
	p.must(p.e.History.Untag(bg, "t"))
}
