package manage

import (
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// OwnPlace reports whether a lost conversation can be written again as the session's own file. That file must have
// nothing but its beginning, and no part of it may be in another file.
func (m *Manager) OwnPlace(s *model.Session) bool {
	loss, said := m.conversations.Loss(s)
	if s.Cursor.Base > 0 || loss == value.NoLoss {
		return false
	}
	return loss == value.LossGone || m.conversations.Begins(s, said)
}

// bringBack plans that a session's file is again what was captured of it. Files of the session in which nothing was
// said go: with them the agent would remove it once more.
func (p *Plan) bringBack(s *model.Session, tx *objstore.Tx) error {
	if !p.manager.OwnPlace(s) {
		return p.refuse(s, "nothing of its conversation is lost, or something else is in its file")
	}
	if err := model.Placed(p.Own, s.Transcript); err != nil {
		return &model.ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	if err := p.manager.sessions.MustRest(s, p.Force); err != nil {
		return err
	}
	p.change(s, s.Standing)
	if tx == nil {
		return nil
	}
	for _, path := range p.manager.conversations.Stubs(s) {
		if err := p.removeFile(s.Agent, path, objstore.ID{}, tx); err != nil {
			return err
		}
	}
	loss, said := p.manager.conversations.Loss(s)
	file := refs.File{Path: s.Transcript, To: said}
	if loss == value.LossCut {
		f, err := conversation.OpenSession(s.Agent, s.Transcript)
		if err != nil {
			return err
		}
		defer f.Close()
		if file.From, err = conversation.PutFile(tx, f, said); err != nil {
			return err
		}
	}
	p.Files = append(p.Files, file)
	return nil
}
