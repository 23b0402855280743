package objstore

import (
	"context"
	"errors"
	"sync"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// TestPromise05CondemnedWhileItEnds: what was condemned is not there for who asks while it goes and the collection
// ends: it was there when he looked, and nobody says afterwards that it is gone.
func TestPromise05CondemnedWhileItEnds(t *testing.T) {
	w := newWorld(t, kvtest.NewCrashFS())
	defer w.db.Close()
	nothing := func(context.Context) error { return nil }
	for round := range 40 {
		data := content(round, 0)
		id := Sum(Blob, data)
		tx := w.s.Begin()
		if _, err := tx.Put(Blob, data, Zero); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(context.Background(), kv.Written); err != nil {
			t.Fatal(err)
		}
		c, err := w.s.Collect()
		if err == nil {
			err = c.List(context.Background(), nothing)
		}
		if err = errors.Join(err, c.StartSweep()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		var askers sync.WaitGroup
		for n := range 16 {
			askers.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
					}
					there, err := w.s.Has(Blob, id)
					if n%2 == 0 && err == nil {
						var st state
						st, err = w.s.present(Blob, id, nil)
						there = st == sound
					}
					if there || err != nil {
						t.Errorf("round %d: condemned, and there: %v, %v", round, there, err)
						return
					}
				}
			})
		}
		_, err = c.Sweep(context.Background(), nothing)
		c.End()
		close(ended)
		askers.Wait()
		if err != nil || t.Failed() {
			t.Fatal(err)
		}
	}
}
