package restore

import (
	"fmt"
	"io"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/sessions"
	"rewind/internal/clients"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// planInPlace plans to set the session file itself to the conversation of a moment. The file is cut. If it no longer
// begins with that conversation, it becomes another version of itself, from the store. It refuses while the agent has
// the session open, and where another session's file depends on what would go.
func (rs *talkPlanner) planInPlace(r *request, p *history.Moment, tx *objstore.Tx) (*conversationPlan, error) {
	s, _, st, cut, err := rs.findCut(p, false)
	if err != nil {
		return nil, err
	}
	if root := rs.sessions.Elsewhere(s); root != "" {
		return nil, &model.NoConversationError{Moment: p.Name, Why: "its session goes on in " + root + ": cut it there"}
	}
	if err := rs.sessions.MustRest(s, r.options.Force); err != nil {
		return nil, err
	}
	agent := s.Agent
	own, err := register.Folders(r.options.Env).Of(agent, s.Transcript)
	if err == nil {
		err = own.Check()
	}
	if err != nil {
		return nil, &model.ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	if err := own.Writable(); err != nil {
		return nil, conversation.SessionError(s.Transcript, err)
	}
	f, err := conversation.OpenSession(agent, s.Transcript)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	to, err := rs.versionOf(s, f, st, cut)
	if err != nil {
		return nil, err
	}
	on, err := clients.Dependents(own.Folder, transcript.CodexBaseID(f.Path), to.shared)
	if err != nil {
		return nil, err
	}
	if on = slices.DeleteFunc(on, func(path string) bool { return sessions.SameFile(path, f.Path) }); len(on) > 0 {
		return nil, &model.DependentError{Session: s.Name, Paths: on}
	}
	t := &conversationPlan{conversation: model.Conversation{
		Mode: model.ConversationInPlace, Session: s.Name, Path: f.Path, Turn: rs.number(s, p, cut), Version: to.other,
	}}
	if tx == nil {
		return t, nil
	}
	from, err := conversation.PutFile(tx, f, conversation.KnownAs(s))
	if err != nil {
		return nil, err
	}
	id, size, err := putCut(tx, s, to)
	if err != nil {
		return nil, err
	}
	if from == id {
		t.conversation.Mode, t.conversation.Why = model.ConversationOriginal, "the conversation ends there"
		return t, nil
	}
	t.files = []refs.File{{Path: f.Path, From: from, To: id}}
	t.moved, err = rs.changedRecord(s, tx, id, size, cut, t.conversation.Turn)
	return t, err
}

// putCut stores a version of a session's file.
func putCut(tx *objstore.Tx, s *model.Session, to version) (objstore.ID, int64, error) {
	if transcript.IsDocument(s.Agent, to.source) {
		return conversation.PutBytes(tx, objstore.ID{}, func(w io.Writer) error {
			return transcript.WriteCut(w, s.Agent, to.source, to.cut)
		})
	}
	return conversation.PutPart(tx, to.source, min(to.cut, to.source.Size), conversation.KnownAs(s))
}

// version is what a session file becomes in place: what source has before cut.
type version struct {
	source transcript.Source
	cut    int64
	shared int64 // how many bytes the file has now as it will have them
	other  bool  // the source is the store: the file does not begin with it
}

// versionOf returns the version of a session's file that ends with the cut of a stored conversation. It is the
// beginning of the present file, or the captured bytes if the file has another beginning. A *model.NotInPlaceError
// where that is none of this file.
func (rs *talkPlanner) versionOf(
	s *model.Session, f *conversation.SessionFile, st *conversation.Stored, cut transcript.Cut,
) (version, error) {
	refuse := func(why string) (version, error) {
		return version{}, &model.NotInPlaceError{Session: s.Name, Why: why}
	}
	base, live := s.Cursor.Base, f.Source(f.Info.Size())
	to := version{source: live, cut: cut.Offset - base, shared: cut.Offset - base}
	if to.cut <= 0 {
		return refuse(fmt.Sprintf("that part stands in the file that %s goes on from", f.Path))
	}
	if f.Document() {
		if c, err := transcript.CutTurn(f.Agent, live, cut.Turn); err == nil && c.LastMessage == cut.LastMessage {
			to.cut = c.Offset
			return to, nil
		}
	} else {
		same, err := st.Common(conversation.Continuation{F: f, Base: base, Of: st}, cut.Offset)
		if err != nil || same == cut.Offset {
			return to, err
		}
		to.shared = same - base
	}
	if f.Compressed() {
		return refuse(f.Path + " is compressed")
	}
	to.other = true
	to.source = transcript.Source{
		ReaderAt: io.NewSectionReader(st, base, st.Size-base), Size: st.Size - base, Name: f.Path, Ended: true,
	}
	is, err := rs.isVersion(s, live, to.source, st)
	if err == nil && !is {
		return refuse("what was captured then is no version of " + f.Path)
	}
	return to, err
}

// isVersion reports whether was is a version of the session's file: it is of the same session, and continues the same
// records. was is a captured part of a session, without the records in another file.
func (rs *talkPlanner) isVersion(s *model.Session, live, was transcript.Source, st *conversation.Stored) (bool, error) {
	now, err := transcript.Scan(s.Agent, live)
	if err != nil {
		now = &transcript.Conversation{ID: s.ID} // it is damaged, and is stored before it goes
	}
	then, err := transcript.Scan(s.Agent, was)
	if err != nil || s.Agent != transcript.Claude && then.ID != now.ID { // of Claude the file's name is the id
		return false, nil //nolint:nilerr // what cannot be read as this file's is none of it
	}
	if s.Cursor.Base == 0 {
		return then.Base == nil, nil
	}
	if then.Base == nil || now.Base == nil || *then.Base != *now.Base {
		return false, nil
	}
	newest, err := conversation.OpenTranscript(rs.log.Objs, s.Cursor.Transcript)
	if err != nil {
		return false, err
	}
	same, err := st.Begins(newest, s.Cursor.Base)
	return same == s.Cursor.Base, err
}
