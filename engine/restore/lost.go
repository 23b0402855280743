package restore

import (
	"context"

	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// BroughtBack is a conversation that was laid out again.
type BroughtBack struct {
	Session   string
	Path      string
	Turns     uint64
	Fork      *model.Fork     // a new session has it, since the session's own place is taken; nil: the session itself
	Operation *refs.Operation // nil: a dry run, or a new session
}

// BringBack writes a conversation again that its agent has lost. It becomes the file of its own session, if that file
// is deleted or has only the beginning of the conversation. Otherwise it becomes a new session. Refused with a
// *model.RunningError while the agent has the session open, and with a model.ErrUsage where nothing is lost. Of the
// options Env and DryRun count.
func (rs *Restorer) BringBack(ctx context.Context, name string, o Options) (*BroughtBack, error) {
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	session, err := rs.sessions.FindSession(name)
	if err == nil {
		err = rs.history.CatchUp(ctx, session)
	}
	if err != nil {
		return nil, err
	}
	s := rs.log.Session(session)
	said, err := rs.lost(s, session)
	if err != nil {
		return nil, err
	}
	c, err := rs.history.Conversation(s, said)
	if err != nil {
		return nil, err
	}
	out := &BroughtBack{Session: session, Path: s.Transcript, Turns: uint64(len(c.Turns))}
	if !rs.manager.OwnPlace(s) {
		return out, rs.bringAsNew(ctx, out, said, o)
	}
	p, err := rs.manager.Plan(manage.Request{
		Kind: refs.KindBringBack, Sessions: []string{session}, DryRun: o.DryRun, Env: o.Env,
	})
	if err != nil {
		return nil, err
	}
	m, err := rs.carryOut(ctx, p, "")
	if err != nil {
		return nil, err
	}
	if out.Operation = m.Operation; o.DryRun {
		return out, nil
	}
	return out, rs.history.CatchUp(ctx, session)
}

// lost is the conversation that a session's agent has lost, where it may be brought back.
func (rs *Restorer) lost(s *model.Session, name string) (objstore.ID, error) {
	refuse := func(why string) error {
		return &value.OpError{Op: "sessions restore", Subject: name, Typed: true, Err: model.Usagef("%s", why)}
	}
	if s == nil || name == model.Manual {
		return objstore.ID{}, refuse("it is no agent's session")
	}
	if s.Standing == value.Deleted && s.Cursor.Transcript.IsZero() {
		const why = "it was deleted: 'rewind undo-restore <operation>' brings it back, 'rewind ops' has the number"
		return objstore.ID{}, refuse(why)
	}
	loss, said := rs.conversations.Loss(s)
	if loss == value.NoLoss {
		return said, refuse("nothing is lost: its file has all that was captured")
	}
	return said, rs.sessions.MustRest(s, false)
}

// bringAsNew makes a new session of a lost conversation, as a fork of all of it does.
func (rs *Restorer) bringAsNew(ctx context.Context, out *BroughtBack, said objstore.ID, o Options) error {
	r := o.newRequest(refs.KindFork, out.Session)
	r.moment = &history.Moment{Name: "session " + out.Session, Session: out.Session, Transcript: said}
	var err error
	if r.moment.Checkpoint, err = rs.sessions.Current(out.Session); err != nil {
		return err
	}
	made, err := rs.fork(ctx, r)
	if err != nil {
		return err
	}
	out.Fork, out.Path = made.Fork, made.Path
	return nil
}
