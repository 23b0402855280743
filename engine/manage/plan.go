package manage

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// Request is what is asked of sessions among others. It changes no file of the worktree and no cursor.
type Request struct {
	Kind     refs.Kind // rename, delete, archive, unarchive or promote
	Sessions []string  // names, or beginnings of the agent's ids; rename and promote take one
	Title    string    // of rename
	LastCopy bool      // delete what nobody else has, too
	Force    bool      // also where an agent seems to have the session open
	ByItself bool      // nobody asks for it: the settings do
	DryRun   bool
	Env      value.AgentEnv
}

// Plan is what an operation does to sessions, before anything is changed: all of those named, or none.
type Plan struct {
	Request
	Undoes  *refs.Operation // the operation that is taken back; nil: none
	Own     agentfiles.Folders
	Managed []value.Managed // what becomes of each session
	Losses  []model.Loss    // of delete: one for each session
	Files   []refs.File     // what becomes of session files

	manager  *Manager
	sessions []*model.Session
}

// Plan begins a plan: it finds the sessions that are named.
func (m *Manager) Plan(r Request) (*Plan, error) {
	p := &Plan{Request: r, manager: m, Own: register.Folders(r.Env)}
	find := m.sessions.FindSession
	if r.Kind == refs.KindDelete {
		find = m.sessions.FindWhole
	}
	for _, name := range r.Sessions {
		full, err := find(name)
		if err != nil {
			return nil, err
		}
		s := m.log.Session(full)
		if s == nil || full == model.Manual {
			return nil, &value.OpError{Op: r.Kind.String(), Subject: full, Err: model.Usagef("it is no agent's session")}
		}
		if !slices.Contains(p.sessions, s) {
			p.sessions = append(p.sessions, s)
		}
	}
	return p, nil
}

// Session is the session on whose line the operation goes.
func (p *Plan) Session() string { return p.sessions[0].Name }

// Decide fills the plan. What the files become is put into tx; with nil nothing is stored. The errors that a caller can
// act on: a *model.RunningError while an agent has a session open whose file is to change, a *model.LastCopyError, and
// a *model.NeededError.
func (p *Plan) Decide(ctx context.Context, tx *objstore.Tx) error {
	if err := p.decide(ctx, tx); err != nil {
		return err
	}
	for _, f := range p.Files {
		if err := conversation.CheckWritable(p.Own, f.Path); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) decide(ctx context.Context, tx *objstore.Tx) error {
	ofOne := slices.Contains([]refs.Kind{refs.KindRename, refs.KindPromote, refs.KindBringBack}, p.Kind)
	switch {
	case p.Undoes != nil:
		return p.back(tx)
	case len(p.sessions) == 0 || len(p.sessions) > 1 && ofOne:
		return model.Usagef("%s wants one session", p.Kind)
	case p.Kind == refs.KindPromote:
		return p.promote()
	}
	for _, s := range p.sessions {
		var err error
		switch p.Kind {
		case refs.KindRename:
			if err = p.manager.history.CatchUp(ctx, s.Name); err == nil { // what it is called now
				err = p.rename(p.manager.log.Session(s.Name), p.Title, tx)
			}
		case refs.KindDelete:
			err = p.remove(ctx, s, tx)
		case refs.KindBringBack:
			err = p.bringBack(s, tx)
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
func (p *Plan) refuse(s *model.Session, why string) error {
	return &value.OpError{Op: p.Kind.String(), Subject: s.Name, Typed: true, Err: model.Usagef("%s", why)}
}

// change plans that a session stands in another way.
func (p *Plan) change(s *model.Session, now value.Standing) {
	p.Managed = append(p.Managed, value.Managed{Session: s.Name, Was: s.Standing, Now: now})
}

// archive takes a session out of lists, or brings it back into them.
func (p *Plan) archive(s *model.Session) error {
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
func (p *Plan) promote() error {
	s := p.sessions[0]
	if model.Gone(s.Standing, sessions.FileMissing(s)) {
		return p.refuse(s, "it was deleted")
	}
	main := p.manager.mainOf(s)
	if main == s {
		return p.refuse(s, "it is the main line already")
	}
	p.change(s, value.MainLine)
	if main != nil && main.Standing != value.Deleted && main.Standing != value.Archived {
		p.change(main, value.Archived)
	}
	return nil
}

// mainOf is the main line of a session's family: the one that was promoted, else the one that the family begins with;
// nil: it is not known.
func (m *Manager) mainOf(s *model.Session) *model.Session {
	family := m.sessions.Family(s.Name)
	for _, o := range m.log.EachSession() {
		if o.Standing == value.MainLine && m.sessions.Family(o.Name) == family {
			return o
		}
	}
	return m.log.Session(family)
}

// rename plans another title: in the session's file, where the agent has it there, and in its record.
func (p *Plan) rename(s *model.Session, title string, tx *objstore.Tx) error {
	if title == "" {
		return p.refuse(s, "an empty title")
	}
	was, err := p.manager.history.TitleOf(s)
	if err != nil {
		was = s.Title
	}
	p.Managed = append(p.Managed, value.Managed{
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
	from, err := conversation.PutFile(tx, f, conversation.KnownAs(s))
	if err != nil {
		return err
	}
	src := f.Source(f.Info.Size())
	to, _, err := conversation.PutBytes(tx, from, func(w io.Writer) error {
		return transcript.WriteTitle(w, s.Agent, src, s.ID, title, p.manager.log.Now())
	})
	if err == nil && from != to {
		p.Files = append(p.Files, refs.File{Path: f.Path, From: from, To: to})
	}
	return err
}

// open opens a session's file, which is to change: in the agent's own folder, and while no agent has it open.
func (p *Plan) open(s *model.Session) (*conversation.SessionFile, error) {
	if err := model.Placed(p.Own, s.Transcript); err != nil {
		return nil, &model.ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	if err := p.manager.sessions.MustRest(s, p.Force); err != nil {
		return nil, err
	}
	return conversation.OpenSession(s.Agent, s.Transcript)
}

// remove plans that a session's files go, with what its agent keeps beside them.
func (p *Plan) remove(ctx context.Context, s *model.Session, tx *objstore.Tx) error {
	missing := sessions.FileMissing(s)
	if model.Gone(s.Standing, missing) {
		return p.refuse(s, "it was deleted already")
	}
	if err := p.manager.history.CatchUp(ctx, s.Name); err != nil && !missing {
		return err
	}
	loss := p.manager.lossOf(p.manager.log.Session(s.Name), p.sessions)
	p.Losses = append(p.Losses, loss)
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
	own, err := p.Own.Of(s.Agent, s.Transcript)
	if err != nil {
		return &model.ForeignFileError{In: "session " + s.Name, Cause: err}
	}
	files, err := filesOf(s.Agent, own.Folder, f.Path)
	if err != nil {
		return err
	}
	if err := p.needed(s, own.Folder, files); err != nil || tx == nil {
		return err
	}
	known := conversation.KnownAs(p.manager.log.Session(s.Name))
	for _, file := range files { // first: what lies beside a file that stays, stays
		if err := p.removeFile(s.Agent, file, known, tx); err != nil {
			return err
		}
	}
	return p.removeSides(s.Agent, f.Path, tx)
}

// needed refuses where a file that stays needs one of a session's.
func (p *Plan) needed(s *model.Session, folder string, files []string) error {
	for _, file := range files {
		on, err := clients.Dependents(folder, transcript.CodexBaseID(file), 0)
		if err != nil {
			return err
		}
		on = slices.DeleteFunc(on, p.removes) // its own files among them
		if len(on) > 0 {
			return &model.NeededError{Session: s.Name, Paths: on}
		}
	}
	return nil
}

// removeSides plans that what lies beside a session file goes, and keeps it.
func (p *Plan) removeSides(agent transcript.Agent, path string, tx *objstore.Tx) error {
	for _, side := range transcript.Sides(agent, path, path) {
		raw, err := conversation.ReadSide(p.Own, transcript.Side{From: side.From, To: side.From, Optional: true})
		if err != nil {
			return err
		}
		if len(raw) == 0 {
			continue
		}
		id, _, err := conversation.PutBytes(tx, objstore.ID{}, func(w io.Writer) error {
			_, err := w.Write(raw)
			return err
		})
		if err != nil {
			return err
		}
		p.Files = append(p.Files, refs.File{Path: side.From, From: id})
	}
	return nil
}

// filesOf are the files of a session whose newest one is at path, the newest first: Codex goes on in a new file when a
// person goes back.
func filesOf(agent transcript.Agent, folder, path string) ([]string, error) {
	if agent != transcript.Codex {
		return []string{path}, nil
	}
	names, err := transcript.CodexFiles(os.DirFS(folder), transcript.CodexBaseID(path))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(filepath.Base(b), filepath.Base(a)) })
	files := []string{path}
	for _, name := range names {
		if file := filepath.Join(folder, filepath.FromSlash(name)); !sessions.SameFile(file, path) {
			files = append(files, file)
		}
	}
	return files, nil
}

// removeFile plans that one session file goes, and stores its bytes. known is the transcript that it may begin with.
func (p *Plan) removeFile(agent transcript.Agent, path string, known objstore.ID, tx *objstore.Tx) error {
	if err := model.Placed(p.Own, path); err != nil {
		return &model.ForeignFileError{In: "a session", Cause: err}
	}
	f, err := conversation.OpenSession(agent, path)
	if err != nil {
		return err
	}
	defer f.Close()
	id, err := conversation.PutFile(tx, f, known)
	if err != nil {
		return err
	}
	p.Files = append(p.Files, refs.File{Path: f.Path, From: id})
	return nil
}

// removes reports whether a session file is one of those of the sessions that go.
func (p *Plan) removes(path string) bool {
	return slices.ContainsFunc(p.sessions, func(s *model.Session) bool { return sameSession(s.Agent, path, s.Transcript) })
}

// sameSession reports whether two files are one session's. Codex has several for one, with the session's id in their
// names.
func sameSession(agent transcript.Agent, a, b string) bool {
	if agent != transcript.Codex {
		return sessions.SameFile(a, b)
	}
	_, of, err := transcript.SessionFile(agent, a)
	_, is, err2 := transcript.SessionFile(agent, b)
	return err == nil && err2 == nil && of == is
}
