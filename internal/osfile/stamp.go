package osfile

import (
	"io/fs"
	"syscall"
	"time"
)

// Stamp tells one state of a file from another, as long as it is older than a step of the file system's clock. It is
// comparable. The zero value is no file's.
type Stamp struct {
	Size              int64
	Modified, Changed uint64 // nanoseconds since 1970: of its content, and of its inode
	Device, Inode     uint64
}

// StampOf is the stamp of a file that was looked at; zero where the system tells nothing of its inode.
func StampOf(fi fs.FileInfo) Stamp {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Stamp{}
	}
	return Stamp{
		Size: fi.Size(), Modified: uint64(fi.ModTime().UnixNano()), Changed: uint64(changed(st).UnixNano()),
		Device: uint64(st.Dev), Inode: st.Ino, //nolint:unconvert // Dev is narrower on other systems
	}
}

// Young reports whether a stamp does not tell the file of that moment from what is written next: it is not older than a
// step of the clock.
func (s Stamp) Young(at time.Time) bool {
	const step = 20 * time.Millisecond // the clocks of some file systems go on every 10 ms
	newest := time.Unix(0, int64(max(s.Modified, s.Changed)))
	return at.Sub(newest) <= step
}
