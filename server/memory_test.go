package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// Memory goes back soon behind large work, and behind little only when nothing has come for a while: the next hook of a turn finds everything warm.
func TestMemoryGoesBack(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		soon bool
	}{{"large work", 2 * littleWork, true}, {"little work", 1 << 10, false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				given := 0
				m := &memory{rest: func() { given++ }, since: allocated()}
				defer m.end()
				for range 3 { // each within the rest of the one before
					m.working()
					used = make([]byte, c.size)
					m.quiet()
					time.Sleep(lull - time.Millisecond)
				}
				if given > 0 {
					t.Fatal("given back while work comes")
				}
				time.Sleep(time.Second)
				if soon := given > 0; soon != c.soon {
					t.Errorf("given back soon: %v", soon)
				}
				time.Sleep(smallLull)
				if given == 0 {
					t.Error("never given back")
				}
			})
		})
	}
}

var used []byte // keeps the compiler from leaving the work out
