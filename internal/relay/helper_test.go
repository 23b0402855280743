package relay

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/built"
)

// The test binary is also the daemon that Connect starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "daemon" {
		os.Exit(fakeDaemon())
	}
	os.Exit(m.Run())
}

// fakeDaemon holds a lock as the daemon does, serves nothing, and says in $REWIND_HOME/log what became of it.
// $REWIND_TEST_EXIT: it cannot run.
func fakeDaemon() int {
	home := os.Getenv("REWIND_HOME")
	note := func(s string) {
		f, err := os.OpenFile(filepath.Join(home, "log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err == nil {
			_, _ = f.WriteString(s + "\n")
			f.Close()
		}
	}
	note("start " + strconv.Itoa(os.Getpid()))
	if s := os.Getenv("REWIND_TEST_EXIT"); s != "" {
		code, _ := strconv.Atoi(s)
		return code
	}
	lock, err := os.OpenFile(filepath.Join(home, "run", "daemon.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 3
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		note("lost")
		return 0
	}
	if pause, err := time.ParseDuration(os.Getenv("REWIND_TEST_SLOW")); err == nil {
		time.Sleep(pause)
	}
	note("facts " + facts())
	note("up " + strconv.Itoa(os.Getpid()))
	sock := filepath.Join(home, "run", socketName)
	os.Remove(sock)
	l, err := net.Listen("unix", sock)
	if err != nil {
		return 4
	}
	_ = l.(*net.UnixListener).SetDeadline(time.Now().Add(20 * time.Second)) // no test outlives it for long
	for {
		c, err := l.Accept()
		if err != nil {
			return 0
		}
		defer c.Close()
	}
}

// facts is what a daemon can see of how it was started.
func facts() string {
	cwd, _ := os.Getwd()
	sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	var open []string
	for fd := range 64 {
		if target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && !strings.Contains(target, "daemon.lock") &&
			strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "/sys/") {
			open = append(open, strconv.Itoa(fd)+"="+target)
		}
	}
	var names []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return strings.Join([]string{
		"cwd=" + cwd, "leads=" + strconv.FormatBool(int(sid) == os.Getpid()), "open=" + strings.Join(open,
			","), "env=" + strings.Join(names, ","),
	}, " ")
}

// shortDir is a directory whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := built.Short()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// listen serves every connection with handle, in a goroutine each.
func listen(t *testing.T, sock string, handle func(net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
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

// soon is a deadline that only a hang misses.
func soon() time.Time { return time.Now().Add(20 * time.Second) }
