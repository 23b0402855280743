package clients

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// startOf says when a process began, if it runs.
func startOf(pid int) (started, bool) {
	if !exists(pid) {
		return started{}, false
	}
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return started{}, err != nil
	}
	return started{at: time.Unix(p.Proc.P_starttime.Unix())}, true
}

// lockHolder is not told here.
func lockHolder(*os.File) int { return 0 }
