package conversation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/register"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// HookRead is how many bytes of a session file a hook captures at most. CaughtUp captures the rest.
const HookRead = 1 << 20

// ErrLater is returned when a session file has more than may be read now.
var ErrLater = errors.New("there is more than fits here")

// ErrPurgedTalk is why a conversation is not captured any more: the agent's file still has what was purged, and may add
// it again.
var ErrPurgedTalk = errors.New("something was purged from it; it is not captured any more")

// Tail captures what was appended to a session's file since its cursor, at most `most` bytes, and moves the cursor of
// s. Only those bytes are read, and the last block before them. A file that does not go on where the cursor ends is
// captured anew, as another generation; blocks that are stored already are not stored again. A line without its end is
// left for the next capture. With an error the cursor stays; ErrLater and ErrMoving pass by themselves. A hook, which
// reads little, does not ask whether somebody still writes the last line, since that means looking at all processes.
func (cs *Conversations) Tail(tx *objstore.Tx, s *model.Session, most int64) error {
	if s.Transcript == "" || !model.Understood(s.Agent) {
		return nil
	}
	if s.Purged {
		return ErrPurgedTalk
	}
	agent, was := s.Agent, cs.Files[s.Name]
	path, fi, err := FindFile(agent, s.Transcript)
	if err != nil || fi == nil {
		return err
	}
	if was.Same(s.Cursor.TranscriptEnd, path, fi) && (most <= HookRead || !cs.hasUnendedLine(s, path, fi)) {
		return nil
	}
	f, err := reopen(agent, path, was)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	next, err := cs.advance(tx, s, f, most)
	if err != nil {
		return err
	}
	s.Cursor = next
	cs.saw(s.Name, f, next.TranscriptEnd)
	return nil
}

// FindFile finds a session's file at the path that its agent says, or beside it compressed. fi nil: there is none,
// which is no error.
func FindFile(agent transcript.Agent, path string) (found string, fi fs.FileInfo, err error) {
	if _, _, err := transcript.SessionFile(agent, path); err != nil {
		return "", nil, err
	}
	found = path
	fi, err = os.Stat(found)
	if errors.Is(err, fs.ErrNotExist) && agent == transcript.Codex {
		found = path + zstdSuffix
		fi, err = os.Stat(found)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("session file %s: %w", path, register.PathCause(err))
	}
	return found, fi, nil
}

// reopen is OpenSession for a file that may be the one that was seen last (was): if it is, no link is resolved again.
func reopen(agent transcript.Agent, path string, was *seenFile) (*SessionFile, error) {
	if was != nil && was.path == path {
		f, err := OpenReal(agent, path, was.real)
		if err == nil && os.SameFile(f.Info, was.info) {
			return f, nil
		}
		if err == nil {
			f.Close()
		}
	}
	return OpenSession(agent, path)
}

// saw notes how a session's file was found, and that it is captured up to at. The file is read again when either has
// changed: a capture that is not committed has not moved the cursor. The log's lock is held.
func (cs *Conversations) saw(name string, f *SessionFile, at model.TranscriptEnd) {
	if cs.Files == nil {
		cs.Files = map[string]*seenFile{}
	}
	cs.Files[name] = &seenFile{
		path: f.Path, real: f.Name(), at: at, size: f.Info.Size(), mod: f.Info.ModTime(),
		info: f.Info,
	}
}

// continues reports whether what a cursor is behind may go on in f: a document is always captured as a whole.
func continues(at model.Cursor, f *SessionFile) bool {
	return at.Path == f.Path && !at.Transcript.IsZero() && !f.Document()
}

// advance captures what f has beyond the cursor of s, at most `most` bytes, and returns the new cursor.
func (cs *Conversations) advance(tx *objstore.Tx, s *model.Session, f *SessionFile, most int64) (model.Cursor, error) {
	if strings.HasSuffix(f.Path, zstdSuffix) {
		return cs.unpackedSession(tx, s, f, most)
	}
	end, err := f.whole()
	if err != nil {
		return s.Cursor, err
	}
	if f.unended = most > HookRead && end < f.Info.Size() && cs.isWholeRecord(s, f, end); f.unended {
		end = f.Info.Size()
	}
	next := s.Cursor
	from := next.Length - next.Base
	if !continues(next, f) || from < 0 || from > end {
		return cs.generation(tx, s, f, end, most)
	}
	w, err := resumeAt(tx, next.Transcript, f, from)
	switch {
	case err != nil:
		return next, err
	case w == nil:
		return cs.generation(tx, s, f, end, most)
	case from == end:
		return next, nil
	case end-from > most:
		return next, ErrLater
	}
	return cs.take(w, next, f, from, end)
}

// endsWith reports whether the file's first at bytes end with tail; of a longer tail its end counts.
func endsWith(f *SessionFile, at int64, tail []byte) (bool, error) {
	tail = tail[max(0, int64(len(tail))-at):]
	buf := make([]byte, len(tail))
	if _, err := f.ReadAt(buf, at-int64(len(tail))); err != nil {
		return false, f.reading(err)
	}
	return bytes.Equal(buf, tail), nil
}

// take appends the file's bytes between two offsets to a transcript, and returns the cursor behind them. ErrMoving if
// the file has become another one since its end was looked for.
func (cs *Conversations) take(w *Writer, at model.Cursor, f *SessionFile, from, to int64) (model.Cursor, error) {
	before := bytes.Clone(w.tail)
	if err := f.CopyTo(w, from, to); err != nil {
		return at, err
	}
	same, err := endsWith(f, from, before)
	ofLines := !f.Document() && !f.unended
	cut := ofLines && to > from && w.tail[len(w.tail)-1] != '\n'
	if err == nil && (!same || cut) {
		err = f.reading(ErrMoving)
	}
	if err != nil {
		return at, err
	}
	id, err := w.Close()
	if err != nil {
		return at, err
	}
	src := f.Source(to)
	src.Ended = f.unended
	if at.Length == 0 { // a new generation: what is made was not read either
		from = 0
	}
	last, err := lastID(f.Agent, src, from)
	if err != nil && !f.Document() {
		return at, err
	}
	if last != "" {
		at.Last = last
	}
	if at.Lost == id {
		at.Lost = objstore.ID{}
	}
	at.Transcript, at.Length, at.Path = id, w.Length, strings.TrimSuffix(f.Path, zstdSuffix)
	return at, nil
}

// KnownAs is the transcript of a session's file as it is known so far: what was captured, or what a fork began as.
func KnownAs(s *model.Session) objstore.ID {
	if s.Cursor.Transcript.IsZero() {
		return s.BeganAs()
	}
	return s.Cursor.Transcript
}

// generation captures a file from its beginning to end, as a new generation.
func (cs *Conversations) generation(
	tx *objstore.Tx, s *model.Session, f *SessionFile, end, most int64,
) (model.Cursor, error) {
	if end > most {
		return s.Cursor, ErrLater
	}
	next := model.Cursor{TranscriptEnd: model.TranscriptEnd{Generation: s.Cursor.Generation + 1}}
	old, err := OpenTranscript(tx, s.Cursor.Transcript)
	if s.Cursor.Transcript.IsZero() {
		old, err = openKnown(tx, s.BeganAs()) // a fork's file is not stored again
	}
	if err != nil {
		return s.Cursor, err
	}
	if next.Lost, err = cs.lost(s, f, end, old); err != nil {
		return s.Cursor, err
	}
	w := &Writer{Tx: tx, older: old}
	if f.Agent == transcript.Codex {
		if next.Base, err = cs.BaseOf(w, f, end, MaxBases); err != nil {
			return s.Cursor, err
		}
	}
	from := int64(0)
	if next.Base == 0 {
		if w, from, err = old.goOn(tx, f, end); err != nil {
			return s.Cursor, err
		}
	}
	return cs.take(w, next, f, from, end)
}

// unpackedSession captures a session file that the agent has compressed. Usually its bytes have been captured before.
func (cs *Conversations) unpackedSession(
	tx *objstore.Tx, s *model.Session, f *SessionFile, most int64,
) (model.Cursor, error) {
	old, err := OpenTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return s.Cursor, err
	}
	w, base, path := &Writer{Tx: tx, older: old}, int64(0), strings.TrimSuffix(f.Path, zstdSuffix)
	if s.Cursor.Path == path { // the records before the first one are in another file
		base = s.Cursor.Base
		if w, err = old.AppendTo(tx, base); err != nil {
			return s.Cursor, err
		}
	}
	w, err = old.writeBehind(w, func(w io.Writer) error { return Unpacked(f, w, most) })
	if err != nil {
		return s.Cursor, err
	}
	id, err := w.Close()
	if err != nil || id == s.Cursor.Transcript && s.Cursor.Path == path {
		return s.Cursor, err
	}
	next := model.Cursor{TranscriptEnd: model.TranscriptEnd{
		Transcript: id, Length: w.Length, Path: path,
		Generation: s.Cursor.Generation + 1,
	}, Base: base}
	st, err := OpenTranscript(tx, id)
	if err == nil {
		next.Last, err = lastID(f.Agent, transcript.Source{ReaderAt: st, Size: st.Size, Name: path}, 0)
	}
	return next, err
}

// CaughtUp captures what hooks have left of a session's file, however much that is. It takes the log's lock, but not
// while it reads.
func (cs *Conversations) CaughtUp(ctx context.Context, name string) error {
	cs.log.Lock()
	s := cs.log.Session(name)
	if s == nil || s.Purged {
		cs.log.Unlock()
		return nil
	}
	was := s.Cursor
	work := *s
	cs.log.Unlock()

	agent := work.Agent
	path, fi, err := FindFile(agent, work.Transcript)
	if err != nil || fi == nil {
		return err
	}
	f, err := OpenSession(agent, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	tx := cs.log.Objs.Begin()
	if cs.log.Silenced(name) { // purged since the record was read
		tx.Discard()
		return nil
	}
	if work.Cursor, err = cs.advance(tx, &work, f, maxSession); err != nil {
		tx.Discard()
		return err
	}
	if err := tx.Commit(ctx, kv.Written); err != nil {
		return err
	}
	cs.log.Lock()
	defer cs.log.Unlock()
	if now := cs.log.Session(name); now == nil || now.Cursor != was || now.Transcript != work.Transcript {
		return nil // an event has captured the file meanwhile
	}
	cs.saw(name, f, work.Cursor.TranscriptEnd)
	if work.Cursor == was {
		return nil
	}
	return cs.moveCursor(ctx, name, work.Cursor)
}

// moveCursor records that a conversation was captured further without an event. The log's lock is held.
func (cs *Conversations) moveCursor(ctx context.Context, name string, to model.Cursor) error {
	return cs.MoveCursorWith(ctx, cs.log.Begin(), name, to)
}

// MoveCursorWith is moveCursor in a change, which has the captured bytes. With an error it is given up.
func (cs *Conversations) MoveCursorWith(ctx context.Context, c *oplog.Change, name string, to model.Cursor) error {
	s := *cs.log.Session(name)
	s.Cursor, s.Problem = to, ""
	op := refs.Operation{
		Kind: refs.KindEvent, Time: cs.log.Now().UnixMilli(), Session: name, Turn: s.Turn, Transcript: to.Transcript,
		Cause: refs.Cause{Event: model.EventScan},
	}
	head, err := cs.log.Head()
	if err != nil {
		c.Discard()
		return err
	}
	op.Checkpoint = head.Checkpoint
	c.SetSession(&s)
	_, err = c.Commit(ctx, kv.Written, func(uint64) (refs.Operation, []refs.Update, error) { return op, nil, nil })
	return err
}

// recheckDue reports whether so much was captured of a session's file since it was compared as a whole.
func recheckDue(s *model.Session) bool {
	at := s.Cursor
	if s.Purged || at.Path != s.Transcript || at.Transcript.IsZero() {
		return false
	}
	return at.Length-at.Checked >= max(at.Checked/8, TranscriptBlock)
}

// Recheck compares a whole session file with the captured conversation, when the file has grown by an eighth since the
// last time. Nothing else shows that an agent has changed bytes before the last block. What differs is captured as a
// new generation. The log's lock is taken, but not while the file is read.
func (cs *Conversations) Recheck(ctx context.Context, name string) error {
	cs.log.Lock()
	s := cs.log.Session(name)
	cs.log.Unlock()
	if s == nil || !recheckDue(s) {
		return nil
	}
	c := s.Cursor
	f, err := OpenSession(s.Agent, c.Path)
	if err != nil || f.Document() {
		return nil // gone, compressed, or one document
	}
	defer f.Close()
	st, err := OpenTranscript(cs.log.Objs, c.Transcript)
	if err != nil {
		return err
	}
	same, err := st.Begins(Continuation{f, c.Base, st}, c.Length)
	if err != nil {
		return err
	}
	cs.log.Lock()
	defer cs.log.Unlock()
	now := cs.log.Session(name)
	if now == nil || now.Cursor != c || now.Purged {
		return nil
	}
	if same < c.Length {
		work := *now
		work.Cursor.Path = "" // so that advance takes it for another file
		tx := cs.log.Objs.Begin()
		if work.Cursor, err = cs.advance(tx, &work, f, maxSession); err != nil {
			tx.Discard()
			return err
		}
		if err := tx.Commit(ctx, kv.Written); err != nil {
			return err
		}
		c = work.Cursor
	}
	c.Checked = c.Length
	if same == now.Cursor.Length { // nothing has changed that the log has to tell
		kept := *now
		kept.Cursor = c
		cs.log.Remember(&kept)
		return nil
	}
	return cs.moveCursor(ctx, name, c)
}

// Continuation reads a session file that continues another one as its transcript has it: the first Base bytes from the
// transcript Of, the rest from the file F.
type Continuation struct {
	F    io.ReaderAt
	Base int64
	Of   *Stored
}

// ReadAt reads the stored bytes below the base, and the file's from there.
func (b Continuation) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.Base {
		return b.F.ReadAt(p, off-b.Base)
	}
	n := int(min(int64(len(p)), b.Base-off))
	if m, err := b.Of.ReadAt(p[:n], off); err != nil {
		return m, err
	}
	if n == len(p) {
		return n, nil
	}
	m, err := b.F.ReadAt(p[n:], 0)
	return n + m, err
}

// Problem is, for people, why Tail could not capture a conversation; "" for nil, ErrLater and ErrMoving.
func Problem(err error) string {
	if err == nil || errors.Is(err, ErrLater) || errors.Is(err, ErrMoving) {
		return ""
	}
	return err.Error()
}
