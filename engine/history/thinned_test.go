package history_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/internal/kv"
)

// TestThinned: a checkpoint that gc has removed is not found by its id, and a time that means it is that of the one
// before it, which is said; of a time before it nothing is said. One whose operation cannot be read is found.
func TestThinned(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	now := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
	p.E.Log.Now = func() time.Time { return now }
	var cps []*model.Checkpoint
	for i := range 6 {
		p.Write("f", fmt.Sprint(i))
		cps = append(cps, p.Save(fmt.Sprint(i)))
		now = now.Add(time.Minute)
	}
	_, err := p.E.History.Tag(enginetest.Bg, "kept", cps[1].ID.String(), false)
	p.Must(err)
	now = time.Now()
	p.Set("gc.grace", "10m")
	p.Collect(gc.Options{Keep: 2})
	if p.Has(cps[2]) || !p.Has(cps[1]) || !p.Has(cps[4]) {
		for i := range cps {
			t.Log(i, p.Has(cps[i]))
		}
		t.Fatal("gc has removed others")
	}
	for i := 1; i <= 5; i++ {
		p.E.Log.Project.Notices = nil
		at := cps[i].Time.Add(30 * time.Second).UTC().Format(time.RFC3339)
		cp, err := p.E.History.Resolve("@{" + at + "}")
		p.Must(err)
		want := cps[i]
		if !p.Has(want) {
			want = cps[1]
		}
		if gone := !p.Has(cps[i]); cp.ID != want.ID || gone != (len(p.E.Log.Project.Notices) > 0) {
			t.Errorf("behind save %d: %q, %q", i, cp.Cause.Message, p.E.Log.Project.Notices)
		}
		_, err = p.E.History.Resolve(cps[i].ID.String())
		if errors.Is(err, model.ErrNotFound) == p.Has(cps[i]) {
			t.Errorf("save %d by its id: %v", i, err)
		}
		if err != nil && !strings.Contains(err.Error(), "gc has removed it") {
			t.Errorf("save %d is gone: %v", i, err)
		}
	}
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(kv.OperationKey(cps[4].Seq), []byte("garbage")))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	forget(p)
	if cp, err := p.E.History.Resolve(cps[4].ID.String()); err != nil || cp.ID != cps[4].ID {
		t.Errorf("whose operation cannot be read: %v", err)
	}
}
