package engine

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"rewind/internal/agentfiles"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Session files of agents are written here and nowhere else, by agentfiles: in the agent's own folder, through no link, the new bytes into a temporary file beside the
// old, which no agent takes for a session, fsync, then a rename. So the old bytes or the new ones are there at any moment.

// errSessionChanged is returned for a session file that is neither as it was planned nor as it was to become: somebody has written it.
var errSessionChanged = errors.New("it was written meanwhile")

// sessionError is an error about a session file, without its path where that is told already. What is wrong with what a copy is made of is told by that
// one's name: the copy is not there any more.
func sessionError(path string, err error) error {
	if of := (*transcript.Error)(nil); errors.As(err, &of) && of.Name != path {
		return fmt.Errorf("engine: %w", of)
	}
	return fmt.Errorf("engine: session file %s: %w", path, pathCause(err))
}

// writeSession makes a session file of what write gives, durably; replace says that there may be one already.
func writeSession(own agentfiles.Folders, path string, replace bool, write func(io.Writer) error, check func(io.ReaderAt, int64) error) error {
	f, err := own.Locate(path)
	if err != nil {
		return &ForeignFileError{In: "a restore", Cause: err}
	}
	err = f.Write(replace, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 256<<10)
		if err := write(out); err != nil {
			return err
		}
		return out.Flush()
	}, check)
	if err != nil {
		return sessionError(path, err)
	}
	return nil
}

// removeSession takes a session file away.
func removeSession(own agentfiles.Folders, path string) error {
	f, err := own.Locate(path)
	if err != nil {
		return &ForeignFileError{In: "a restore", Cause: err}
	}
	if err := f.Remove(); err != nil {
		return sessionError(path, err)
	}
	return nil
}

// isStored reports whether the file at path has exactly the bytes of a transcript; the zero id is no file. What is no plain file is not stored, and said by why.
func (e *Engine) isStored(own agentfiles.Folders, path string, id objstore.ID) (bool, error) {
	at, err := own.Locate(path)
	if err != nil {
		return false, &ForeignFileError{In: "the store", Cause: err}
	}
	f, fi, err := at.Open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return id.IsZero(), nil
	case errors.Is(err, agentfiles.ErrNotPlain):
		return false, nil
	case err != nil:
		return false, sessionError(path, err)
	}
	defer f.Close()
	if id.IsZero() {
		return false, nil
	}
	st, err := openTranscript(e.objs, id)
	if err != nil || fi.Size() != st.size {
		return false, err
	}
	same, err := st.begins(f, st.size)
	return same == st.size, err
}

// setSession makes a session file what a step says. A file that is so already is left alone, so a step can be repeated; one that is neither that
// nor what the step begins with, or that is a link or has a second name, is errSessionChanged.
func (e *Engine) setSession(own agentfiles.Folders, s refs.File) error {
	done, err := e.isStored(own, s.Path, s.To)
	if err != nil || done {
		return err
	}
	as, err := e.isStored(own, s.Path, s.From)
	if err != nil {
		return err
	}
	if !as {
		return changedSession(own, s.Path)
	}
	if s.To.IsZero() {
		return removeSession(own, s.Path)
	}
	st, err := openTranscript(e.objs, s.To)
	if err != nil {
		return err
	}
	return writeSession(own, s.Path, !s.From.IsZero(), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(st, 0, st.size))
		return err
	}, nil)
}

// changedSession says what is there instead of the file that was expected.
func changedSession(own agentfiles.Folders, path string) error {
	if err := placed(own, path); err != nil {
		return fmt.Errorf("engine: session file %s: %w: %w", path, errSessionChanged, err)
	}
	return sessionError(path, errSessionChanged)
}

// setSessions carries steps out. What cannot be removed since somebody has used it is kept; any other step that does not fit is an error. Taking
// steps back, it is no step that changed such a file, or somebody has gone on from there: it is kept, too.
func (e *Engine) setSessions(own agentfiles.Folders, steps []refs.File, back bool) (kept []string, err error) {
	for _, s := range steps {
		err := e.setSession(own, s)
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

// maxSide bounds a file that lies beside a session file, in bytes.
const maxSide = 16 << 20

// readSide is what lies beside a session file; nil: nothing, and nothing need be there.
func readSide(own agentfiles.Folders, s transcript.Side) ([]byte, error) {
	f, err := own.Locate(s.From)
	if err != nil {
		return nil, err
	}
	raw, err := f.Read(maxSide)
	if errors.Is(err, fs.ErrNotExist) && s.Optional {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("engine: fork: %s: %w", s.From, pathCause(err))
	}
	return raw, nil
}

// statSession looks for a session's own file. A path that is none of a session file is not looked at: it stands in a payload, or in a store that may be somebody else's.
func statSession(s *Session) (fs.FileInfo, error) {
	if _, _, err := transcript.SessionFile(transcript.Agent(s.Agent), s.Transcript); err != nil {
		return nil, err
	}
	return os.Stat(s.Transcript)
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
