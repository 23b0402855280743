//go:build unix

package relay

import (
	"os"
	"strconv"
	"syscall"
)

const rootDir = "/"

func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func keepsHere(string) bool { return false }

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
