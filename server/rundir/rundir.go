// Package rundir is the run directory of a home, in which the daemon has its socket, its lock, its log and its notes:
// all that is in it can go at any time. Nothing else in the server writes a file there, or makes or removes one.
//
// Claim is the daemon's right to be there: one process has it, and who cannot have it is no daemon. Log is what it
// writes.
//
// All of it is for one user alone, and is checked for that before each write (package relay, which puts right what was
// opened to others).
package rundir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rewind/internal/osfile"
	"rewind/internal/relay"
)

// Dir is the run directory of a home; "" stands for one that cannot be had, where nothing is written.
type Dir string

// Make makes and checks the directory.
func Make(home string) (Dir, error) {
	dir, err := relay.MakeDir(home)
	return Dir(dir), err
}

// Find is the directory whether it exists or not.
func Find(home string) Dir {
	sock, err := relay.SocketPath(home)
	if err != nil {
		return ""
	}
	return Dir(filepath.Dir(sock))
}

// path is where a file of the directory is.
func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

// Read returns what is in a file.
func (d Dir) Read(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

// Write replaces a file: the old bytes or the new ones for whoever reads.
func (d Dir) Write(name string, data []byte) error {
	if err := relay.CheckDir(string(d)); err != nil {
		return err
	}
	return osfile.Write(d.path(name), osfile.Options{Temporary: ".new-", Hint: true}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Remove removes a file.
func (d Dir) Remove(name string) { _ = os.Remove(d.path(name)) }

func (d Dir) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

// appendTo opens a file to write at its end.
func (d Dir) appendTo(name string) (*os.File, error) {
	return os.OpenFile(d.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// First reports whether this is the first call for a name in sub, of all processes, within age. Names must be safe as
// file names.
func (d Dir) First(sub, name string, age time.Duration) bool {
	if relay.CheckDir(string(d)) != nil {
		return false
	}
	dir := d.path(sub)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_ = f.Close()
	prune(dir, age)
	return true
}

// prune removes what is older than age.
func prune(dir string, age time.Duration) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if fi, err := n.Info(); err == nil && fi.Mode().IsRegular() && time.Since(fi.ModTime()) > age {
			_ = os.Remove(filepath.Join(dir, n.Name()))
		}
	}
}

// private takes every permission of others from a file; what the umask took of ours comes back.
func (d Dir) private(name string) error { return os.Chmod(d.path(name), 0o600) }

// same reports whether a name is still of the file that was.
func (d Dir) same(name string, was fs.FileInfo) bool {
	now, err := os.Lstat(d.path(name))
	return err == nil && was != nil && os.SameFile(was, now)
}

// Stat is what lstat says of a file.
func (d Dir) Stat(name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }
