package restore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/value"
)

// TestPickFromAWorktree: changes of another worktree are brought while that one is captured and collected. Each comes
// whole, or is said to have gone; and nothing here depends on the other store once the pick has returned.
func TestPickFromAWorktree(t *testing.T) {
	p := enginetest.NewProject(t)
	lines := func(n int) string { return strings.Repeat("line\n", 5) + fmt.Sprintln(n) + strings.Repeat("line\n", 5) }
	large := func(n int) string { return fmt.Sprintln(n) + strings.Repeat(fmt.Sprint("large ", n, "\n"), 300_000) }
	p.Write("f", lines(0))
	p.Save("start")
	q := p.Beside(t.TempDir())
	q.Set("gc.grace", "0s")
	var made []*model.Checkpoint
	for n := range 6 {
		q.Write("f", lines(n+1))
		q.Write(fmt.Sprint("d", n, "/large"), large(n))
		made = append(made, q.Save(fmt.Sprint("change ", n)))
	}
	bring := func(n int) (is bool) {
		cp := made[n]
		o := restore.PickOptions{Change: cp.ID.String(), From: q.E.Merger, Options: restore.Options{Prefer: textdiff.Theirs}}
		res, err := p.E.Restorer.Pick(enginetest.Bg, o)
		var gone *oplog.BesideError
		if errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrUsage) || errors.As(err, &gone) && gone.Swept() {
			return false // gc has removed it, or all before it
		}
		p.Must(err)
		if got := p.Read(fmt.Sprint("d", n, "/large")); got != large(n) {
			t.Fatalf("change %d: the large file is not what it was there", n)
		}
		if got := p.Read("f"); got != lines(n+1) {
			t.Fatalf("change %d: f is %q", n, got)
		}
		if res.Change.Lent == nil || res.Change.Lent.ID != cp.ID {
			t.Fatalf("change %d is said to be of %v", n, res.Change.Lent)
		}
		return true
	}
	if !bring(len(made) - 1) {
		t.Fatal("a change is not there")
	}
	end := make(chan struct{})
	var wg sync.WaitGroup
	for _, work := range []func(n int) error{
		func(n int) error {
			if err := os.WriteFile(q.Path("busy"), []byte(fmt.Sprintln(n)), 0o600); err != nil {
				return err
			}
			_, err := q.E.Worktree.Save(enginetest.Bg, "", "", nil)
			return err
		},
		func(int) error {
			_, err := q.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 3})
			return err
		},
	} {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				if err := work(n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	brought := 1
	for n := range len(made) - 1 {
		if bring(len(made) - 2 - n) {
			brought++
		}
	}
	close(end)
	wg.Wait()
	t.Logf("%d of %d changes were brought", brought, len(made))
	q.Close()
	p.Set("gc.grace", "0s")
	p.Gc(gc.Options{})
	p.Sound()
	p.Reopen()
	before := enginetest.List(t, p.Root)
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{CodeOnly: true})
	p.Must(err)
	if enginetest.List(t, p.Root).Diff(before) == "" {
		t.Error("undo-restore changed nothing")
	}
}

// TestPickOfAPurgedContent: what was purged here does not come back from a worktree.
func TestPickOfAPurgedContent(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "start\n")
	p.Save("start")
	p.Write("key", "the secret of all\n")
	p.Save("with the key")
	q := p.Beside(t.TempDir())
	defer q.Close()
	p.Remove("key")
	p.Save("without")
	p.Purge(purge.Options{Paths: []string{"key"}})
	o := restore.PickOptions{Change: "@", From: q.E.Merger, Options: restore.Options{Prefer: textdiff.Theirs}}
	res, err := p.E.Restorer.Pick(enginetest.Bg, o)
	p.Must(err)
	if len(res.Plan.Merges) != 1 || res.Plan.Merges[0].Verdict != value.MergeConflict || res.Plan.Merges[0].Reason != value.ReasonGone {
		t.Errorf("%v", res.Plan.Merges)
	}
	if _, err := os.Lstat(p.Path("key")); err == nil {
		t.Error("it is there")
	}
}
