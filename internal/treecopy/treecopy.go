// Package treecopy copies directories of a project that no checkpoint has, and removes such copies. A file is copied as
// a reflink, which shares the blocks until one of both is written, or byte by byte. A copy shares nothing that a writer
// could change: no inode, and no symbolic link into the project.
package treecopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNoReflink is returned where the file system has no reflinks, or the copy would lie on another one.
var ErrNoReflink = errors.New("no reflinks here")

// ErrTooLarge is returned for what is larger than allowed.
var ErrTooLarge = errors.New("too large")

// Size is how large a directory is.
type Size struct {
	Entries int
	Bytes   int64 // of regular files
}

// Over reports whether a size is over a limit; what is 0 there has none.
func (s Size) Over(limit Size) bool {
	many := limit.Entries > 0 && s.Entries > limit.Entries
	return many || limit.Bytes > 0 && s.Bytes > limit.Bytes
}

// Add gives the sum of two sizes.
func (s Size) Add(o Size) Size { return Size{s.Entries + o.Entries, s.Bytes + o.Bytes} }

// Survey is what a directory holds, as far as a copy is concerned.
type Survey struct {
	Size
	Foreign string // the first path whose owner or group is not the one that was asked for; "": none
}

// Measure looks through a directory. It stops with ErrTooLarge where more than limit is there. mine reports whether
// files of an owner and group are the asker's.
func Measure(
	ctx context.Context, from *os.Root, path string, limit Size, mine func(uid, gid uint32) bool,
) (s Survey, err error) {
	fi, err := from.Lstat(path)
	if err != nil {
		return s, err
	}
	return s, measure(ctx, from, path, fi, limit, mine, &s)
}

func measure(
	ctx context.Context, in *os.Root, path string, fi fs.FileInfo, limit Size, mine func(uid, gid uint32) bool, s *Survey,
) error {
	s.Entries++
	if fi.Mode().IsRegular() {
		s.Bytes += fi.Size()
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && s.Foreign == "" && !mine(st.Uid, st.Gid) {
		s.Foreign = path
	}
	if s.Over(limit) {
		return ErrTooLarge
	}
	if !fi.IsDir() {
		return ctx.Err()
	}
	list, err := readDir(in, path)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a copy has it empty
	}
	for _, e := range list {
		below, lerr := e.Info()
		if lerr != nil {
			continue // it has gone meanwhile
		}
		if err := measure(ctx, in, filepath.Join(path, e.Name()), below, limit, mine, s); err != nil {
			return err
		}
	}
	return err
}

func readDir(in *os.Root, path string) ([]fs.DirEntry, error) {
	d, err := in.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

// Clone makes an empty file share the content of another one. Errors: ErrNoReflink.
type Clone func(to, from *os.File) error

// Copier copies from one tree into another, to the same paths.
type Copier struct {
	From, To *os.Root
	FromPath string // of From, absolute, without links
	Clone    Clone  // nil: byte by byte
	Limit    Size   // of one Copy: more is ErrTooLarge; what a file grows by meanwhile counts

	done Size
}

// Copy copies a file, a link or a directory, whose parent is there and where nothing is. What is no such thing (a pipe,
// a socket, a device) and what cannot be read is left out. Modes and times are the same; owners are not. After an error
// what was made so far is removed.
func (c *Copier) Copy(ctx context.Context, path string) error {
	c.done = Size{}
	fi, err := c.From.Lstat(path)
	if err != nil {
		return err
	}
	if _, err := c.To.Lstat(path); err == nil {
		return &fs.PathError{Op: "copy to", Path: path, Err: fs.ErrExist}
	}
	if err = c.copy(ctx, path, fi); err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("copy %q: %w", path, err), Remove(c.To, path))
}

// Remove removes what is at a path, with all below it, whatever the permissions of its directories are. It follows no
// link. What is not there is no error.
func Remove(in *os.Root, path string) error {
	fi, err := in.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && fi.IsDir() {
		err = unlessGone(in.Chmod(path, 0o700))
		if list, lerr := readDir(in, path); lerr == nil {
			for _, e := range list {
				err = errors.Join(err, Remove(in, filepath.Join(path, e.Name())))
			}
		}
	}
	return errors.Join(err, unlessGone(in.Remove(path)))
}

// unlessGone is an error, but for that of what somebody else has removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c *Copier) copy(ctx context.Context, path string, fi fs.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.done.Entries++; c.done.Over(c.Limit) {
		return ErrTooLarge
	}
	switch {
	case fi.IsDir():
		return c.dir(ctx, path, fi)
	case fi.Mode().IsRegular():
		return c.file(path)
	case fi.Mode()&fs.ModeSymlink != 0:
		return c.link(path)
	}
	return nil
}

func (c *Copier) dir(ctx context.Context, path string, fi fs.FileInfo) error {
	if err := c.To.Mkdir(path, 0o700); err != nil {
		return err
	}
	list, err := readDir(c.From, path)
	if err != nil && !left(err) {
		return err
	}
	for _, e := range list {
		below, err := e.Info()
		if err != nil {
			continue // it has gone meanwhile
		}
		if err := c.copy(ctx, filepath.Join(path, e.Name()), below); err != nil {
			return err
		}
	}
	if err := c.To.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
		return err
	}
	return c.To.Chmod(path, fi.Mode().Perm())
}

// left reports whether something is left out of a copy for an error: it has gone or become something else meanwhile, or
// cannot be read.
func left(err error) bool {
	for _, kind := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ELOOP, syscall.ENOTDIR, syscall.ENXIO} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (c *Copier) file(path string) error {
	from, err := c.From.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		if left(err) {
			return nil
		}
		return err
	}
	defer from.Close()
	fi, err := from.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return err
	}
	to, err := c.To.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(c.content(to, from), to.Chmod(fi.Mode().Perm()), to.Close()); err != nil {
		return err
	}
	return c.To.Chtimes(path, fi.ModTime(), fi.ModTime())
}

func (c *Copier) content(to, from *os.File) error {
	if c.Clone != nil {
		return c.Clone(to, from)
	}
	var r io.Reader = from
	if c.Limit.Bytes > 0 {
		r = io.LimitReader(from, c.Limit.Bytes-c.done.Bytes+1)
	}
	n, err := io.Copy(to, r)
	c.done.Bytes += n
	if err == nil && c.done.Over(c.Limit) {
		err = ErrTooLarge
	}
	return err
}

// link copies a symbolic link. One that leads into the project by an absolute path, or by leaving the project, leads to
// the same place of the copy; one that leads out of the project leads there still.
func (c *Copier) link(path string) error {
	target, err := c.From.Readlink(path)
	if err != nil {
		return nil // it has gone or become something else meanwhile
	}
	dir := filepath.Dir(path)
	full := target
	if !filepath.IsAbs(target) {
		if filepath.IsLocal(filepath.Join(dir, target)) {
			return c.To.Symlink(target, path)
		}
		full = filepath.Join(c.FromPath, dir, target)
	}
	if inside, ok := c.inside(full); ok {
		if full, err = filepath.Rel(dir, inside); err != nil {
			return err
		}
	}
	return c.To.Symlink(full, path)
}

// inside is an absolute path as one below the project, if it leads there: as it is written, or after the links on its
// way.
func (c *Copier) inside(full string) (path string, ok bool) {
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		real = full
	}
	for _, one := range []string{real, filepath.Clean(full)} {
		if rel, err := filepath.Rel(c.FromPath, one); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return strings.TrimPrefix(full, "/"), false
}
