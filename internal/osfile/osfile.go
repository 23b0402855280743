// Package osfile reads and replaces files that lie outside of the user's worktree: our own, agents' settings, agents' sessions. What it replaces
// is the old bytes or the new ones at any moment, and durable when it returns.
package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Options of Write.
type Options struct {
	Temporary string      // how the name of the temporary file beside it begins
	Like      fs.FileInfo // whose mode and owner it gets; nil: 0600 and this process's
	// Before, which may be nil, is called with the temporary file as it will be, right before it gets its name; an error keeps the old file.
	Before func(tmp *os.File) error
}

// Write makes path a file with what write gives: into a temporary file in the same directory, fsync, rename, fsync of the directory. After an error the
// file that was there is there, and the temporary one is gone.
func Write(path string, o Options, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), o.Temporary+"*") // mode 0600
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
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil && o.Before != nil {
		err = o.Before(tmp)
	}
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory durable, where the system can.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// ErrNotRegular is returned by ReadSmall for what is no regular file, ErrTooLarge for one that is larger than allowed.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("larger than it can be")
)

// ReadSmall reads a regular file of at most limit bytes whose name somebody else may have made: it waits for nobody, follows no link, and takes no more
// memory than the limit.
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
