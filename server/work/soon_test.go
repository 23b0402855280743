package work_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"rewind/server/work"
)

// What an answer has left behind is given back soon after it, while others are still asked for.
func TestGivenBackSoon(t *testing.T) {
	debug.FreeOSMemory()
	open := work.TightHeap() // a page, which stays
	defer open()
	held := func() uint64 {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapSys - s.HeapReleased
	}
	before := held()
	back := work.TightHeap()
	garbage := make([][]byte, 0, 64)
	for range 64 {
		garbage = append(garbage, make([]byte, 1<<20))
	}
	runtime.KeepAlive(garbage)
	back()
	for begun := time.Now(); held() > before+32<<20; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%d bytes are kept, %d before", held(), before)
		}
	}
}

// A collection while the answer was made has found all of it in use: that is given back none the less.
func TestGivenBackAfterACollectionOfUse(t *testing.T) {
	open := work.TightHeap()
	defer open()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	before := s.HeapSys - s.HeapReleased
	back := work.TightHeap()
	used := make([]byte, 64<<20)
	runtime.GC()
	runtime.KeepAlive(used)
	back()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if runtime.ReadMemStats(&s); s.HeapSys-s.HeapReleased <= before+32<<20 {
			return
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("%d bytes are kept, %d before", s.HeapSys-s.HeapReleased, before)
		}
	}
}
