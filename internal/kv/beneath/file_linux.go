package beneath

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// file is an open file as pebble wants it: what it does is what pebble's own does.
type file struct {
	*os.File
	fd     uintptr
	ranges bool // sync_file_range does what it says
}

const ext4 = 0xef53

func wrap(f *os.File) vfs.File {
	w := file{File: f, fd: f.Fd()}
	var st unix.Statfs_t
	if unix.Fstatfs(int(w.fd), &st) == nil && st.Type == ext4 {
		w.ranges = unix.SyncFileRange(int(w.fd), 0, 0, 0) != unix.ENOSYS
	}
	return w
}

func (f file) Prefetch(offset, length int64) error {
	_, _, err := unix.Syscall(unix.SYS_READAHEAD, f.fd, uintptr(offset), uintptr(length))
	return err
}

func (f file) Preallocate(offset, length int64) error {
	return unix.Fallocate(int(f.fd), unix.FALLOC_FL_KEEP_SIZE, offset, length)
}

func (f file) SyncData() error { return unix.Fdatasync(int(f.fd)) }

func (f file) SyncTo(length int64) (full bool, err error) {
	if !f.ranges {
		err = unix.Fdatasync(int(f.fd))
		return err == nil, err
	}
	return false, unix.SyncFileRange(int(f.fd), 0, length, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE)
}
