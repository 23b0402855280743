package conversation

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/agentfiles"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// ReadySessions loads the session records; an error while a restore is unfinished. The log's lock is held.
func (cs *Conversations) ReadySessions() error {
	if err := cs.log.CheckWhole(); err != nil {
		return err
	}
	return cs.log.LoadSessions()
}

// UpdatesOf are changes of refs as updates, each of which expects the old value.
func UpdatesOf(changes []refs.Change) []refs.Update {
	var out []refs.Update
	for _, c := range changes {
		out = append(out, refs.Update(c))
	}
	return out
}

// LeftAlone are the session files of a journal that are already as they were to become. A restore of the code alone
// leaves them so; its operation names them, so that gc keeps their bytes from before.
func LeftAlone(get objstore.Getter, j *model.Journal) []refs.File {
	return slices.DeleteFunc(slices.Clone(j.Files), func(f refs.File) bool {
		as, err := IsStored(get, j.Folders, f.Path, f.To)
		return err != nil || !as
	})
}

// Agents' session files are written here and nowhere else, by agentfiles: in the agent's own folder, through no link,
// the new bytes into
// a temporary file beside the old, which no agent takes for a session, fsync, then a rename. So the old bytes or the
// new ones are there at
// any moment.

// ErrSessionChanged is returned for a session file that is neither as it was planned nor as it was to become.
var ErrSessionChanged = errors.New("it was written meanwhile")

// SessionError is err as an error about the session file at path. An error about the file that a copy was to be made of
// stays one about that file: the copy does not exist.
func SessionError(path string, err error) error {
	if of := (*transcript.Error)(nil); errors.As(err, &of) && of.Name != path {
		return fmt.Errorf("%w", of)
	}
	return &value.OpError{Op: "session file", Subject: path, Err: register.PathCause(err)}
}

// WriteSession makes a session file of what write writes, durably. With replace there may be one already.
func WriteSession(own agentfiles.Folders, path string, replace bool, write func(io.Writer) error) error {
	return withFile(own, path, func(f agentfiles.File) error {
		return f.Write(replace, func(w io.Writer) error {
			out := bufio.NewWriterSize(w, 256<<10)
			if err := write(out); err != nil {
				return err
			}
			return out.Flush()
		})
	})
}

// withFile does something with the session file at path, which lies in a folder of own.
func withFile(own agentfiles.Folders, path string, do func(agentfiles.File) error) error {
	f, err := own.Locate(path)
	if err != nil {
		return &model.ForeignFileError{In: "a restore", Cause: err}
	}
	if err := do(f); err != nil {
		return SessionError(path, err)
	}
	return nil
}

// RemoveSession removes a session file; fs.ErrNotExist if there is none.
func RemoveSession(own agentfiles.Folders, path string) error {
	return withFile(own, path, agentfiles.File.Remove)
}

// Sweep removes what killed writers left beside the project's session files, and lists it.
func (cs *Conversations) Sweep(own agentfiles.Folders) ([]string, error) {
	list, err := cs.log.Sessions()
	if err != nil {
		return nil, err
	}
	var paths []string
	for i := range list {
		if list[i].Transcript != "" {
			paths = append(paths, list[i].Transcript)
		}
	}
	return own.Sweep(paths), nil
}

// IsStored reports whether the file at path has exactly the bytes of the transcript id; zero: whether there is no file.
// What is not a regular file is not stored.
func IsStored(get objstore.Getter, own agentfiles.Folders, path string, id objstore.ID) (bool, error) {
	at, err := own.Locate(path)
	if err != nil {
		return false, &model.ForeignFileError{In: "the store", Cause: err}
	}
	f, fi, err := at.Open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return id.IsZero(), nil
	case errors.Is(err, agentfiles.ErrNotPlain):
		return false, nil
	case err != nil:
		return false, SessionError(path, err)
	}
	defer f.Close()
	if id.IsZero() {
		return false, nil
	}
	st, err := OpenTranscript(get, id)
	if err != nil || fi.Size() != st.Size {
		return false, err
	}
	same, err := st.Begins(f, st.Size)
	return same == st.Size, err
}

// SetSession makes a session file what a step's To says, whose bytes get has. A file that is so already is left alone,
// so that a step can
// be repeated. A file that is not as From says either, or is a link, or has a second name, is ErrSessionChanged.
func SetSession(get objstore.Getter, own agentfiles.Folders, s refs.File) error {
	done, err := IsStored(get, own, s.Path, s.To)
	if err != nil || done {
		return err
	}
	as, err := IsStored(get, own, s.Path, s.From)
	if err != nil {
		return err
	}
	if !as {
		return changedSession(own, s.Path)
	}
	if s.To.IsZero() {
		return RemoveSession(own, s.Path)
	}
	st, err := OpenTranscript(get, s.To)
	if err != nil {
		return err
	}
	return WriteSession(own, s.Path, !s.From.IsZero(), func(w io.Writer) error {
		_, err := st.WriteTo(w)
		return err
	})
}

// changedSession is ErrSessionChanged for path, with the reason if the path is none that may be written.
func changedSession(own agentfiles.Folders, path string) error {
	if err := model.Placed(own, path); err != nil {
		return &value.OpError{Op: "session file", Subject: path, Err: fmt.Errorf("%w: %w", ErrSessionChanged, err)}
	}
	return SessionError(path, ErrSessionChanged)
}

// SetSessions carries out steps, as SetSession each. A file that was to be removed and was used since is left as it is,
// and is in kept; any
// other step that does not fit is an error. With back, when steps are taken back, every file that does not fit is in
// kept.
func SetSessions(get objstore.Getter, own agentfiles.Folders, steps []refs.File, back bool) (kept []string, err error) {
	for _, s := range steps {
		err := SetSession(get, own, s)
		if errors.Is(err, ErrSessionChanged) && (back || s.To.IsZero()) {
			kept = append(kept, s.Path)
			continue
		}
		if err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// ReverseFiles are the steps that take steps back: From and To exchanged, the last one first.
func ReverseFiles(steps []refs.File) []refs.File {
	var out []refs.File
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		out = append(out, refs.File{Path: s.Path, From: s.To, To: s.From})
	}
	return out
}

// maxSide bounds a file that an agent keeps beside a session file, in bytes.
const maxSide = 16 << 20

// ReadSide is the content of a file beside a session file; nil: there is none, and none is needed.
func ReadSide(own agentfiles.Folders, s transcript.Side) ([]byte, error) {
	f, err := own.Locate(s.From)
	if err != nil {
		return nil, err
	}
	raw, err := f.Read(maxSide)
	if errors.Is(err, fs.ErrNotExist) && s.Optional {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fork: %s: %w", s.From, register.PathCause(err))
	}
	return raw, nil
}

// PutBytes stores what write writes as a transcript, and returns its id and its length in bytes. known is as PutFile
// has it; where a rule makes that, write is called twice.
func PutBytes(tx *objstore.Tx, known objstore.ID, write func(io.Writer) error) (objstore.ID, int64, error) {
	old, err := openKnown(tx, known)
	if err != nil {
		return objstore.ID{}, 0, err
	}
	w, err := old.writeBehind(&Writer{Tx: tx}, write)
	if err != nil {
		return objstore.ID{}, 0, err
	}
	id, err := w.Close()
	return id, w.Length, err
}

// openKnown is OpenTranscript; one that cannot be read is empty.
func openKnown(tx *objstore.Tx, known objstore.ID) (*Stored, error) {
	old, err := OpenTranscript(tx, known)
	if model.IsLost(err) {
		return OpenTranscript(tx, objstore.ID{})
	}
	return old, err
}

// PutFile stores a whole session file as a transcript, with a line that has no end, too. known is the transcript of
// what the file may begin with, as it was captured or laid out; zero: nothing is known of it.
func PutFile(tx *objstore.Tx, f *SessionFile, known objstore.ID) (objstore.ID, error) {
	id, _, err := putPart(tx, f, f.Info.Size(), known, f.CopyTo)
	return id, err
}

// PutPart stores the first length bytes of f, which nobody writes, as PutFile does, and returns how many those are.
func PutPart(tx *objstore.Tx, f io.ReaderAt, length int64, known objstore.ID) (objstore.ID, int64, error) {
	return putPart(tx, f, length, known, func(w io.Writer, from, to int64) error {
		_, err := io.Copy(w, io.NewSectionReader(f, from, to-from))
		return err
	})
}

func putPart(
	tx *objstore.Tx, f io.ReaderAt, length int64, known objstore.ID, copyTo func(w io.Writer, from, to int64) error,
) (objstore.ID, int64, error) {
	old, err := openKnown(tx, known)
	if err != nil {
		return objstore.ID{}, 0, err
	}
	w, from, err := old.goOn(tx, f, length)
	if err != nil {
		return objstore.ID{}, 0, err
	}
	w.older = nil
	if err := copyTo(w, from, length); err != nil {
		return objstore.ID{}, 0, err
	}
	id, err := w.Close()
	return id, w.Length, err
}

// Random gives 16 random bytes for a new id.
func Random() (b [16]byte) {
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return b
}

// CheckWritable fails with a *model.ForeignFileError if path lies in no folder of own, and with the system's error if
// its directory cannot be written.
func CheckWritable(own agentfiles.Folders, path string) error {
	return withFile(own, path, agentfiles.File.Writable)
}
