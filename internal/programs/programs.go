// Package programs keeps rewind's three programs in one directory, side by side: the client, which hooks name, rewindd,
// which it and rewind start as the daemon, and rewind, which the client starts when no daemon can be had. None needs
// anything that lies elsewhere, and all are replaced together.
package programs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/internal/osfile"
)

// The programs by their names.
const (
	Rewind = "rewind"
	Daemon = "rewindd"
	Client = "smart-checkpoint"
)

// all are the programs, each after those that it starts.
var all = []string{Daemon, Rewind, Client}

// InstallRemedy is what to do where a program is missing that nobody has.
const InstallRemedy = "run 'make install' in rewind's source"

// temporary begins the name of a file that is being copied.
const temporary = ".rewind-"

// Path is where a program of a directory is.
func Path(dir, name string) string {
	return filepath.Join(dir, name)
}

// There are the programs that lie in a directory, each before those that it starts.
func There(dir string) (paths []string) {
	for _, name := range slices.Backward(all) {
		if _, err := os.Lstat(Path(dir, name)); err == nil {
			paths = append(paths, Path(dir, name))
		}
	}
	return paths
}

// Remove removes the programs of a directory, and the directory where nothing else is in it. Broken off it can be done
// again.
func Remove(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range There(dir) {
		if err := root.Remove(filepath.Base(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer above.Close()
	_ = above.Remove(filepath.Base(dir)) // what somebody else has put there stays
	return nil
}

// Check says why a program cannot be started.
func Check(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
		return &fs.PathError{Op: "start", Path: path, Err: errors.New("not a program")}
	}
	return nil
}

// A Source is the directory of a program that a person has started. One in which a program is missing is no source of
// what is there already: what lies in a directory belongs together.
type Source struct {
	Dir string
	has map[string]bool
}

// Beside finds what stands beside a program, links followed: a link in ~/bin has nothing beside it.
func Beside(self string) (Source, error) {
	real, err := filepath.EvalSymlinks(self)
	if err != nil {
		return Source{}, fmt.Errorf("find the program %s: %w", self, cause(err))
	}
	s := Source{Dir: filepath.Dir(real), has: map[string]bool{}}
	for _, name := range all {
		s.has[name] = Check(Path(s.Dir, name)) == nil
	}
	return s, nil
}

// whole reports whether a source has all programs.
func (s Source) whole() bool { return s.has[Daemon] && s.has[Rewind] && s.has[Client] }

// Lacks returns the first program that neither the source nor a directory has; "": together they have all.
func (s Source) Lacks(dir string) string {
	for _, name := range all {
		if !s.has[name] && Check(Path(dir, name)) != nil {
			return name
		}
	}
	return ""
}

// Missing says which program of a directory cannot be started, and why; "": all can.
func Missing(dir string) (name string, err error) {
	for i := range all {
		name = all[len(all)-1-i]
		if err = Check(Path(dir, name)); err != nil {
			return name, err
		}
	}
	return "", nil
}

// Wanting are the programs of a directory that are not the source's: missing, or, of a whole source, of other bytes.
// quick takes two files of one size and time for the same.
func (s Source) Wanting(dir string, quick bool) ([]string, error) {
	var out []string
	for _, name := range all {
		from, to := Path(s.Dir, name), Path(dir, name)
		if !s.has[name] {
			continue
		}
		err := Check(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, name)
			continue
		case err != nil && !s.whole():
			return nil, err
		case err == nil && !s.whole():
			continue
		}
		same, err := sameFile(from, to, quick)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, name)
		}
	}
	return out, nil
}

// Install copies programs of the source into a directory, durably. All are copied before the first gets its name: if
// one cannot be copied, the old ones stay together. A start meanwhile gets the whole old program or the whole new one.
// The caller lets nobody else install there.
func (s Source) Install(dir string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("install programs in %s: %w", dir, cause(err))
	}
	sweep(dir)
	defer sweep(dir)
	for _, name := range names {
		if err := s.copy(name, staged(dir, name)); err != nil {
			return fmt.Errorf("install %s: %w", Path(dir, name), cause(err))
		}
	}
	for _, name := range names {
		if err := os.Rename(staged(dir, name), Path(dir, name)); err != nil {
			return fmt.Errorf("install %s: %w", Path(dir, name), cause(err))
		}
	}
	return osfile.SyncDir(dir)
}

// staged is where a copy waits for the others.
func staged(dir, name string) string { return Path(dir, temporary+name) }

// copy makes a durable copy of one program that does not have its name yet.
func (s Source) copy(name, to string) error {
	in, err := os.Open(Path(s.Dir, name))
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, in) // which the kernel does, without space where the file system can share it
	if err == nil && n != fi.Size() {
		err = errors.New("it changed while it was copied")
	}
	if err == nil {
		err = out.Chmod(0o700) // whatever the umask took
	}
	if err == nil {
		err = os.Chtimes(to, fi.ModTime(), fi.ModTime()) // by which a look can be quick
	}
	if err == nil {
		err = out.Sync()
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}

// sweep removes what a killed copy left.
func sweep(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), temporary) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// cause leaves the path out of an error that names it already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
