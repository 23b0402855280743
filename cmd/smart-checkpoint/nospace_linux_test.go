package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/internal/torture"
)

const (
	smallDisk = 64 << 20 // bytes of the file system in memory that a home is on
	fewInodes = 200
)

// onSmallDisk makes the home a small file system of its own.
func (s *site) onSmallDisk() {
	s.Helper()
	err := syscall.Mount("tmpfs", s.home, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV,
		fmt.Sprintf("size=%d,nr_inodes=%d,mode=700", smallDisk, fewInodes))
	if errors.Is(err, syscall.EPERM) {
		s.Skip("missing tool: the right to mount a file system (root)")
	}
	s.check(err)
	s.Cleanup(func() {
		s.killAll()
		if err := syscall.Unmount(s.home, syscall.MNT_DETACH); err != nil {
			s.Error(err)
		}
	})
}

// free is how many bytes the home's file system has left.
func (s *site) free() int64 {
	s.Helper()
	var st syscall.Statfs_t
	s.check(syscall.Statfs(s.home, &st))
	return int64(st.Bavail) * st.Bsize
}

// fill leaves so many bytes of the home's file system. What else is written there at the time gets them or not.
func (s *site) fill(left int64) {
	s.Helper()
	f, err := os.Create(filepath.Join(s.home, "filler"))
	s.check(err)
	defer f.Close()
	zero := make([]byte, 64<<10)
	total := int64(0)
	for {
		n, err := f.Write(zero)
		total += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		s.check(err)
	}
	s.check(f.Truncate(max(0, total-left)))
}

// crowd takes every inode.
func (s *site) crowd() {
	s.Helper()
	for i := 0; ; i++ {
		f, err := os.Create(filepath.Join(s.home, fmt.Sprintf("filler%d", i)))
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		s.check(err)
		f.Close()
	}
}

// relieve gives all that back.
func (s *site) relieve() {
	s.Helper()
	names, err := filepath.Glob(filepath.Join(s.home, "filler*"))
	s.check(err)
	for _, name := range names {
		s.check(os.Remove(name))
	}
}

// spaceCase is a disk that is full at some moment.
type spaceCase struct {
	moment string // cold: before the daemon starts; idle: while it has nothing to do; burst: while hooks come
	left   int64  // bytes that are still free; -1: all bytes, and no inode
	edit   int    // bytes that each event has to store
	off    bool   // no daemon: rewind hook does the work
}

func (c spaceCase) String() string {
	name := fmt.Sprintf("%s,left=%d,edit=%d", c.moment, c.left, c.edit)
	if c.off {
		name += ",off"
	}
	return name
}

func spaceCases(m *torture.Run) []spaceCase {
	var list []spaceCase
	for _, moment := range []string{"cold", "idle", "burst"} {
		list = append(list,
			spaceCase{moment, 0, 10, false}, spaceCase{moment, 4 << 10, 10, false}, spaceCase{moment, 1 << 20, 10, false},
			spaceCase{moment, 6 << 20, 10, false}, spaceCase{moment, 6 << 20, 500 << 10, false})
	}
	list = append(list,
		spaceCase{"cold", -1, 10, false}, spaceCase{"idle", -1, 10, false},
		spaceCase{"cold", 0, 10, true}, spaceCase{"cold", 1 << 20, 10, true}, spaceCase{"cold", 6 << 20, 10, true})
	for i := range max(0, m.Points-len(list)) {
		pick := rand.New(rand.NewPCG(3+m.Seed, uint64(i)))
		list = append(list, spaceCase{
			[]string{"cold", "idle", "burst"}[i%3], pick.Int64N(7 << 20), 1 + pick.IntN(500<<10),
			pick.IntN(8) == 0,
		})
	}
	return list[:min(len(list), m.Points)]
}

func TestT4Promise03DiskFull(t *testing.T) {
	m := torture.Begin(t)
	turn := make(chan struct{}, 5) // each waits most of its time
	var all sync.WaitGroup
	for _, c := range spaceCases(m) {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			t.Run(c.String(), c.run)
			m.Point()
			m.Fired(1)
		})
	}
	all.Wait()
}

func (c spaceCase) run(t *testing.T) {
	var env []string
	if c.off {
		env = []string{"REWIND_DAEMON=off"}
	}
	s := newSite(t, env...)
	s.onSmallDisk()
	s.write("kept", "kept\n")
	s.must("init")
	s.edit("before")
	s.mustCapture("session", "before")
	may := map[string]bool{"before": true}
	first := s.events()[0].Checkpoint

	hook := func(i int) {
		call := fmt.Sprintf("full-%d", i)
		s.write("edits/"+call, call+noise(uint64(i), c.edit))
		s.inTime(finish(s.client(int(defaultDeadline/time.Millisecond), "post-tool-use", s.payload("session", call))))
	}
	fill := func() {
		if c.left < 0 {
			s.crowd()
		} else {
			s.fill(c.left)
		}
	}
	for i := range 24 {
		may[fmt.Sprintf("full-%d", i)] = true
	}
	switch c.moment {
	case "cold":
		s.stop()
		fill()
	case "idle":
		fill()
	case "burst":
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				hook(i)
			})
		}
		time.Sleep(60 * time.Millisecond)
		fill()
		all.Wait()
		if c.left >= 0 && s.free() > 8<<20 { // the store has let old files go meanwhile
			fill()
		}
	}
	for i := 16; i < 20; i++ {
		hook(i)
	}
	for i := 20; i < 24 && c.left >= 0 && s.free() > 8<<20; i++ { // the store has let old files go meanwhile
		fill()
		hook(i)
	}
	if c.left >= 0 && s.free() > 8<<20 {
		t.Errorf("the disk was not full: %d bytes are free", s.free())
	}

	if c.left < 0 && c.moment == "idle" { // a store that is open needs no inode
		if v := s.status(); v.Degraded != nil || len(v.Changes) != 0 {
			t.Errorf("%+v, unsaved %v", v.Degraded, v.Changes)
		}
	} else if c.left >= 0 {
		st := s.status()
		if d := st.Degraded; d == nil && c.off && c.left == 0 {
			t.Log("a disk without a byte keeps no note, and no daemon remembers")
		} else if d == nil || d.Since.IsZero() || d.Count == 0 || !spaceWords.MatchString(d.Error) {
			t.Errorf("status does not say why: %+v, notices %q", d, st.Notices)
		} else if text := s.must("status"); !strings.Contains(text, "degraded") {
			t.Errorf("status is silent:\n%s", text)
		}
		if text := s.must("status"); !spaceWords.MatchString(text) {
			t.Errorf("status does not speak of space:\n%s", text)
		}
	}
	for _, pid := range s.daemons() {
		s.noSpin(pid)
	}
	if c.left >= 0 || c.moment != "cold" { // opening a store takes inodes
		if out := s.must("list", "--all", "--steps"); !strings.Contains(out, first[:6]) {
			t.Errorf("list does not have %s:\n%s", first, out)
		}
		s.must("show", first)
		if got := s.must("cat", first+":kept"); got != "kept\n" {
			t.Errorf("cat: %q", got)
		}
	}

	s.relieve()
	s.edit("after")
	s.mustCapture("session", "after")
	may["after"] = true
	if v := s.status(); v.Degraded != nil || len(v.Changes) != 0 {
		t.Errorf("after space came back: %+v, unsaved %v", v.Degraded, v.Changes)
	}
	list := s.recorded([]string{"before", "after"}, may)
	s.holds(list, 0)
	s.clean()
}

// noise is text that does not compress.
func noise(seed uint64, n int) string {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// spaceWords are how a full disk is called.
var spaceWords = regexp.MustCompile(`(?i)space`)
