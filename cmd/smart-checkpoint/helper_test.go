package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/internal/built"
	"rewind/internal/relay/hookwire"
	"rewind/server/door"
)

// programs is a directory with the real client, and with the test binary as the other two beside it.
var programs string

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "rewindd":
		os.Exit(fakeDaemon())
	case "rewind":
		os.Exit(fakeHook())
	}
	if helper := helpers()[filepath.Base(os.Args[0])]; helper != nil {
		os.Exit(helper(os.Args[1:]))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := built.Short()
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	programs = dir
	from, err := realPrograms()
	if err == nil {
		err = os.Link(filepath.Join(from, "smart-checkpoint"), filepath.Join(dir, "smart-checkpoint"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"rewind", "rewindd"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

func note(name, text string) {
	f, err := os.OpenFile(filepath.Join(os.Getenv("REWIND_HOME"), name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, _ = f.WriteString(text + "\n")
		f.Close()
	}
}

// fakeDaemon takes hooks as the daemon does and writes down what came. $REWIND_TEST_CRASH: the first one of all dies in
// the middle of a request.
func fakeDaemon() int {
	home := os.Getenv("REWIND_HOME")
	note("starts", strconv.Itoa(os.Getpid()))
	if os.Getenv("REWIND_TEST_EXIT") != "" {
		return 70
	}
	lock, err := os.OpenFile(filepath.Join(home, "run", "daemon.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 3
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return 0
	}
	note("daemons", strconv.Itoa(os.Getpid()))
	sock := filepath.Join(home, "run", "daemon.sock")
	os.Remove(sock)
	l, err := net.Listen("unix", sock)
	if err != nil {
		return 4
	}
	time.AfterFunc(20*time.Second, func() { os.Exit(0) }) // no test outlives it for long
	serveHooks(l, func(x *door.Exchange) {
		b, err := io.ReadAll(x)
		if err != nil {
			return
		}
		note("sent", hex16(x.ID)+" "+string(b))
		if os.Getenv("REWIND_TEST_CRASH") != "" {
			if _, err := os.Stat(filepath.Join(home, "crashed")); err != nil {
				note("crashed", "")
				// killed, it would leave the socket too, closed at any time
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				_ = l.Close()
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		note("events", hex16(x.ID)+" "+string(b))
		x.Answer(hookwire.Answer{Body: []byte("daemon")})
	})
	select {} // the timer ends it
}

// serveHooks takes hooks in as the daemon does; the closing of the listener ends it.
func serveHooks(l net.Listener, hook func(*door.Exchange)) {
	door.New(l, hook, 20*time.Second, func(error) {}).Serve()
}

// fakeHook is `rewind hook`: it says what it was given, when $REWIND_HOME/go is there.
func fakeHook() int {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	if os.Getenv("REWIND_TEST_WAIT") != "" {
		for {
			if _, err := os.Stat(filepath.Join(os.Getenv("REWIND_HOME"), "go")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	os.Stdout.WriteString("alone")
	os.Stderr.WriteString("warned\n")
	note("alone", strings.Join(os.Args[2:], " ")+" "+strconv.Itoa(len(b)))
	return 0
}

// A bench has a home of its own.
type testbed struct {
	*testing.T
	home string
	env  []string
}

func newTestbed(t *testing.T, env ...string) *testbed {
	t.Helper()
	home, err := built.Short()
	if err != nil {
		t.Fatal(err)
	}
	b := &testbed{t, home, append([]string{"REWIND_HOME=" + home}, env...)}
	t.Cleanup(func() {
		for _, pid := range b.lines("daemons") {
			if n, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
		os.RemoveAll(home)
	})
	return b
}

func (b *testbed) lines(name string) []string {
	text, _ := os.ReadFile(filepath.Join(b.home, name))
	return strings.Split(strings.TrimSpace(string(text)), "\n")[:bytes.Count(text, []byte("\n"))]
}

func (b *testbed) sock() string { return filepath.Join(b.home, "run", "daemon.sock") }

func (b *testbed) mkdir() {
	if err := os.MkdirAll(filepath.Join(b.home, "run"), 0o700); err != nil {
		b.Fatal(err)
	}
}

// serve has a handler of hooks in the daemon's place.
func (b *testbed) serve(hook func(*door.Exchange)) {
	b.Helper()
	b.mkdir()
	l, err := net.Listen("unix", b.sock())
	if err != nil {
		b.Fatal(err)
	}
	serveHooks(l, hook)
	b.Cleanup(func() { l.Close() })
}

// raw has a function in the daemon's place that sees the connection.
func (b *testbed) raw(handle func(net.Conn)) {
	b.Helper()
	b.mkdir()
	l, err := net.Listen("unix", b.sock())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
}

type result struct {
	stdout, stderr string
	code           int // -1: a signal
	took           time.Duration
}

func (b *testbed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "smart-checkpoint"), args...)
	cmd.Env = b.env
	cmd.Dir = b.home
	return cmd
}

func (b *testbed) run(stdin io.Reader, args ...string) result {
	cmd := b.command(args...)
	cmd.Stdin = stdin
	return finish(cmd)
}

func finish(cmd *exec.Cmd) result {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	err := cmd.Run()
	r := result{stdout: out.String(), stderr: errs.String(), took: time.Since(began)}
	if err != nil {
		r.code = -1
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			r.code = exit.ExitCode()
		} else if r.stderr += err.Error(); errors.Is(err, syscall.EPIPE) {
			r.code = 0 // of the copying of standard input
		}
	}
	return r
}

// silent fails unless the process exited with 0 and said nothing.
func (b *testbed) silent(r result) {
	b.Helper()
	if r.code != 0 || r.stdout != "" || r.stderr != "" {
		b.Errorf("exit %d, %q, %q", r.code, r.stdout, r.stderr)
	}
}

// oneLine fails unless the process exited with 0, with nothing on standard output and one line on the other that has
// want.
func (b *testbed) oneLine(r result, want string) {
	b.Helper()
	if r.code != 0 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, want) {
		b.Errorf("exit %d, %q, %q; want one line with %q", r.code, r.stdout, r.stderr, want)
	}
}

// late is oneLine for what ends by its deadline: on a machine that is too slow for the line the last guard ends the
// process without it.
func (b *testbed) late(r result, want string) {
	b.Helper()
	if r.stderr == "" {
		b.silent(r)
		b.Log("no time for a line")
		return
	}
	b.oneLine(r, want)
}

// within fails when a process took longer than its deadline; the slack is for the machine.
func (b *testbed) within(r result, deadline time.Duration) {
	b.Helper()
	if r.took > deadline+500*time.Millisecond {
		b.Errorf("took %v of %v", r.took, deadline)
	}
}

var claude = []string{"stop", "--agent", "claude"}

// A recorder keeps what a handler saw.
type recorder struct {
	mu   sync.Mutex
	list []string
}

func (r *recorder) add(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, s)
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.list...)
}

// underRace reports whether the race detector is in these programs: they have several times the memory then.
func underRace() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// quickPrograms is for tests in which a program has to end before a hook's deadline: with the race detector in it, and
// an environment of its own, it sleeps a second first.
func quickPrograms(t *testing.T) {
	t.Helper()
	if underRace() {
		t.Skip("the programs have the race detector in them")
	}
}

// realPrograms is a directory with the client and the other two beside it, as they are released.
var realPrograms = sync.OnceValues(func() (string, error) {
	if err := lookAtSources(); err != nil {
		return "", err
	}
	return built.Programs(filepath.Join(programs, "real"))
})

// lookAtSources looks at every source of the module: the go command caches the results of tests by the files that they
// looked at, and this test is not linked with what it runs.
func lookAtSources() error {
	return filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case filepath.Ext(path) == ".go", d.Name() == "go.mod":
			_, err = os.Stat(path)
		}
		return err
	})
}
