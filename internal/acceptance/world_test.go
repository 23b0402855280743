//go:build acceptance

package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/acceptance/fakemodel"
)

// patience is how long an agent may take for one thing: many times what it takes on a busy machine with two cores.
const patience = 90 * time.Second

// world is an empty home directory with one git project, an agent and a model: all that a test touches.
type world struct {
	*testing.T
	client
	program   string // the agent's
	home      string
	project   string
	model     *fakemodel.Server
	url       string
	env       []string
	terminals int      // that were opened so far
	output    []string // what the agent has shown: its standard output and error, or its terminal
}

// newWorld makes a world whose model plays a script. The directory has nothing of rewind's in its name: agents send it
// to the model.
func newWorld(t *testing.T, c client, play string) *world {
	t.Helper()
	dir, err := clientsDir()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, client: c, program: c.path(dir)}
	if _, err := os.Stat(w.program); err != nil {
		t.Fatalf("%s is not installed (the beginning of the output says why): %v", c, err)
	}
	root, err := os.MkdirTemp("", "agent-")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.home, w.project = filepath.Join(root, "home"), filepath.Join(root, "home", "src", "proj")
	t.Cleanup(func() {
		killHome(w.home)
		if t.Failed() {
			t.Logf("what is left to look at: %s", root)
			return
		}
		if err := os.RemoveAll(root); err != nil {
			t.Logf("clean up: %v", err)
		}
	})
	w.mkdir(w.project)
	w.env = []string{
		"HOME=" + w.home, "PATH=" + filepath.Join(w.home, ".local", "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh", "TMPDIR=" + w.mkdir(filepath.Join(root, "tmp")),
		"DO_NOT_TRACK=1", "IS_SANDBOX=1",
	}
	w.write(filepath.Join(w.project, "README.md"), "hello\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.email", "a@example.invalid"},
		{"config", "user.name", "a"},
		{"add", "-A"},
		{"commit", "-qm", "init"},
	} {
		w.must(append([]string{"git"}, args...)...)
	}
	b, err := os.ReadFile(filepath.Join("testdata", "scripts", play+".json"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := fakemodel.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	w.model = fakemodel.New(script, w.project)
	server := httptest.NewServer(w.model)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	w.url = server.URL
	return w
}

// mkdir makes a directory and returns its name.
func (w *world) mkdir(dir string) string {
	w.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.Fatal(err)
	}
	return dir
}

func (w *world) write(path, data string) {
	w.Helper()
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(path string) string {
	w.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

// run runs a command in the project to its end and returns its two outputs. Who is not done in time is killed with all
// that it started.
func (w *world) run(args ...string) (out, errs string, err error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.project, w.env, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // a daemon that the command left behind may hold its output
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return stdout.String(), stderr.String(), err
}

// must is run for what has to succeed.
func (w *world) must(args ...string) string {
	w.Helper()
	out, errs, err := w.run(args...)
	if err != nil {
		w.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, errs)
	}
	return out
}

// headless runs the agent without a terminal and keeps what it shows.
func (w *world) headless(args ...string) string {
	w.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// try is headless for what may fail.
func (w *world) try(args ...string) (string, error) {
	w.Helper()
	out, errs, err := w.run(append([]string{w.program}, args...)...)
	w.output = append(w.output, out, errs)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", w.client, strings.Join(args, " "), err, out, errs)
	}
	return out, nil
}

// asked is how often the agent has asked for a step of this turn.
func (w *world) asked(turn string) int {
	n := 0
	for _, r := range w.model.Requests() {
		if r.Turn == turn {
			n++
		}
	}
	return n
}
