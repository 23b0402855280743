package manage

import (
	"io/fs"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// PlanUndo begins a plan that takes back an operation which managed sessions.
func (m *Manager) PlanUndo(op *refs.Operation, r Request) (*Plan, error) {
	r.Kind = refs.KindUndoForks
	p := &Plan{Request: r, manager: m, Own: register.Folders(r.Env), Undoes: op}
	for _, d := range op.Restore.Managed {
		if s := m.log.Session(d.Session); s != nil {
			p.sessions = append(p.sessions, s)
			p.Managed = append(p.Managed, value.Managed{Session: d.Session, Was: d.Now, Now: d.Was, WasTitle: d.Title, Title: d.WasTitle})
		}
	}
	if len(p.sessions) == 0 {
		return nil, model.UndoError(op.Seq, model.ErrNotFound)
	}
	return p, nil
}

// back plans to take back an operation that managed sessions. A file that was removed comes back; a title goes back,
// also where the session went on since.
func (p *Plan) back(tx *objstore.Tx) error {
	for _, f := range conversation.ReverseFiles(p.Undoes.Restore.Files) {
		if err := model.Placed(p.Own, f.Path); err != nil {
			return &model.ForeignFileError{In: "the operation", Cause: err}
		}
		as, err := conversation.IsStored(p.manager.log.Objs, p.Own, f.Path, f.From)
		if err != nil {
			return err
		}
		switch done, err := conversation.IsStored(p.manager.log.Objs, p.Own, f.Path, f.To); {
		case err != nil:
			return err
		case done: // somebody has put it back
		case as:
			p.Files = append(p.Files, f)
		case f.From.IsZero():
			return model.UndoError(p.Undoes.Seq, &value.OpError{Op: "session file", Subject: f.Path, Err: fs.ErrExist})
		case p.Undoes.Kind == refs.KindBringBack: // the session went on
			changed := &value.OpError{Op: "session file", Subject: f.Path, Err: conversation.ErrSessionChanged}
			return model.UndoError(p.Undoes.Seq, changed)
		default: // a title, of a session that went on
			if err := p.titleBack(f, tx); err != nil {
				return err
			}
		}
	}
	for _, f := range p.Files {
		if s := p.ofFile(f.Path); s != nil && !f.From.IsZero() {
			if err := p.manager.sessions.MustRest(s, p.Force); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofFile is the session of the plan whose file path is; nil: none.
func (p *Plan) ofFile(path string) *model.Session {
	for _, s := range p.sessions {
		if s.Transcript == path {
			return s
		}
	}
	return nil
}

// titleBack plans to write the title that a session had before; where that is not known, or the file is no session's
// any more, to leave it.
func (p *Plan) titleBack(f refs.File, tx *objstore.Tx) error {
	s := p.ofFile(f.Path)
	if s == nil {
		return nil
	}
	kept := p.Managed
	for _, m := range kept {
		if m.Session == s.Name && m.Title != "" {
			err := p.rename(s, string(m.Title), tx)
			p.Managed = kept
			return err
		}
	}
	return nil
}

// Records are the records of sessions as they are after an operation that managed them, and set these files.
func (m *Manager) Records(managed []value.Managed, files []refs.File) ([]*model.Session, error) {
	if err := m.log.LoadSessions(); err != nil {
		return nil, err
	}
	var out []*model.Session
	for _, d := range managed {
		s := m.log.Session(d.Session)
		if s == nil {
			continue
		}
		n := *s
		n.Standing = d.Now
		if d.Title != d.WasTitle {
			n.Title = string(d.Title)
		}
		returns := d.Was == value.Deleted && d.Now != value.Deleted
		switch {
		case d.Now == value.Deleted && d.Was != value.Deleted: // its bytes are the operation's, until gc lets that go
			n.Cursor = model.Cursor{TranscriptEnd: model.TranscriptEnd{Path: s.Cursor.Path, Generation: s.Cursor.Generation}}
		case returns && n.Fork != nil && !brings(files, s.Transcript, n.Fork.Transcript):
			l := *n.Fork
			l.Transcript = objstore.ID{} // gc may have taken it
			n.Fork = &l
		}
		out = append(out, &n)
	}
	return out, nil
}

// brings reports whether files set the one at path to a transcript, which the store therefore has.
func brings(files []refs.File, path string, said objstore.ID) bool {
	return slices.ContainsFunc(files, func(f refs.File) bool { return f.Path == path && f.To == said })
}
