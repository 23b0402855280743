package server

import (
	"fmt"
	"runtime/metrics"
	"testing"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/project"
	"rewind/server/work"
)

// While the gc of any project is under way the heap grows by less between two collections, and when the last of them is
// done by as much as before the first, however they overlap.
func TestHeapAfterTwoGCs(t *testing.T) {
	usual := heapGrowth()
	s, _, _ := opened(t)
	first, second := beginGC(t, s), beginGC(t, s)
	if got := heapGrowth(); got != work.GCPercent {
		t.Errorf("two at work: %d %%", got)
	}
	first.end()
	if got := heapGrowth(); got != work.GCPercent {
		t.Errorf("the second at work: %d %%", got)
	}
	second.end()
	if got := heapGrowth(); got != usual {
		t.Errorf("none at work: %d %%, before %d", got, usual)
	}
}

// heapGrowth is the percentage by which the heap may grow between two collections of Go's.
func heapGrowth() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// collecting is a gc of a project of its own that waits in its middle.
type collecting struct {
	t    *testing.T
	on   chan struct{}
	done chan error
}

// beginGC returns when it is there.
func beginGC(t *testing.T, s *server) *collecting {
	t.Helper()
	dir := t.TempDir()
	e, _, err := engine.Init(t.Context(), s.home, dir, project.ModeGlobal, project.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 64 { // enough for its progress to be told
		put(t, dir, fmt.Sprint(n), fmt.Sprint(n))
	}
	if _, err = e.Worktree.Save(t.Context(), "", "", nil); err != nil {
		t.Fatal(err)
	}
	if err = e.Close(); err != nil {
		t.Fatal(err)
	}
	c := &collecting{t: t, on: make(chan struct{}), done: make(chan error, 1)}
	there := make(chan struct{})
	go func() {
		told := false
		_, err := upkeep{s}.gc(t.Context(), api.GCRequest{Project: api.Project{Dir: api.Text(dir)}}, func(int, int64) {
			if !told {
				told = true
				close(there)
				<-c.on
			}
		})
		c.done <- err
	}()
	select {
	case <-there:
	case err := <-c.done:
		t.Fatalf("gc ended before it told of its progress: %v", err)
	}
	return c
}

func (c *collecting) end() {
	c.t.Helper()
	close(c.on)
	if err := <-c.done; err != nil {
		c.t.Errorf("gc: %v", err)
	}
}
