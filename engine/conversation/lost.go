package conversation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// An agent may lose a conversation: its file is removed, or cut. Gemini CLI 0.61 makes a second file of a session that
// it resumes in a later minute, with nothing but a header in it, and its next start removes both. What was captured is
// whole.

// maxStub is how many bytes a session file has at most in which nothing was said.
const maxStub = 64 << 10

// FileOf is the file of a session that an event names by a path. A file of Gemini's in which nothing was said is not
// the session's while that has a conversation in another one.
func (cs *Conversations) FileOf(s *model.Session, path string) string {
	moves := s.Agent == transcript.Gemini && path != s.Transcript
	if !moves || s.Transcript == "" || s.Cursor.Transcript.IsZero() {
		return path
	}
	said, err := says(s.Agent, path, s.ID)
	if empty := err == nil && !said; empty || errors.Is(err, fs.ErrNotExist) {
		return s.Transcript
	}
	return path
}

// says reports whether something was said in a session file; of a file of another session it is true.
func says(agent transcript.Agent, path, id string) (bool, error) {
	f, err := OpenSession(agent, path)
	if err != nil {
		return true, err
	}
	defer f.Close()
	if f.Info.Size() > maxStub {
		return true, nil
	}
	src := f.Source(f.Info.Size())
	src.Ended = true
	c, err := transcript.Scan(agent, src)
	if err != nil {
		return true, err
	}
	return len(c.Turns) > 0 || c.ID != id, nil
}

// Stubs are other files of a session of Gemini's, in which nothing was said: the agent removes with them what it takes
// for the same session.
func (cs *Conversations) Stubs(s *model.Session) (list []string) {
	const short = 8
	if s.Agent != transcript.Gemini || len(s.ID) < short {
		return nil
	}
	dir := filepath.Dir(s.Transcript)
	names, _ := os.ReadDir(dir) // no directory has no files
	for _, e := range names {
		path := filepath.Join(dir, e.Name())
		if path == s.Transcript || !strings.HasSuffix(e.Name(), "-"+s.ID[:short]+".jsonl") {
			continue
		}
		if said, err := says(s.Agent, path, s.ID); err == nil && !said {
			list = append(list, path)
		}
	}
	return list
}

// Loss says what a session's file has not any more of what was captured, by nobody's wish: neither rewind has cut it
// nor the agent gone back in it. said is the whole conversation. The log's lock is held.
func (cs *Conversations) Loss(s *model.Session) (loss value.Loss, said objstore.ID) {
	none := s.LaneOf != "" || s.Purged || s.Turn == 0
	if none || !model.Understood(s.Agent) || cs.sessions.Elsewhere(s) != "" {
		return value.NoLoss, said
	}
	said = s.Cursor.Transcript
	lost := s.Cursor.Lost
	if !lost.IsZero() && !cs.goesOn(said, lost) {
		loss, said = value.LossCut, lost
	}
	if said.IsZero() {
		return value.NoLoss, said
	}
	path, fi, err := FindFile(s.Agent, s.Transcript)
	switch {
	case err != nil: // it may be there
	case fi == nil:
		loss = value.LossGone
	case loss == value.NoLoss && path == s.Cursor.Path && cs.isCut(s, fi.Size()):
		loss = value.LossCut
	}
	return loss, said
}

func (cs *Conversations) goesOn(said, of objstore.ID) bool {
	if said.IsZero() {
		return false
	}
	a, err := OpenEnd(cs.log.Objs, said)
	if err != nil {
		return false
	}
	b, err := OpenEnd(cs.log.Objs, of)
	if err != nil {
		return true // what is not there cannot be given back
	}
	on, err := a.GoesOn(b)
	return err == nil && on
}

// isCut reports whether a session's file is the beginning of what was captured of it, and no more.
func (cs *Conversations) isCut(s *model.Session, size int64) bool {
	if size >= s.Cursor.Length || s.Cursor.Base > 0 || IsDocument(s.Cursor.Path) {
		return false
	}
	return cs.Begins(s, s.Cursor.Transcript)
}

// Begins reports whether the conversation said begins with all of a session's file.
func (cs *Conversations) Begins(s *model.Session, said objstore.ID) bool {
	f, err := OpenSession(s.Agent, s.Transcript)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := OpenTranscript(cs.log.Objs, said)
	if err != nil || f.Info.Size() > st.Size || f.Compressed() {
		return false
	}
	same, err := st.Begins(f, f.Info.Size())
	return err == nil && same == f.Info.Size()
}

// lost returns what a session's file has lost when it is captured anew, up to end, as another version of itself. If the
// file is shorter and no longer has the newest record, that is all that was captured. Otherwise it is what the file had
// lost before. old is what was captured.
func (cs *Conversations) lost(s *model.Session, f *SessionFile, end int64, old *Stored) (objstore.ID, error) {
	at := s.Cursor
	shorter := at.Base == 0 && end < at.Length && at.Path == strings.TrimSuffix(f.Path, zstdSuffix)
	if !shorter || f.Document() {
		return at.Lost, nil
	}
	begins, err := old.Begins(f, end)
	if err != nil {
		return at.Lost, err
	}
	changed := begins < end
	switch {
	case changed && at.Last == "", changed && hasRecord(f, end, at.Last):
		return at.Lost, nil
	case !at.Lost.IsZero():
		return at.Lost, nil // the longest
	}
	return at.Transcript, nil
}

// hasRecord reports whether a session file has a record with an id; one that cannot be read may have it.
func hasRecord(f *SessionFile, end int64, id string) bool {
	found := false
	src := f.Source(end)
	err := transcript.Read(f.Agent, src, 0, func(r *transcript.Record) error {
		found = found || r.ID == id
		return nil
	})
	return found || err != nil
}
