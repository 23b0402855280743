package gitinfo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than git's can be")
)

// errDirectory is errNotRegular as well.
const errDirectory = kindError("is a directory")

type kindError string

func (k kindError) Error() string   { return string(k) }
func (k kindError) Is(e error) bool { return e == errNotRegular }

// readFile reads a regular file of at most limit bytes. It does not open pipes and devices, and waits for nobody.
func readFile(path string, limit int64) ([]byte, error) {
	f, size, err := openFile(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, size, limit)
}

// openFile opens a regular file of at most limit bytes.
func openFile(path string, limit int64) (f rawFile, size int64, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return f, 0, err
	}
	if err = readable(path, st.Mode(), st.Size(), limit); err != nil {
		return f, 0, err
	}
	if f, err = openRaw(path); err != nil {
		return f, 0, err
	}
	mode, size, err := f.stat() // it may be another one by now
	if err == nil {
		err = readable(path, mode, size, limit)
	}
	if err != nil {
		f.Close()
	}
	return f, size, err
}

func readable(path string, mode fs.FileMode, size, limit int64) error {
	why := error(nil)
	switch {
	case mode.IsDir():
		why = errDirectory
	case !mode.IsRegular():
		why = errNotRegular
	case size > limit:
		why = errTooLarge
	default:
		return nil
	}
	return &fs.PathError{Op: "read", Path: path, Err: why}
}

func readAll(f io.Reader, path string, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if int64(len(data)) > limit {
			return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// findLine gives the first line of a file for which fn returns true, without its end, in memory of one piece; nil:
// there is none. A line that is longer than a piece is errCorrupt.
func findLine(path string, limit int64, fn func(piece []byte) []byte) ([]byte, error) {
	f, size, err := openFile(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf, held := make([]byte, min(size+1, linePiece)), 0
	for {
		n, err := f.Read(buf[held:])
		held += n
		if err != nil && err != io.EOF {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		whole := held
		if err == nil {
			whole = bytes.LastIndexByte(buf[:held], '\n') + 1
		}
		if found := fn(buf[:whole]); found != nil || err != nil {
			return slices.Clone(found), nil
		}
		if held = copy(buf, buf[whole:held]); held == len(buf) {
			if len(buf) == linePiece {
				return nil, corruptf("%s has a line of more than %d bytes", path, linePiece)
			}
			buf = append(buf, make([]byte, min(len(buf), linePiece-len(buf)))...) // the file has grown
		}
	}
}

// gate is the way to something that may never answer: a file on a disk that is gone, a program. While one question is
// not answered no other is asked.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed when what was given up has ended after all; nil: nothing was given up

	gaveUp, late func(error) // called when something is given up, and when that has ended after all; nil: not
}

// inTime asks, and gives up after slow; then what ask does goes on by itself, and its answer is nobody's.
func inTime[T any](g *gate, what string, ask func() (T, error)) (T, error) {
	return within(g, slow, what, ask)
}

func within[T any](g *gate, wait time.Duration, what string, ask func() (T, error)) (none T, err error) {
	if g.stuck() {
		return none, fmt.Errorf("%s: %w", what, errNoAnswer)
	}
	type answer struct {
		value T
		err   error
	}
	got, ended := make(chan answer, 1), make(chan struct{})
	go func() {
		v, err := ask()
		g.mu.Lock()
		defer g.mu.Unlock()
		got <- answer{v, err}
		close(ended)
		if g.open == ended && g.late != nil {
			g.late(err)
		}
	}()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case a := <-got:
		return a.value, a.err
	case <-t.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case a := <-got:
		return a.value, a.err
	default:
	}
	g.open = ended
	err = fmt.Errorf("%s: %w", what, errNoAnswer)
	if g.gaveUp != nil {
		g.gaveUp(err)
	}
	return none, err
}

// stuck reports whether something was given up and has not ended yet.
func (g *gate) stuck() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		return false
	}
	select {
	case <-g.open:
		g.open = nil
		return false
	default:
		return true
	}
}

// stamp tells whether a file may have changed. Its zero value is an absent file.
type stamp struct {
	size  int64
	mtime int64 // unix ns
	mode  fs.FileMode
}

// cached holds a value made from files.
type cached[T any] struct {
	value T
	of    []stamp // nil: nothing is held
}

// stamps looks at files; racy is true when one was changed so lately that another change might leave the same stamp.
func stamps(now time.Time, paths ...string) (of []stamp, racy bool) {
	of = make([]stamp, len(paths))
	for i, p := range paths {
		if st, err := os.Stat(p); err == nil {
			of[i] = stamp{st.Size(), st.ModTime().UnixNano(), st.Mode()}
			racy = racy || now.Sub(st.ModTime()) < racyWindow
		}
	}
	return of, racy
}

// rawFile is an open file outside of the runtime's poller: of a pipe that took the file's place since it was looked at,
// a read gives an error at once.
type rawFile struct{ fd int }

func openRaw(path string) (rawFile, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
		switch err {
		case nil:
			return rawFile{fd}, nil
		case syscall.EINTR:
		default:
			return rawFile{}, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

func (f rawFile) stat() (fs.FileMode, int64, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(f.fd, &st); err != nil {
		return 0, 0, os.NewSyscallError("fstat", err)
	}
	mode := fs.ModeIrregular
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		mode = 0
	case syscall.S_IFDIR:
		mode = fs.ModeDir
	}
	return mode, st.Size, nil
}

func (f rawFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd, b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Close closes a file that was only read.
func (f rawFile) Close() { _ = syscall.Close(f.fd) }
