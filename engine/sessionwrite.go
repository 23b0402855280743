package engine

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewind/internal/osfile"
	"rewind/objstore"
	"rewind/refs"
)

// Session files of agents are written here and nowhere else: the new bytes into a temporary file beside the old, which no agent takes for a
// session, fsync, then a rename. So the old bytes or the new ones are there at any moment.

// errSessionChanged is returned for a session file that is neither as it was planned nor as it was to become: somebody has written it.
var errSessionChanged = errors.New("it was written meanwhile")

// temporarySession marks files that are being written.
const temporarySession = ".rewind-"

// writeSession makes path a file with what write gives, durably; replace says that there may be one already, whose mode and owner it keeps. What check,
// which may be nil, refuses never has the name of a session.
func writeSession(path string, replace bool, write func(io.Writer) error, check func(io.ReaderAt, int64) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("engine: session file %s: %w", path, pathCause(err))
	}
	sweepSessions(dir)
	old, err := os.Stat(path)
	switch {
	case err == nil && !replace:
		err = fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		o := osfile.Options{Temporary: "." + filepath.Base(path) + temporarySession, Like: old, Before: func(tmp *os.File) error {
			fi, err := tmp.Stat()
			if err != nil || check == nil {
				return err
			}
			return check(tmp, fi.Size())
		}}
		err = osfile.Write(path, o, func(w io.Writer) error {
			out := bufio.NewWriterSize(w, 256<<10)
			if err := write(out); err != nil {
				return err
			}
			return out.Flush()
		})
	}
	if err != nil {
		return fmt.Errorf("engine: session file %s: %w", path, pathCause(err))
	}
	return nil
}

// sweepSessions removes what killed writers left beside session files. Those of living ones are younger.
func sweepSessions(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") || !strings.Contains(e.Name(), temporarySession) || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > temporaryAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// isStored reports whether the file at path has exactly the bytes of a transcript; the zero id is no file.
func (e *Engine) isStored(path string, id objstore.ID) (bool, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return id.IsZero(), nil
	} else if err != nil {
		return false, fmt.Errorf("engine: session file %s: %w", path, pathCause(err))
	}
	if id.IsZero() {
		return false, nil
	}
	st, err := openTranscript(e.objs, id)
	if err != nil {
		return false, err
	}
	f, err := openThrough(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() != st.size {
		return false, err
	}
	same, err := st.begins(f, st.size)
	return same == st.size, err
}

// openThrough opens a file to be read, at the end of a link if it is one; whatever it is, this waits for nobody.
func openThrough(path string) (*os.File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		var f *os.File
		if f, err = osfile.OpenRead(real); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("engine: session file %s: %w", path, pathCause(err))
}

// setSession makes a session file what a step says. A file that is so already is left alone, so a step can be repeated; one that is neither that
// nor what the step begins with is errSessionChanged.
func (e *Engine) setSession(s refs.File) error {
	done, err := e.isStored(s.Path, s.To)
	if err != nil || done {
		return err
	}
	as, err := e.isStored(s.Path, s.From)
	if err != nil {
		return err
	}
	if !as {
		return fmt.Errorf("engine: session file %s: %w", s.Path, errSessionChanged)
	}
	if s.To.IsZero() {
		if err := os.Remove(s.Path); err != nil {
			return fmt.Errorf("engine: session file %s: %w", s.Path, pathCause(err))
		}
		return osfile.SyncDir(filepath.Dir(s.Path))
	}
	st, err := openTranscript(e.objs, s.To)
	if err != nil {
		return err
	}
	path := s.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	return writeSession(path, !s.From.IsZero(), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(st, 0, st.size))
		return err
	}, nil)
}

// setSessions carries steps out. What cannot be removed since somebody has used it is kept; any other step that does not fit is an error. Taking
// steps back, it is no step that changed such a file, or somebody has gone on from there: it is kept, too.
func (e *Engine) setSessions(steps []refs.File, back bool) (kept []string, err error) {
	for _, s := range steps {
		err := e.setSession(s)
		if errors.Is(err, errSessionChanged) && (back || s.To.IsZero()) {
			kept = append(kept, s.Path)
			continue
		}
		if err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// reverseFiles are the steps that take steps back, the last one first.
func reverseFiles(steps []refs.File) []refs.File {
	var out []refs.File
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		out = append(out, refs.File{Path: s.Path, From: s.To, To: s.From})
	}
	return out
}

// putBytes stores what write gives as a transcript.
func putBytes(tx *objstore.Tx, write func(io.Writer) error) (objstore.ID, int64, error) {
	w := &writer{tx: tx}
	out := bufio.NewWriterSize(w, 256<<10)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return objstore.ID{}, 0, err
	}
	id, err := w.close()
	return id, w.length, err
}

// putFile stores a whole file as it lies there, an unfinished line too.
func putFile(tx *objstore.Tx, f *sessionFile) (objstore.ID, error) {
	id, _, err := putBytes(tx, func(w io.Writer) error { return f.copyTo(w, 0, f.info.Size()) })
	return id, err
}

// random are bytes for a new id.
func random() (b [16]byte) {
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return b
}

// temporaryAge is from when on a temporary file is nobody's any more.
const temporaryAge = time.Hour
