package osfile

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Born is when a file was made, statx(2); zero: its file system does not say.
func Born(path string) time.Time {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}

func changed(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
