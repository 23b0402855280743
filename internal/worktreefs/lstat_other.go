//go:build darwin || (linux && !amd64 && !arm64)

package worktreefs

import "golang.org/x/sys/unix"

func lstatat(at int, name string, st *unix.Stat_t) error {
	return unix.Fstatat(at, name, st, unix.AT_SYMLINK_NOFOLLOW)
}
