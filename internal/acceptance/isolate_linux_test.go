//go:build acceptance

package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isolate lets a command start in a network namespace of its own; who is not root gets it in a user namespace, under
// the same ids.
func isolate(cmd *exec.Cmd) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // for loopbackUp
	}
	return true
}

// loopbackUp brings the loopback interface up, which is down in a new namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("acceptance: loopback: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("acceptance: loopback: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return fmt.Errorf("acceptance: loopback: %w", err)
	}
	if req.Uint16()&unix.IFF_UP != 0 {
		return nil
	}
	req.SetUint16(req.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("acceptance: loopback: %w", err)
	}
	return nil
}

// killHome kills what still runs with this home directory: what an agent left behind in a session of its own, and what
// that starts while it is killed. The directory was made for one test, so that nothing else is meant.
func killHome(home string) {
	for range 20 {
		if !killOnce([]byte("HOME=" + home)) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// killOnce reports whether there was something to kill.
func killOnce(want []byte) (found bool) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range list {
		env, err := os.ReadFile(name)
		if err != nil {
			continue // gone, or somebody else's
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && bytes.Equal(v, want) {
				found = true
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
	return found
}
