package beneath

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"rewind/internal/osfile"
)

// FS is the disk beneath some directories.
type FS struct {
	rules Rules
	mu    sync.Mutex
	roots []*root
}

// root is one directory, which may not be there yet.
type root struct {
	path string
	mu   sync.Mutex
	dir  *os.File // nil: it was not there so far
	shut bool
}

// New is the disk beneath dir, an absolute path. A directory that is there is opened; its name may not be a link, what
// is above it may.
func New(dir string, rules Rules) (*FS, error) {
	f := &FS{rules: rules}
	return f, f.Add(dir)
}

// Add puts another directory beside the first.
func (f *FS) Add(dir string) error {
	r := &root{path: filepath.Clean(dir)}
	_, err := r.handle()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.roots = append(f.roots, r)
	if isNot(err) {
		return nil
	}
	return err
}

// Close lets go of the directories. Calls under way end first; files that are open stay so.
func (f *FS) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.roots {
		r.mu.Lock()
		r.shut = true
		if r.dir != nil {
			_ = r.dir.Close()
		}
		r.mu.Unlock()
	}
	return nil
}

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

func (r *root) handle() (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shut {
		return nil, fs.ErrClosed
	}
	if r.dir != nil {
		return r.dir, nil
	}
	fd, err := openat(unix.AT_FDCWD, r.path, dirFlags, 0)
	if err != nil {
		return nil, dirError(unix.AT_FDCWD, r.path, r.path, err)
	}
	var st unix.Stat_t
	if err := fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, failed("stat", r.path, err)
	}
	if err := ours(r.path, &st); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	r.dir = os.NewFile(uintptr(fd), r.path)
	return r.dir, nil
}

// with calls fn with the handle of a directory in the root; rel is "" for the root itself.
func (r *root) with(rel string, fn func(fd int) error) error {
	dir, err := r.handle()
	if err != nil {
		return err
	}
	conn, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := conn.Control(func(fd uintptr) { err = r.walk(int(fd), rel, fn) }); cerr != nil {
		return failed("open", r.path, fs.ErrClosed)
	}
	return err
}

func (r *root) walk(fd int, rel string, fn func(fd int) error) error {
	path, top := r.path, fd
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if rel == "" {
			break
		}
		path = filepath.Join(path, part)
		next, err := opendirat(fd, part, path)
		if fd != top {
			_ = unix.Close(fd)
		}
		if err != nil {
			return err
		}
		fd = next
	}
	err := fn(fd)
	if fd != top {
		_ = unix.Close(fd)
	}
	return err
}

// at calls fn with the handle of the directory that name lies in, and the last component of name.
func (f *FS) at(op, name string, fn func(fd int, base string) error) error {
	r, rel := f.find(name)
	if r == nil || rel == "" {
		return failed(op, name, fs.ErrInvalid)
	}
	dir, base := filepath.Split(rel)
	return r.with(strings.TrimSuffix(dir, string(filepath.Separator)), func(fd int) error { return fn(fd, base) })
}

// inside calls fn with the handle of a directory.
func (f *FS) inside(op, name string, fn func(fd int) error) error {
	r, rel := f.find(name)
	if r == nil {
		return failed(op, name, fs.ErrInvalid)
	}
	return r.with(rel, fn)
}

// opendirat opens a directory beneath another.
func opendirat(at int, base, path string) (int, error) {
	fd, err := openat(at, base, dirFlags, 0)
	if err != nil {
		return -1, dirError(at, base, path, err)
	}
	var st unix.Stat_t
	if err = fstat(fd, &st); err != nil {
		err = failed("stat", path, err)
	} else if err = ours(path, &st); err == nil {
		err = private(path, &st)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// dirError tells what is in the place of a directory.
func dirError(at int, base, path string, err error) error {
	if err == unix.ELOOP || err == unix.ENOTDIR {
		var st unix.Stat_t
		if serr := lstatat(at, base, &st); serr == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return kind(path, "is %s, not a directory", kindName(uint32(st.Mode)))
		}
	}
	return failed("open", path, err)
}

// me is the user that this process is, as long as it runs.
var me = os.Geteuid()

// ours refuses what is not this user's.
func ours(path string, st *unix.Stat_t) error {
	if int(st.Uid) != me {
		return rights(path, "belongs to %s, this is %s", osfile.UserName(int(st.Uid)), osfile.UserName(me))
	}
	return nil
}

// private refuses a directory in which others can put what they like.
func private(path string, st *unix.Stat_t) error {
	if st.Mode&0o022 != 0 {
		return rights(path, "can be written by others (mode %04o): chmod go-w makes it yours alone, look at what is in it before",
			st.Mode&0o7777)
	}
	return nil
}

func kindName(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFIFO:
		return "a named pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFREG:
		return "a file"
	}
	return "a device"
}

func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

func isNot(err error) bool {
	pe, ok := err.(*fs.PathError)
	return ok && pe.Err == syscall.ENOENT
}

func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func openat(at int, name string, flags int, perm uint32) (fd int, err error) {
	err = again(func() error { fd, err = unix.Openat(at, name, flags, perm); return err })
	return fd, err
}

func fstat(fd int, st *unix.Stat_t) error { return again(func() error { return unix.Fstat(fd, st) }) }

func lstatat(at int, name string, st *unix.Stat_t) error {
	return again(func() error { return unix.Fstatat(at, name, st, unix.AT_SYMLINK_NOFOLLOW) })
}
