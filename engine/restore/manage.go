package restore

import (
	"context"
	"errors"
	"io"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/sessions"
	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Managing is what is asked of sessions among others. It changes no file of the worktree and no cursor.
type Managing struct {
	Kind     refs.Kind // rename, delete, archive, unarchive or promote
	Sessions []string  // names, or beginnings of the agent's ids; rename and promote take one
	Title    string    // of rename
	LastCopy bool      // delete what nobody else has, too
	Force    bool      // also where an agent seems to have the session open
	DryRun   bool
	Env      value.AgentEnv
}

// ManagedResult is what was done with sessions, or with a dry run would be.
type ManagedResult struct {
	Operation *refs.Operation // nil: a dry run
	Managed   []value.Managed
	Losses    []model.Loss // of delete: one for each session
	Kept      []string     // session files that were written meanwhile: left as they are
	Problem   string       // why the agent's own list does not show it
}

// Manage renames, deletes, archives, brings back into lists or promotes sessions, all of those named or none: one operation, which
// UndoRestore takes back. Session files are changed as by a restore: their bytes are stored with the journal first. The outcomes are those
// of Checkout, a *model.RunningError while an agent has a session open whose file is to change, and a *model.LastCopyError.
func (rs *Restorer) Manage(ctx context.Context, m Managing) (*ManagedResult, error) {
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	p := &managePlan{Managing: m, rs: rs, own: register.Folders(m.Env)}
	for _, name := range m.Sessions {
		full, err := rs.sessions.FindSession(name)
		if err != nil {
			return nil, err
		}
		s := rs.log.Records[full]
		if s == nil || full == model.Manual {
			return nil, &value.OpError{Op: m.Kind.String(), Subject: full, Err: model.Usagef("it is no agent's session")}
		}
		if !slices.Contains(p.sessions, s) {
			p.sessions = append(p.sessions, s)
		}
	}
	return rs.manage(ctx, p)
}

// managePlan is what an operation does to sessions, before anything is changed.
type managePlan struct {
	Managing
	rs       *Restorer
	own      agentfiles.Folders
	sessions []*model.Session
	undoes   *refs.Operation // the operation that is taken back; nil: none
	managed  []value.Managed
	losses   []model.Loss
	files    []refs.File
}

// manage carries out a plan: decide, store, journal, set the files, record.
func (rs *Restorer) manage(ctx context.Context, p *managePlan) (*ManagedResult, error) {
	root, err := rs.HoldRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	defer rs.worktree.Restoring(p.Kind.String(), model.AskerOf(ctx).Process)()
	var c *capture.Capture
	var tx *objstore.Tx
	if !p.DryRun {
		if c, err = rs.worktree.Capture(ctx, root, capture.Options{}); err != nil {
			return nil, err
		}
		tx = c.Tx
	}
	if err = p.decide(ctx, tx); err == nil {
		err = p.writable()
	}
	res := &ManagedResult{Managed: p.managed, Losses: p.losses}
	if err != nil || p.DryRun {
		if c != nil {
			c.Discard()
		}
		return res, err
	}
	session := p.sessions[0].Name
	at, err := rs.sessions.Current(session)
	if err != nil || at == nil {
		c.Discard()
		return nil, errors.Join(err, errIf(at == nil && err == nil, model.ErrNotFound))
	}
	j := &model.Journal{Kind: p.Kind, Session: session, Stage: NewStageName()}
	j.Target, j.ContextOnly, j.Managed, j.Files = at.ID, true, p.managed, p.files
	if p.undoes != nil {
		j.Undoes = p.undoes.Seq
	}
	if j.Before, err = rs.log.Refs.ID(refs.Cursor(session)); err != nil {
		c.Discard()
		return nil, err
	}
	j.After, j.Folders, j.NeedsConversation = j.Before, p.own, true
	done := &Result{Plan: &Plan{Target: at, Scope: j.Scope}, Conversation: &model.Conversation{Mode: model.ConversationNone}}
	if done.Safety, err = rs.CommitSafety(ctx, c, j, false, ""); err != nil {
		return nil, &TakenBackError{Cause: err}
	}
	if err := rs.applyAndRecord(ctx, root, j, done); err != nil {
		return nil, rs.takeBack(ctx, root, j, done, err)
	}
	res.Operation, res.Kept = done.Operation, done.Conversation.Kept
	res.Problem = rs.tellTitles(ctx, p.Env, p.managed)
	return res, nil
}

// errIf is err where it is so.
func errIf(so bool, err error) error {
	if so {
		return err
	}
	return nil
}

// decide fills the plan. With tx nil nothing is stored.
func (p *managePlan) decide(ctx context.Context, tx *objstore.Tx) error {
	switch {
	case p.undoes != nil:
		return p.back(tx)
	case len(p.sessions) == 0 || len(p.sessions) > 1 && (p.Kind == refs.KindRename || p.Kind == refs.KindPromote):
		return model.Usagef("%s wants one session", p.Kind)
	case p.Kind == refs.KindPromote:
		return p.promote()
	}
	for _, s := range p.sessions {
		var err error
		switch p.Kind {
		case refs.KindRename:
			if err = p.rs.history.CatchUp(ctx, s.Name); err == nil { // what it is called now
				err = p.rename(p.rs.log.Records[s.Name], p.Title, tx)
			}
		case refs.KindDelete:
			err = p.remove(ctx, s, tx)
		default:
			err = p.archive(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuse is why nothing is done to a session.
func (p *managePlan) refuse(s *model.Session, why string) error {
	return &value.OpError{Op: p.Kind.String(), Subject: s.Name, Typed: true, Err: model.Usagef("%s", why)}
}

// change plans that a session stands in another way.
func (p *managePlan) change(s *model.Session, now value.Standing) {
	p.managed = append(p.managed, value.Managed{Session: s.Name, Was: s.Standing, Now: now})
}

// archive takes a session out of lists, or brings it back into them.
func (p *managePlan) archive(s *model.Session) error {
	to := value.InUse
	if p.Kind == refs.KindArchive {
		to = value.Archived
	}
	switch {
	case model.Gone(s.Standing, sessions.FileMissing(s)):
		return p.refuse(s, "it was deleted: 'rewind undo-restore <operation>' brings it back, 'rewind ops' has the number")
	case s.Standing == to && to == value.Archived:
		return p.refuse(s, "it is archived already")
	case s.Standing != value.Archived && to == value.InUse:
		return p.refuse(s, "it is not archived")
	}
	p.change(s, to)
	return nil
}

// promote makes a session the main line of its family; what was that is archived.
func (p *managePlan) promote() error {
	s := p.sessions[0]
	if model.Gone(s.Standing, sessions.FileMissing(s)) {
		return p.refuse(s, "it was deleted")
	}
	main := p.rs.mainOf(s)
	if main == s {
		return p.refuse(s, "it is the main line already")
	}
	p.change(s, value.MainLine)
	if main != nil && main.Standing != value.Deleted && main.Standing != value.Archived {
		p.change(main, value.Archived)
	}
	return nil
}

// mainOf is the main line of a session's family: the one that was promoted, else the one that the family begins with; nil: it is not known.
func (rs *Restorer) mainOf(s *model.Session) *model.Session {
	family := rs.sessions.Family(s.Name)
	for _, o := range rs.log.Records {
		if o.Standing == value.MainLine && rs.sessions.Family(o.Name) == family {
			return o
		}
	}
	return rs.log.Records[family]
}

// rename plans another title: in the session's file, where the agent has it there, and in its record.
func (p *managePlan) rename(s *model.Session, title string, tx *objstore.Tx) error {
	if title == "" {
		return p.refuse(s, "an empty title")
	}
	was, err := p.rs.titleOf(s)
	if err != nil {
		was = s.Title
	}
	p.managed = append(p.managed, value.Managed{
		Session: s.Name, Was: s.Standing, Now: s.Standing, WasTitle: value.Text(was), Title: value.Text(title),
	})
	if s.Agent == transcript.Codex || !model.Understood(s.Agent) {
		return nil
	}
	f, err := p.open(s)
	if err != nil {
		return err
	}
	defer f.Close()
	if tx == nil {
		return nil
	}
	from, err := conversation.PutFile(tx, f)
	if err != nil {
		return err
	}
	src := f.Source(f.Info.Size())
	to, _, err := conversation.PutBytes(tx, func(w io.Writer) error {
		return transcript.WriteTitle(w, s.Agent, src, s.ID, title, p.rs.log.Now())
	})
	if err == nil && from != to {
		p.files = append(p.files, refs.File{Path: f.Path, From: from, To: to})
	}
	return err
}

// open opens a session's file, which is to change: in the agent's own folder, and while no agent has it open.
func (p *managePlan) open(s *model.Session) (*conversation.SessionFile, error) {
	if err := model.Placed(p.own, s.Transcript); err != nil {
		return nil, &model.ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	if err := p.rs.sessions.MustRest(s, p.Force); err != nil {
		return nil, err
	}
	return conversation.OpenSession(s.Agent, s.Transcript)
}

// remove plans that a session's file goes, with what its agent keeps beside it.
func (p *managePlan) remove(ctx context.Context, s *model.Session, tx *objstore.Tx) error {
	missing := sessions.FileMissing(s)
	if model.Gone(s.Standing, missing) {
		return p.refuse(s, "it was deleted already")
	}
	if err := p.rs.history.CatchUp(ctx, s.Name); err != nil && !missing {
		return err
	}
	loss := p.rs.lossOf(p.rs.log.Records[s.Name], p.sessions)
	p.losses = append(p.losses, loss)
	if loss.Turns > 0 && !p.LastCopy && !p.DryRun {
		return &model.LastCopyError{Session: s.Name, Turns: loss.Turns}
	}
	p.change(s, value.Deleted)
	if missing {
		return nil
	}
	f, err := p.open(s)
	if err != nil {
		return err
	}
	defer f.Close()
	own, err := p.own.Of(s.Agent, s.Transcript)
	if err != nil {
		return &model.ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	on, err := clients.Dependents(own.Folder, s.ID, 0)
	if err != nil {
		return err
	}
	on = slices.DeleteFunc(on, func(path string) bool { return sessions.SameFile(path, f.Path) || p.removes(path) })
	if len(on) > 0 {
		return &model.NeededError{Session: s.Name, Paths: on}
	}
	if tx == nil {
		return nil
	}
	id, err := conversation.PutFile(tx, f)
	if err != nil {
		return err
	}
	p.files = append(p.files, refs.File{Path: f.Path, From: id}) // first: what lies beside a file that stays, stays
	for _, side := range transcript.Sides(s.Agent, f.Path, f.Path) {
		raw, err := conversation.ReadSide(p.own, transcript.Side{From: side.From, To: side.From, Optional: true})
		if err != nil {
			return err
		}
		if len(raw) == 0 {
			continue
		}
		id, _, err := conversation.PutBytes(tx, func(w io.Writer) error {
			_, err := w.Write(raw)
			return err
		})
		if err != nil {
			return err
		}
		p.files = append(p.files, refs.File{Path: side.From, From: id})
	}
	return nil
}

// removes reports whether a session file is that of one of the sessions that go.
func (p *managePlan) removes(path string) bool {
	return slices.ContainsFunc(p.sessions, func(s *model.Session) bool { return sessions.SameFile(path, s.Transcript) })
}

// writable fails if the directory of a file that is to change cannot be written.
func (p *managePlan) writable() error {
	for _, f := range p.files {
		if err := checkFileWritable(p.own, f.Path); err != nil {
			return err
		}
	}
	return nil
}
