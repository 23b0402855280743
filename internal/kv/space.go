package kv

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// space keeps a full disk from becoming a failed write. Before a write begins it asks how much is free; should the disk
// fill up under a write all the same, it gives the ballast back.
type space struct {
	fs   vfs.FS // below the disk-full watch
	dir  string
	full atomic.Bool // writes are refused, compactions wait
	woke func()      // called when full ends
	mu   sync.Mutex  // the ballast
	held bool        // the ballast exists
}

func (s *space) path() string { return s.fs.PathJoin(s.dir, nameBallast) }

// free is the number of bytes that may be written; ok is false where the file system cannot tell.
func (s *space) free() (n uint64, ok bool) {
	du, err := s.fs.GetDiskUsage(s.dir)
	return du.AvailBytes, err == nil
}

// check refuses a write of n bytes with ErrNoSpace unless the reserve stays free beside it.
func (s *space) check(n int) error {
	avail, ok := s.free()
	if !ok {
		s.resume()
		return nil
	}
	need := uint64(reserveBytes) + 2*uint64(n)
	if avail < need {
		s.full.Store(true)
		return noRoom(avail, need)
	}
	s.restore(avail, need)
	return nil
}

// noRoom is the error of a disk with so many bytes free where so many are wanted.
func noRoom(avail, need uint64) error {
	const mib = 1 << 20
	return fmt.Errorf("%w: %.1f MiB free, %.1f MiB wanted", ErrNoSpace, float64(avail)/mib, float64(need)/mib)
}

// restore makes the ballast again once there is ample room, and ends the pause of compactions.
func (s *space) restore(avail, need uint64) {
	s.resume()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held || avail < need+2*BallastBytes {
		return
	}
	s.held = s.write() == nil
}

// resume ends the pause of compactions.
func (s *space) resume() {
	if s.full.CompareAndSwap(true, false) && s.woke != nil {
		s.woke()
	}
}

// write makes the ballast. Its bytes do not compress, so that file systems which do give it real blocks.
func (s *space) write() error {
	f, err := s.fs.Create(s.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	buf := make([]byte, 256<<10)
	x := uint64(0x9e3779b97f4a7c15)
	for n := 0; n < BallastBytes && err == nil; n += len(buf) {
		for i := 0; i < len(buf); i += 8 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			binary.LittleEndian.PutUint64(buf[i:], x)
		}
		_, err = f.Write(buf)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = s.fs.Remove(s.path())
	}
	return err
}

// look finds the ballast of an earlier process.
func (s *space) look() {
	info, err := s.fs.Stat(s.path())
	s.held = err == nil && info.Size() >= BallastBytes
}

// begin makes the ballast where there is room.
func (s *space) begin() {
	if avail, ok := s.free(); ok {
		s.restore(avail, reserveBytes)
	}
}

// release is called when a write met a full disk, before it is tried once more.
func (s *space) release() {
	s.full.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		s.held = false
		_ = s.fs.Remove(s.path())
	}
}
