package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Forked is a fork that was made, and with ForkOptions.Checkout what the checkout did.
type Forked struct {
	*model.Fork
	Restore  *Result   // nil: the code stayed
	Restored refs.Kind // of Restore
}

// ForkOptions are what a fork is asked for.
type ForkOptions struct {
	Session  model.SessionChoice
	Title    string
	Checkout bool // the code goes there too
	Exact    bool // of Checkout
	DryRun   bool
	SelfTest bool
	Env      value.AgentEnv
	Progress model.Progress
}

// Fork makes a new session of the beginning of one: up to a checkpoint, or the end of a turn. The session that it is made of is not touched, and
// may be running. The worktree stays, unless o.Checkout. The outcomes: done; done but not in the agent's list (Problem); refused
// (*NoConversationError) or failed with nothing written.
func (rs *Restorer) Fork(ctx context.Context, name string, o ForkOptions) (*Forked, error) {
	if o.Checkout && !o.DryRun {
		return rs.forkAndGo(ctx, name, o)
	}
	defer rs.log.Hold()()
	if err := rs.talks.ReadySessions(); err != nil {
		return nil, err
	}
	p, err := rs.history.NamedMoment(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	return forked(rs.fork(ctx, p, o, refs.KindFork.String(), false))
}

// Clone copies a whole session as a new one; one that nothing has been said in yet, too. It may be running.
func (rs *Restorer) Clone(ctx context.Context, o ForkOptions) (*Forked, error) {
	defer rs.log.Hold()()
	if err := rs.talks.ReadySessions(); err != nil {
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
	if s := rs.log.Records[session]; s != nil {
		p.Transcript = s.Cursor.Transcript
	}
	if p.Checkpoint, err = rs.sessions.Current(session); err != nil {
		return nil, err
	}
	return forked(rs.fork(ctx, p, o, "clone", true))
}

func forked(f *model.Fork, err error) (*Forked, error) {
	if err != nil {
		return nil, err
	}
	return &Forked{Fork: f}, nil
}

// fork writes a fork of a moment and records it.
func (rs *Restorer) fork(ctx context.Context, p *history.Moment, o ForkOptions, kind string, clone bool) (*model.Fork, error) {
	plan, err := rs.PlanFork(p, o.Title, kind, clone)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	res := plan.result()
	if o.DryRun {
		return res, nil
	}
	own := register.Folders(o.Env)
	if err := plan.mayWrite(own); err != nil {
		return nil, err
	}
	// The session's own file comes last: an agent lists it as soon as it is there.
	if err = plan.copySides(own); err == nil {
		err = conversation.WriteSession(own, plan.Path, false, plan.Write, plan.Check)
	}
	if err == nil && !o.SelfTest {
		err = rs.recordFork(ctx, plan, p)
	}
	if err != nil {
		return nil, errors.Join(err, plan.remove(own))
	}
	if fi, err := os.Stat(plan.Path); err == nil {
		res.Bytes = fi.Size()
	}
	if o.SelfTest {
		return res, rs.selfTest(own, plan, res)
	}
	rs.talks.LinkHistory(own, plan.Path, false)
	rs.list(ctx, plan.agent, o.Env, res)
	return res, nil
}

// recordFork makes the fork a session, durably.
func (rs *Restorer) recordFork(ctx context.Context, plan *forkPlan, p *history.Moment) error {
	var at objstore.ID
	if p.Checkpoint != nil {
		at = p.Checkpoint.ID
	}
	tx := rs.log.Objs.Begin()
	var s *model.Session
	_, err := rs.log.Refs.Commit(ctx, tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		s = plan.session(objstore.ID{}, seq)
		op := refs.Operation{Kind: refs.KindFork, Time: rs.log.Now().UnixMilli(), Session: plan.name, Checkpoint: at, Message: plan.Path, Changes: rs.place(plan.name, at)}
		return op, conversation.UpdatesOf(op.Changes), tx.Batch().Set(model.SessionKey(s.Name), s.Encode())
	})
	if err != nil {
		tx.Discard()
		return err
	}
	rs.log.Records[s.Name] = s
	return nil
}

// selfTest says what a fork was found to be, and takes it away again. The agent is not told of it: what it lists must not lead nowhere.
func (rs *Restorer) selfTest(own agentfiles.Folders, plan *forkPlan, f *model.Fork) error {
	f.Checks = append(f.Checks,
		fmt.Sprintf("%s parses, and every call of a tool has its result", plan.Path),
		fmt.Sprintf("it holds %d messages and ends with turn %d", f.Cut.Messages, f.Cut.Turn))
	root, _, err := transcript.SessionFile(plan.agent, plan.Path)
	if err == nil {
		var found []string
		if found, _, err = transcript.Find(plan.agent, os.DirFS(root), rs.log.Project.Root); err == nil {
			err = errNotFoundThere
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
	return errors.Join(err, plan.remove(own))
}

var errNotFoundThere = errors.New("fork: it is not where the agent looks")

// forkAndGo is a fork that takes the code along: a checkout that makes a new session whatever the one that is there ends with.
func (rs *Restorer) forkAndGo(ctx context.Context, name string, o ForkOptions) (*Forked, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	r, err := rs.PrepareCheckout(ctx, name, Options{Exact: o.Exact, Session: o.Session, Conversation: model.ConversationOptions{Title: value.Text(o.Title)}, Env: o.Env})
	if err != nil {
		return nil, err
	}
	r.mustFork = true
	res, err := rs.Run(ctx, r, o.Progress)
	if err != nil {
		return nil, err
	}
	return &Forked{res.Conversation.Fork, res, r.Kind}, nil
}
