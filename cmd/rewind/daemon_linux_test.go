package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/built"
)

// daemonHome is a home directory with a project, for the real program and a daemon of its own that ends with the test.
type daemonHome struct {
	t       *testing.T
	home    string
	project string
}

func newDaemonHome(t *testing.T) *daemonHome {
	t.Helper()
	dir, err := os.MkdirTemp("", "rw")
	must(t, err)
	h := &daemonHome{t: t, home: dir, project: filepath.Join(dir, "p")}
	must(t, os.Mkdir(h.project, 0o755), os.WriteFile(filepath.Join(h.project, "a"), []byte("one"), 0o644))
	t.Cleanup(func() {
		program, err := realProgram()
		must(t, err)
		_ = h.command(program, "daemon", "stop").Run()
		discard(t, dir)
	})
	return h
}

func (h *daemonHome) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, append([]string{"-C", h.project}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+h.home, "REWIND_HOME=", "REWIND_DAEMON=", "REWIND_IDLE=2m", "NO_COLOR=1")
	return cmd
}

func (h *daemonHome) run(program string, args ...string) string {
	h.t.Helper()
	var errs bytes.Buffer
	cmd := h.command(program, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("rewind %s: %v\n%s%s", strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}

// daemon is what status says of it.
func (h *daemonHome) daemon(program string) api.Daemon {
	h.t.Helper()
	var v daemonJSON
	must(h.t, json.Unmarshal([]byte(h.run(program, "daemon", "status", "--json")), &v))
	return v.Daemon
}

func (h *daemonHome) starts() int {
	b, err := os.ReadFile(filepath.Join(h.home, ".rewind/run/daemon.log"))
	must(h.t, err)
	return strings.Count(string(b), `"daemon started"`)
}

// TestT17SixtyFourClients: many commands at once where no daemon runs start exactly one, and all of them are answered
// by it.
func TestT17SixtyFourClients(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init")
	h.run(program, "daemon", "stop")
	before := h.starts()
	var wg sync.WaitGroup
	var mu sync.Mutex
	pids := map[int]int{}
	for range 64 {
		wg.Go(func() {
			var v struct{ Daemon api.Daemon }
			out, err := h.command(program, "status", "--json").Output()
			if err == nil {
				err = json.Unmarshal(out, &v)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			pids[v.Daemon.PID]++
		})
	}
	wg.Wait()
	if len(pids) != 1 || pids[0] != 0 {
		t.Errorf("answers by process: %v", pids)
	}
	if n := h.starts() - before; n != 1 {
		t.Errorf("%d daemons have started", n)
	}
}

// TestT3DaemonKilled: after kill -9 of the daemon the next command works, with nothing lost and nothing to clean up.
func TestT3DaemonKilled(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init")
	for i := range 10 {
		must(t, os.WriteFile(filepath.Join(h.project, "a"), fmt.Appendf(nil, "%d", i), 0o644))
		id := strings.Fields(h.run(program, "save", "m"))[0]
		d := h.daemon(program)
		if !d.Running {
			t.Fatal("no daemon runs")
		}
		must(t, syscall.Kill(d.PID, syscall.SIGKILL))
		if list := h.run(program, "list"); !strings.Contains(list, id) {
			t.Fatalf("%s is lost:\n%s", id, list)
		}
	}
	h.run(program, "verify")
}

// TestDaemonKilledUnderRequest: a request that was under way is either refused, with its outcome in the log, or done;
// never done twice.
func TestDaemonKilledUnderRequest(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init")
	for i := range 12 {
		must(t, os.WriteFile(filepath.Join(h.project, "a"), fmt.Appendf(nil, "%d", i), 0o644))
		h.run(program, "save")
	}
	for i := range 4 {
		d := h.daemon(program)
		before := strings.Count(h.run(program, "ops", "--all"), "\n")
		cmd := h.command(program, "undo")
		must(t, cmd.Start())
		time.Sleep(time.Duration(i) * 3 * time.Millisecond)
		_ = syscall.Kill(d.PID, syscall.SIGKILL)
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Errorf("undo: %v", err)
		}
		if out, err := h.command(program, "status", "--json").Output(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		} else if strings.Contains(string(out), `"half_done"`) {
			h.run(program, "checkout", "--continue")
		}
		if n := strings.Count(h.run(program, "ops", "--all"), " undo "); n > i+1 {
			t.Errorf("%d undos after %d, %d operations before", n, i+1, before)
		}
	}
	h.run(program, "verify")
}

// firstVersion builds rewind and rewindd of v1.0.0, below the tests' HOME, which goes at their end.
var firstVersion = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.Getenv("HOME"), "versions")
	return dir, built.Version(dir, "v1.0.0")
})

// versionsIn lays out rewind and rewindd of versions, each in a directory of its own.
func versionsIn(t *testing.T, dir string) func(v string) (rewind string) {
	return func(v string) string {
		t.Helper()
		from, err := firstVersion()
		must(t, err)
		must(t, built.Another(from, "v1.0.0", filepath.Join(dir, v), v))
		return filepath.Join(dir, v, "rewind")
	}
}

// TestProgramsOfTwoVersions: a rewind with a rewindd of another version beside it says so, with a daemon and without,
// and opens nothing.
func TestProgramsOfTwoVersions(t *testing.T) {
	t.Parallel()
	build := versionsIn(t, t.TempDir())
	one, two := build("v1.0.0"), build("v2.0.0")
	h := newDaemonHome(t)
	h.run(one, "init")
	h.run(one, "daemon", "stop")
	must(t, os.Rename(filepath.Join(filepath.Dir(one), "rewindd"), filepath.Join(filepath.Dir(two), "rewindd")))
	for _, daemon := range []string{"", "off"} {
		began := time.Now()
		cmd := h.command(two, "list")
		cmd.Env = append(cmd.Env, "REWIND_DAEMON="+daemon)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 ||
			!strings.Contains(string(out), "rewindd has version v1.0.0, and this is v2.0.0") ||
			!strings.Contains(string(out), "make install") {
			t.Errorf("REWIND_DAEMON=%s: %v\n%s", daemon, err, out)
		}
		t.Logf("REWIND_DAEMON=%s: after %v", daemon, time.Since(began))
	}
}

// TestDaemonVersions: a command of another version ends the daemon and starts its own; status and stop work with any.
func TestDaemonVersions(t *testing.T) {
	t.Parallel()
	build := versionsIn(t, t.TempDir())
	one, two := build("v1.0.0"), build("v2.0.0")
	h := newDaemonHome(t)
	h.run(one, "init")
	for i, program := range []string{two, one, two} {
		old := h.daemon(program) // any version's
		must(t, os.WriteFile(filepath.Join(h.project, "a"), fmt.Appendf(nil, "%d", i), 0o644))
		h.run(program, "save", "m")
		d := h.daemon(one)
		if d.PID == old.PID || d.Version == old.Version || !strings.Contains(program, d.Version) {
			t.Errorf("%s: %+v after %+v", program, d, old)
		}
	}
	// Several of both at once: each is answered.
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if out, err := h.command([]string{one, two}[i%2], "list").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	h.run(one, "daemon", "stop")
	if d := h.daemon(two); d.Running {
		t.Errorf("stopped: %+v", d)
	}
	h.run(two, "verify")
}

// bytesRead is how many bytes a process has read of files and sockets.
func bytesRead(t *testing.T, pid int) (n int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	must(t, err)
	_, err = fmt.Sscanf(string(b), "rchar: %d", &n)
	must(t, err)
	return n
}

// TestDaemonTermWhileRequestRuns: a signal lets what runs finish.
func TestDaemonTermWhileRequestRuns(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init")
	for i := range 300 {
		must(t, os.WriteFile(filepath.Join(h.project, fmt.Sprintf("f%d", i)), []byte(noise(int64(i), 60<<10)), 0o644))
	}
	d := h.daemon(program)
	cmd := h.command(program, "save", "m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	before := bytesRead(t, d.PID)
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// into the middle of it; where it is done already the outcome is the same
	for len(ended) == 0 && bytesRead(t, d.PID) < before+4<<20 {
		time.Sleep(time.Millisecond)
	}
	must(t, syscall.Kill(d.PID, syscall.SIGTERM))
	if err := <-ended; err != nil {
		t.Errorf("save: %v\n%s", err, out.String())
	}
	if s := h.run(program, "diff", "--name-only"); s != "" {
		t.Errorf("not saved: %s", s)
	}
	h.run(program, "verify")
}
