package work

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Memory goes back when nothing has come for a while, and not while work comes. What comes while it goes back has a
// timer of its own: the one that ends then leaves none behind, and once the daemon is told to end nothing more happens.
func TestMemoryGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int64
		var m *Memory
		m = &Memory{Trim: func() {
			if given.Add(1) == 1 { // a call comes and goes meanwhile, and leaves something to give
				m.working()
				leave(64 << 20)
				m.quiet()
			}
		}}
		m.quiet()
		for range 3 {
			m.working()
			m.quiet()
			time.Sleep(lull - time.Millisecond)
		}
		if given.Load() > 0 {
			t.Fatal("given back while work comes")
		}
		time.Sleep(2 * time.Millisecond)
		if n := given.Load(); n != 1 {
			t.Fatalf("given back %d times after a lull", n)
		}
		m.End() // it stops the timer that there is
		time.Sleep(10 * lull)
		if n := given.Load(); n != 1 {
			t.Errorf("given back %d times: a second timer was left behind", n)
		}
	})
}

// leave makes something that nobody needs any more.
func leave(size int) {
	used = make([]byte, size)
	clear(used)
	used = nil
}

var used []byte // a local one would not be made
