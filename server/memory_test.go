package server

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Memory goes back when nothing has come for a while. Work that comes while it goes back has a timer of its own, and is not followed by two.
func TestMemoryGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given, going atomic.Int32
		m := &memory{rest: func() {
			if going.Add(1) > 1 {
				t.Error("given back twice at a time")
			}
			given.Add(1)
			time.Sleep(2 * lull) // the work below comes meanwhile
			going.Add(-1)
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
		time.Sleep(time.Second)
		if given.Load() != 1 {
			t.Fatalf("given back %d times", given.Load())
		}
		m.working()
		time.Sleep(2 * lull)
		m.quiet()
		time.Sleep(10 * lull)
		if n := given.Load(); n < 2 {
			t.Errorf("given back %d times", n)
		}
		m.end()
	})
}
