package bench

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has had: what another one takes away is not in it.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
