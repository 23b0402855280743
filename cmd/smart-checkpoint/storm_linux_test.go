package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/internal/torture"
)

const stormSize = 64

// storm has hooks of several sessions come at the same moment and returns what they said, by call.
func (s *site) storm(round int, deadline int, while func()) map[string]result {
	out := map[string]result{}
	var mu sync.Mutex
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range stormSize {
		call := fmt.Sprintf("toolu-%d-%d", round, i)
		s.edit(call)
		cmd := s.client(deadline, "post-tool-use", s.payload(fmt.Sprintf("session-%d", i%8), call))
		all.Go(func() {
			<-begin
			r := finish(cmd)
			mu.Lock()
			defer mu.Unlock()
			out[call] = r
		})
	}
	close(begin)
	if while != nil {
		while()
	}
	all.Wait()
	return out
}

// serves fails unless exactly one daemon runs, and it is the one that the run directory names.
func (s *site) serves() {
	s.Helper()
	pid := s.daemon()
	var v struct{ PID int }
	b, err := os.ReadFile(filepath.Join(s.home, "run", "daemon.json"))
	s.check(err, json.Unmarshal(b, &v))
	if v.PID != pid {
		s.Errorf("daemon.json names %d, %d runs", v.PID, pid)
	}
}

func TestT7Promise04Storm(t *testing.T) {
	s := newSite(t)
	s.must("init")
	s.stop()
	m := torture.Begin(t)
	defer func() { m.Lost(s.lost) }()
	var sent []string
	may := map[string]bool{}
	for round := range m.Points {
		began := time.Now()
		for call, r := range s.storm(round, unlimited, nil) {
			if !s.acked(r) {
				t.Errorf("%s: exit %d, %q, after %v", call, r.code, r.stderr, r.took)
			}
			sent, may[call] = append(sent, call), true
		}
		took := time.Since(began)
		s.serves()
		list := s.recorded(sent, may)
		if len(list) != len(sent) {
			t.Errorf("round %d: %d events in the log, %d were sent", round, len(list), len(sent))
		}
		s.holds(list[max(0, len(list)-stormSize):], 0)
		m.Point()
		m.Acked(len(sent))
		t.Logf("round %d: %v", round, took)
		if round%2 == 0 {
			s.kill()
		} else {
			s.stop()
		}
	}
	s.clean()
}

// startOf returns how long the slowest of a few programs takes that say their version and end, begun beside a storm:
// what the machine takes of a hook's time before and after the hook's own.
func (s *site) startOf(n int) time.Duration {
	took := make(chan time.Duration, n)
	for range n {
		go func() { took <- finish(s.program("smart-checkpoint", "--version")).took }()
	}
	var longest time.Duration
	for range n {
		longest = max(longest, <-took)
	}
	return longest
}

// With the usual deadline not all of them may be answered in time on a slow machine. All exit with 0 in time, and what
// reached the daemon is recorded once. A storm is more processes than a machine begins at once: what a program that
// does nothing takes beside them is the machine's.
func TestT7Promise03StormInTime(t *testing.T) {
	s := newSite(t)
	s.must("init")
	s.stop()
	may := map[string]bool{}
	var quick []string
	said := 0
	var start time.Duration
	for call, r := range s.storm(0, int(defaultDeadline/time.Millisecond), func() { start = s.startOf(8) }) {
		s.inTime(r, start)
		may[call] = true
		if r.stderr != "" {
			said++
		} else if r.took < defaultDeadline*6/10 { // answered before the daemon had to answer in any case
			quick = append(quick, call)
		}
	}
	s.serves()
	s.mustCapture("session-0", "last")
	may["last"] = true
	s.holds(s.recorded(append(quick, "last"), may), 0)
	t.Logf("%d of %d were answered early, %d had something to say; a start took %v", len(quick), stormSize, said, start)
	s.clean()
}

// A daemon that dies in the middle of a burst takes nothing with it.
func TestT7Promise01KillInABurst(t *testing.T) {
	s := newSite(t)
	s.must("init")
	may := map[string]bool{}
	var acked []string
	m := torture.Begin(t)
	defer func() { m.Lost(s.lost) }()
	for round := range m.Points {
		pid := s.daemon()
		fired := false
		for call, r := range s.storm(round, unlimited, func() {
			time.Sleep(time.Duration(10+round*25%90) * time.Millisecond)
			fired = syscall.Kill(pid, syscall.SIGKILL) == nil
		}) {
			if may[call] = true; s.acked(r) {
				acked = append(acked, call)
			} else {
				t.Logf("%s: %q", call, r.stderr)
			}
		}
		if !fired {
			t.Error("the daemon was not killed")
		}
		m.Point()
		m.Fired(1)
		call := fmt.Sprintf("next-%d", round)
		s.edit(call)
		s.mustCapture("session-0", call)
		may[call] = true
		acked = append(acked, call)
		s.serves()
		s.holds(s.recorded(acked, may), 0)
	}
	m.Acked(len(acked))
	t.Logf("%d of %d were acknowledged", len(acked), len(may))
	s.clean()
}
