package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/internal/agentfiles"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// ErrMoving is returned for a session file that is being written at this moment: the next attempt will succeed.
var ErrMoving = errors.New("it is being written")

// zstdSuffix is what an agent appends to the name of a session file that it has compressed.
const zstdSuffix = ".zst"

// SessionFile is an agent's session file, open to be read.
type SessionFile struct {
	*os.File
	Agent transcript.Agent
	Path  string
	Info  fs.FileInfo

	opened  time.Time // when, a little before info was read
	unended bool      // the last line is a whole record without a newline, of a session that nobody writes
}

// OpenSession opens a session file to be read. A path that is not laid out as the agent lays its files out, or that
// leads out of the agent's folder, is refused: it may come from a hook's payload. The caller closes the file.
func OpenSession(agent transcript.Agent, path string) (*SessionFile, error) {
	root, real, err := realSession(agent, path)
	if err != nil {
		return nil, err
	}
	return opened(agent, path, func() (*os.File, error) {
		if !project.Within(real, root) {
			return osfile.OpenRead(real)
		}
		return agentfiles.OpenBelow(root, real) // by handles: a link that appears meanwhile does not lead out
	})
}

// OpenReal is OpenSession for a path whose links were resolved before, as real; the caller compares what it gets with
// the file that it saw then.
func OpenReal(agent transcript.Agent, path, real string) (*SessionFile, error) {
	return opened(agent, path, func() (*os.File, error) { return osfile.OpenRead(real) })
}

// opened makes a SessionFile of what open opens; anything but a regular file is refused.
func opened(agent transcript.Agent, path string, open func() (*os.File, error)) (*SessionFile, error) {
	now := time.Now()
	f, err := open()
	if err != nil {
		return nil, &value.OpError{Op: "session file", Subject: path, Err: register.PathCause(err)}
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, &value.OpError{Op: "session file", Subject: path, Err: err}
	}
	return &SessionFile{File: f, Agent: agent, Path: path, Info: fi, opened: now}, nil
}

// realSession is path with links resolved, and the agent's folder likewise; an error unless it is a session file in
// that folder.
func realSession(agent transcript.Agent, path string) (root, real string, err error) {
	if root, _, err = transcript.SessionFile(agent, path); err != nil {
		return "", "", err
	}
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return "", "", SessionError(path, err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", "", SessionError(path, err)
	}
	if !project.Within(real, root) {
		return "", "", &value.OpError{Op: "session file", Subject: path, Err: model.Usagef("it leads out of %s", root)}
	}
	return root, real, nil
}

// Source is a reader of the file's first size bytes.
func (f *SessionFile) Source(size int64) transcript.Source {
	return transcript.Source{ReaderAt: f.File, Size: size, Name: f.Path}
}

// Document reports whether the file is one document, which agents write anew each time, instead of lines.
func (f *SessionFile) Document() bool { return IsDocument(f.Path) }

// Compressed reports whether the agent has compressed the file.
func (f *SessionFile) Compressed() bool { return strings.HasSuffix(f.Path, zstdSuffix) }

// IsDocument reports whether a session file is one JSON document, by its name.
func IsDocument(path string) bool { return strings.HasSuffix(path, ".json") }

// whole is the length in bytes of the file's whole records: up to its last newline.
func (f *SessionFile) whole() (int64, error) {
	size := f.Info.Size()
	if f.Document() {
		return size, nil
	}
	buf := make([]byte, 16<<10)
	for end := size; end > 0; {
		n := min(int64(len(buf)), end)
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, f.reading(err)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

// maxUnended is how long a last line without a newline may be, in bytes, for isWholeRecord to read it.
const maxUnended = 64 << 20

// isWholeRecord reports whether the last line, which has no newline and begins at from, is a whole record: it is valid,
// and no agent has the session open that could end the line.
func (cs *Conversations) isWholeRecord(s *model.Session, f *SessionFile, from int64) bool {
	if f.Info.Size()-from > maxUnended || !cs.isSilent(s, f.Info) {
		return false
	}
	line := make([]byte, f.Info.Size()-from)
	if _, err := f.ReadAt(line, from); err != nil {
		return false
	}
	line = bytes.TrimSpace(line)
	isRecord := bytes.HasPrefix(line, []byte("{")) && json.Valid(line)
	return isRecord && (s.Ended || s.Imported || cs.sessions.OpenBy(s) == "")
}

// isSilent reports whether a session has ended, or its file has not changed for model.QuietAfter.
func (cs *Conversations) isSilent(s *model.Session, fi fs.FileInfo) bool {
	return s.Ended || s.Imported || cs.log.Now().Sub(fi.ModTime()) >= model.QuietAfter
}

// hasUnendedLine reports whether a file has bytes behind the session's cursor, which ends with a newline, and is
// silent.
func (cs *Conversations) hasUnendedLine(s *model.Session, path string, fi fs.FileInfo) bool {
	grew := fi.Size() > s.Cursor.Length-s.Cursor.Base && !IsDocument(path)
	return grew && !strings.HasSuffix(path, zstdSuffix) && cs.isSilent(s, fi)
}

// reading makes an error of a read one of the file: an early end is ErrMoving.
func (f *SessionFile) reading(err error) error {
	if errors.Is(err, io.EOF) {
		err = ErrMoving // the file has become shorter
	}
	return &value.OpError{Op: "session file", Subject: f.Path, Err: err}
}

// racy is how old a file's newest change must be for its time stamp to tell it from the next one: the clocks of some
// file systems go on every 10 ms.
const racy = 20 * time.Millisecond

// unchanged reports whether the file's size and time are what they were when it was opened (same), and whether that
// proves that nobody has written it since (sure): a racy time stamp does not.
func (f *SessionFile) unchanged() (same, sure bool, err error) {
	fi, err := f.Stat()
	if err != nil {
		return false, false, err
	}
	same = fi.Size() == f.Info.Size() && fi.ModTime().Equal(f.Info.ModTime())
	return same, same && f.opened.Sub(fi.ModTime()) > racy, nil
}

// CopyTo writes the bytes between the offsets from and to to w. If the file may have been written meanwhile they are
// read twice; ErrMoving when both are not equal, since that state may never have existed.
func (f *SessionFile) CopyTo(w io.Writer, from, to int64) error {
	seed := maphash.MakeSeed()
	var sum, again maphash.Hash
	sum.SetSeed(seed)
	again.SetSeed(seed)
	if err := f.pass(io.MultiWriter(w, &sum), from, to); err != nil {
		return err
	}
	if _, sure, err := f.unchanged(); err != nil || sure {
		return err
	}
	if err := f.pass(&again, from, to); err != nil {
		return err
	}
	same, _, err := f.unchanged()
	if err != nil || sum.Sum64() != again.Sum64() || f.Document() && !same {
		return f.reading(errors.Join(ErrMoving, err))
	}
	return nil
}

// pass copies the bytes between two offsets once.
func (f *SessionFile) pass(w io.Writer, from, to int64) error {
	n, err := io.Copy(w, io.NewSectionReader(f.File, from, to-from))
	if err == nil && n < to-from {
		err = io.EOF
	}
	if err != nil {
		return f.reading(err)
	}
	return nil
}

// lastID is the agent's id of the newest record that has one, of those from the offset from, where a record begins; "":
// none has.
func lastID(agent transcript.Agent, src transcript.Source, from int64) (string, error) {
	for back := int64(64 << 10); ; back *= 8 {
		at := from
		if src.Size-from > back {
			at = nextLine(src, src.Size-back)
		}
		id := ""
		err := transcript.Read(agent, src, at, func(r *transcript.Record) error {
			if r.ID != "" {
				id = r.ID
			}
			return nil
		})
		if err != nil || id != "" || at <= from {
			return id, err
		}
	}
}

// nextLine is the offset of the first line that begins behind off; the size if there is none.
func nextLine(src transcript.Source, off int64) int64 {
	buf := make([]byte, 4<<10)
	for off < src.Size {
		n, err := src.ReadAt(buf[:min(int64(len(buf)), src.Size-off)], off)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return off + int64(i) + 1
		}
		if n == 0 || err != nil {
			return src.Size
		}
		off += int64(n)
	}
	return src.Size
}

// Unpacked writes to w a session file that the agent has compressed, up to the end of its last line; ErrLater if there
// are more than most bytes. It reads the file twice, since a line of any length would have to be held until its end is
// seen.
func Unpacked(f *SessionFile, w io.Writer, most int64) error {
	var lines lineEnds
	n, err := unpack(f, &lines, most+1)
	if err == nil && n > most {
		return ErrLater
	}
	if err == nil {
		_, err = unpack(f, w, lines.last)
	}
	return err
}

// unpack writes the first most bytes of a compressed file's content to w.
func unpack(f *SessionFile, w io.Writer, most int64) (int64, error) {
	r, err := objstore.NewZstdReader(io.NewSectionReader(f.File, 0, f.Info.Size()))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.Copy(w, io.LimitReader(r, most))
	if err != nil {
		return n, &value.OpError{Op: "session file", Subject: f.Path, Err: err}
	}
	return n, nil
}

// lineEnds is a writer that counts bytes: all (n), and up to the last newline (last).
type lineEnds struct{ n, last int64 }

func (l *lineEnds) Write(p []byte) (int, error) {
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		l.last = l.n + int64(i) + 1
	}
	l.n += int64(len(p))
	return len(p), nil
}

// maxSession bounds a session file, in bytes.
const maxSession = 8 << 30

// seenFile is a session file as it was seen last. While it is the same there is nothing new to capture.
type seenFile struct {
	path string
	real string              // the path with links resolved
	at   model.TranscriptEnd // what had been captured of the file
	size int64
	mod  time.Time
	info fs.FileInfo // the file's identity, size and time
}

func (s *seenFile) Same(at model.TranscriptEnd, path string, fi fs.FileInfo) bool {
	samePlace := s != nil && s.path == path && s.at == at
	return samePlace && s.size == fi.Size() && s.mod.Equal(fi.ModTime()) && os.SameFile(s.info, fi)
}
