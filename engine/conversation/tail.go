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
	"rewind/engine/register"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// HookRead is how many bytes of a session file a hook takes in; more is left to Settle.
const HookRead = 1 << 20

// ErrLater is returned when there is more in a session file than was allowed to be read.
var ErrLater = errors.New("there is more than fits here")

// ErrPurgedTalk is why a conversation is not captured any more: the agent's file still has what was purged, and what it adds could have it
// again.
var ErrPurgedTalk = errors.New("something was purged from it; it is not captured any more")

// Tail captures what has been appended to a session's file since it was captured last, at most `most` bytes of it, and moves its cursor.
// Only that is read, and the last block before it. A file that does not go on where the capture ended is captured anew, as another
// generation; blocks that are stored already are not stored again. A line that is still being written is left for the next capture. An
// error leaves the cursor where it was; ErrLater and ErrMoving are for another time. A hook, which reads little, leaves a last line without
// a newline to those that may read more: whether anybody still writes it is a look at the machine's processes.
func (cs *Conversations) Tail(tx *objstore.Tx, s *model.Session, most int64) error {
	if s.Transcript == "" || !model.Understood(s.Agent) {
		return nil
	}
	if s.Purged {
		return ErrPurgedTalk
	}
	agent, was := s.Agent, cs.Files[s.Name]
	path, fi, err := FindFile(agent, s.Transcript)
	if err != nil || fi == nil || was.Same(s.Cursor.TranscriptEnd, path, fi) && (most <= HookRead || !cs.hasUnendedLine(s, path, fi)) {
		return err
	}
	f, err := reopen(agent, path, was)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	next, err := cs.Advance(tx, s, f, most)
	if err != nil {
		return err
	}
	s.Cursor = next
	cs.Saw(s.Name, f, next.TranscriptEnd)
	return nil
}

// FindFile finds a session's file where the agent says that it is, compressed perhaps. None, not written yet or gone, is no error: what was
// captured of it stays.
func FindFile(agent transcript.Agent, path string) (found string, fi fs.FileInfo, err error) {
	if _, _, err := transcript.SessionFile(agent, path); err != nil {
		return "", nil, err
	}
	found = path
	fi, err = os.Stat(found)
	if errors.Is(err, fs.ErrNotExist) && agent == transcript.Codex {
		found = path + ZstdSuffix
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

// reopen opens a session's file without following links a second time, if it still is the file that was seen last.
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

// Saw remembers how a session's file was found, and that it has been captured up to at; the log's lock is held. It is looked at again when
// either is not so any more: a capture that could not be committed has not moved the session.
func (cs *Conversations) Saw(name string, f *SessionFile, at model.TranscriptEnd) {
	if cs.Files == nil {
		cs.Files = map[string]*seenFile{}
	}
	cs.Files[name] = &seenFile{path: f.Path, real: f.Name(), at: at, size: f.Info.Size(), mod: f.Info.ModTime(), info: f.Info}
}

// Advance is where the cursor goes.
func (cs *Conversations) Advance(tx *objstore.Tx, s *model.Session, f *SessionFile, most int64) (model.Cursor, error) {
	if strings.HasSuffix(f.Path, ZstdSuffix) {
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
	if next.Path != f.Path || next.Transcript.IsZero() || f.Document() || from < 0 || from > end {
		return cs.generation(tx, s, f, end, most)
	}
	w, err := ResumeTranscript(tx, next.Transcript)
	if err != nil {
		return next, err
	}
	switch same, err := endsWith(f, from, w.tail); {
	case err != nil:
		return next, err
	case !same:
		return cs.generation(tx, s, f, end, most)
	case from == end:
		return next, nil
	case end-from > most:
		return next, ErrLater
	}
	return cs.take(w, next, f, from, end)
}

// endsWith reports whether the file's first at bytes end with tail, as far as they reach back.
func endsWith(f *SessionFile, at int64, tail []byte) (bool, error) {
	tail = tail[max(0, int64(len(tail))-at):]
	buf := make([]byte, len(tail))
	if _, err := f.ReadAt(buf, at-int64(len(tail))); err != nil {
		return false, f.reading(err)
	}
	return bytes.Equal(buf, tail), nil
}

// take appends the file's bytes from `from` to `to` to a transcript that the cursor has come to. Since the end of its last line was found,
// and what stands before was compared, the file may have become another one.
func (cs *Conversations) take(w *Writer, at model.Cursor, f *SessionFile, from, to int64) (model.Cursor, error) {
	before := bytes.Clone(w.tail)
	if err := f.CopyTo(w, from, to); err != nil {
		return at, err
	}
	same, err := endsWith(f, from, before)
	if err == nil && (!same || !f.Document() && !f.unended && to > from && w.tail[len(w.tail)-1] != '\n') {
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
	last, err := lastID(f.Agent, src, from)
	if err != nil && !f.Document() {
		return at, err
	}
	if last != "" {
		at.Last = last
	}
	at.Transcript, at.Length, at.Path = id, w.Length, strings.TrimSuffix(f.Path, ZstdSuffix)
	return at, nil
}

// generation captures a file from its beginning.
func (cs *Conversations) generation(tx *objstore.Tx, s *model.Session, f *SessionFile, end, most int64) (model.Cursor, error) {
	if end > most {
		return s.Cursor, ErrLater
	}
	next := model.Cursor{TranscriptEnd: model.TranscriptEnd{Generation: s.Cursor.Generation + 1}}
	old, err := OpenTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return s.Cursor, err
	}
	w := &Writer{Tx: tx, older: old.Blobs}
	if f.Agent == transcript.Codex {
		if next.Base, err = cs.BaseOf(w, f, end, MaxBases); err != nil {
			return s.Cursor, err
		}
	}
	return cs.take(w, next, f, 0, end)
}

// unpackedSession captures a session file that the agent has compressed. Mostly it holds what was captured before.
func (cs *Conversations) unpackedSession(tx *objstore.Tx, s *model.Session, f *SessionFile, most int64) (model.Cursor, error) {
	old, err := OpenTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return s.Cursor, err
	}
	w, base, path := &Writer{Tx: tx, older: old.Blobs}, int64(0), strings.TrimSuffix(f.Path, ZstdSuffix)
	if s.Cursor.Path == path { // what stands before its first record is in another file
		base = s.Cursor.Base
		if w, err = old.AppendTo(tx, base); err != nil {
			return s.Cursor, err
		}
	}
	if err := Unpacked(f, w, most); err != nil {
		return s.Cursor, err
	}
	id, err := w.Close()
	if err != nil || id == s.Cursor.Transcript && s.Cursor.Path == path {
		return s.Cursor, err
	}
	next := model.Cursor{TranscriptEnd: model.TranscriptEnd{Transcript: id, Length: w.Length, Path: path, Generation: s.Cursor.Generation + 1}, Base: base}
	st, err := OpenTranscript(tx, id)
	if err == nil {
		next.Last, err = lastID(f.Agent, transcript.Source{ReaderAt: st, Size: st.Size, Name: path}, 0)
	}
	return next, err
}

// CaughtUp captures what hooks left of a session's file, outside of every lock: it may be much.
func (cs *Conversations) CaughtUp(ctx context.Context, name string) error {
	cs.log.Mu.Lock()
	s := cs.log.Records[name]
	if s == nil || s.Purged {
		cs.log.Mu.Unlock()
		return nil
	}
	was := s.Cursor
	work := *s
	cs.log.Mu.Unlock()

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
	if _, purged := cs.log.Silent.Load(name); purged { // while this waited
		tx.Discard()
		return nil
	}
	if work.Cursor, err = cs.Advance(tx, &work, f, MaxSession); err != nil {
		tx.Discard()
		return err
	}
	if err := tx.Commit(ctx, kv.Written); err != nil {
		return err
	}
	cs.log.Mu.Lock()
	defer cs.log.Mu.Unlock()
	if now := cs.log.Records[name]; now == nil || now.Cursor != was || now.Transcript != work.Transcript {
		return nil // an event was faster
	}
	cs.Saw(name, f, work.Cursor.TranscriptEnd)
	if work.Cursor == was {
		return nil
	}
	return cs.moveCursor(ctx, name, work.Cursor)
}

// moveCursor records that a conversation has gone on without an event; the log's lock is held.
func (cs *Conversations) moveCursor(ctx context.Context, name string, to model.Cursor) error {
	return cs.MoveCursorWith(ctx, cs.log.Objs.Begin(), name, to)
}

// MoveCursorWith is moveCursor in the transaction that holds what is new.
func (cs *Conversations) MoveCursorWith(ctx context.Context, tx *objstore.Tx, name string, to model.Cursor) error {
	s := *cs.log.Records[name]
	s.Cursor, s.Problem = to, ""
	op := refs.Operation{
		Kind: refs.KindEvent, Time: cs.log.Now().UnixMilli(), Session: name, Turn: s.Turn, Transcript: to.Transcript, Cause: refs.Cause{Event: model.EventScan},
	}
	head, err := cs.log.Head()
	if err != nil {
		tx.Discard()
		return err
	}
	op.Checkpoint = head.Checkpoint
	_, err = cs.log.Refs.Commit(ctx, tx, kv.Written, func(uint64) (refs.Operation, []refs.Update, error) {
		return op, nil, tx.Batch().Set(model.SessionKey(name), s.Encode())
	})
	if err != nil {
		tx.Discard()
		return err
	}
	cs.log.Records[name] = &s
	return nil
}

// Recheck compares all of a session file with what was captured, once it has grown by an eighth since that was done last: a rewrite further
// ahead than the last block shows in nothing else. The file is read without a lock. A file that the session has left for another is not
// looked at.
func (cs *Conversations) Recheck(ctx context.Context, name string) error {
	cs.log.Mu.Lock()
	s := cs.log.Records[name]
	cs.log.Mu.Unlock()
	if s == nil || s.Purged || s.Cursor.Path != s.Transcript || s.Cursor.Transcript.IsZero() || s.Cursor.Length-s.Cursor.Checked < max(s.Cursor.Checked/8, TranscriptBlock) {
		return nil
	}
	c := s.Cursor
	f, err := OpenSession(s.Agent, c.Path)
	if err != nil || f.Document() {
		return nil // gone, or compressed by now
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
	cs.log.Mu.Lock()
	defer cs.log.Mu.Unlock()
	now := cs.log.Records[name]
	if now == nil || now.Cursor != c || now.Purged {
		return nil
	}
	if same < c.Length {
		work := *now
		work.Cursor.Path = "" // not the file that was captured
		tx := cs.log.Objs.Begin()
		if work.Cursor, err = cs.Advance(tx, &work, f, MaxSession); err != nil {
			tx.Discard()
			return err
		}
		if err := tx.Commit(ctx, kv.Written); err != nil {
			return err
		}
		c = work.Cursor
	}
	c.Checked = c.Length
	if same == now.Cursor.Length { // nothing that the log would have to say
		kept := *now
		kept.Cursor = c
		cs.log.Records[name] = &kept
		return nil
	}
	return cs.moveCursor(ctx, name, c)
}

// Continuation is a file seen as it stands in a transcript, behind the bytes of another file, which are taken from the transcript.
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

// Problem is an error of follow as a person reads it; "" for one that is for another time.
func Problem(err error) string {
	if err == nil || errors.Is(err, ErrLater) || errors.Is(err, ErrMoving) {
		return ""
	}
	return err.Error()
}
