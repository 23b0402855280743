package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"rewind/hooks"
	"rewind/internal/bug"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// hookRead is how many bytes of a session file a hook takes in; more is left to Settle.
const hookRead = 1 << 20

// errLater is returned when there is more in a session file than was allowed to be read.
var errLater = errors.New("there is more than fits here")

// errPurgedTalk is why a conversation is not captured any more: the agent's file still has what was purged, and what it adds could have it again.
var errPurgedTalk = errors.New("something was purged from it; it is not captured any more")

// understood reports whether the session files of an agent are.
func understood(agent hooks.Agent) bool {
	return slices.Contains(transcript.Agents(), transcript.Agent(agent))
}

// follow captures what has been appended to a session's file since it was captured last, at most `most` bytes of it, and moves its cursor. Only
// that is read, and the last block before it. A file that does not go on where the capture ended is captured anew, as another generation; blocks
// that are stored already are not stored again. A line that is still being written is left for the next capture. An error leaves the cursor
// where it was; errLater and errMoving are for another time. A hook, which reads little, leaves a last line without a newline to those that may read more:
// whether anybody still writes it is a look at the machine's processes.
func (e *Engine) follow(tx *objstore.Tx, s *Session, most int64) error {
	if s.Transcript == "" || !understood(s.Agent) {
		return nil
	}
	if s.Purged {
		return errPurgedTalk
	}
	agent, was := transcript.Agent(s.Agent), e.followed[s.Name]
	path, fi, err := lookAt(agent, s.Transcript)
	if err != nil || fi == nil || was.same(s.Cursor.Mark, path, fi) && (most <= hookRead || !e.restLeft(s, path, fi)) {
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
	next, err := e.grown(tx, s, f, most)
	if err != nil {
		return err
	}
	s.Cursor = next
	e.saw(s.Name, f, next.Mark)
	return nil
}

// lookAt finds a session's file where the agent says that it is, compressed perhaps. None, not written yet or gone, is no error: what was captured
// of it stays.
func lookAt(agent transcript.Agent, path string) (found string, fi fs.FileInfo, err error) {
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
		return "", nil, fmt.Errorf("engine: session file %s: %w", path, pathCause(err))
	}
	return found, fi, nil
}

// reopen opens a session's file without following links a second time, if it still is the file that was seen last.
func reopen(agent transcript.Agent, path string, was *seenFile) (*sessionFile, error) {
	if was != nil && was.path == path {
		f, err := openReal(agent, path, was.real)
		if err == nil && os.SameFile(f.info, was.info) {
			return f, nil
		}
		if err == nil {
			f.Close()
		}
	}
	return openSession(agent, path)
}

// saw remembers how a session's file was found, and that it has been captured up to at; e.mu is held. It is looked at again when either is not so any
// more: a capture that could not be committed has not moved the session.
func (e *Engine) saw(name string, f *sessionFile, at Mark) {
	if e.followed == nil {
		e.followed = map[string]*seenFile{}
	}
	e.followed[name] = &seenFile{path: f.path, real: f.Name(), at: at, size: f.info.Size(), mod: f.info.ModTime(), info: f.info}
}

// grown is where the cursor goes.
func (e *Engine) grown(tx *objstore.Tx, s *Session, f *sessionFile, most int64) (Cursor, error) {
	if strings.HasSuffix(f.path, zstdSuffix) {
		return e.unpackedSession(tx, s, f, most)
	}
	end, err := f.whole()
	if err != nil {
		return s.Cursor, err
	}
	if f.rests = most > hookRead && end < f.info.Size() && e.rests(s, f, end); f.rests {
		end = f.info.Size()
	}
	next := s.Cursor
	from := next.Length - next.Base
	if next.Path != f.path || next.Transcript.IsZero() || f.document() || from < 0 || from > end {
		return e.generation(tx, s, f, end, most)
	}
	w, err := resumeTranscript(tx, next.Transcript)
	if err != nil {
		return next, err
	}
	switch same, err := endsWith(f, from, w.tail); {
	case err != nil:
		return next, err
	case !same:
		return e.generation(tx, s, f, end, most)
	case from == end:
		return next, nil
	case end-from > most:
		return next, errLater
	}
	return e.take(w, next, f, from, end)
}

// endsWith reports whether the file's first at bytes end with tail, as far as they reach back.
func endsWith(f *sessionFile, at int64, tail []byte) (bool, error) {
	tail = tail[max(0, int64(len(tail))-at):]
	buf := make([]byte, len(tail))
	if _, err := f.ReadAt(buf, at-int64(len(tail))); err != nil {
		return false, f.reading(err)
	}
	return bytes.Equal(buf, tail), nil
}

// take appends the file's bytes from `from` to `to` to a transcript that the cursor has come to. Since the end of its last line was found, and what stands before
// was compared, the file may have become another one.
func (e *Engine) take(w *writer, at Cursor, f *sessionFile, from, to int64) (Cursor, error) {
	before := bytes.Clone(w.tail)
	if err := f.copyTo(w, from, to); err != nil {
		return at, err
	}
	same, err := endsWith(f, from, before)
	if err == nil && !bug.Is("half-a-line") && (!same || !f.document() && !f.rests && to > from && w.tail[len(w.tail)-1] != '\n') {
		err = f.reading(errMoving)
	}
	if err != nil {
		return at, err
	}
	id, err := w.close()
	if err != nil {
		return at, err
	}
	src := f.source(to)
	src.Ended = f.rests
	last, err := lastID(f.agent, src, from)
	if err != nil && !f.document() {
		return at, err
	}
	if last != "" {
		at.Last = last
	}
	at.Transcript, at.Length, at.Path = id, w.length, strings.TrimSuffix(f.path, zstdSuffix)
	return at, nil
}

// generation captures a file from its beginning.
func (e *Engine) generation(tx *objstore.Tx, s *Session, f *sessionFile, end, most int64) (Cursor, error) {
	if end > most {
		return s.Cursor, errLater
	}
	next := Cursor{Mark: Mark{Generation: s.Cursor.Generation + 1}}
	old, err := openTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return s.Cursor, err
	}
	w := &writer{tx: tx, older: old.blobs}
	if f.agent == transcript.Codex {
		if next.Base, err = e.baseOf(w, f, end, maxBases); err != nil {
			return s.Cursor, err
		}
	}
	return e.take(w, next, f, 0, end)
}

// unpackedSession captures a session file that the agent has compressed. Mostly it holds what was captured before.
func (e *Engine) unpackedSession(tx *objstore.Tx, s *Session, f *sessionFile, most int64) (Cursor, error) {
	old, err := openTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return s.Cursor, err
	}
	w, base, path := &writer{tx: tx, older: old.blobs}, int64(0), strings.TrimSuffix(f.path, zstdSuffix)
	if s.Cursor.Path == path { // what stands before its first record is in another file
		base = s.Cursor.Base
		if w, err = old.appendTo(tx, base); err != nil {
			return s.Cursor, err
		}
	}
	if err := unpacked(f, w, most); err != nil {
		return s.Cursor, err
	}
	id, err := w.close()
	if err != nil || id == s.Cursor.Transcript && s.Cursor.Path == path {
		return s.Cursor, err
	}
	next := Cursor{Mark: Mark{Transcript: id, Length: w.length, Path: path, Generation: s.Cursor.Generation + 1}, Base: base}
	st, err := openTranscript(tx, id)
	if err == nil {
		next.Last, err = lastID(f.agent, transcript.Source{ReaderAt: st, Size: st.size, Name: path}, 0)
	}
	return next, err
}

// caughtUp captures what hooks left of a session's file, outside of every lock: it may be much.
func (e *Engine) caughtUp(ctx context.Context, name string) error {
	e.mu.Lock()
	s := e.sessions[name]
	if s == nil || s.Purged {
		e.mu.Unlock()
		return nil
	}
	was := s.Cursor
	work := *s
	e.mu.Unlock()

	agent := transcript.Agent(work.Agent)
	path, fi, err := lookAt(agent, work.Transcript)
	if err != nil || fi == nil {
		return err
	}
	f, err := openSession(agent, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	tx := e.objs.Begin()
	if _, purged := e.silent.Load(name); purged { // while this waited
		tx.Discard()
		return nil
	}
	if work.Cursor, err = e.grown(tx, &work, f, maxSession); err != nil {
		tx.Discard()
		return err
	}
	if err := tx.Commit(ctx, kv.Written); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.sessions[name]; now == nil || now.Cursor != was || now.Transcript != work.Transcript {
		return nil // an event was faster
	}
	e.saw(name, f, work.Cursor.Mark)
	if work.Cursor == was {
		return nil
	}
	return e.moveCursor(ctx, name, work.Cursor)
}

// moveCursor records that a conversation has gone on without an event; e.mu is held.
func (e *Engine) moveCursor(ctx context.Context, name string, to Cursor) error {
	return e.moveCursorWith(ctx, e.objs.Begin(), name, to)
}

// moveCursorWith is moveCursor in the transaction that holds what is new.
func (e *Engine) moveCursorWith(ctx context.Context, tx *objstore.Tx, name string, to Cursor) error {
	s := *e.sessions[name]
	s.Cursor, s.Problem = to, ""
	op := refs.Operation{
		Kind: refs.KindEvent, Time: e.now().UnixMilli(), Session: name, Turn: s.Turn, Transcript: to.Transcript, Cause: refs.Cause{Event: EventScan},
	}
	head, err := e.head()
	if err != nil {
		tx.Discard()
		return err
	}
	op.Checkpoint = head.checkpoint
	_, err = e.refs.Commit(ctx, tx, kv.Written, func(uint64) (refs.Operation, []refs.Update, error) {
		return op, nil, tx.Batch().Set(sessionKey(name), s.encode())
	})
	if err != nil {
		tx.Discard()
		return err
	}
	e.sessions[name] = &s
	return nil
}

// stillWhole compares all of a session file with what was captured, once it has grown by an eighth since that was done last: a rewrite further ahead than
// the last block shows in nothing else. The file is read without a lock. A file that the session has left for another is not looked at.
func (e *Engine) stillWhole(ctx context.Context, name string) error {
	e.mu.Lock()
	s := e.sessions[name]
	e.mu.Unlock()
	if s == nil || s.Purged || s.Cursor.Path != s.Transcript || s.Cursor.Transcript.IsZero() || s.Cursor.Length-s.Cursor.Checked < max(s.Cursor.Checked/8, transcriptBlock) {
		return nil
	}
	c := s.Cursor
	f, err := openSession(transcript.Agent(s.Agent), c.Path)
	if err != nil || f.document() {
		return nil // gone, or compressed by now
	}
	defer f.Close()
	st, err := openTranscript(e.objs, c.Transcript)
	if err != nil {
		return err
	}
	same, err := st.begins(behind{f, c.Base, st}, c.Length)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.sessions[name]
	if now == nil || now.Cursor != c || now.Purged {
		return nil
	}
	if same < c.Length {
		work := *now
		work.Cursor.Path = "" // not the file that was captured
		tx := e.objs.Begin()
		if work.Cursor, err = e.grown(tx, &work, f, maxSession); err != nil {
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
		e.sessions[name] = &kept
		return nil
	}
	return e.moveCursor(ctx, name, c)
}

// behind is a file seen as it stands in a transcript, behind the bytes of another file, which are taken from the transcript.
type behind struct {
	f    io.ReaderAt
	base int64
	of   *stored
}

func (b behind) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.base {
		return b.f.ReadAt(p, off-b.base)
	}
	n := int(min(int64(len(p)), b.base-off))
	if m, err := b.of.ReadAt(p[:n], off); err != nil {
		return m, err
	}
	if n == len(p) {
		return n, nil
	}
	m, err := b.f.ReadAt(p[n:], 0)
	return n + m, err
}

// problem is an error of follow as a person reads it; "" for one that is for another time.
func problem(err error) string {
	if err == nil || errors.Is(err, errLater) || errors.Is(err, errMoving) {
		return ""
	}
	return told(err)
}

var packagePrefix = regexp.MustCompile(`\b(?:engine|transcript|clients|objstore|kv|refs): `)

// told is an error as a part of a sentence for people.
func told(err error) string { return packagePrefix.ReplaceAllString(err.Error(), "") }
