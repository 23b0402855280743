package restore

import (
	"context"
	"io/fs"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// undoManaged takes back an operation that managed sessions.
func (rs *Restorer) undoManaged(ctx context.Context, op *refs.Operation, o Options) (*Result, error) {
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	at, err := rs.log.Checkpoint(op.Restore.Target)
	if err != nil {
		return nil, err
	}
	p := &managePlan{rs: rs, own: register.Folders(o.Env), undoes: op}
	p.Managing = Managing{Kind: refs.KindUndoForks, Force: o.Force, DryRun: o.DryRun, Env: o.Env}
	r, err := rs.manage(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Result{Plan: &Plan{Target: at, Scope: op.Restore.Scope}, Operation: r.Operation, Managed: r.Managed}, nil
}

// back plans to take back an operation that managed sessions. A file that was removed comes back; a title goes back, also where the session
// went on since.
func (p *managePlan) back(tx *objstore.Tx) error {
	for _, m := range p.undoes.Restore.Managed {
		s := p.rs.log.Records[m.Session]
		if s == nil {
			continue
		}
		p.sessions = append(p.sessions, s)
		p.managed = append(p.managed, value.Managed{Session: m.Session, Was: m.Now, Now: m.Was, WasTitle: m.Title, Title: m.WasTitle})
	}
	if len(p.sessions) == 0 {
		return undoRestoreError(p.undoes.Seq, model.ErrNotFound)
	}
	for _, f := range conversation.ReverseFiles(p.undoes.Restore.Files) {
		if err := model.Placed(p.own, f.Path); err != nil {
			return &model.ForeignFileError{In: "the operation", Cause: err}
		}
		as, err := conversation.IsStored(p.rs.log.Objs, p.own, f.Path, f.From)
		if err != nil {
			return err
		}
		switch done, err := conversation.IsStored(p.rs.log.Objs, p.own, f.Path, f.To); {
		case err != nil:
			return err
		case done: // somebody has put it back
		case as:
			p.files = append(p.files, f)
		case f.From.IsZero():
			return undoRestoreError(p.undoes.Seq, &value.OpError{Op: "session file", Subject: f.Path, Err: fs.ErrExist})
		default: // a title, of a session that went on
			if err := p.titleBack(f, tx); err != nil {
				return err
			}
		}
	}
	for _, f := range p.files {
		if s := p.ofFile(f.Path); s != nil && !f.From.IsZero() {
			if err := p.rs.sessions.MustRest(s, p.Force); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofFile is the session of the plan whose file path is; nil: none.
func (p *managePlan) ofFile(path string) *model.Session {
	for _, s := range p.sessions {
		if s.Transcript == path {
			return s
		}
	}
	return nil
}

// titleBack plans to write the title that a session had before; where that is not known, or the file is no session's any more, to leave it.
func (p *managePlan) titleBack(f refs.File, tx *objstore.Tx) error {
	s := p.ofFile(f.Path)
	if s == nil {
		return nil
	}
	kept := p.managed
	for _, m := range kept {
		if m.Session == s.Name && m.Title != "" {
			err := p.rename(s, string(m.Title), tx)
			p.managed = kept
			return err
		}
	}
	return nil
}

// managedRecords are the records of sessions as they are after an operation that managed them.
func (rs *Restorer) managedRecords(j *model.Journal) ([]*model.Session, error) {
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	var out []*model.Session
	for _, m := range j.Managed {
		s := rs.log.Records[m.Session]
		if s == nil {
			continue
		}
		n := *s
		n.Standing = m.Now
		if m.Title != m.WasTitle {
			n.Title = string(m.Title)
		}
		if m.Now == value.Deleted && m.Was != value.Deleted { // its bytes are the operation's, until gc lets that go
			n.Cursor = model.Cursor{TranscriptEnd: model.TranscriptEnd{Path: s.Cursor.Path, Generation: s.Cursor.Generation}}
			if n.Fork != nil {
				l := *n.Fork
				l.Transcript = objstore.ID{}
				n.Fork = &l
			}
		}
		out = append(out, &n)
	}
	return out, nil
}

// tellTitles has the agents' own lists show the titles that sessions were given; it returns why one does not.
func (rs *Restorer) tellTitles(ctx context.Context, env value.AgentEnv, managed []value.Managed) string {
	for _, m := range managed {
		s := rs.log.Records[m.Session]
		if m.Title == m.WasTitle || s == nil || !model.Understood(s.Agent) {
			continue
		}
		f := &model.Fork{Session: s.Name, Title: string(m.Title), Path: s.Transcript}
		rs.addToAgentList(ctx, s.Agent, env, f)
		if f.Problem != "" {
			return f.Problem
		}
	}
	return ""
}
