package osfile

import (
	"os"
	"syscall"
	"time"
)

// Born is when a file was made, stat(2); zero: it is not there.
func Born(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Birthtimespec.Unix())
	}
	return time.Time{}
}

func changed(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }
