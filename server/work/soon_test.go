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
	before := held()
	back := work.TightHeap()
	runtime.KeepAlive(answer())
	back()
	givenBack(t, before)
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

// givenBack waits until most of an answer is given back, while a page asks again and again.
func givenBack(t *testing.T, before uint64) {
	t.Helper()
	for begun := time.Now(); held() > before+32<<20; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d bytes are kept, %d before", held(), before)
		}
		work.TightHeap()()
	}
}

// What a collection found in use, for another answer was being made, is given back a few answers later.
func TestGivenBackAfterACollectionBetween(t *testing.T) {
	debug.FreeOSMemory()
	open := work.TightHeap()
	defer open()
	before := held()
	other := answer()
	for begun := time.Now(); time.Since(begun) < time.Second; time.Sleep(20 * time.Millisecond) {
		work.TightHeap()()
	}
	runtime.KeepAlive(other)
	givenBack(t, before)
}

// A collection while the answer was made has found all of it in use: that is given back none the less.
func TestGivenBackAfterACollectionOfUse(t *testing.T) {
	open := work.TightHeap()
	defer open()
	before := held()
	back := work.TightHeap()
	used := make([]byte, 64<<20)
	runtime.GC()
	runtime.KeepAlive(used)
	back()
	givenBack(t, before)
}
