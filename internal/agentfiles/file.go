package agentfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"golang.org/x/sys/unix"

	"rewind/internal/osfile"
)

// dir opens the directory that the file is in, component by component; made: those that are missing are made, 0700 and
// durably.
func (f File) dir(made bool) (*os.Root, error) {
	if made {
		if err := os.MkdirAll(f.Folder, 0o700); err != nil {
			return nil, err
		}
	}
	at, err := os.OpenRoot(f.Folder)
	if err != nil {
		return nil, err
	}
	for _, name := range f.in[:len(f.in)-1] {
		next, err := below(at, name, made)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// below opens a directory in another one. A link is none: os.Root would follow one that stays below, so what is there
// is looked at before
// and after.
func below(at *os.Root, name string, made bool) (*os.Root, error) {
	if made {
		if err := at.Mkdir(name, 0o700); err == nil {
			err = osfile.SyncRoot(at)
			if err != nil {
				return nil, err
			}
		} else if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	was, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !was.IsDir() {
		return nil, fmt.Errorf("%w: %s is %s", ErrNotPlain, filepath.Join(at.Name(), name), kind(was))
	}
	dir, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := dir.Stat(".")
	if err == nil && !os.SameFile(was, now) {
		err = fmt.Errorf("%w: %s was exchanged", ErrNotPlain, filepath.Join(at.Name(), name))
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// kind says in a word what there is.
func kind(fi fs.FileInfo) string {
	switch t := fi.Mode().Type(); {
	case t == 0:
		return "a file"
	case t&fs.ModeSymlink != 0:
		return "a symbolic link"
	case t&fs.ModeDir != 0:
		return "a directory"
	}
	return "no regular file"
}

// plain refuses everything but a file with one name.
func plain(fi fs.FileInfo) error {
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%w: it is %s", ErrNotPlain, kind(fi))
	}
	if n := links(fi); n > 1 {
		return fmt.Errorf("%w: it has %d names", ErrNotPlain, n)
	}
	return nil
}

// Check refuses a place that could not be written: a link or something else on the way, or at its end. That nothing is
// there is fine.
func (f File) Check() error {
	d, err := f.dir(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	fi, err := d.Lstat(f.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return plain(fi)
}

// Writable reports before the attempt whether the file could be written or removed, so that a dry run says the same.
// Its directory, or the nearest existing one above it, must be writable.
func (f File) Writable() error {
	dir := filepath.Join(append([]string{f.Folder}, f.in[:len(f.in)-1]...)...)
	for {
		fi, err := os.Stat(dir)
		switch up := filepath.Dir(dir); {
		case err == nil && !fi.IsDir():
			return fmt.Errorf("%w: %s is %s", ErrNotPlain, dir, kind(fi))
		case err == nil:
			return mayWrite(dir)
		case !errors.Is(err, fs.ErrNotExist) || up == dir:
			return err
		default:
			dir = up
		}
	}
}

func (f File) name() string { return f.in[len(f.in)-1] }

// Open opens the file to be read; it waits for nobody. ErrNotPlain for what is no file with one name.
func (f File) Open() (*os.File, fs.FileInfo, error) {
	d, err := f.dir(false)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	was, err := d.Lstat(f.name())
	if err == nil {
		err = plain(was)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := d.OpenFile(f.name(), os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := file.Stat()
	if err == nil && !os.SameFile(was, now) {
		err = fmt.Errorf("%w: it was exchanged", ErrNotPlain)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, now, nil
}

// OpenBelow opens a file to be read at path, which lies in folder, both with links followed. What has become a link
// since may lead anywhere
// in the folder, and not out of it. It is for files that are only read: those of payloads, and those whose bytes are
// compared with what is
// stored.
func OpenBelow(folder, path string) (*os.File, error) {
	in, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, err
	}
	d, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.OpenFile(in, os.O_RDONLY|noWait, 0)
}

// Read is a whole small file; one of more than most bytes is an error.
func (f File) Read(most int64) ([]byte, error) {
	file, fi, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if fi.Size() > most {
		return nil, fmt.Errorf("it has %d bytes, more than %d", fi.Size(), most)
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// Temporary marks files that are being written. No agent takes one for a session: it begins with a dot, and does not
// end as one.
const Temporary = ".rewind-"

// Write makes the file one with what write gives, durably: a temporary file beside it, fsync, a rename in the directory
// that was opened.
// replace says that there may be one already, whose mode and owner it keeps.
func (f File) Write(replace bool, write func(io.Writer) error) error {
	d, err := f.dir(true)
	if err != nil {
		return err
	}
	defer d.Close()
	sweep(d)
	old, err := d.Lstat(f.name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case !replace:
		return fs.ErrExist
	default:
		if err := plain(old); err != nil {
			return err
		}
	}
	return osfile.WriteIn(d, f.name(), osfile.Options{Temporary: "." + f.name() + Temporary, Like: old, Held: true}, write)
}

// Remove takes the file away, durably.
func (f File) Remove() error {
	d, err := f.dir(false)
	if err != nil {
		return err
	}
	defer d.Close()
	sweep(d)
	fi, err := d.Lstat(f.name())
	if err == nil {
		err = plain(fi)
	}
	if err == nil {
		err = d.Remove(f.name())
	}
	if err != nil {
		return err
	}
	return osfile.SyncRoot(d)
}

// Sweep removes what killed writers left beside session files, in the agents' own folders, and lists it. Of paths that
// are none it says nothing.
func (own Folders) Sweep(paths []string) (removed []string) {
	swept := map[string]bool{}
	for _, path := range paths {
		f, err := own.Locate(path)
		if err != nil {
			continue
		}
		at := filepath.Join(f.Folder, filepath.Join(f.in[:len(f.in)-1]...))
		if swept[at] {
			continue
		}
		swept[at] = true
		d, err := f.dir(false)
		if err != nil {
			continue
		}
		for _, name := range sweep(d) {
			removed = append(removed, filepath.Join(at, name))
		}
		d.Close()
	}
	return removed
}

// temporaries are the names of files that are being written.
var temporaries = regexp.MustCompile(`^\..+\.jsonl?` + regexp.QuoteMeta(Temporary) + `[0-9A-Za-z]+$`)

// sweep removes what killed writers left in a directory. Those of living ones are held.
func sweep(d *os.Root) (removed []string) {
	at, err := d.Open(".")
	if err != nil {
		return nil
	}
	list, err := at.ReadDir(-1)
	at.Close()
	if err != nil {
		return nil
	}
	for _, e := range list {
		if temporaries.MatchString(e.Name()) && osfile.RemoveAbandoned(d, e.Name()) {
			removed = append(removed, e.Name())
		}
	}
	return removed
}

// noWait keeps an open from waiting for the other end of a pipe.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// links is how many names a file has.
func links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// mayWrite reports by an error whether files can be made in a directory, or taken away.
func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}
