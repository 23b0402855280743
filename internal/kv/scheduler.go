package kv

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler grants compactions up to pebble's own limit, as pebble's default scheduler does, but without its ticker: an
// idle store does not wake the processor. It also grants none while the disk is full: a compaction could only fail and
// be tried again at once, for ever. It grants none before the database is open: if opening fails later on, pebble
// closes what a compaction reads from, and panics.
type scheduler struct {
	paused func() bool
	db     pebble.DBForCompaction // set once, before any other call

	mu           sync.Mutex
	done         *sync.Cond // granting became false
	running      int
	granting     bool
	refused      bool // somebody asked while granting held the permission that was left
	opened       bool
	unregistered bool
}

func newScheduler(paused func() bool) *scheduler {
	s := &scheduler{paused: paused}
	s.done = sync.NewCond(&s.mu)
	return s
}

func (s *scheduler) Register(_ int, db pebble.DBForCompaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.db = db
}

func (s *scheduler) Unregister() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unregistered = true
	for s.granting {
		s.done.Wait()
	}
}

func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := s.unregistered || !s.opened
	if closed || s.paused() || s.running >= s.db.GetAllowedWithoutPermission() {
		s.refused = s.granting
		return false, nil
	}
	s.running++
	return true, grant{s}
}

// UpdateGetAllowedWithoutPermission is called by pebble after a flush, with its locks held: granting has to happen
// elsewhere.
func (s *scheduler) UpdateGetAllowedWithoutPermission() { go s.grant() }

// open lets compactions begin.
func (s *scheduler) open() {
	s.mu.Lock()
	s.opened = true
	s.mu.Unlock()
	s.poke()
}

// poke looks for waiting work after a pause.
func (s *scheduler) poke() { go s.grant() }

// grant starts waiting compactions while the limit allows. It takes turns with itself and ends early when the DB
// closes. While it asks what is waiting, it holds a permission that it may give back; pebble, when it is refused for
// that, asks no more and waits to be called. So it is asked again.
func (s *scheduler) grant() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.granting && !s.unregistered {
		s.done.Wait()
	}
	if s.unregistered || !s.opened || s.db == nil {
		return
	}
	s.granting = true
	for !s.unregistered && !s.paused() && s.running < s.db.GetAllowedWithoutPermission() {
		s.running++ // before the lock is given up, so that TrySchedule counts it
		s.refused = false
		s.mu.Unlock()
		started := s.db.Schedule(grant{s})
		s.mu.Lock()
		if !started {
			if s.running--; !s.refused {
				break
			}
		}
	}
	s.granting = false
	s.done.Broadcast()
}

// grant is the permission for one compaction.
type grant struct{ s *scheduler }

func (grant) Started()                                          {}
func (grant) MeasureCPU(pebble.CompactionGoroutineKind)         {}
func (grant) CumulativeStats(pebble.CompactionGrantHandleStats) {}
func (g grant) Done() {
	g.s.mu.Lock()
	g.s.running--
	g.s.mu.Unlock()
	g.s.grant()
}
