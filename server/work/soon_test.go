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
	before := settled(t)
	open := work.TightHeap() // a page, which stays
	defer open()
	back := work.TightHeap()
	runtime.KeepAlive(answer())
	back()
	givenBack(t, before, func() {})
}

// settled waits until nothing of another test is to be given back, and returns what the heap has then.
func settled(t *testing.T) uint64 {
	t.Helper()
	for begun := time.Now(); !work.Settled(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("something is to be given back, and is not")
		}
	}
	debug.FreeOSMemory()
	work.Forget() // another test's answer was in use then
	return held()
}

// held is how many bytes the heap has of the system.
func held() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapSys - s.HeapReleased
}

// answer is what a large answer takes.
func answer() (pieces [][]byte) {
	for range 64 {
		pieces = append(pieces, make([]byte, 1<<20))
	}
	return pieces
}

// givenBack waits until most of an answer is given back.
func givenBack(t *testing.T, before uint64, meanwhile func()) {
	t.Helper()
	for begun := time.Now(); held() > before+32<<20; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d bytes are kept, %d before", held(), before)
		}
		meanwhile()
	}
}

// What a collection found in use, for another answer was being made, is given back a few answers later.
func TestGivenBackAfterACollectionBetween(t *testing.T) {
	before := settled(t)
	open := work.TightHeap()
	defer open()
	other := answer()
	asks := func() { work.TightHeap()() } // a page, again and again
	for begun := time.Now(); time.Since(begun) < time.Second; time.Sleep(20 * time.Millisecond) {
		asks()
	}
	runtime.KeepAlive(other)
	givenBack(t, before, asks)
}

// A collection while the answer was made has found all of it in use: that is given back none the less.
func TestGivenBackAfterACollectionOfUse(t *testing.T) {
	before := settled(t)
	open := work.TightHeap()
	defer open()
	back := work.TightHeap()
	used := make([]byte, 64<<20)
	runtime.GC()
	runtime.KeepAlive(used)
	back()
	givenBack(t, before, func() {})
}

// TestTrimmedSoon: what costs little to have again is given up before what an answer has left is given back.
func TestTrimmedSoon(t *testing.T) {
	before := settled(t)
	trimmed := make(chan struct{}, 1)
	work.BeforeGivingSoon(func() {
		select {
		case trimmed <- struct{}{}:
		default:
		}
	})
	defer work.BeforeGivingSoon(nil)
	open := work.TightHeap()
	defer open()
	back := work.TightHeap()
	runtime.KeepAlive(answer())
	back()
	givenBack(t, before, func() {})
	select {
	case <-trimmed:
	case <-time.After(time.Minute):
		t.Error("nothing is given up")
	}
}
