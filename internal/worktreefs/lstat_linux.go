//go:build amd64 || arm64

package worktreefs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// lstatat is unix.Fstatat without the copy of the name on the heap, which is a twentieth of a scan of names that are in
// the kernel's cache.
func lstatat(at int, name string, st *unix.Stat_t) error {
	var room [256]byte // zero behind the name
	if len(name) >= len(room) {
		return unix.Fstatat(at, name, st, unix.AT_SYMLINK_NOFOLLOW)
	}
	copy(room[:], name)
	_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(at), uintptr(unsafe.Pointer(&room[0])), uintptr(unsafe.Pointer(st)),
		unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
