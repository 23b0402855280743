package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cost is what a hook made of system calls.
type cost struct {
	client int // all of the client's
	tree   int // the daemon's that name something in the project, but for the marker
	opened []string
}

// costOf runs one hook while strace looks at the daemon, then one while it looks at the client.
func (s *site) costOf(call string, before func()) (c cost) {
	s.Helper()
	daemon, client := filepath.Join(s.base, "daemon.trace"), filepath.Join(s.base, "client.trace")
	st := exec.Command("strace", "-f", "-yy", "-s", "1", "-o", daemon, "-e", "trace=file,desc", "-p", fmt.Sprint(s.daemon()))
	said, err := st.StderrPipe()
	s.check(err, st.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "attached") {
		s.Fatalf("strace: %q, %v", line, err)
	}
	before()
	s.mustCapture("cost", call)
	s.check(st.Process.Signal(syscall.SIGINT))
	_ = st.Wait() // it ends by the signal

	for _, line := range s.lines(daemon) {
		if !strings.Contains(line, s.project) || strings.Contains(line, "/.agent") {
			continue
		}
		c.tree++
		if strings.Contains(line, "openat(") && !strings.Contains(line, "O_DIRECTORY") {
			c.opened = append(c.opened, line)
		}
	}
	cmd := s.client(unlimited, "post-tool-use", s.payload("cost", call+"-client"))
	// Without what the runtime does while it waits: how much of it there is depends on how long the machine takes.
	const waiting = "trace=!futex,nanosleep,sched_yield,epoll_pwait,rt_sigreturn,tgkill,getpid,restart_syscall"
	cmd.Args = append([]string{"strace", "-f", "-e", waiting, "-o", client, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, err = exec.LookPath("strace")
	s.check(err)
	if r := finish(cmd); r.code != 0 {
		s.Fatalf("strace of the client: %d, %q", r.code, r.stderr)
	}
	c.client = len(s.lines(client))
	return c
}

func (s *site) lines(file string) []string {
	s.Helper()
	b, err := os.ReadFile(file)
	s.check(err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// What a hook costs follows the change: in a tree of any size the client makes as many system calls, the daemon looks
// at no file when nothing was edited, and at the one that was; that one it opens once.
func TestHookCostFollowsTheChange(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is missing")
	}
	// What is left of the runtime's own calls differs a little from run to run.
	const client, unchanged, edited = 400, 12, 40
	for _, files := range []int{100, 3000} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			s := newSite(t)
			for i := range files {
				s.write(fmt.Sprintf("d%d/e%d/f%d", i%7, i%31, i), fmt.Sprintf("file %d\n", i))
			}
			s.must("init", "--agents", "none")
			for i := range 3 { // the daemon watches, and knows the session
				s.write("d1/e1/f1", fmt.Sprintf("%d\n", i))
				s.mustCapture("cost", fmt.Sprint("warm", i))
			}
			s.mustCapture("cost", "again")
			time.Sleep(3 * time.Second) // files that changed less than 2 s ago are looked at again

			s.mustCapture("cost", "rest")
			c := s.costOf("unchanged", func() {})
			if len(c.opened) > 0 || c.tree > unchanged || c.client > client {
				t.Errorf("nothing changed: the client made %d system calls, the daemon %d in the tree, and opened %q", c.client, c.tree,
					c.opened)
			}
			c = s.costOf("edited", func() {
				s.write("d3/e3/f3", "edited\n")
			})
			if len(c.opened) != 1 || !strings.Contains(c.opened[0], `"f3"`) || c.tree > edited {
				t.Errorf("one file changed: the daemon made %d system calls in the tree, and opened %q", c.tree, c.opened)
			}
			t.Logf("client %d, daemon in the tree %d", c.client, c.tree)
		})
	}
}
