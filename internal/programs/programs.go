// Package programs keeps the two programs that agents' hooks start in one directory, side by side: the client, which hooks name, and
// rewind, which the client starts when no daemon runs. Neither needs anything that lies elsewhere.
package programs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"rewind/internal/osfile"
)

// The programs by their names.
const (
	Rewind = "rewind"
	Client = "smart-checkpoint"
)

// temporary begins the name of a file that is being copied.
const temporary = ".rewind-"

// Path is where a program of a directory is.
func Path(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// Check says why a program cannot be started.
func Check(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() || runtime.GOOS != "windows" && fi.Mode()&0o111 == 0 {
		return &fs.PathError{Op: "start", Path: path, Err: errors.New("not a program")}
	}
	return nil
}

// A Source is the pair of a rewind that was started by a person.
type Source struct {
	Rewind string
	Client string // "": none stands beside it
}

// Beside finds the pair of a rewind, links followed: a link in ~/bin has no client beside it.
func Beside(self string) (Source, error) {
	real, err := filepath.EvalSymlinks(self)
	if err != nil {
		return Source{}, fmt.Errorf("find the program %s: %w", self, cause(err))
	}
	s := Source{Rewind: real}
	if client := Path(filepath.Dir(real), Client); Check(client) == nil {
		s.Client = client
	}
	return s, nil
}

func (s Source) of(name string) string {
	if name == Client {
		return s.Client
	}
	return s.Rewind
}

// Wanting are the programs of a directory that are not the source's: missing, or, of a source that has both, of other bytes. A source
// without a client gives its rewind only where none is: the client that is there belongs to the rewind that is there. quick takes two
// files of one size and time for the same.
func (s Source) Wanting(dir string, quick bool) ([]string, error) {
	var out []string
	for _, name := range []string{Rewind, Client} { // a client is never without a rewind
		from, to := s.of(name), Path(dir, name)
		if from == "" {
			continue
		}
		err := Check(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, name)
			continue
		case err != nil && s.Client == "":
			return nil, err
		case err == nil && s.Client == "":
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

// Install copies programs of the source into a directory, each durably and as a whole: whoever starts one meanwhile starts the old one or
// the new one. The caller lets nobody else install there.
func (s Source) Install(dir string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("install programs in %s: %w", dir, cause(err))
	}
	sweep(dir)
	for _, name := range names {
		if err := s.copy(name, dir); err != nil {
			return fmt.Errorf("install %s: %w", Path(dir, name), cause(err))
		}
	}
	return nil
}

func (s Source) copy(name, dir string) error {
	in, err := os.Open(s.of(name))
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	o := osfile.Options{Temporary: temporary, Before: func(tmp *os.File) error {
		if err := tmp.Chmod(0o700); err != nil {
			return err
		}
		return os.Chtimes(tmp.Name(), fi.ModTime(), fi.ModTime()) // by which a look can be quick
	}}
	return osfile.Write(Path(dir, name), o, func(w io.Writer) error {
		n, err := io.Copy(w, in) // which the kernel does, without space where the file system can share it
		if err == nil && n != fi.Size() {
			err = errors.New("it changed while it was copied")
		}
		return err
	})
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
