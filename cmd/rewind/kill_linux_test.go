package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"rewind/internal/torture"
)

// memoryRoom is the free space in bytes from which tests use a file system in memory.
const memoryRoom = 512 << 20

// memoryDir is a temporary directory in memory where there is one with some room. A killed process leaves behind what
// it handed to the kernel on any file system, and this one does not wait for a disk at every fsync.
func memoryDir(t *testing.T) string {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil || st.Bavail*uint64(st.Bsize) < memoryRoom {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "rewind-test-")
	must(t, err)
	t.Cleanup(func() { discard(t, dir) })
	return dir
}

// halfDone tells whether a checkout is unfinished.
func halfDone(t *testing.T, dir string) bool {
	t.Helper()
	var v struct {
		HalfDone string `json:"half_done"`
	}
	if err := json.Unmarshal([]byte(mustHere(t, dir, "status", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	return v.HalfDone != ""
}

// clone copies a project whose store is in it. The copy believes that it has always been where it is, else it would
// settle as a copy does.
func clone(t *testing.T, from, to string) {
	t.Helper()
	copyAll(t, from, to)
	record := filepath.Join(to, ".agent/rewind/store/project.json")
	b, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	v["root"] = to
	if b, err = json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// killed runs the real program in a project and kills it instead of its nth call that changes something; it returns
// whether it came to that, the output before, and how many such calls there were.
func killed(t *testing.T, dir string, n int, args ...string) (fired bool, out string, met int) {
	t.Helper()
	program, err := realProgram()
	if err != nil {
		t.Fatal(err)
	}
	count := dir + ".count"
	cmd := exec.Command("killat", append([]string{"-count", count, strconv.Itoa(n), program, "-C", dir}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 137:
		fired = true
	case errors.As(err, &exit) && exit.ExitCode() == 99 && strings.Contains(stderr.String(), "operation not permitted"):
		t.Skip("missing tool: ptrace")
	case err != nil:
		t.Fatalf("rewind %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr.String())
	}
	b, err := os.ReadFile(count)
	if err == nil {
		met, err = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return fired, string(stdout), met
}

// points spreads want points evenly over the calls 1 to calls; more than there are go round again.
func points(want, calls int) []int { return torture.Spread(want, calls, torture.Seed()) }

// kills counts how many points of a test came to their kill.
type kills struct {
	mu           sync.Mutex
	fired, total int
	states       map[string]int
}

func (k *kills) add(fired bool, state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total++
	if fired {
		k.fired++
	}
	if k.states == nil {
		k.states = map[string]int{}
	}
	k.states[state]++
}

// check fails a test that killed too little to prove anything. The number of calls varies a little from run to
// run, so the last points, and one of few, may find the program done.
func (k *kills) check(t *testing.T, calls int) {
	t.Helper()
	t.Logf("%d of %d points killed the program, over %d calls; afterwards: %v", k.fired, k.total, calls, k.states)
	if k.fired < k.total-max(1, k.total/10) {
		t.Errorf("only %d of %d points killed the program", k.fired, k.total)
	}
}
