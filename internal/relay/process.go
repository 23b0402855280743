package relay

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Process is a detached child.
type Process struct {
	ended chan struct{} // closed when it has ended
	code  int           // read after ended
}

// Ended returns a channel that is closed once the process has ended. What ends is reaped by a goroutine: a caller that
// lives long keeps no zombie, and one that goes first leaves the child to init.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Code returns the exit code, -1 for a signal. It waits for the end.
func (p *Process) Code() int {
	<-p.ended
	return p.code
}

// Spawn starts argv in a session of its own, so that neither the end of this process nor a signal to its group reaches
// it. The child has the three files as standard streams and no other descriptor, dir as working directory (empty: this
// process's), and Environ as environment.
func Spawn(argv []string, dir string, stdin, stdout, stderr *os.File) (*Process, error) {
	closeOnExec()
	child, err := os.StartProcess(argv[0], argv,
		&os.ProcAttr{Dir: dir, Env: Environ(), Files: []*os.File{stdin, stdout, stderr}, Sys: detached()})
	if err != nil {
		return nil, fail("start", argv[0], err)
	}
	p := &Process{ended: make(chan struct{}), code: -1}
	go func() {
		defer close(p.ended)
		if state, err := child.Wait(); err == nil {
			p.code = state.ExitCode()
		}
	}()
	return p, nil
}

// start starts `bin daemon version` detached, with nothing on its standard streams and / as working directory. It does
// not wait for the daemon to listen.
func start(bin, version string) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fail("start", bin, err)
	}
	defer func() { _ = null.Close() }()
	return Spawn([]string{bin, "daemon", version}, "/", null, null, null)
}

// Environ is the part of the environment that a process of ours gets: what says who the user is, where programs, git's
// configuration and the time zone are, and our own variables. The rest stays behind: agents hand their API keys to
// hooks, and the daemon outlives them all. It also leaves out variables for one command or one place: a directory for
// temporary files that is deleted with its owner, a language, settings of `git -c`, and relative parts of PATH. The
// system's directories are added: a later client may need a program that this one did not.
func Environ() []string {
	var kept []string
	path := ""
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == pathVariable:
			path = value
		case keeps(name):
			kept = append(kept, kv)
		}
	}
	if path = searchPath(path); path == "" {
		return kept
	}
	return append(kept, pathVariable+"="+path)
}

const pathVariable = "PATH"

func keeps(name string) bool {
	switch name {
	case "HOME", "USER", "LOGNAME", "TZ", "XDG_CONFIG_HOME", // the last: where git's excludes file is
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM":
		return true
	}
	return strings.HasPrefix(name, "REWIND_")
}

// searchPath is the absolute part of a PATH, and the directories in which every system has its programs.
func searchPath(path string) string {
	var out []string
	for _, dir := range append(filepath.SplitList(path), systemPath...) {
		if filepath.IsAbs(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return strings.Join(out, string(os.PathListSeparator))
}

func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

var systemPath = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// umask is one for all of a process: the first that narrows it keeps what it was, the last gives that back.
var umask struct {
	sync.Mutex
	users, was int
}

// ownUmask makes the umask 077, for what is made here and for processes that are started, until the function that it
// returns is called. One that takes its owner's rights would keep the daemon out of its own directory.
func ownUmask() (restore func()) {
	umask.Lock()
	defer umask.Unlock()
	if umask.users++; umask.users == 1 {
		umask.was = syscall.Umask(0o077)
	}
	return func() {
		umask.Lock()
		defer umask.Unlock()
		if umask.users--; umask.users == 0 {
			syscall.Umask(umask.was)
		}
	}
}

// closeOnExec keeps descriptors that were left open by whoever started this process from its children: an agent that
// waits for the end of a pipe would wait for the daemon.
func closeOnExec() {
	d, err := os.Open("/dev/fd")
	if err != nil {
		for fd := 3; fd < 256; fd++ {
			syscall.CloseOnExec(fd)
		}
		return
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// startLock takes the right to start a daemon; nil: another process has it. It lasts until the file is closed, at the
// latest with this process.
func startLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if err == syscall.EWOULDBLOCK {
		err = nil
	}
	return nil, err
}
