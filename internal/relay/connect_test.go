package relay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// testHome is a home whose daemon is the test binary. What was started is killed in the end.
func testHome(t *testing.T) (home, bin string) {
	t.Helper()
	home = shortDir(t)
	t.Setenv("REWIND_HOME", home)
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killAll(t, home) })
	return home, bin
}

func notes(home, word string) []string {
	b, _ := os.ReadFile(filepath.Join(home, "log"))
	var list []string
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word); ok {
			list = append(list, strings.TrimSpace(rest))
		}
	}
	return list
}

func killAll(t *testing.T, home string) {
	for _, s := range notes(home, "up") {
		pid, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestT17ConnectStartsOneOf64(t *testing.T) {
	home, bin := testHome(t)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			c, err := Connect(home, bin, "v1", soon())
			if err != nil {
				t.Error(err)
				return
			}
			c.Close()
		})
	}
	wg.Wait()
	if up := notes(home, "up"); len(up) != 1 {
		t.Errorf("daemons: %q", up)
	}
	// More than one only where the machine was too slow for the patience of the others.
	if starts := notes(home, "start"); len(starts) == 0 || len(starts) > 8 {
		t.Errorf("%d processes were started", len(starts))
	}
}

// The first daemon takes longer than the others' patience; those that are started meanwhile give way.
func TestT17ConnectToASlowDaemon(t *testing.T) {
	home, bin := testHome(t)
	t.Setenv("REWIND_TEST_SLOW", "500ms")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			c, err := Connect(home, bin, "v1", soon())
			if err != nil {
				t.Error(err)
				return
			}
			c.Close()
		})
	}
	wg.Wait()
	if up := notes(home, "up"); len(up) != 1 {
		t.Errorf("daemons: %q", up)
	}
	if lost := notes(home, "lost"); len(lost) == 0 || len(lost) > 16 {
		t.Errorf("%d gave way", len(lost))
	}
}

func TestT03ConnectAfterKill(t *testing.T) {
	home, bin := testHome(t)
	for i := range 5 {
		c, err := Connect(home, bin, "v1", soon())
		if err != nil {
			t.Fatal(err)
		}
		if up := notes(home, "up"); len(up) != i+1 {
			t.Fatalf("round %d: %q", i, up)
		}
		killAll(t, home) // the socket stays, and start.lock needs no human
		c.Close()
		sock, err := SocketPath(home)
		if err != nil {
			t.Fatal(err)
		}
		for { // until the kernel has closed all that it had
			c, err := Dial(sock)
			if err != nil {
				break
			}
			c.Close()
		}
	}
}

func TestPromise03ConnectFailsAtOnce(t *testing.T) {
	home, bin := testHome(t)
	t.Setenv("REWIND_TEST_EXIT", "70")
	began := time.Now()
	if _, err := Connect(home, bin, "v1", soon()); err == nil || !strings.Contains(err.Error(), "exit code 70") {
		t.Errorf("a daemon that cannot run: %v", err)
	}
	starts := len(notes(home, "start"))
	if most := 1 + int(time.Since(began)/startPatience); starts < 1 || starts > most { // one, unless it ends late
		t.Errorf("%d starts, want 1 to %d", starts, most)
	}
	if _, err := Connect(home, filepath.Join(home, "missing"), "v1", soon()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a binary that is missing: %v", err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(home, "run")), os.Symlink("/tmp", filepath.Join(home, "run"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(home, bin, "v1", soon()); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a planted link: %v", err)
	}
	if n := len(notes(home, "start")); n != starts {
		t.Errorf("%d starts, and %d after a failure that needs none", starts, n)
	}
}

func TestPromise03ConnectDeadline(t *testing.T) {
	home, bin := testHome(t)
	t.Setenv("REWIND_TEST_EXIT", "0") // gives way to a daemon that is not there
	if _, err := Connect(home, bin, "v1", time.Now().Add(400*time.Millisecond)); !errors.Is(err, errNoDaemon) {
		t.Errorf("%v", err)
	}
	for end := soon(); len(notes(home, "start")) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the last may not have come up yet
	}
	if n := len(notes(home, "start")); n < 1 || n > 4 { // one in 150 ms
		t.Errorf("%d starts", n)
	}
	if _, err := Connect(home, bin, "v1", time.Now().Add(-time.Second)); !errors.Is(err, errNoDaemon) {
		t.Errorf("past the deadline: %v", err)
	}
}

func TestStartIsDetached(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: /proc, to see a process's descriptors")
	}
	home, bin := testHome(t)
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("XDG_RUNTIME_DIR", "/run")
	t.Setenv("LC_TIME", "C")
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	r, w, err := os.Pipe() // an agent's pipe that is left open on exec
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	leak, err := syscall.Dup(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	file, err := os.Create(filepath.Join(home, "leak"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	leakedFile, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(home, bin, "v1", soon())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	syscall.Close(leak)
	syscall.Close(leakedFile)
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("the daemon holds a pipe of the agent open")
	}
	facts := fmt.Sprint(notes(home, "facts"))
	for _, want := range []string{
		"cwd=/ ", "leads=true", "open=0=/dev/null,1=/dev/null,2=/dev/null env", "REWIND_HOME",
		"GIT_CONFIG_GLOBAL", "HOME", "PATH",
	} {
		if !strings.Contains(facts, want) {
			t.Errorf("%s: no %q", facts, want)
		}
	}
	for _, not := range []string{"ANTHROPIC", "XDG_RUNTIME_DIR"} {
		if strings.Contains(facts, not) {
			t.Errorf("%s: %q", facts, not)
		}
	}
}

// A caller that lives long keeps no zombie of a daemon that ended.
func TestStartReaps(t *testing.T) {
	home, bin := testHome(t)
	t.Setenv("REWIND_TEST_EXIT", "7")
	p, err := start(bin, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if code := p.Code(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	pid, err := strconv.Atoi(notes(home, "start")[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("the child is left: %v", err)
	}
}
