package kv

import (
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// sameFile reports whether two descriptions are of one file, as far as the file system can tell.
func sameFile(a, b vfs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || x.Ino == y.Ino && x.Dev == y.Dev
}
