// Package osfile reads and replaces files that lie outside of the user's worktree: our own, agents' settings, agents'
// sessions. What it replaces is the old bytes or the new ones at any moment, and durable when it returns, but where a
// caller needs less.
package osfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Options of Write.
type Options struct {
	Temporary string      // how the name of the temporary file beside it begins
	Like      fs.FileInfo // whose mode and owner it gets; nil: 0600 and this process's
	Hint      bool        // nothing needs it after a power cut: no fsync
	// Held: the temporary file is locked as long as it has that name, so that Abandoned tells one that a killed process
	// left.
	Held bool
	// Before, which may be nil, is called with the temporary file as it will be, right before it gets its name; an
	// error keeps the old file.
	Before func(tmp *os.File) error
}

// Write makes path a file with what write gives: into a temporary file in the same directory, fsync, rename, fsync of
// the directory. After
// an error the file that was there is there, and the temporary one is gone.
func Write(path string, o Options, write func(io.Writer) error) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return WriteIn(dir, filepath.Base(path), o, write)
}

// WriteIn is Write for the entry name, one component, of a directory that is held open: whatever becomes of the path by
// which it was reached.
func WriteIn(dir *os.Root, name string, o Options, write func(io.Writer) error) error {
	tmp, temporary, err := create(dir, o)
	if err != nil {
		return err
	}
	if o.Like != nil {
		if err = sameOwner(tmp, o.Like); err == nil {
			err = tmp.Chmod(o.Like.Mode().Perm())
		}
	}
	if err == nil {
		err = write(tmp)
	}
	if err == nil && !o.Hint {
		err = tmp.Sync()
	}
	if err == nil && o.Before != nil {
		err = o.Before(tmp)
	}
	if o.Held { // the lock goes with the file's closing, so that comes last
		defer tmp.Close()
	} else if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		_ = dir.Remove(temporary)
		return err
	}
	if o.Hint {
		return nil
	}
	return SyncRoot(dir)
}

// create makes a new file whose name begins so, mode 0600.
func create(dir *os.Root, o Options) (f *os.File, name string, err error) {
	for range lockTries {
		name = o.Temporary + rand.Text()[:12] // 60 bits: a name that is taken is somebody's attempt, and an error
		if f, err = dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return nil, "", fmt.Errorf("make a temporary file: %w", err)
		}
		if !o.Held {
			return f, name, nil
		}
		// where there are no locks nobody finds it abandoned
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if fi, lerr := dir.Lstat(name); lerr == nil {
			if own, serr := f.Stat(); serr == nil && os.SameFile(fi, own) {
				return f, name, nil
			}
		}
		f.Close() // somebody took it for abandoned before it was locked
	}
	return nil, "", errors.New("make a temporary file: it is removed each time")
}

// lockTries is how often a temporary file is made anew that was removed before it was locked.
const lockTries = 3

// RemoveAbandoned removes an entry of a directory if it is a file of this user's, with one name, that no writer holds
// (Options.Held), and reports
// whether it did.
func RemoveAbandoned(dir *os.Root, name string) bool {
	was, err := dir.Lstat(name)
	if err != nil || !was.Mode().IsRegular() {
		return false
	}
	st, ok := was.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(was, now) {
		return false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	return dir.Remove(name) == nil
}

// SyncDir makes the names in a directory durable, where the system can.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return syncDir(d)
}

// SyncRoot is SyncDir for a directory that is held open.
func SyncRoot(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return syncDir(d)
}

func syncDir(d *os.File) error {
	defer d.Close()
	if err := d.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}

// cannotSync reports whether a file system has said that it does not sync directories.
func cannotSync(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission)
}

// ErrNotRegular is returned by ReadSmall for what is no regular file, ErrTooLarge for one that is larger than allowed.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("larger than it can be")
)

// ReadSmall reads a regular file of at most limit bytes whose name somebody else may have made: it waits for nobody,
// follows no link, and
// takes no more memory than the limit.
func ReadSmall(path string, limit int64) ([]byte, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() { // opening some devices has effects of its own
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	f, err := OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err = f.Stat(); err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	return Limited(f, path, limit)
}

// Limited reads all of r, which must be at most limit bytes.
func Limited(r io.Reader, path string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		b, err = nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return b, err
}

// sameOwner gives a new file the owner and group of another.
func sameOwner(f *os.File, like fs.FileInfo) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	now, ok := fi.Sys().(*syscall.Stat_t)
	want, ok2 := like.Sys().(*syscall.Stat_t)
	if !ok || !ok2 {
		return nil
	}
	if now.Uid == want.Uid && now.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// SameOwner reports whether two files belong to one user.
func SameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Uid == y.Uid
}

// SameGroup reports whether two files belong to one group.
func SameGroup(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Gid == y.Gid
}

// OpenRead opens a file to be read; it waits for nobody, and follows no link.
func OpenRead(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
