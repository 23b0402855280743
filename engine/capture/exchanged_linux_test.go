package capture_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
)

// otherDir is a directory of the same user's that no project is, beside the project's.
func otherDir(p *enginetest.Project) string {
	dir := p.Root + "-other"
	for _, name := range []string{"f", "d/g", "theirs"} {
		p.Must(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		p.Must(os.WriteFile(filepath.Join(dir, name), []byte("theirs"), 0o644))
	}
	p.T.(*testing.T).Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// noneOfTheirs fails if a checkpoint has a file of the other directory, or lacks one of the project's.
func noneOfTheirs(t *testing.T, e *engine.Engine, when string) (checkpoints int) {
	t.Helper()
	ops, err := e.History.Operations(enginetest.Bg, 0, history.Every)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		if op.Checkpoint.IsZero() {
			continue
		}
		cp, err := e.Log.Checkpoint(op.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		checkpoints++
		if _, err := e.Log.Lookup(cp, "theirs"); err == nil {
			t.Errorf("%s: checkpoint %s has the other directory", when, cp.ID.Short())
		}
		for _, name := range []string{"f", "d/g", "ours"} {
			if _, err := e.Log.Lookup(cp, name); err != nil {
				t.Errorf("%s: checkpoint %s lacks %s", when, cp.ID.Short(), name)
			}
		}
	}
	return checkpoints
}

// TestT21RootExchangedInACapture: another directory takes the name of the project's before any call of a capture, for
// good or for one call. Nothing of it is captured, and with it there nothing is recorded at all.
func TestT21RootExchangedInACapture(t *testing.T) {
	for _, stays := range []bool{true, false} {
		for n := 0; ; n++ {
			p := enginetest.NewProject(t)
			for _, name := range []string{"f", "d/g", "ours"} {
				p.Write(name, "ours")
			}
			p.Save("first")
			other := otherDir(p)
			p.Write("f", fmt.Sprint("changed ", n))
			fired, swapped := false, false
			swap := func() {
				p.Must(exchange(p.Root, other))
				swapped = !swapped
			}
			s := &faultfs.Script{Reads: true, Before: func(i int, _ faultfs.Call) {
				if i == n || !stays && i == n+1 && swapped {
					fired = true
					swap()
				}
			}}
			p.E.Log.Wrap = func(d worktreefs.Dir) worktreefs.Dir {
				if n == 0 && !fired {
					fired = true
					swap()
				}
				return faultfs.Wrap(d, s)
			}
			_, err := p.E.Worktree.Save(enginetest.Bg, "", "while", nil)
			p.E.Log.Wrap = nil
			when := fmt.Sprintf("exchanged before call %d of %d, stays %v", n, s.Calls(), stays)
			// Behind the last look what is committed is the project's all the same.
			if stays && fired && n < s.Calls() && !errors.Is(err, project.ErrNotMounted) {
				t.Errorf("%s: %v", when, err)
			}
			if swapped {
				ev := hooks.Event{Kind: hooks.Prompt, Agent: hooks.Claude, Session: "s", Cwd: p.Root, Prompt: "go"}
				if _, err := p.E.Worktree.Handle(enginetest.Bg, ev, capture.HandleOptions{}); !errors.Is(err, project.ErrNotMounted) {
					t.Errorf("%s: a hook after it: %v", when, err)
				}
				swap()
			}
			p.Save("after")
			noneOfTheirs(t, p.E, when)
			if !fired || t.Failed() {
				break
			}
		}
	}
}

// TestT21RootExchangedInALoop: a program exchanges the project's directory with another one all the time, while the
// project is opened and captured again and again. A round in which the program did not come to it for as long as a
// directory takes to be the project's says nothing.
func TestT21RootExchangedInALoop(t *testing.T) {
	const steadyFor = 300 * time.Millisecond // as engine/project has it
	for rounds, end := 0, time.Now().Add(2*time.Minute); rounds < 4; {
		judge, longest := exchangedInALoop(t)
		switch {
		case longest < steadyFor/2:
			judge()
			rounds++
		case time.Now().After(end):
			t.Fatalf("%d rounds; in the last one the directory stayed for %v", rounds, longest)
		}
	}
}

// exchangedInALoop is a round of a second, how it is judged, and for how long at most no directory was exchanged.
func exchangedInALoop(t *testing.T) (judge func(), longest time.Duration) {
	p := enginetest.NewProject(t)
	for _, name := range []string{"f", "d/g", "ours"} {
		p.Write(name, "ours")
	}
	p.Save("first")
	other := otherDir(p)
	p.Close()
	stop, exchanges := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for last := time.Now(); ; exchanges++ {
			select {
			case <-stop:
				if exchanges%2 == 1 {
					p.Must(exchange(p.Root, other))
				}
				return
			default:
				p.Must(exchange(p.Root, other))
			}
			now := time.Now()
			last, longest = now, max(longest, now.Sub(last))
		}
	})
	saved, refused := 0, 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		e, err := engine.Open(context.Background(), p.Home, p.Root, p.Options())
		if err != nil {
			refused++
			continue
		}
		if _, err := e.Worktree.Save(enginetest.Bg, "", "in the loop", nil); err == nil {
			saved++
		} else {
			refused++
		}
		p.Must(e.Close())
	}
	close(stop)
	wg.Wait()
	e, err := engine.Open(context.Background(), p.Home, p.Root, p.Options())
	p.Must(err)
	p.E = e
	return func() {
		if _, err := os.Lstat(filepath.Join(other, ".agent")); err == nil {
			t.Error("the other directory got a marker")
		}
		p.Write("f", "at the end")
		p.Save("at the end")
		n := noneOfTheirs(t, p.E, "in the loop")
		t.Logf("%d exchanges, %d saves, %d refused, %d checkpoints", exchanges, saved, refused, n)
		if exchanges < 25 || refused == 0 {
			t.Errorf("only %d exchanges, %d refused", exchanges, refused)
		}
	}, longest
}
