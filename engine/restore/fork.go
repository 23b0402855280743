package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Forked is a fork that was made, and with Options.Checkout the result of the checkout.
type Forked struct {
	*model.Fork
	Restore  *Result   // nil: the code stayed
	Restored refs.Kind // of Restore
	Reused   bool      // it was there, and nobody had used it
}

// Fork makes a new session of the beginning of another: up to a checkpoint, or the end of a turn. The other session is
// not changed, and may be running. The code stays, unless o.Checkout. The outcomes: done; done but not in the agent's
// list (Problem); refused (*NoConversationError) or failed with nothing written.
func (rs *Restorer) Fork(ctx context.Context, name string, o Options) (*Forked, error) {
	if o.Checkout {
		return rs.forkWithCheckout(ctx, name, o)
	}
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	p, err := rs.history.NamedMoment(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	r := o.newRequest(refs.KindFork, p.Session)
	r.moment = p
	if err := rs.saveTip(ctx, r); err != nil {
		return nil, err
	}
	if o.Reuse {
		if made, err := rs.reusableFork(ctx, r); err != nil || made != nil {
			return made, err
		}
	}
	return rs.oneMore(ctx, r)
}

// oneMore is fork within the limits of the settings; above those that warn it says so.
func (rs *Restorer) oneMore(ctx context.Context, r *request) (*Forked, error) {
	if r.options.SelfTest {
		return rs.fork(ctx, r)
	}
	if err := rs.manager.MayFork(); err != nil {
		return nil, err
	}
	made, err := rs.fork(ctx, r)
	if err == nil {
		rs.TellManyForks()
	}
	return made, err
}

// saveTip has a fork of a session as it is begin at the code as it is: what is unsaved becomes a checkpoint of its own.
// What keeps it from being taken is said, and the fork begins at the newest that there is. With an error, that the fork
// is refused, nothing is taken.
func (rs *Restorer) saveTip(ctx context.Context, r *request) error {
	p, o := r.moment, r.options
	if !p.Now || p.Checkpoint == nil || o.DryRun || o.SelfTest {
		return nil
	}
	if err := rs.manager.MayFork(); err != nil {
		return nil //nolint:nilerr // only one that is there serves
	}
	t := &conversationPlan{}
	if err := rs.addFork(r, p, t, nil); err != nil {
		return err
	}
	cp, err := rs.worktree.SaveAtTip(ctx, p.Session, "unsaved at a fork", o.Progress)
	if err != nil {
		rs.log.Notice(fmt.Sprintf("what is unsaved is not in the fork's checkpoint: %s", err.Error()))
	}
	if cp != nil {
		p.Checkpoint = cp
	}
	return nil
}

// reusableFork returns an earlier fork of the same place, with the title that a new one would get, that nobody has used
// or has open; nil: there is none.
func (rs *Restorer) reusableFork(ctx context.Context, r *request) (*Forked, error) {
	s := rs.log.Session(r.moment.Session)
	if s == nil {
		return nil, nil
	}
	code := ""
	if r.moment.Checkpoint != nil {
		code = r.moment.Checkpoint.ID.String()
	}
	fits := func(f *model.Session) bool {
		return f.Fork.Kind == refs.KindFork.String() && f.Fork.Session == s.Name && f.Fork.Checkpoint == code && !rs.isOpen(f.Name)
	}
	f, cut, err := rs.findUnused(r, r.moment, s, fits)
	if err != nil || f == nil {
		return nil, nil //nolint:nilerr // a new one fails with the reason
	}
	title, err := rs.newTitle(s, "", rs.number(s, r.moment, cut), false)
	if err != nil || title != f.Title {
		return nil, err
	}
	is := &model.Fork{Session: f.Name, Title: f.Title, Path: f.Transcript, From: *f.Fork, Cut: cut, Bytes: f.Cursor.Length}
	if !r.options.DryRun {
		manage.AddToAgentList(ctx, f.Agent, r.options.Env, is)
	}
	return &Forked{Fork: is, Reused: true}, nil
}

// Clone copies a whole session as a new one, also one in which nothing was said yet. It may be running.
func (rs *Restorer) Clone(ctx context.Context, o Options) (*Forked, error) {
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	session, err := rs.sessions.Session(o.Session)
	if err != nil {
		return nil, err
	}
	if err := rs.history.CatchUp(ctx, session); err != nil {
		return nil, err
	}
	p := &history.Moment{Name: "session " + session, Session: session, Now: true}
	if s := rs.log.Session(session); s != nil {
		p.Transcript = s.Cursor.Transcript
	}
	if p.Checkpoint, err = rs.sessions.Current(session); err != nil {
		return nil, err
	}
	r := o.newRequest(refs.KindFork, session)
	r.moment, r.clone = p, true
	if err := rs.saveTip(ctx, r); err != nil {
		return nil, err
	}
	return rs.oneMore(ctx, r)
}

// fork carries out a request that leaves the code, as Run does others: with the same plan of the conversation, writer
// and record. Nothing that exists is changed, so there is no safety checkpoint and no stored journal: one batch, after
// the files, has the session, its bytes and the operation. A kill before it leaves at most whole new files, of which
// the session's own comes last.
func (rs *Restorer) fork(ctx context.Context, r *request) (*Forked, error) {
	if r.moment.Checkpoint != nil {
		r.setTarget(r.moment.Checkpoint)
	}
	t, tx := &conversationPlan{}, (*objstore.Tx)(nil)
	if !r.options.DryRun {
		tx = rs.log.Objs.Begin()
		defer tx.Discard()
	}
	if err := rs.addFork(r, r.moment, t, tx); err != nil {
		return nil, err
	}
	made := &Forked{Fork: t.conversation.Fork}
	if r.options.DryRun {
		return made, nil
	}
	j := &r.Journal
	t.FillJournal(j)
	j.Folders = register.Folders(r.options.Env)
	_, err := conversation.SetSessions(tx, j.Folders, j.Files, false)
	if err == nil && made.Bytes == 0 { // clone of an empty session: SetSessions makes no file of no bytes
		err = conversation.WriteSession(j.Folders, made.Path, false, func(io.Writer) error { return nil })
	}
	switch {
	case err != nil:
	case r.options.SelfTest:
		err = rs.selfTest(t.fork, made.Fork)
	default:
		op := refs.Operation{Kind: j.Kind, Session: j.Made.Name, Checkpoint: j.Target, Message: made.Path}
		op.Changes = rs.newSessionRefs(j.Made.Name, j.Target)
		_, err = rs.commitOperation(ctx, rs.log.BeginWith(tx), op, j, nil)
	}
	if err != nil || r.options.SelfTest {
		return made, errors.Join(err, removeMade(j))
	}
	rs.notifyAgents(ctx, r.options.Env, j, j.Files, &t.conversation)
	return made, nil
}

// removeMade removes the session files that a fork made before it failed, or after its self-test.
func removeMade(j *model.Journal) error {
	var err error
	for _, f := range slices.Backward(j.Files) {
		if e := conversation.RemoveSession(j.Folders, f.Path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return &value.OpError{Op: "remove session", Subject: j.Made.NameOf(), Err: err}
	}
	return nil
}

// selfTest adds to f.Checks what the new session was found to be, and fails if the agent would not find it. The agent's
// list does not hear of it, since the session is removed.
func (rs *Restorer) selfTest(plan *forkPlan, f *model.Fork) error {
	f.Checks = append(f.Checks,
		fmt.Sprintf("%s parses, and every call of a tool has its result", plan.Path),
		fmt.Sprintf("it holds %d messages and ends with %s", f.Cut.Messages,
			naming.TurnWords(uint64(f.Cut.Turn), rs.sessions.Whose()(f.From.Session))))
	root, _, err := transcript.SessionFile(plan.agent, plan.Path)
	if err == nil {
		var found []string
		if found, _, err = transcript.Find(plan.agent, os.DirFS(root), rs.log.Project.Root); err == nil {
			err = &value.OpError{Op: "fork", Subject: plan.Path, Err: errNotFoundThere}
			for _, p := range found {
				if filepath.Join(root, filepath.FromSlash(p)) == plan.Path {
					err = nil
				}
			}
		}
	}
	if err == nil {
		f.Checks = append(f.Checks, fmt.Sprintf("it is where %s looks for sessions of %s", plan.agent, rs.log.Project.Root))
	}
	return err
}

var errNotFoundThere = errors.New("it is not where the agent looks")

// forkWithCheckout is Fork with Options.Checkout: a checkout that makes a new session even where an existing one ends
// there.
func (rs *Restorer) forkWithCheckout(ctx context.Context, name string, o Options) (*Forked, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	r, err := rs.PrepareCheckout(ctx, name, o)
	if err != nil {
		return nil, err
	}
	if err := rs.manager.MayFork(); err != nil {
		return nil, err
	}
	r.mustFork = true
	if !o.LaidOut {
		rs.saveLeft(r)
	}
	res, err := rs.Run(ctx, r, o.Progress)
	if err != nil {
		return nil, err
	}
	return &Forked{Fork: res.Conversation.Fork, Restore: res, Restored: r.Kind}, nil
}
