package engine

import (
	"io"

	"rewind/objstore"
	"rewind/transcript"
)

// movedSession is the record of a session whose file becomes `to`, of size bytes.
func (e *Engine) movedSession(s *Session, tx *objstore.Tx, to objstore.ID, size int64, cut transcript.Cut) (*Session, error) {
	m := *s
	m.Calls, m.Busy, m.Turn, m.Fork = nil, false, uint64(cut.Turn), e.sharedBy(tx, s, to, size, cut)
	m.Cursor = Cursor{Mark: Mark{Transcript: to, Length: size, Last: cut.LastMessage, Path: s.Transcript, Generation: s.Cursor.Generation + 1}}
	if s.Cursor.Base == 0 {
		m.Prompt = lastPrompt(tx, &m)
		return &m, nil
	}
	// The records of the base stand before the file's own in what is captured.
	st, err := openTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	w, err := st.appendTo(tx, s.Cursor.Base)
	if err != nil {
		return nil, err
	}
	of, err := openTranscript(tx, to)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(w, io.NewSectionReader(of, 0, of.size)); err != nil {
		return nil, err
	}
	m.Cursor.Base, m.Cursor.Length = s.Cursor.Base, w.length
	if m.Cursor.Transcript, err = w.close(); err != nil {
		return nil, err
	}
	m.Prompt = lastPrompt(tx, &m)
	return &m, nil
}

// sharedBy is a session's lineage when its file becomes `to`, of size bytes: a cut may go behind the place where it was made, and what it says after that is its
// own; taken back, it has those turns again. Where that cannot be told by what it was made with, it has no more of them than it had.
func (e *Engine) sharedBy(get objstore.Getter, s *Session, to objstore.ID, size int64, cut transcript.Cut) *Lineage {
	if s.Fork == nil {
		return nil
	}
	l := *s.Fork
	l.Turn = min(l.Turn, cut.Turn)
	made, closed, err := e.madeWith(get, s)
	if err != nil || made.ReaderAt == nil {
		return &l
	}
	defer closed()
	st, err := openTranscript(get, to)
	if err != nil {
		return &l
	}
	same, err := transcript.Common(transcript.Agent(s.Agent), made, transcript.Source{ReaderAt: st, Size: size, Name: s.Transcript, Ended: true})
	if err == nil {
		l.Turn = min(same.Turn, cut.Turn)
	}
	return &l
}

// madeWith is the conversation that a session began with: the file that rewind wrote, else the one that its agent made it of.
func (e *Engine) madeWith(get objstore.Getter, s *Session) (src transcript.Source, closed func(), err error) {
	if s.Fork.Transcript.IsZero() {
		_, id := SplitSession(s.Fork.Session)
		return parentSource(get, s, e.sessions[s.Fork.Session], id)
	}
	st, err := openTranscript(get, s.Fork.Transcript)
	if err != nil {
		return src, nil, err
	}
	return transcript.Source{ReaderAt: st, Size: st.size, Name: s.Transcript, Ended: true}, func() {}, nil
}

// lastPrompt is how the prompt of a conversation's last turn begins; "" where there is none or it cannot be read: nothing but words hangs on it.
func lastPrompt(tx *objstore.Tx, s *Session) string {
	st, err := openTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return ""
	}
	c, err := transcript.Scan(transcript.Agent(s.Agent), transcript.Source{ReaderAt: st, Size: st.size, Name: s.Transcript})
	if err != nil || len(c.Turns) == 0 {
		return ""
	}
	return c.Turns[len(c.Turns)-1].Summary
}
