package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/procstate"
	"rewind/internal/relay"
)

// stopped stops the daemon of a home, as a machine does that swaps, and returns its number. The signal has been sent
// when a thread may answer yet: it waits for each.
func (h *daemonHome) stopped(program string) int {
	h.t.Helper()
	pid := h.daemon(program).PID
	must(h.t, syscall.Kill(pid, syscall.SIGSTOP))
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	must(h.t, err)
	for _, path := range threads {
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			b, err := os.ReadFile(path)
			if err != nil || bytes.Contains(b, []byte(") T ")) {
				break // it has ended, or it is stopped
			}
			if time.Since(began) > time.Minute {
				h.t.Fatalf("a thread of the daemon runs on: %s", b)
			}
		}
	}
	return pid
}

// TestPromise21FrozenDaemon: a command that gets no answer says after two seconds, off a terminal, too, which process
// it is and what to do, and ends at once with an interrupt. 'daemon stop' ends a daemon that is stopped. A hook that
// got no answer is told until a person saves.
func TestPromise21FrozenDaemon(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init", "--agents", "none")
	pid := h.stopped(program)

	var errs bytes.Buffer
	cmd := h.command(program, "save")
	cmd.Stdout, cmd.Stderr = &errs, &errs
	began := time.Now()
	must(t, cmd.Start())
	for said := fmt.Sprintf("process %d (rewindd) does not answer: it is stopped; 'kill -CONT %d'", pid, pid); ; {
		time.Sleep(100 * time.Millisecond)
		took := time.Since(began)
		if strings.Contains(errs.String(), said) {
			if took < 2*time.Second {
				t.Errorf("said after %v: that may be work", took)
			}
			break
		}
		if took > time.Minute {
			t.Fatalf("not said: %s\nthe daemon: %+v\nthe command: %+v",
				errs.String(), procstate.See(pid), procstate.See(cmd.Process.Pid))
		}
	}
	began = time.Now()
	must(t, cmd.Process.Signal(syscall.SIGINT))
	err = cmd.Wait()
	if took := time.Since(began); took > 10*time.Second || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("an interrupt took %v: %v\n%s", took, err, errs.String())
	}

	s := onTerminal(t, h.project, 24, 80, h.command(program).Env, program)
	s.await(fmt.Sprintf(`process %d \(rewindd\) does not answer`, pid))
	s.press("\x03")
	if code, text := s.ends(); code != 0 {
		t.Errorf("the picker, left: %d, %q", code, text)
	}

	// what the hook's client leaves (cmd/smart-checkpoint)
	relay.RecordUnanswered(filepath.Join(h.home, ".rewind"),
		relay.Unanswered{At: time.Now(), Agent: "claude", Event: "stop", PID: pid, Dir: h.project})
	relay.RecordUnanswered(filepath.Join(h.home, ".rewind"),
		relay.Unanswered{At: time.Now(), Agent: "claude", Event: "stop", PID: pid, Dir: "/another"})

	out, err := h.command(program, "daemon", "stop").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the daemon has ended") {
		t.Fatalf("%v: %s", err, out)
	}
	mark := fmt.Sprintf("1 hook got no answer from process %d at ", pid)
	if got := h.run(program, "status"); !strings.Contains(got, mark) {
		t.Errorf("status: %s", got)
	}
	if got := h.run(program, "doctor"); !strings.Contains(got, mark) || !strings.Contains(got, "rewind save") {
		t.Errorf("doctor: %s", got)
	}
	out, err = h.command(program, "save").CombinedOutput()
	if err != nil || !strings.Contains(string(out), mark) {
		t.Errorf("save: %v: %s", err, out)
	}
	if got := h.run(program, "status"); strings.Contains(got, "got no answer") {
		t.Errorf("status after a save: %s", got)
	}
}

// TestKilledDaemonIsTold: a daemon that was killed is told of by the next one, until one ends by itself.
func TestKilledDaemonIsTold(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init", "--agents", "none")
	pid := h.daemon(program).PID
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	want := fmt.Sprintf("the daemon before this one, process %d, ended without a word", pid)
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		got := h.run(program, "status")
		if strings.Contains(got, want) {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("status: %s", got)
		}
	}
	h.run(program, "daemon", "stop")
	if got := h.run(program, "status"); strings.Contains(got, "without a word") {
		t.Errorf("status after an end: %s", got)
	}
	h.run(program, "daemon", "stop")
	if got := h.run(program, "status"); strings.Contains(got, "without a word") {
		t.Errorf("status after two: %s", got)
	}
}
