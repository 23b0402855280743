package work

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	lull        = 3 * time.Second        // without work, after which memory goes back
	worthGiving = 1 << 20                // bytes
	soon        = 400 * time.Millisecond // after an answer to a page
	worthSoon   = 4 << 20                // bytes
	believed    = 4                      // answers, of what a collection has left
	mostWaits   = 5                      // for answers that come behind each other
	// CollectAt is the percentage by which the heap may grow between two collections: half the usual, for a little of
	// the time of large pieces of work.
	CollectAt = 50
	// GCPercent is that percentage while a gc of a project is at work, or a page is open. The large data of a gc, lists
	// of objects and operations, has no pointers and costs the collector nothing. The answers to a page are garbage as
	// soon as they are sent.
	GCPercent = 25
)

// tight is who wants the heap to grow by GCPercent only. The percentage is the process's, and several of them may
// overlap: the first of them lowers it, the last puts it back to what it was before the first.
var tight struct {
	mu    sync.Mutex
	n     int // of them
	usual int
	trim  func()      // is called before that is given back; nil: nothing is
	timer *time.Timer // of who gives back what they have left; nil: none is to
	ended time.Time   // the newest of them
	waits int         // how often that was put off for a newer one
	kept  uint64      // bytes that the heap had of the system when that was last done
}

// TightHeap begins one of them; back, to be called once, ends it.
func TightHeap() (back func()) {
	tight.mu.Lock()
	defer tight.mu.Unlock()
	if tight.n++; tight.n == 1 {
		tight.usual = debug.SetGCPercent(GCPercent)
	}
	return func() {
		tight.mu.Lock()
		defer tight.mu.Unlock()
		if tight.n--; tight.n == 0 {
			debug.SetGCPercent(tight.usual)
		}
		tight.ended = time.Now()
		if tight.timer == nil {
			tight.timer = time.AfterFunc(soon, giveBackSoon)
		}
	}
}

// BeforeGivingSoon has trim called before what answers have left is given back: it gives up what costs little to have
// again.
func BeforeGivingSoon(trim func()) {
	tight.mu.Lock()
	defer tight.mu.Unlock()
	tight.trim = trim
}

// giveBackSoon gives back what answers have left, without waiting until nobody asks any more: a page that is open asks
// again and again. What is known of the log stays, so that the next answer is not slower for it.
func giveBackSoon() {
	tight.mu.Lock()
	// while answers come behind each other, what one of them holds would be taken for what they keep
	if wait := soon - time.Since(tight.ended); wait > 0 && tight.waits < mostWaits {
		tight.waits++
		tight.timer = time.AfterFunc(wait, giveBackSoon)
		tight.mu.Unlock()
		return
	}
	tight.timer, tight.waits = nil, 0
	before, trim := tight.kept, tight.trim
	tight.mu.Unlock()
	// How much of it lives the last collection knows, but it may have been while the answer was made. So may the last
	// time that this was done, by another answer: what it left is believed a little less each time.
	kept := min(before, ofSystem())
	kept -= min(kept, worthSoon/believed)
	if ofSystem() > before+worthSoon {
		if trim != nil {
			trim()
		}
		debug.FreeOSMemory() // nobody who answers waits for it
		kept = ofSystem()
	}
	tight.mu.Lock()
	tight.kept = kept
	tight.mu.Unlock()
}

// ofSystem is how many bytes the heap has of the system.
func ofSystem() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapSys - s.HeapReleased
}

// Memory returns the memory to the system that a large piece of work, such as a first snapshot, has left. The runtime
// would keep it for minutes. A timer runs only after work.
type Memory struct {
	Trim  func() // first gives up what is of use only to work, and what is kept for it
	mu    sync.Mutex
	timer *time.Timer
	gave  bool // the last time there was something
	ended bool
}

// working puts it off.
func (m *Memory) working() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
}

// quiet has it done soon.
func (m *Memory) quiet() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended || m.timer != nil {
		return
	}
	m.timer = time.AfterFunc(lull, m.giveBack)
}

// End gives nothing back any more.
func (m *Memory) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	if m.timer != nil {
		m.timer.Stop()
	}
}

// giveBack comes again as long as there was something: the store may still be merging what the work has left. Work that
// begins meanwhile is waited for by a timer of its own.
func (m *Memory) giveBack() {
	m.mu.Lock()
	mine, again := m.timer, m.gave
	m.mu.Unlock()
	if mine == nil {
		return
	}
	m.Trim()
	more := GiveBack(again)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gave = more
	if more && !m.ended && m.timer == mine {
		m.timer = time.AfterFunc(lull, m.giveBack)
	}
}

// GiveBack gives back at once, and reports whether there was anything to give. again: there was, a while ago, so that
// pools hold buffers of large work, which survive one collection; those of hooks are left to the next hook.
func GiveBack(again bool) bool {
	runtime.GC()
	if again {
		runtime.GC()
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	if s.HeapIdle-s.HeapReleased <= worthGiving {
		return false
	}
	debug.FreeOSMemory()
	return true
}
