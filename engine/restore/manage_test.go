package restore_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// Where no code was ever captured a session has no place, and is not managed.
func TestManageWithoutACheckpoint(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Line("user", `{"role":"user","content":"one"}`)
	k.Say("done: one")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	m := manage.Request{Kind: refs.KindArchive, Sessions: []string{k.Name()}, Env: p.Env()}
	if r, err := p.E.Restorer.Manage(enginetest.Bg, m); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("%+v, %v", r, err)
	}
	p.Write("f", "1")
	p.Save("one")
	r, err := p.E.Restorer.Manage(enginetest.Bg, m)
	p.Must(err)
	if r.Operation == nil || r.Operation.Kind != refs.KindArchive {
		t.Errorf("%+v", r)
	}
}

// A fork whose file others go on from stays when forks are pruned, and so does its file; those that nothing needs go.
func TestPruneOfForksThatAreNeeded(t *testing.T) {
	t.Parallel()
	p, files, was := codexRun(t)
	m := manage.Request{LastCopy: true, Env: p.Env()}
	r, left, err := p.E.Restorer.PruneForks(enginetest.Bg, manage.Prune{Older: 1, Keep: 139}, m)
	p.Must(err)
	goes := map[string]bool{}
	for _, s := range r.Sessions {
		goes[s.Session] = true
	}
	for _, session := range slices.Sorted(maps.Keys(files)) {
		newest := slices.Max(files[session])
		if _, err := os.Stat(newest); (err != nil) != goes[session] {
			t.Errorf("%s goes %v, its file: %v", session, goes[session], err)
		}
	}
	if len(goes) == 0 || len(left) > 0 {
		t.Fatalf("%d of %d go, %d are left", len(goes), len(files), len(left))
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	for path, text := range was {
		if p.Slurp(path) != text {
			t.Errorf("%s is not as it was", filepath.Base(path))
		}
	}
}

// A fork that an agent opens while forks are pruned stays, whenever that is, and the others go.
func TestPruneWhileAForkIsOpened(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	gone := p.Fork("turn:1@"+k.Name(), restore.Options{}).Session
	open := p.Fork("turn:1@"+k.Name(), restore.Options{}).Session
	k.Take("three", nil) // the project stands there
	p.Settle()
	disk := p.FS.Clone(100, 1)
	reads, both := int64(0), 0
	for n := int64(1); n <= max(reads, 1); n += max(reads/24, 1) {
		var at atomic.Int64
		at.Store(-1 << 40)
		note := ""
		q := p.Copied(disk, func() error {
			if at.Add(1) == n && reads > 0 {
				note = running(p, open)
			}
			return nil
		})
		at.Store(0)
		m := manage.Request{DryRun: true, Env: q.Env()}
		r, _, err := q.E.Restorer.PruneForks(enginetest.Bg, manage.Prune{Older: 1}, m)
		p.Must(err)
		q.Close()
		var goes []string
		for _, s := range r.Sessions {
			goes = append(goes, s.Session)
		}
		if note != "" {
			p.Must(os.Remove(note))
		}
		if reads == 0 {
			reads = at.Load()
			if len(goes) != 2 {
				t.Fatalf("%q would go", goes)
			}
			continue
		}
		if both += len(goes) - 1; !slices.Contains(goes, gone) || fmt.Sprint(goes) == fmt.Sprint([]string{open}) {
			t.Errorf("opened at read %d of %d: %q", n, reads, goes)
		}
	}
	if both > 12 { // after the last look at it
		t.Errorf("it was open %d times, and would have gone", both)
	}
}
