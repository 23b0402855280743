package beneath

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// directory is open for syncing.
type directory struct{ *os.File }

func (d directory) Stat() (vfs.FileInfo, error)         { return inode(d.File.Stat()) }
func (d directory) Prefetch(int64, int64) error         { return nil }
func (d directory) Preallocate(int64, int64) error      { return nil }
func (d directory) SyncData() error                     { return d.Sync() }
func (d directory) SyncTo(int64) (full bool, err error) { return false, nil }

func (f file) Stat() (vfs.FileInfo, error) { return inode(f.File.Stat()) }

// info is a vfs.FileInfo; nothing asks for the device.
type info struct{ os.FileInfo }

func (info) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

func inode(fi os.FileInfo, err error) (vfs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return info{fi}, nil
}

// Stat looks at a name itself, also if it is a link.
func (f *FS) Stat(name string) (out vfs.FileInfo, err error) {
	var st unix.Stat_t
	if r, rel := f.find(name); r != nil && rel == "" {
		err = r.with("", func(fd int) error { return failed("stat", name, fstat(fd, &st)) })
	} else {
		err = f.at("stat", name, func(at int, base string) error { return failed("stat", name, lstatat(at, base, &st)) })
	}
	if err != nil {
		return nil, err
	}
	return info{stat{name: filepath.Base(name), st: st}}, nil
}

type stat struct {
	name string
	st   unix.Stat_t
}

func (s stat) Name() string { return s.name }
func (s stat) Size() int64  { return s.st.Size }
func (s stat) IsDir() bool  { return s.Mode().IsDir() }

func (s stat) Sys() any {
	return &syscall.Stat_t{Dev: s.st.Dev, Ino: s.st.Ino, Nlink: s.st.Nlink, Mode: s.st.Mode, Uid: s.st.Uid, Gid: s.st.Gid, Size: s.st.Size}
}

func (s stat) ModTime() time.Time {
	return time.Unix(s.st.Mtim.Unix())
}

func (s stat) Mode() os.FileMode {
	mode := os.FileMode(s.st.Mode) & fs.ModePerm
	switch s.st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	default:
		mode |= fs.ModeDevice
	}
	return mode
}

// Chmod gives an open file or directory its mode, whatever its name has become. Where there are no such modes it does
// nothing.
func Chmod(f vfs.File, perm os.FileMode) error {
	fd := f.Fd()
	if fd == vfs.InvalidFd {
		return nil
	}
	return again(func() error { return unix.Fchmod(int(fd), uint32(perm)) })
}

// SetTime gives an open file the time of its last change.
func SetTime(f vfs.File, at time.Time) error {
	tv := unix.NsecToTimeval(at.UnixNano())
	return again(func() error { return unix.Futimes(int(f.Fd()), []unix.Timeval{tv, tv}) })
}

// Writable asks whether this process may make files in a directory: fs.ErrPermission or EROFS where not.
func (f *FS) Writable(dir string) error {
	return f.inside("write", dir, func(fd int) error {
		return failed("write", dir, again(func() error { return unix.Faccessat(fd, ".", unix.W_OK, unix.AT_EACCESS) }))
	})
}

// SameFile reports whether two descriptions are of one file, as far as the file system can tell.
func SameFile(a, b vfs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	unknown := !ok || !also
	return unknown || x.Ino == y.Ino && x.Dev == y.Dev
}
