//go:build unix

package relay

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

const rootDir = "/"

func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func keepsHere(string) bool { return false }

var systemPath = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// umask is one for all of a process: the first that narrows it keeps what it was, the last gives that back.
var umask struct {
	sync.Mutex
	users, was int
}

// ownUmask makes the umask 077, for what is made here and for processes that are started, until the function that it returns is called. One that
// takes its owner's rights would keep the daemon out of its own directory.
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

// closeOnExec keeps descriptors that were left open by whoever started this process from its children: an agent that waits for the end of a
// pipe would wait for the daemon.
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

// startLock takes the right to start a daemon; nil: another process has it. It lasts until the file is closed, at the latest with this process.
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
