package registry

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/project"
	"rewind/internal/kv"
)

// site is a project with a store, and a registry of its home.
func site(t *testing.T, keep time.Duration) (*Registry, *project.Project) {
	t.Helper()
	home := project.Home{Dir: t.TempDir()}
	e, _, err := engine.Init(t.Context(), home, t.TempDir(), project.ModeGlobal, project.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := e.Project()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	g := New(home, project.Options{}, keep, &project.Configs{}, func(err error) { t.Error(err) })
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g, &p
}

// A store is open as long as anybody has it, once for all of them, and closed when nobody has asked for a while.
func TestOpenOnce(t *testing.T) {
	g, p := site(t, 10*time.Millisecond)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, release, err := g.Open(t.Context(), p, false)
			if err != nil {
				t.Error(err)
				return
			}
			if n := g.Count(); n != 1 {
				t.Errorf("%d stores are open", n)
			}
			g.TrimCaches()
			if err := release(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for g.Count() != 0 {
		time.Sleep(time.Millisecond)
	}
}

// Without gives the store to somebody else for a while, who waits for its users; it is opened again by the next who
// asks.
func TestWithout(t *testing.T) {
	g, p := site(t, time.Hour)
	_, release, err := g.Open(t.Context(), p, false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		done <- g.Without(t.Context(), p.Store, func() error {
			db, err := kv.Open(t.Context(), p.Store, kv.Options{})
			if err != nil {
				return err
			}
			return db.Close()
		})
	}()
	select {
	case err := <-done:
		t.Fatalf("it is not waited for who has the store: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := errors.Join(release(), <-done); err != nil {
		t.Fatal(err)
	}
	_, release, err = g.Open(t.Context(), p, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = release()
}

// A store that has gone is closed by a sweep, though it would be kept; after the end nothing is opened.
func TestSweepAndClose(t *testing.T) {
	g, p := site(t, time.Hour)
	_, release, err := g.Open(t.Context(), p, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = release()
	g.Sweep()
	if g.Count() != 1 {
		t.Error("a store that is where it was is closed")
	}
	if err := os.Rename(p.Store, p.Store+"-away"); err != nil {
		t.Fatal(err)
	}
	g.failed = func(error) {} // closing what is not there
	// One that is in use goes by a later sweep.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if g.Sweep(); g.Count() == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d stores are open", g.Count())
		}
	}
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := g.Open(t.Context(), p, false); !errors.Is(err, kv.ErrBusy) {
		t.Errorf("after the end: %v", err)
	}
}
