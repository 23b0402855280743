package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/internal/torture"
)

// TestT3Promise01Kills has daemons and hooks die at any moment while agents of several sessions work. What must hold
// then: no acknowledged event is lost, none is there twice, each has its edit, the store is whole, and nothing needs a
// person.
func TestT3Promise01Kills(t *testing.T) {
	s := newSite(t)
	s.must("init")
	m := torture.Begin(t)
	defer func() { m.Lost(s.lost) }()
	work, seed := time.Duration(m.Points)*time.Second, m.Seed
	var mu sync.Mutex
	var acked []string
	// a client that dies in the middle of a long payload leaves an event of which nobody knows the call
	may := map[string]bool{"": true}
	end := make(chan struct{})
	var agents, killer sync.WaitGroup
	for session := range 6 {
		agents.Go(func() {
			pause := rand.New(rand.NewPCG(seed, uint64(session)))
			for i := 0; ; i++ {
				select {
				case <-end:
					return
				case <-time.After(time.Duration(pause.IntN(60)) * time.Millisecond):
				}
				call := fmt.Sprintf("call-%d-%d", session, i)
				s.edit(call)
				mu.Lock()
				may[call] = true
				mu.Unlock()
				payload := s.payload(fmt.Sprintf("session-%d", session), call)
				if i%4 == 0 { // more than one write of the client
					payload = `{"tool_response":"` + strings.Repeat("x", 300<<10) + `",` + payload[1:]
				}
				if r := finish(s.client(unlimited, "post-tool-use", payload)); s.acked(r) {
					mu.Lock()
					acked = append(acked, call)
					mu.Unlock()
				}
			}
		})
	}
	var daemons, clients int
	killer.Go(func() {
		when := rand.New(rand.NewPCG(seed, 99))
		for {
			select {
			case <-end:
				return
			case <-time.After(time.Duration(when.IntN(250)) * time.Millisecond):
			}
			list, count := s.daemons(), &daemons
			if when.IntN(2) == 0 {
				list, count = s.pids("smart-checkpoint"), &clients
			}
			for _, pid := range list {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					*count++
				}
				if when.IntN(4) > 0 { // mostly one, at times all
					break
				}
			}
		}
	})
	time.Sleep(work)
	close(end)
	agents.Wait()
	killer.Wait()
	for range m.Points {
		m.Point()
	}
	m.Fired(daemons + clients)
	m.Acked(len(acked))
	if few := m.Points / 6; daemons < min(few*4, 250) || clients < min(few*2, 250) {
		t.Errorf("only %d daemons and %d clients were killed", daemons, clients)
	}
	if len(acked) < min(3*m.Points, 1000) {
		t.Errorf("only %d events were acknowledged", len(acked))
	}
	t.Logf("%d daemons and %d clients were killed; %d of %d events were acknowledged", daemons, clients, len(acked),
		len(may))
	s.edit("next")
	s.mustCapture("session-0", "next")
	may["next"] = true
	s.holds(s.recorded(append(acked, "next"), may), 40+m.Points/5)
	s.clean()
	s.serves()
}

// traced makes the daemon that a hook starts, or `rewind hook`, die instead of its nth call that changes something: in
// the place of the program is a script that has the first of them killed, and lets those after it be.
func (s *site) traced(what string) {
	s.Helper()
	self, err := os.Executable()
	s.check(err)
	dir := filepath.Join(s.base, "bin")
	s.check(os.Mkdir(dir, 0o755), os.Symlink(self, filepath.Join(dir, "killat")),
		os.Link(filepath.Join(s.bin, "smart-checkpoint"), filepath.Join(dir, "smart-checkpoint")))
	for _, name := range []string{"rewind", "rewindd"} {
		real := filepath.Join(s.bin, name)
		script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = %s ] && rm '%s' 2>/dev/null; then exec '%s/killat' -count '%s' \"$(cat '%s')\" "+
			"'%s' \"$@\"; fi\nexec '%s' \"$@\"\n",
			what, s.file("armed"), dir, s.file("count"), s.file("n"), real, real)
		s.check(os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	s.bin = dir
}

func (s *site) file(name string) string { return filepath.Join(s.base, name) }

// arm makes the next one die.
func (s *site) arm(n int) {
	s.Helper()
	_ = os.Remove(s.file("count"))
	s.check(os.WriteFile(s.file("n"), []byte(strconv.Itoa(n)), 0o600), os.WriteFile(s.file("armed"), nil, 0o600))
}

// met is how many calls the traced program came to. It is written when the program has ended. A daemon is asked to end,
// which may be what kills it; on a busy machine its hook may have been answered by another way while it still began,
// and nobody was there to be asked: so it is asked again.
func (s *site) met(daemon bool) int {
	s.Helper()
	ask := time.Now()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if daemon && time.Now().After(ask) {
			s.rewind("daemon", "stop")
			ask = time.Now().Add(2 * time.Second)
		}
		b, err := os.ReadFile(s.file("count"))
		if n, e := strconv.Atoi(strings.TrimSuffix(string(b), "\n")); err == nil && e == nil &&
			strings.HasSuffix(string(b), "\n") {
			return n
		}
		if time.Now().After(end) {
			s.Fatalf("the traced program does not end: armed still %v, processes %v, daemons %v",
				exists(s.file("armed")), s.pids(""), s.daemons())
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// canTrace skips where no process may trace another.
func canTrace(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "0", "/bin/true")
	cmd.Args[0] = "killat"
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "operation not permitted") {
			t.Skip("missing tool: ptrace")
		}
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestT1HookKills kills, before each of its calls that change something: the daemon that a hook has started and that
// takes the hook's event in, from its first call to its end in order; `rewind hook`, which does the same alone; and the
// hook's client itself. What must hold afterwards: the next hook works, no acknowledged event is lost or there twice,
// and each checkpoint has its edit.
func TestT1HookKills(t *testing.T) {
	canTrace(t)
	m := torture.Begin(t)
	for _, c := range []struct {
		name, traces string
		want         int
		env          []string
		end          bool // the program goes on when the hook has been answered
	}{
		{"daemon", "daemon", m.Points - m.Points*20/58, nil, true},
		{"alone", "hook", m.Points * 16 / 58, []string{"REWIND_DAEMON=off"}, false},
		{"client", "", m.Points*20/58 - m.Points*16/58, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.env...)
			defer func() { m.Lost(s.lost) }()
			s.must("init")
			if c.traces != "" {
				s.traced(c.traces)
			}
			run := func(call string, n int) (result, int) {
				s.edit(call)
				if c.traces == "" {
					return s.killedClient(call, n)
				}
				if c.end {
					s.stop()
				}
				s.arm(n)
				r := s.tool("session", call)
				return r, s.met(c.end)
			}
			_, _ = run("warm", 0)
			_, calls := run("count", 0)
			if calls == 0 {
				t.Fatal("it changed nothing")
			}
			var sure []string
			may := map[string]bool{"warm": true, "count": true}
			fired, told := 0, 0
			for i, n := range torture.Spread(c.want, calls, m.Seed) {
				call := fmt.Sprintf("killed-%d-at-%d", i, n)
				r, met := run(call, n)
				may[call] = true
				if met < n { // the number of calls varies a little
					n, call = met, call+"-again"
					r, met = run(call, n)
					may[call] = true
				}
				m.Point()
				if met == n {
					fired++
					m.Fired(1)
				}
				if s.acked(r) && (c.traces == "daemon" || met != n) {
					sure = append(sure, call)
				} else {
					told++
				}
				call = fmt.Sprintf("next-%d", i)
				s.edit(call)
				s.mustCapture("session", call)
				sure, may[call] = append(sure, call), true
			}
			t.Logf("%d of %d points killed it, over %d calls; %d of their hooks were not sure of their event", fired,
				c.want, calls, told)
			if fired*10 < c.want*9 {
				t.Errorf("only %d of %d points killed it", fired, c.want)
			}
			m.Acked(len(sure))
			s.holds(s.recorded(sure, may), 0)
			s.clean()
		})
	}
}

// killedClient kills the client itself instead of its nth call that changes something.
func (s *site) killedClient(call string, n int) (result, int) {
	s.Helper()
	self, err := os.Executable()
	s.check(err)
	cmd := s.client(unlimited, "post-tool-use", s.payload("session", call))
	_ = os.Remove(s.file("count"))
	cmd.Args = append([]string{"killat", "-count", s.file("count"), strconv.Itoa(n), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	r := finish(cmd)
	if r.code == 137 {
		r.code = -1
	}
	return r, s.met(false)
}
