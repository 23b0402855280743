package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/kv"
)

// Whoever asks, and however many at once, a store is opened once and serves all.
func TestRegistryOpensOnce(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	q := r.newProject(t)
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			at := []api.Project{p, q}[i%2]
			switch i % 6 {
			case 0, 1:
				put(t, at.ProjectDir(), "f", time.Now().String())
				if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: at}, nil); err != nil {
					t.Error(err)
				}
			case 2, 3:
				if _, err := api.Call(t.Context(), r.client, api.Status, api.StatusRequest{Project: at}, nil); err != nil {
					t.Error(err)
				}
			default:
				if _, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: at}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if d := r.status(t); d.Stores != 2 {
		t.Errorf("%d stores are open", d.Stores)
	}
}

// A store that nobody uses is closed, and opened again.
func TestRegistryClosesIdleStores(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{keep: time.Millisecond})
	p := r.newProject(t)
	for range 3 {
		for r.status(t).Stores != 0 {
			time.Sleep(time.Millisecond)
		}
		if _, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// The deletion of a project or its store is survived, and nothing comes back by itself.
func TestRegistryDeletedProject(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{})
	for name, del := range map[string]func(dir string) error{
		"project":                  os.RemoveAll,
		"project, its store in it": os.RemoveAll,
		"store":                    func(string) error { return os.RemoveAll(filepath.Join(home, "storage")) },
	} {
		t.Run(name, func(t *testing.T) {
			p := r.newProject(t)
			within := strings.Contains(name, "in it")
			if within {
				p.Dir = api.Text(t.TempDir())
				put(t, p.ProjectDir(), "b", "one")
				if _, err := api.Call(t.Context(), r.client, api.Init, api.InitRequest{Project: p, Mode: "project"}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := del(p.ProjectDir()); err != nil {
				t.Fatal(err)
			}
			var told *api.Error
			if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); !errors.As(err, &told) {
				t.Errorf("a save: %v", err)
			}
			for name == "store" && r.status(t).Stores != 0 {
				time.Sleep(time.Millisecond)
			}
			if name == "store" && !gone(filepath.Join(home, "storage")) {
				t.Error("the store is there again")
			}
			if within && !gone(p.ProjectDir()) {
				t.Error("the project is there again")
			}
			if err := os.MkdirAll(p.ProjectDir(), 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := api.Call(t.Context(), r.client, api.Init, api.InitRequest{Project: p}, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// What Find settles about one request is told to that request, and recorded once.
func TestRegistryNoticesAreOfOneRequest(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	if err := os.RemoveAll(filepath.Join(p.ProjectDir(), ".agent")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		list, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p}, nil)
		if err != nil || len(list.Notices) != want {
			t.Errorf("notices %q, %v; want %d", list.Notices, err, want)
		}
	}
	ops, err := api.Call(t.Context(), r.client, api.Ops, api.OpsRequest{Project: p, All: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	moves := 0
	for _, op := range ops.Operations {
		if op.Kind == "move" {
			moves++
		}
	}
	if moves != 1 {
		t.Errorf("%d operations for one notice", moves)
	}
}

// A store that failed three times in a row is only read, and says why.
func TestRegistryFailingStore(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{keep: time.Millisecond})
	p := r.newProject(t)
	for r.status(t).Stores != 0 {
		time.Sleep(time.Millisecond)
	}
	stores, err := filepath.Glob(filepath.Join(home, "storage", "*"))
	if err != nil || len(stores) != 1 {
		t.Fatal(stores, err)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	put(t, stores[0], "last-fatal", now+" one\n"+now+" two\n"+now+" the disk is broken\n")
	list, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p}, nil)
	if err != nil || len(list.Checkpoints) != 1 || len(list.Notices) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	put(t, p.ProjectDir(), "a", "two")
	var told *api.Error
	if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); !errors.As(err, &told) ||
		told.Word != api.WordCorrupt {
		t.Errorf("save: %v", err)
	}
	put(t, stores[0], "last-fatal", "2001-01-01T00:00:00Z one\n"+now+" two\n"+now+" three\n")
	if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); err != nil {
		t.Errorf("save after a while: %v", err)
	}
}

// A damaged store is read, never written, and damage does not last beyond its repair.
func TestRegistrySalvage(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{keep: time.Millisecond})
	p := r.newProject(t)
	for r.status(t).Stores != 0 {
		time.Sleep(time.Millisecond)
	}
	tides, err := filepath.Glob(filepath.Join(home, "storage", "*", "tide"))
	if err != nil || len(tides) != 1 {
		t.Fatal(tides, err)
	}
	good, err := os.ReadFile(tides[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tides[0], []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if i%2 == 0 {
				var damaged *api.Error
				c := &api.Client{Transport: r.client.Transport, Damaged: func(e *api.Error) { damaged = e }}
				list, err := api.Call(t.Context(), c, api.List, api.ListRequest{Project: p}, nil)
				if err != nil || len(list.Checkpoints) != 1 || damaged == nil || damaged.Word != api.WordCorrupt {
					t.Errorf("list: %+v, %v, damaged: %v", list, err, damaged)
				}
				return
			}
			var told *api.Error
			if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); !errors.As(err,
				&told) ||
				told.Word != api.WordCorrupt {
				t.Errorf("save: %v", err)
			}
		})
	}
	wg.Wait()
	if err := os.WriteFile(tides[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); err != nil {
		t.Errorf("save after the repair: %v", err)
	}
}

// A store that another process has is waited for.
func TestRegistryWaitsForAnotherProcess(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{keep: time.Millisecond})
	p := r.newProject(t)
	for r.status(t).Stores != 0 {
		time.Sleep(time.Millisecond)
	}
	stores, _ := filepath.Glob(filepath.Join(home, "storage", "*"))
	db, err := kv.Open(t.Context(), stores[0], kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p}, nil)
		done <- err
	}()
	for r.inFlight() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A request that waits for a store that another process has is handed to the next daemon when its own ends: that one
// may be who has it.
func TestEndingDaemonWaitsForNoStore(t *testing.T) {
	home := newHome(t)
	r := start(t, daemonOptions{keep: time.Millisecond})
	p := r.newProject(t)
	for r.status(t).Stores != 0 {
		time.Sleep(time.Millisecond)
	}
	stores, err := filepath.Glob(filepath.Join(home, "storage", "*"))
	if err != nil || len(stores) == 0 {
		t.Fatal(stores, err)
	}
	db, err := kv.Open(t.Context(), stores[0], kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	told := make(chan error, 1)
	go func() {
		_, err := api.Call(t.Context(), r.client, api.List, api.ListRequest{Project: p}, nil)
		told <- err
	}()
	for r.status(t).Stores != 1 {
		time.Sleep(time.Millisecond)
	}
	r.stop(t)
	if err := <-told; !errors.Is(err, api.ErrNoDaemon) {
		t.Errorf("not sent again: %v", err)
	}
}
