package beneath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// Whatever stands in the way of a name, an open ends at once: O_NONBLOCK.
const fileFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// open opens a file that is there. Opening some devices has effects of its own, so the kind is looked at first; what is
// put in the place after that is seen by the second look. Links count only where the file is to be written.
func (f *FS) open(at int, base, path string, flags int) (*os.File, error) {
	var st unix.Stat_t
	if err := lstatat(at, base, &st); err != nil {
		return nil, failed("open", path, err)
	}
	if err := f.believed(path, base, &st, flags != unix.O_RDONLY); err != nil {
		return nil, err
	}
	fd, err := openat(at, base, flags|fileFlags, 0)
	switch err {
	case nil:
	case unix.ELOOP, unix.ENXIO, unix.EOPNOTSUPP:
		return nil, kind(path, "is not a regular file")
	default:
		return nil, failed("open", path, err)
	}
	if err = fstat(fd, &st); err != nil {
		err = failed("stat", path, err)
	} else if err = f.believed(path, base, &st, flags != unix.O_RDONLY); err == nil {
		err = wait(fd, path)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// wait takes O_NONBLOCK back: it means nothing for a regular file, but the runtime would ask the poller for it.
func wait(fd int, path string) error {
	return failed("open", path, again(func() error { return unix.SetNonblock(fd, false) }))
}

func (f *FS) believed(path, base string, st *unix.Stat_t, written bool) error {
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return kind(path, "is %s, not a file", kindName(uint32(st.Mode)))
	}
	if err := ours(path, st); err != nil {
		return err
	}
	if limit := f.rules.Limit(base); limit > 0 && st.Size > limit {
		return kind(path, "has %d bytes, more than it can have had", st.Size)
	}
	if written && st.Nlink != 1 {
		return kind(path, "has %d links, so that it is another file, too: put a copy in its place", st.Nlink)
	}
	return nil
}

// create makes a file that was not there.
func create(at int, base, path string) (*os.File, error) {
	fd, err := openat(at, base, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, failed("create", path, err)
	}
	// The umask may be anything.
	if err := again(func() error { return unix.Fchmod(fd, 0o600) }); err != nil {
		_ = unix.Close(fd)
		return nil, failed("create", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Create makes a new file; one that has the name loses it, a directory does not.
func (f *FS) Create(name string, _ vfs.DiskWriteCategory) (out vfs.File, err error) {
	err = f.at("create", name, func(at int, base string) error {
		for {
			file, err := create(at, base, name)
			if err == nil {
				out = wrap(file)
				return nil
			}
			if !errors.Is(err, fs.ErrExist) {
				return err
			}
			err = again(func() error { return unix.Unlinkat(at, base, 0) })
			if err == unix.EISDIR || err == unix.EPERM {
				var st unix.Stat_t
				if lstatat(at, base, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
					return kind(name, "is a directory, not a file")
				}
			}
			if err != nil && err != unix.ENOENT {
				return failed("remove", name, err)
			}
		}
	})
	return out, err
}

// Open opens a file to be read.
func (f *FS) Open(name string, opts ...vfs.OpenOption) (out vfs.File, err error) {
	err = f.at("open", name, func(at int, base string) error {
		file, err := f.open(at, base, name, unix.O_RDONLY)
		if err == nil {
			out = wrap(file)
		}
		return err
	})
	return options(out, err, opts)
}

// OpenReadWrite opens a file to be read and written, and makes it if it is not there.
func (f *FS) OpenReadWrite(name string, _ vfs.DiskWriteCategory, opts ...vfs.OpenOption) (out vfs.File, err error) {
	err = f.at("open", name, func(at int, base string) error {
		file, err := f.openOrCreate(at, base, name)
		if err == nil {
			out = wrap(file)
		}
		return err
	})
	return options(out, err, opts)
}

func (f *FS) openOrCreate(at int, base, name string) (*os.File, error) {
	for {
		file, err := f.open(at, base, name, unix.O_RDWR)
		if !isNot(err) {
			return file, err
		}
		if file, err = create(at, base, name); !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

func options(f vfs.File, err error, opts []vfs.OpenOption) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	for _, o := range opts {
		o.Apply(f)
	}
	return f, nil
}

// OpenDir opens a directory for syncing. That may be the one that a store's directory lies in: its entries have to be
// made durable once.
func (f *FS) OpenDir(name string) (vfs.File, error) {
	if r, _ := f.find(name); r == nil && f.above(name) {
		return vfs.Default.OpenDir(name)
	}
	var out vfs.File
	err := f.inside("open", name, func(fd int) error {
		fd, err := openat(fd, ".", dirFlags, 0)
		if err != nil {
			return failed("open", name, err)
		}
		if err := wait(fd, name); err != nil {
			_ = unix.Close(fd)
			return err
		}
		out = directory{os.NewFile(uintptr(fd), name)}
		return nil
	})
	return out, err
}

// above reports whether a root lies in the directory name.
func (f *FS) above(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.roots {
		if filepath.Dir(r.path) == filepath.Clean(name) {
			return true
		}
	}
	return false
}

// Link gives a file of this user's a second name.
func (f *FS) Link(oldname, newname string) error {
	return f.at("link", oldname, func(from int, oldbase string) error {
		var st unix.Stat_t
		if err := lstatat(from, oldbase, &st); err != nil {
			return failed("link", oldname, err)
		}
		if err := f.believed(oldname, oldbase, &st, false); err != nil {
			return err
		}
		return f.at("link", newname, func(to int, newbase string) error {
			return failed("link", newname, again(func() error { return unix.Linkat(from, oldbase, to, newbase, 0) }))
		})
	})
}

// Remove removes a file, an empty directory, or a link, but not what it leads to.
func (f *FS) Remove(name string) error {
	return f.at("remove", name, func(at int, base string) error { return failed("remove", name, unlink(at, base)) })
}

func unlink(at int, base string) error {
	err := again(func() error { return unix.Unlinkat(at, base, 0) })
	if err == unix.EISDIR || err == unix.EPERM {
		derr := again(func() error { return unix.Unlinkat(at, base, unix.AT_REMOVEDIR) })
		if derr != unix.ENOTDIR {
			return derr
		}
	}
	return err
}

// RemoveAll removes a name and what is beneath it: links, not what they lead to, and nothing on another file system.
// What is not there is no error.
func (f *FS) RemoveAll(name string) error {
	if r, rel := f.find(name); r != nil && rel == "" {
		return r.removeAll()
	}
	err := f.at("remove", name, func(at int, base string) error { return removeTree(at, base, name) })
	if isNot(err) {
		return nil
	}
	return err
}

// removeAll removes the directory itself, by its name: if that has become another's, it is not empty, or nothing of
// value.
func (r *root) removeAll() error {
	err := r.with("", func(fd int) error { return removeEntries(fd, r.path) })
	if err == nil {
		err = failed("remove", r.path, again(func() error { return unix.Unlinkat(unix.AT_FDCWD, r.path, unix.AT_REMOVEDIR) }))
	}
	if isNot(err) {
		return nil
	}
	return err
}

func removeTree(at int, base, path string) error {
	var st, in unix.Stat_t
	if err := lstatat(at, base, &st); err != nil {
		return failed("remove", path, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		fd, err := openat(at, base, dirFlags, 0)
		if err != nil {
			return dirError(at, base, path, err)
		}
		defer unix.Close(fd)
		if err := errors.Join(fstat(fd, &in), fstat(at, &st)); err != nil {
			return failed("remove", path, err)
		}
		if in.Dev != st.Dev {
			return kind(path, "lies on another file system")
		}
		if err := removeEntries(fd, path); err != nil {
			return err
		}
	}
	return failed("remove", path, unlink(at, base))
}

func removeEntries(fd int, path string) error {
	names, err := list(fd, path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeTree(fd, name, filepath.Join(path, name)); err != nil && !isNot(err) {
			return err
		}
	}
	return nil
}

// Rename gives a file or directory another name; a link is renamed itself.
func (f *FS) Rename(oldname, newname string) error {
	return f.at("rename", oldname, func(from int, oldbase string) error {
		return f.at("rename", newname, func(to int, newbase string) error {
			err := again(func() error { return unix.Renameat(from, oldbase, to, newbase) })
			if err == unix.ENOENT {
				return failed("rename", oldname, err)
			}
			return failed("rename", newname, err)
		})
	})
}

// ReuseForWrite makes a new file: nothing is written twice.
func (f *FS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	out, err := f.Create(newname, c)
	if err != nil {
		return nil, err
	}
	if err := f.Remove(oldname); err != nil {
		_ = out.Close()
		return nil, err
	}
	return out, nil
}

// MkdirAll makes a directory and those above it that are not there, for this user alone. The directory of a store
// itself is made by its path; one that is there, empty and open to others is closed to them.
func (f *FS) MkdirAll(name string, _ os.FileMode) error {
	r, rel := f.find(name)
	if r == nil {
		return failed("mkdir", name, fs.ErrInvalid)
	}
	if rel == "" {
		return r.make()
	}
	if err := f.MkdirAll(filepath.Dir(name), 0); err != nil {
		return err
	}
	return f.at("mkdir", name, func(at int, base string) error { return mkdirat(at, base, name) })
}

// mkdirat makes a directory, or looks at the one that is there.
func mkdirat(at int, base, path string) error {
	err := again(func() error { return unix.Mkdirat(at, base, 0o700) })
	if err != nil && err != unix.EEXIST {
		return failed("mkdir", path, err)
	}
	made := err == nil
	fd, err := opendirat(at, base, path)
	if err != nil {
		return err
	}
	if made {
		err = failed("mkdir", path, again(func() error { return unix.Fchmod(fd, 0o700) }))
	}
	_ = unix.Close(fd)
	return err
}

func (r *root) make() error {
	if _, err := r.handle(); isNot(err) {
		if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
			return err
		}
		if err := again(func() error { return unix.Mkdirat(unix.AT_FDCWD, r.path, 0o700) }); err != nil && err != unix.EEXIST {
			return failed("mkdir", r.path, err)
		}
	}
	return r.with("", func(fd int) error {
		var st unix.Stat_t
		if err := fstat(fd, &st); err != nil {
			return failed("stat", r.path, err)
		}
		if names, err := list(fd, r.path); err != nil || len(names) > 0 {
			return err
		}
		if st.Mode&0o7777 == 0o700 {
			return nil
		}
		return failed("mkdir", r.path, again(func() error { return unix.Fchmod(fd, 0o700) }))
	})
}

// List gives the names in a directory.
func (f *FS) List(name string) (names []string, err error) {
	err = f.inside("list", name, func(fd int) error {
		names, err = list(fd, name)
		return err
	})
	return names, err
}

func list(fd int, path string) ([]string, error) {
	own, err := openat(fd, ".", dirFlags, 0) // has a position of its own
	if err != nil {
		return nil, failed("list", path, err)
	}
	if err := wait(own, path); err != nil {
		_ = unix.Close(own)
		return nil, err
	}
	d := os.NewFile(uintptr(own), path)
	defer d.Close()
	return d.Readdirnames(-1)
}
