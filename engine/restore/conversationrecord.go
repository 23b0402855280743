package restore

import (
	"cmp"
	"io"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/transcript"
)

// changedRecord is the record that a session has when its file becomes the transcript to, of size bytes, which ends
// with cut, in the turn of a number; 0: as the conversation counts.
func (rs *talkPlanner) changedRecord(
	s *model.Session, tx *objstore.Tx, to objstore.ID, size int64, cut transcript.Cut, number int,
) (*model.Session, error) {
	if s.Cursor.Base > 0 {
		var err error
		if to, err = withBase(s, tx, to); err != nil {
			return nil, err
		}
		if size, cut, err = cutOfStored(s, tx, to); err != nil {
			return nil, err
		}
	}
	m := *s
	number = cmp.Or(number, cut.Turn)
	m.Calls, m.Busy, m.Turn, m.Fork = nil, false, uint64(number), rs.changedLineage(tx, s, to, size, cut)
	m.Cursor = model.Cursor{TranscriptEnd: model.TranscriptEnd{
		Transcript: to, Length: size, Last: cut.LastMessage, Path: s.Transcript,
		Generation: s.Cursor.Generation + 1,
	}, Base: s.Cursor.Base}
	m.Prompt = lastPrompt(tx, &m)
	return &m, nil
}

// withBase is the transcript of a session whose file, which continues another one, becomes to: the records of its base
// stand in front of the file's own in what is captured. It is stored in tx.
func withBase(s *model.Session, tx *objstore.Tx, to objstore.ID) (id objstore.ID, err error) {
	was, err := conversation.OpenTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return id, err
	}
	w, err := was.AppendTo(tx, s.Cursor.Base)
	if err != nil {
		return id, err
	}
	own, err := conversation.OpenTranscript(tx, to)
	if err != nil {
		return id, err
	}
	if _, err := io.Copy(w, io.NewSectionReader(own, 0, own.Size)); err != nil {
		return id, err
	}
	return w.Close()
}

// cutOfStored is the cut that keeps all of a stored transcript of a session, and how many bytes that is.
func cutOfStored(s *model.Session, tx *objstore.Tx, id objstore.ID) (size int64, cut transcript.Cut, err error) {
	st, err := conversation.OpenTranscript(tx, id)
	if err != nil {
		return 0, cut, err
	}
	cut, err = cutAtEnd(s.Agent, transcript.Source{ReaderAt: st, Size: st.Size, Name: s.Transcript})
	return st.Size, cut, err
}

// changedLineage is a fork's lineage when its file becomes the transcript to, of size bytes: how many turns it shares
// with the session that it was forked from. A cut can go behind the fork, and an undo-restore brings those turns back.
// Where that cannot be read, it shares no more than before.
func (rs *talkPlanner) changedLineage(
	get objstore.Getter, s *model.Session, to objstore.ID, size int64, cut transcript.Cut,
) *model.Lineage {
	if s.Fork == nil {
		return nil
	}
	l := *s.Fork
	l.Share(min(l.Both, l.Unsaid+cut.Turn), l.Turns)
	made, closed, err := rs.initialConversation(get, s)
	if err != nil || made.ReaderAt == nil {
		return &l
	}
	defer closed()
	st, err := conversation.OpenTranscript(get, to)
	if err != nil {
		return &l
	}
	same, err := transcript.Common(s.Agent, made,
		transcript.Source{ReaderAt: st, Size: size, Name: s.Transcript, Ended: true})
	if err == nil {
		l.Share(l.Unsaid+min(same.Turn, cut.Turn), l.Turns)
	}
	return &l
}

// initialConversation is the conversation that a fork began with: the transcript that rewind wrote, else that of the
// session which its agent made it of. closed, where err is nil and src has a reader, must be called.
func (rs *talkPlanner) initialConversation(
	get objstore.Getter, s *model.Session,
) (src transcript.Source, closed func(), err error) {
	if s.BeganAs().IsZero() {
		_, id := model.SplitSession(s.Fork.Session)
		return conversation.ParentSource(get, s, rs.log.Session(s.Fork.Session), id)
	}
	st, err := conversation.OpenTranscript(get, s.BeganAs())
	if err != nil {
		return src, nil, err
	}
	return transcript.Source{ReaderAt: st, Size: st.Size, Name: s.Transcript, Ended: true}, func() {}, nil
}

// lastPrompt is how the prompt of a conversation's last turn begins; "" where there is none or the transcript cannot be
// read, since it is only shown.
func lastPrompt(tx *objstore.Tx, s *model.Session) string {
	st, err := conversation.OpenTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return ""
	}
	c, err := transcript.Scan(s.Agent, transcript.Source{ReaderAt: st, Size: st.Size, Name: s.Transcript})
	if err != nil || len(c.Turns) == 0 {
		return ""
	}
	return c.Turns[len(c.Turns)-1].Summary
}
