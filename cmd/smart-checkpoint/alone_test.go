package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAlone(t *testing.T) {
	b := newTestbed(t, "REWIND_DAEMON=off", "SECRET=1")
	for _, size := range []int{0, 3, 1 << 20} {
		r := b.run(strings.NewReader(strings.Repeat("x", size)), "pre-tool", "--agent", "claude", "--deadline", "10000")
		if r.code != 0 || r.stdout != "alone" || r.stderr != "warned\n" {
			t.Errorf("%+v", r)
		}
		got := b.lines("alone")
		want := regexp.MustCompile(`^--agent claude --event pre-tool --id [0-9a-f]{16} ` + strconv.Itoa(size) + `$`)
		if !want.MatchString(got[len(got)-1]) {
			t.Errorf("%q", got[len(got)-1])
		}
	}
	if got := b.lines("starts"); len(got) != 0 {
		t.Errorf("a daemon was started: %q", got)
	}
}

// Where no daemon can be had, another process does the work, and the reason is said.
func TestPromise03NoDaemonToBeHad(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(b *testbed)
		want    string
	}{
		{"it cannot run", func(b *testbed) { b.env = append(b.env, "REWIND_TEST_EXIT=1") }, "exit code 70"},
		{"a planted link", func(b *testbed) { _ = os.Symlink("/tmp", filepath.Join(b.home, "run")) }, "symbolic link"},
		{
			"no directory", func(b *testbed) { _ = os.WriteFile(filepath.Join(b.home, "run"), nil, 0o600) },
			"not a directory",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTestbed(t)
			c.prepare(b)
			r := b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000")
			if r.code != 0 || r.stdout != "alone" || !strings.Contains(r.stderr, c.want) ||
				!strings.HasSuffix(r.stderr, "\nwarned\n") {
				t.Errorf("%+v", r)
			}
			if got := b.lines("alone"); len(got) != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}

// A run directory that others may write is closed to them, and that is said; the daemon then has the event.
func TestT17OpenedDirectory(t *testing.T) {
	b := newTestbed(t)
	b.mkdir()
	if err := os.Chmod(filepath.Join(b.home, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	r := b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000")
	if r.code != 0 || r.stdout != "daemon" ||
		!strings.Contains(r.stderr, "run was open to others (mode 0777), and is closed again\n") {
		t.Errorf("%+v", r)
	}
	if r = b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000"); r.stdout != "daemon" ||
		r.stderr != "" {
		t.Errorf("%+v", r)
	}
}

// Where REWIND_HOME is another user's, nothing is started, and one line says so.
func TestPromise17HookInForeignHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	for _, env := range []string{"REWIND_DAEMON=", "REWIND_DAEMON=off"} {
		b := newTestbed(t, env)
		if err := os.Chown(b.home, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		b.oneLine(b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000"),
			b.home+" belongs to user 65534, and this is root")
		if left, err := os.ReadDir(b.home); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", env, left, err)
		}
	}
}

func TestT17StaleSocket(t *testing.T) {
	b := newTestbed(t)
	b.mkdir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: b.sock(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	r := b.run(strings.NewReader("{}"), "stop", "--agent", "claude", "--deadline", "10000")
	if r.code != 0 || r.stdout != "daemon" || r.stderr != "" {
		t.Errorf("%+v", r)
	}
}

// A client without a rewind beside it can do nothing, and does no harm.
func TestPromise03NothingBeside(t *testing.T) {
	quickPrograms(t)
	b := newTestbed(t)
	lonely := filepath.Join(b.home, "smart-checkpoint")
	text, err := os.ReadFile(filepath.Join(programs, "smart-checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lonely, text, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lonely, claude...)
	cmd.Env = b.env
	if r := finish(cmd); r.code != 0 || r.stdout != "" || !strings.Contains(r.stderr, "no such file") {
		t.Errorf("%+v", r)
	}
	// a link elsewhere leads to the rewind beside the file itself
	link := filepath.Join(b.home, "link")
	_ = os.Symlink(filepath.Join(programs, "smart-checkpoint"), link)
	cmd = exec.Command(link, claude...)
	cmd.Env = append(b.env, "REWIND_DAEMON=off")
	if r := finish(cmd); r.code != 0 || r.stdout != "alone" {
		t.Errorf("%+v", r)
	}
}

// A process that is not done at the deadline ends its work without the agent.
func TestPromise03AloneOutlivesTheHook(t *testing.T) {
	b := newTestbed(t, "REWIND_DAEMON=off", "REWIND_TEST_WAIT=1")
	payload := strings.Repeat("x", 300_000)
	r := b.run(strings.NewReader(payload), "stop", "--agent", "claude", "--deadline", "300")
	b.late(r, "goes on without the agent")
	b.within(r, 300*time.Millisecond)
	if got := b.lines("alone"); len(got) != 0 {
		t.Fatalf("it did not wait: %q", got)
	}
	_ = os.WriteFile(filepath.Join(b.home, "go"), nil, 0o600)
	for began := time.Now(); len(b.lines("alone")) == 0; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("it has gone")
		}
		time.Sleep(time.Millisecond)
	}
	if got := b.lines("alone")[0]; !strings.HasSuffix(got, " 300000") {
		t.Errorf("%q", got)
	}
}
