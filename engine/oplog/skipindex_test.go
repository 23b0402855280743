package oplog_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/refs"
)

// TestListDoesNotReadWhatWasThinned: of what gc has thinned a list reads nothing, once the log has been walked over,
// wherever it lies and also where more came since.
func TestListDoesNotReadWhatWasThinned(t *testing.T) {
	reads := func(thinned int) uint64 {
		p := enginetest.NewProject(t)
		p.Set("gc.grace", "0s")
		for i := range thinned {
			p.Write("f", fmt.Sprint(i))
			p.Save("")
		}
		p.Gc(gc.Options{Keep: 1})
		ids := func() (list []string) {
			r, err := p.E.History.List(enginetest.Bg, history.ListOptions{All: true, Limit: 100})
			p.Must(err)
			for _, l := range r.Checkpoints {
				list = append(list, l.ID.String())
			}
			return list
		}
		first := ids()
		if len(first) != 1 {
			t.Fatalf("%d are left", len(first))
		}
		p.Write("f", "another")
		cp := p.Save("")
		for range oplog.MinBare { // a stretch that grows
			tagAndUntag(p, cp)
			if got := ids(); !slices.Equal(got, append([]string{cp.ID.String()}, first...)) {
				t.Fatalf("listed: %v", got)
			}
		}
		before := p.E.Log.DB.Reads()
		ids()
		return p.E.Log.DB.Reads() - before
	}
	few, many := reads(100), reads(500)
	if many > few+50 || few > 150 { // some of the deltas to a checkpoint
		t.Errorf("%d keys are read after 100 were thinned, %d after 500", few, many)
	}
}

// TestMadeGivesWhatTheLogHas: whatever was learned, walked over in part, and forgotten.
func TestMadeGivesWhatTheLogHas(t *testing.T) {
	p := enginetest.NewProject(t)
	want := func() (list []uint64) {
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			if op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety {
				list = append(list, op.Seq)
			}
			return nil
		}))
		return list
	}
	got := func() (list []uint64) {
		p.Must(p.E.Log.Made(func(op *refs.Operation) error {
			list = append(list, op.Seq)
			return nil
		}))
		return list
	}
	cp := p.Save("")
	for i, n := range []int{1, oplog.MinBare/2 - 1, oplog.MinBare / 2, oplog.MinBare/2 + 1, 2 * oplog.MinBare, 0, oplog.MinBare / 2} {
		for range n {
			tagAndUntag(p, cp)
			if n > oplog.MinBare/2 {
				got() // a stretch is joined to another, again and again
			}
		}
		p.Write("f", fmt.Sprint(i))
		p.Tick = p.Tick.Add(time.Minute)
		p.Save("")
		for range 2 {
			if w, g := want(), got(); !slices.Equal(w, g) {
				t.Fatalf("%v, the log has %v", g, w)
			}
		}
	}
	all := p.E.Log.DB.LastSeq()
	for from, list := all, want(); from >= cp.Seq; from-- { // from anywhere, the newest that lies there or before
		for list[0] > from {
			list = list[1:]
		}
		op, err := p.E.Log.NewestMade(from, func(*refs.Operation) (bool, error) { return true, nil })
		if p.Must(err); op.Seq != list[0] {
			t.Fatalf("from %d back it is %d, and should be %d", from, op.Seq, list[0])
		}
	}
	if w, g := want(), got(); !slices.Equal(w, g) {
		t.Fatalf("%v, the log has %v", g, w)
	}
	made := func() uint64 { return asked(p, func() error { got(); return nil }) }
	if n := made(); n > all/2 {
		t.Errorf("%d keys of %d operations are read", n, all)
	}
	forget(p)
	if n := made(); n < all {
		t.Errorf("once it is forgotten, %d keys of %d operations are read", n, all)
	}
	// A walk that began before that teaches nothing.
	forget(p)
	p.Must(p.E.Log.Made(func(op *refs.Operation) error {
		if op.Seq == cp.Seq {
			forget(p)
		}
		return nil
	}))
	if n := made(); n < all {
		t.Errorf("what was read before it was forgotten is known: %d keys of %d operations are read", n, all)
	}
}

// tagAndUntag makes two operations that are no checkpoint's.
func tagAndUntag(p *enginetest.Project, cp *model.Checkpoint) {
	p.T.Helper()
	_, err := p.E.History.Tag(enginetest.Bg, "t", cp.ID.String(), false)
	p.Must(err)
	p.Must(p.E.History.Untag(enginetest.Bg, "t"))
}
