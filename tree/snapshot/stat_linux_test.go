package snapshot

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func mtimeOf(st *syscall.Stat_t) int64 { return st.Mtim.Nano() }
func ctimeOf(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

func mkdirat(fd int, name string) error { return unix.Mkdirat(fd, name, 0o755) }

func openat(fd int, name string) (int, error) {
	return unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}
