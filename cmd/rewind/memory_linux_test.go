package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/torture"
)

// group makes a cgroup whose processes may have so many bytes of memory; "" where that is not for us to do.
func group(t *testing.T, limit int64) string {
	t.Helper()
	name := fmt.Sprintf("rewind-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	own, err := os.ReadFile("/proc/self/cgroup")
	must(t, err)
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		dir, file := "", ""
		switch {
		case len(parts) == 3 && parts[1] == "memory":
			dir, file = filepath.Join("/sys/fs/cgroup/memory", parts[2], name), "memory.limit_in_bytes"
		case len(parts) == 3 && parts[0] == "0" && exists("/sys/fs/cgroup/cgroup.controllers"):
			// beside ours: one with processes has no groups below
			dir, file = filepath.Join("/sys/fs/cgroup", name), "memory.max"
		}
		if dir == "" || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			for range 100 { // its processes have to be gone
				if os.Remove(dir) == nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		if os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(limit, 10)), 0o644) == nil {
			return dir
		}
	}
	t.Log("no cgroup can be given a limit of memory here: without one")
	return ""
}

// inGroup runs a command line of rewind in a cgroup.
func (h *daemonHome) inGroup(dir, program string, args ...string) (string, error) {
	if dir == "" {
		out, err := h.command(program, args...).CombinedOutput()
		return string(out), err
	}
	shell := exec.Command("sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, dir)
	cmd := h.command(program, args...)
	shell.Args = append(shell.Args, cmd.Args...)
	shell.Env = cmd.Env
	out, err := shell.CombinedOutput()
	return string(out), err
}

// TestMemoryOfAGroup: where 100 MB is all that there is, 4,000 small files and a large one are saved, and the large one
// comes back; where the daemon is killed all the same, the command says what became of it, and status does later.
func TestMemoryOfAGroup(t *testing.T) {
	program, err := realProgram()
	must(t, err)
	const mb = 1 << 20
	fill := func(h *daemonHome) {
		for i := range 4000 {
			name := filepath.Join(h.project, fmt.Sprintf("d%d/e%d/f%d", i%40, i%7, i))
			must(t, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, fmt.Appendf(nil, "file %d\n", i), 0o644))
		}
	}
	large := func(h *daemonHome, megabytes int) {
		b := make([]byte, mb)
		f, err := os.Create(filepath.Join(h.project, "large"))
		must(t, err)
		for range megabytes {
			_, _ = rand.Read(b)
			_, err := f.Write(b)
			must(t, err)
		}
		must(t, f.Close())
	}
	t.Run("enough", func(t *testing.T) {
		torture.OnDisk(t)       // files in memory would be the group's
		dir := group(t, 100*mb) // goes after the daemon in it
		h := newDaemonHome(t)
		fill(h)
		for _, args := range [][]string{
			{"init", "--agents", "none"},
			{"save", "-m", "small"},
			{"save", "-m", "large"},
			{"checkout", "@-"},
			{"redo"},
			{"status"},
		} {
			if args[len(args)-1] == "large" {
				large(h, 60)
			}
			if out, err := h.inGroup(dir, program, args...); err != nil || strings.Contains(out, "without a word") {
				t.Fatalf("rewind %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
		if n := h.starts(); n != 1 {
			t.Errorf("%d daemons", n)
		}
	})
	t.Run("too little", func(t *testing.T) {
		torture.OnDisk(t)       // files in memory would be the group's
		dir := group(t, 100*mb) // goes after the daemon in it
		if dir == "" {
			return // that a killed daemon is said is shown in internal/browsertest, too
		}
		h := newDaemonHome(t)
		if out, err := h.inGroup(dir, program, "init", "--agents", "none"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		pid := h.daemon(program).PID
		large(h, 400)
		time.AfterFunc(700*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // what the kernel does
		out, err := h.inGroup(dir, program, "save")
		want := fmt.Sprintf("the daemon (process %d) was killed before it answered, perhaps for memory (limit 100 MiB", pid)
		if err == nil || !strings.Contains(out, want) || !strings.Contains(out, "give it more memory") {
			t.Errorf("%v: %s", err, out)
		}
		must(t, os.Remove(filepath.Join(h.project, "large")))
		if out, err := h.inGroup(dir, program, "status"); err != nil || !strings.Contains(out, "perhaps for memory (limit 100 MiB") {
			t.Errorf("status: %v: %s", err, out)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
