package server

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

// runDir is the run directory of a home: sockets, locks and notes of the daemon, all of which can go at any time. Only the methods here write in
// it. It is for one user alone; "" stands for one that cannot be had, where nothing is written.
type runDir string

// makeRunDir makes and checks the directory.
func makeRunDir(home string) (runDir, error) {
	dir, err := relay.MakeDir(home)
	return runDir(dir), err
}

// findRunDir is the directory whether it exists or not.
func findRunDir(home string) runDir {
	sock, err := relay.SocketPath(home)
	if err != nil {
		return ""
	}
	return runDir(filepath.Dir(sock))
}

func (d runDir) path(name string) string { return filepath.Join(string(d), name) }

func (d runDir) read(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

// write replaces a file: the old bytes or the new ones for whoever reads.
func (d runDir) write(name string, data []byte) error {
	if err := relay.CheckDir(string(d)); err != nil {
		return err
	}
	return osfile.Write(d.path(name), osfile.Options{Temporary: ".new-", Hint: true}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func (d runDir) remove(name string) { _ = os.Remove(d.path(name)) }

func (d runDir) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

// appendTo opens a file to write at its end.
func (d runDir) appendTo(name string) (*os.File, error) {
	return os.OpenFile(d.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// first reports whether this is the first call for a name in sub, of all processes, within age. Names must be safe as file names.
func (d runDir) first(sub, name string, age time.Duration) bool {
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
func (d runDir) private(name string) error { return os.Chmod(d.path(name), 0o600) }

// removeSame removes a file if it is still the one that was.
func (d runDir) removeSame(name string, was fs.FileInfo) {
	if d.same(name, was) {
		d.remove(name)
	}
}

func (d runDir) same(name string, was fs.FileInfo) bool {
	now, err := os.Lstat(d.path(name))
	return err == nil && was != nil && os.SameFile(was, now)
}

func (d runDir) stat(name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }
