package kv_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/kv"
)

// Some tests need a second process: the test binary itself, told what to be by the environment.
const childEnv = "KV_TEST_CHILD"

// runChild is that process. It holds a store open and commits without end, one step a line of output, until it is
// killed.
func runChild() bool {
	dir := os.Getenv(childEnv)
	if dir == "" {
		return false
	}
	if err := childMain(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func childMain(dir string) error {
	d, err := kv.Open(bg, dir, kv.Options{GroupSync: time.Hour})
	if err != nil {
		return err
	}
	for n := d.LastSeq() + 1; ; n++ {
		if err := step(d, n, 500, kv.Written); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

type child struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := &child{cmd: exec.Command(exe)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+dir)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	must(t, err)
	c.out = bufio.NewScanner(out)
	must(t, c.cmd.Start())
	t.Cleanup(func() { c.kill() })
	return c
}

// upTo reads until the child has acknowledged a step.
func (c *child) upTo(t *testing.T, n int) {
	t.Helper()
	for c.out.Scan() {
		if got, err := strconv.Atoi(c.out.Text()); err == nil && got >= n {
			return
		}
	}
	t.Fatal("the child ended")
}

// kill sends SIGKILL and returns the last step that the child acknowledged.
func (c *child) kill() uint64 {
	_ = c.cmd.Process.Kill()
	var last uint64
	for c.out.Scan() {
		if n, err := strconv.ParseUint(c.out.Text(), 10, 64); err == nil {
			last = n
		}
	}
	_ = c.cmd.Wait()
	return last
}

// TestPromise01KillLosesNothing: a Written commit survives kill -9 at once, and a killed owner leaves no lock.
func TestPromise01KillLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for range 5 {
		c := startChild(t, dir)
		c.upTo(t, 1)
		time.Sleep(20 * time.Millisecond)
		acked := c.kill()
		d, err := kv.Open(bg, dir, kv.Options{})
		must(t, err)
		got, err := checkSteps(d, 500)
		must(t, err)
		if got < acked {
			t.Errorf("%d steps, %d were acknowledged", got, acked)
		}
		must(t, d.Close())
	}
}

// TestPromise04SecondOpenerIsBusy: within its own wait, with the holder's pid, from another process and from this one.
func TestPromise04SecondOpenerIsBusy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	c := startChild(t, dir)
	c.upTo(t, 1)
	for _, wait := range []time.Duration{0, 100 * time.Millisecond} {
		start := time.Now()
		_, err := kv.Open(bg, dir, kv.Options{LockWait: wait})
		took := time.Since(start)
		var busy *kv.BusyError
		if !errors.Is(err, kv.ErrBusy) || !errors.As(err, &busy) || busy.PID != c.cmd.Process.Pid {
			t.Errorf("%v, want busy with pid %d", err, c.cmd.Process.Pid)
		}
		if took < wait || took > wait+2*time.Second {
			t.Errorf("waited %v, want %v", took, wait)
		}
	}
	c.kill()
	d := open(t, dir, kv.Options{})
	if _, err := kv.Open(bg, dir, kv.Options{}); !errors.Is(err, kv.ErrBusy) {
		t.Errorf("second open in one process: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = d.Close() })
	d2, err := kv.Open(bg, dir, kv.Options{LockWait: 10 * time.Second})
	must(t, err)
	must(t, d2.Close())
}

// TestFatalExits: without Options.Fatal the process ends with status 70 and leaves the reason.
func TestFatalExits(t *testing.T) {
	if dir := os.Getenv("KV_TEST_FATAL"); dir != "" {
		d, err := kv.Open(bg, dir, kv.Options{FS: failingLogs(dir)})
		must(t, err)
		t.Fatal(step(d, 1, 100, kv.Durable))
	}
	dir := filepath.Join(t.TempDir(), "store")
	must(t, open(t, dir, kv.Options{}).Close())
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^TestFatalExits$")
	cmd.Env = append(os.Environ(), "KV_TEST_FATAL="+dir)
	out, err := cmd.CombinedOutput()
	var ee *exec.ExitError
	if !errors.As(err, &ee) || ee.ExitCode() != kv.DefaultFatalExit {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "last-fatal"))
	if err != nil || !strings.Contains(string(text), syscall.EIO.Error()) {
		t.Errorf("last-fatal: %q, %v", text, err)
	}
	if _, err := open(t, dir, kv.Options{}).Has(kv.OperationKey(1)); err != nil {
		t.Error(err)
	}
}
