package find_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/find"
	"rewind/engine/gc"
)

// looks is a context that does something each time a search asks whether it is still wanted.
type looks struct {
	context.Context
	look func()
}

func (l looks) Err() error {
	l.look()
	return l.Context.Err()
}

// A search of the files as they are leaves the log to agents: capturing them takes the lock, searching does not.
func TestGrepNowLeavesTheLog(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a.txt", "saved\n")
	p.Save("begin")
	p.Write("a.txt", "needle\n")
	var free atomic.Bool
	ctx := looks{enginetest.Bg, func() {
		got := make(chan struct{})
		go func() {
			p.E.Log.Hold()()
			close(got)
		}()
		select {
		case <-got:
			free.Store(true)
		case <-time.After(300 * time.Millisecond):
		}
	}}
	r, err := p.E.GrepNow(ctx, find.GrepOptions{Pattern: find.Pattern{Text: "needle"}}, nil)
	p.Must(err)
	if len(r.Matches) != 1 {
		t.Errorf("%d matches", len(r.Matches))
	}
	if !free.Load() {
		t.Error("the log was held for all of the search")
	}
}

// A content that nothing stored and that is too large to be kept in memory is named, and the rest is searched.
func TestGrepNowLarge(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a.txt", "needle\n")
	p.Save("begin")
	p.Write("big.txt", strings.Repeat("needle and more\n", 5<<20/16))
	p.Write("z.txt", "needle\n")
	r, err := p.E.GrepNow(enginetest.Bg, find.GrepOptions{Pattern: find.Pattern{Text: "needle"}}, nil)
	p.Must(err)
	if len(r.Matches) != 2 || fmt.Sprint(r.Unsearched.TooLarge) != "[big.txt]" {
		t.Errorf("%d matches, too large %v", len(r.Matches), r.Unsearched.TooLarge)
	}
}

// saves is how many checkpoints a search finds in the log; it looks once for each of them. There, gc would wait for it.
const saves = 12

// A search beside gc, which takes away what is being read at any moment of it, answers by the history before or after
// it.
func TestFindBesideGC(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(context.Context, *enginetest.Project) (int, error)
	}{
		{"grep", func(ctx context.Context, p *enginetest.Project) (int, error) {
			r, err := p.E.Finder.Grep(ctx, find.GrepOptions{Pattern: find.Pattern{Text: "needle"}})
			if err != nil {
				return 0, err
			}
			return len(r.Matches), nil
		}},
		{"paths", func(ctx context.Context, p *enginetest.Project) (int, error) {
			r, err := p.E.Finder.Paths(ctx, find.PathsOptions{Text: "needle"})
			if err != nil {
				return 0, err
			}
			return len(r.Checkpoints), nil
		}},
		{"blame", func(ctx context.Context, p *enginetest.Project) (int, error) {
			r, err := p.E.Finder.Blame(ctx, find.BlameOptions{Path: "d/a.txt"})
			if err != nil {
				return 0, err
			}
			return len(r.Lines), nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for at, looks := saves+1, saves+1; at <= looks; at++ {
				t.Run(fmt.Sprint(at), func(t *testing.T) { looks = searchBesideGC(t, at, c.ask) })
			}
		})
	}
}

// searchBesideGC has gc run when a search looks for the nth time whether it is still wanted. It gives how often the
// search looked.
func searchBesideGC(t *testing.T, nth int, ask func(context.Context, *enginetest.Project) (int, error)) (n int) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	for i := range saves {
		p.Write("d/a.txt", string(bytes.Repeat(fmt.Appendf(nil, "needle %d\n", i), i+1)))
		p.Write(fmt.Sprintf("d/%d.txt", i), fmt.Sprintf("needle %d\n", i))
		p.Save(fmt.Sprint(i))
	}
	var mu sync.Mutex // a search looks from several goroutines
	before, err := ask(looks{enginetest.Bg, func() {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == nth {
			p.Collect(gc.Options{Keep: 1})
		}
	}}, p)
	p.Must(err)
	after, err := ask(enginetest.Bg, p)
	p.Must(err)
	if before < after {
		t.Errorf("%d found beside gc, %d after it", before, after)
	}
	return n
}

// Searches that come at once, beside steps, each answer by what was there when they began, or later.
func TestFindAtOnce(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a.txt", "needle 0\n")
	p.Save("begin")
	var saved atomic.Int64
	saved.Store(1)
	var asking sync.WaitGroup
	done := make(chan struct{})
	for _, ask := range []func() (int, error){
		func() (int, error) {
			r, err := p.E.Finder.Paths(enginetest.Bg, find.PathsOptions{Paths: []string{"a.txt"}})
			if err != nil {
				return 0, err
			}
			return len(r.Checkpoints), nil
		},
		func() (int, error) {
			r, err := p.E.Finder.Paths(enginetest.Bg, find.PathsOptions{Text: "needle"})
			if err != nil {
				return 0, err
			}
			return len(r.Checkpoints), nil
		},
		func() (int, error) {
			r, err := p.E.Finder.Grep(enginetest.Bg, find.GrepOptions{Pattern: find.Pattern{Text: "needle"}})
			if err != nil {
				return 0, err
			}
			return len(r.Matches), nil
		},
		func() (int, error) {
			r, err := p.E.Finder.Blame(enginetest.Bg, find.BlameOptions{Path: "a.txt"})
			if err != nil {
				return 0, err
			}
			return len(r.Lines), nil
		},
	} {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				least := int(saved.Load())
				if n, err := ask(); err != nil || n < least {
					t.Errorf("%d found of %d at least: %v", n, least, err)
					return
				}
			}
		})
	}
	var lines strings.Builder
	lines.WriteString("needle 0\n")
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&lines, "needle %d\n", i)
		p.Write("a.txt", lines.String())
		p.Save(fmt.Sprint(i))
		saved.Add(1)
	}
	close(done)
	asking.Wait()
}
