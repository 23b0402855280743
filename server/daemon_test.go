package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/relay"
	"rewind/server/rundir"
)

// running is a daemon in this process.
type running struct {
	home   string
	socket string
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
	client *api.Client
	d      *daemon
}

// newHome sets REWIND_HOME to a directory whose socket has a short path.
func newHome(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("REWIND_HOME", dir)
	return dir
}

func start(t *testing.T, o daemonOptions) *running {
	t.Helper()
	home := os.Getenv("REWIND_HOME")
	if o.version == "" {
		o.version = "test"
	}
	sock, err := relay.SocketPath(home)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{home: home, socket: sock, cancel: cancel, ended: make(chan struct{})}
	serving := make(chan *daemon, 1)
	o.serving = func(d *daemon) { serving <- d }
	go func() {
		defer close(r.ended)
		r.err = serveDaemon(ctx, o)
	}()
	t.Cleanup(func() { r.stop(t) })
	select {
	case r.d = <-serving:
	case <-r.ended:
		t.Fatalf("the daemon does not serve: %v", r.err)
	}
	r.client = &api.Client{Transport: api.Socket{Home: home, Version: o.version}}
	return r
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	r.wait(t)
}

func (r *running) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		t.Fatal("the daemon does not end")
	}
}

// raw sends bytes and reads the answer.
func (r *running) raw(t *testing.T, text string) (*http.Response, error) {
	t.Helper()
	c, err := net.Dial("unix", r.socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return resp, err
}

func (r *running) status(t *testing.T) api.Daemon {
	t.Helper()
	d, err := api.Call(t.Context(), r.client, api.DaemonStatus, api.DaemonRequest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// newProject makes a project with one file.
func (r *running) newProject(t *testing.T) api.Project {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "a", "one")
	p := api.Project{Dir: api.Text(dir)}
	if _, err := api.Call(t.Context(), r.client, api.Init, api.InitRequest{Project: p}, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// A browser, which names where it believes to be, gets nothing; neither does a client that does not say its version.
func TestT16HostAndOrigin(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	for _, c := range []struct {
		head   string
		status int
	}{
		{"Host: rewind", 200},
		{"Host: Rewind", 403},
		{"Host: rewind:80", 403},
		{"Host: localhost", 403},
		{"Host: 127.0.0.1", 403},
		{"Host: rewind.example.org", 403},
		{"Host: ", 403},
		{"Host: rewind\r\nOrigin: http://rewind", 403},
		{"Host: rewind\r\nOrigin: null", 403},
		{"Host: rewind\r\nOrigin: ", 403},
		{"Host: rewind\r\nHost: rewind", 400},
	} {
		resp, err := r.raw(t, "GET /v1/version HTTP/1.1\r\n"+c.head+"\r\nRewind-Version: test\r\nContent-Length: 2\r\n\r\n{}")
		if err != nil || resp.StatusCode != c.status {
			t.Errorf("%q: %+v, %v; want %d", c.head, resp, err, c.status)
		}
	}
	resp, err := r.raw(t, "GET http://evil/v1/version HTTP/1.1\r\nHost: rewind\r\nRewind-Version: test\r\nContent-Length: 2\r\n\r\n{}")
	if err != nil || resp.StatusCode != 403 {
		t.Errorf("absolute target: %+v, %v", resp, err)
	}
	if d := r.status(t); !d.Running || d.PID != os.Getpid() {
		t.Errorf("status %+v", d)
	}
}

func TestPromise15RunDirectoryIsPrivate(t *testing.T) {
	home := newHome(t)
	defer syscall.Umask(syscall.Umask(0))
	r := start(t, daemonOptions{})
	r.newProject(t)
	seen := 0
	err := filepath.WalkDir(filepath.Join(home, "run"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		seen++
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return err
	})
	if err != nil || seen < 4 {
		t.Errorf("%d files, %v", seen, err)
	}
	r.stop(t)
	if !gone(r.socket) || !gone(filepath.Join(home, "run", rundir.NoteName)) {
		t.Error("something is left behind")
	}
}

func TestT17RunDirectoryOfOthers(t *testing.T) {
	home := newHome(t)
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o777, 0o701} { // of our own: closed again
		if err := os.Chmod(run, mode); err != nil {
			t.Fatal(err)
		}
		r := start(t, daemonOptions{})
		if fi, err := os.Stat(run); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("mode %o: %v, %v", mode, fi.Mode(), err)
		}
		r.stop(t)
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	left, err := os.ReadDir(run)
	if err := errors.Join(err, os.Chown(run, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if err := serveDaemon(t.Context(), daemonOptions{version: "test"}); err == nil ||
		!strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("a directory of another user: %v", err)
	}
	if now, err := os.ReadDir(run); err != nil || len(now) != len(left) {
		t.Errorf("something was written: %v, %v", now, err)
	}
}

func TestT17PlantedAndStaleSockets(t *testing.T) {
	home := newHome(t)
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(run, "daemon.sock")
	put(t, run, "daemon.sock", "a file")
	if err := serveDaemon(t.Context(), daemonOptions{version: "test"}); err == nil {
		t.Error("a file in the socket's place is accepted")
	}
	if b, err := os.ReadFile(sock); err != nil || string(b) != "a file" {
		t.Errorf("the file is %q, %v", b, err)
	}
	if err := os.Remove(sock); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = ln.Close()
	r := start(t, daemonOptions{})
	if d := r.status(t); !d.Running {
		t.Errorf("a stale socket: %+v", d)
	}
}

// peerEnv makes this binary a client that says what it was answered.
const peerEnv = "REWIND_TEST_PEER"

func peer(sock string) {
	c, err := net.Dial("unix", sock)
	if err != nil {
		fmt.Println("dial:", err)
		return
	}
	_, err = io.WriteString(c, "GET /v1/daemon HTTP/1.1\r\nHost: rewind\r\nRewind-Version: test\r\nContent-Length: 2\r\n\r\n{}")
	b, rerr := io.ReadAll(c)
	fmt.Printf("answer %q, write %v, read %v\n", b, err, rerr)
}

// Another user is refused, also where the modes of all directories and the socket were opened by mistake.
func TestT17Promise15ForeignUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("missing tool: root, to become another user")
	}
	home := newHome(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(home, "peer")
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	r := start(t, daemonOptions{})
	for path, mode := range map[string]os.FileMode{home: 0o755, filepath.Join(home, "run"): 0o755, r.socket: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		uid  uint32
		want string
	}{{65534, `answer ""`}, {0, `answer "HTTP/1.1 200 OK`}} {
		cmd := exec.Command(program)
		cmd.Env = []string{peerEnv + "=" + r.socket}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, os.ErrPermission) {
			t.Skip("missing tool: a temporary directory that other users may enter")
		}
		if err != nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("user %d: %s, %v; want %s", c.uid, out, err, c.want)
		}
	}
}

// Of many that are started at once one serves, and the others end without a word.
func TestT17OneDaemon(t *testing.T) {
	newHome(t)
	var left, served atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	begin := make(chan struct{})
	const n = 64
	for range n {
		wg.Go(func() {
			<-begin
			if err := serveDaemon(ctx, daemonOptions{version: "test"}); err != nil {
				t.Error(err)
			}
			if ctx.Err() == nil {
				left.Add(1)
			} else {
				served.Add(1)
			}
		})
	}
	close(begin)
	for end := time.Now().Add(time.Minute); left.Load() < n-1 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if left.Load() != n-1 {
		t.Errorf("%d have left", left.Load())
	}
	cancel()
	wg.Wait()
	if served.Load() != 1 {
		t.Errorf("%d have served", served.Load())
	}
}

func TestDaemonEndsWhenIdle(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{idle: 20 * time.Millisecond})
	r.wait(t)
	if r.err != nil || !gone(r.socket) {
		t.Errorf("%v, socket gone: %v", r.err, gone(r.socket))
	}
}

// A daemon that cannot be found any more ends, and leaves alone what has taken its place.
func TestDaemonEndsWithoutSocket(t *testing.T) {
	home := newHome(t)
	for name, lose := range map[string]func(r *running) error{
		"socket":    func(r *running) error { return os.Remove(r.socket) },
		"directory": func(*running) error { return os.RemoveAll(filepath.Join(home, "run")) },
	} {
		t.Run(name, func(t *testing.T) {
			old := start(t, daemonOptions{scanDelay: 10 * time.Millisecond})
			old.newProject(t)
			if err := lose(old); err != nil {
				t.Fatal(err)
			}
			next := start(t, daemonOptions{})
			old.wait(t)
			if d := next.status(t); !d.Running {
				t.Errorf("the next one: %+v", d)
			}
			next.newProject(t)
		})
	}
}

// A client of another version is told so, after the place is free, and what runs is finished.
func TestVersionHandOver(t *testing.T) {
	newHome(t)
	old := start(t, daemonOptions{version: "1"})
	p := old.newProject(t)
	put(t, p.ProjectDir(), "a", "two")
	// A save whose request is still on its way.
	slow, err := net.Dial("unix", old.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	body, _ := json.Marshal(api.SaveRequest{Project: p, Message: "slow"})
	fmt.Fprintf(slow, "POST /v1/save HTTP/1.1\r\nHost: rewind\r\nRewind-Version: 1\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:5])
	for old.inFlight() != 1 {
		time.Sleep(time.Millisecond)
	}
	resp, err := old.raw(t, "POST /v1/save HTTP/1.1\r\nHost: rewind\r\nRewind-Version: 2\r\nContent-Length: 0\r\n\r\n")
	if err != nil || resp.StatusCode != api.StatusOtherVersion || resp.Header.Get(api.HeaderVersion) != "1" {
		t.Fatalf("%+v, %v", resp, err)
	}
	if !gone(old.socket) {
		t.Error("the socket is still there")
	}
	next := start(t, daemonOptions{version: "2"})
	if d := next.status(t); d.Version != "2" {
		t.Errorf("next: %+v", d)
	}
	if _, err := slow.Write(body[5:]); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(slow)
	if err != nil || !strings.Contains(string(answer), `"message":"slow"`) {
		t.Errorf("what ran got %q, %v", answer, err)
	}
	old.wait(t)
	// The new one waits for the old one's store.
	if list, err := api.Call(t.Context(), next.client, api.List, api.ListRequest{Project: p}, nil); err != nil ||
		len(list.Checkpoints) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// inFlight is how many requests have been let in.
func (r *running) inFlight() int {
	return r.d.server.work.Running()
}

// A daemon that must end takes back a restore that does not come to its end in time.
func TestDaemonTakesRestoresBack(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{grace: time.Millisecond})
	dir := t.TempDir()
	p := api.Project{Dir: api.Text(dir)}
	for i := range 800 {
		put(t, dir, fmt.Sprintf("f%d", i), "one")
	}
	if _, err := api.Call(t.Context(), r.client, api.Init, api.InitRequest{Project: p}, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 800 {
		put(t, dir, fmt.Sprintf("f%d", i), "two")
	}
	if _, err := api.Call(t.Context(), r.client, api.Save, api.SaveRequest{Project: p}, nil); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := api.Call(t.Context(), r.client, api.Checkout, api.CheckoutRequest{Project: p, Checkpoint: "@-"}, nil)
		done <- err
	}()
	for {
		b, err := os.ReadFile(filepath.Join(dir, "f0"))
		if err == nil && string(b) == "one" {
			break // it has begun
		}
	}
	r.cancel()
	err := <-done
	r.wait(t)
	r = start(t, daemonOptions{})
	st, serr := api.Call(t.Context(), r.client, api.Status, api.StatusRequest{Project: p}, nil)
	if serr != nil || st.HalfDone != "" {
		t.Errorf("%v, half done: %q", serr, st.HalfDone)
	}
	want := "one"
	if err != nil {
		want = "two"
	}
	t.Logf("checkout: %v", err)
	for i := range 800 {
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f%d", i))); err != nil || string(b) != want {
			t.Fatalf("f%d is %q, %v; want %s", i, b, err, want)
		}
	}
}
