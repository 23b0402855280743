package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Fork makes a new session of the beginning of one: up to a checkpoint, or the end of a turn. The session that it is made of is not touched, and
// may be running. The worktree stays, unless o.Checkout. The outcomes: done; done but not in the agent's list (Problem); refused
// (*NoConversationError) or failed with nothing written.
func (e *Engine) Fork(ctx context.Context, name string, o ForkOptions) (*Forked, error) {
	if o.Checkout && !o.DryRun {
		return e.forkAndGo(ctx, name, o)
	}
	defer e.hold()()
	if err := e.readySessions(); err != nil {
		return nil, err
	}
	p, err := e.namedPoint(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	return forked(e.fork(ctx, p, o, refs.KindFork.String(), false))
}

// Clone copies a whole session as a new one; one that nothing has been said in yet, too. It may be running.
func (e *Engine) Clone(ctx context.Context, o ForkOptions) (*Forked, error) {
	defer e.hold()()
	if err := e.readySessions(); err != nil {
		return nil, err
	}
	session, err := e.session(o.Session)
	if err != nil {
		return nil, err
	}
	if err := e.catchUp(ctx, session); err != nil {
		return nil, err
	}
	p := &point{name: "session " + session, session: session, now: true}
	if s := e.sessions[session]; s != nil {
		p.transcript = s.Cursor.Transcript
	}
	if p.cp, err = e.current(session); err != nil {
		return nil, err
	}
	return forked(e.fork(ctx, p, o, "clone", true))
}

func forked(f *Fork, err error) (*Forked, error) {
	if err != nil {
		return nil, err
	}
	return &Forked{Fork: f}, nil
}

// readySessions refuses while a restore is unfinished, and reads the sessions; e.mu is held.
func (e *Engine) readySessions() error {
	if err := e.checkWhole(); err != nil {
		return err
	}
	return e.loadSessions()
}

// namedPoint finds the moment that a command names, with the conversations captured up to now.
func (e *Engine) namedPoint(ctx context.Context, name string, w Whose) (*point, error) {
	n, err := parseName(name)
	if err != nil {
		return nil, err
	}
	session := ""
	if n.Whose != "" && w.Session == "" {
		w.Session = n.Whose
	}
	if n.OfSession() || w.Session != "" {
		if session, err = e.session(w); err != nil {
			return nil, err
		}
		if n, err := strconv.ParseUint(strings.TrimPrefix(name, "turn:"), 10, 32); err == nil && w.Session == "" {
			session = e.holder(session, n)
		}
		if err := e.catchUp(ctx, session); err != nil {
			return nil, err
		}
		e.placeSession(ctx, session)
	}
	p, err := e.point(session, name)
	if err != nil {
		return nil, err
	}
	if p.late && session == "" && e.sessions[p.session] != nil { // the agent has written it by now
		if err := e.catchUp(ctx, p.session); err != nil {
			return nil, err
		}
		if p, err = e.point(session, name); err != nil {
			return nil, err
		}
	}
	if p.now { // as far as it has come; whose step it stands on does not matter
		if s := e.sessions[session]; s != nil {
			p.session, p.transcript = session, s.Cursor.Transcript
		}
	}
	return p, nil
}

// fork writes a fork of a moment and records it.
func (e *Engine) fork(ctx context.Context, p *point, o ForkOptions, kind string, clone bool) (*Fork, error) {
	plan, err := e.planFork(p, o.Title, kind, clone)
	if err != nil {
		return nil, err
	}
	defer plan.close()
	res := plan.result()
	if o.DryRun {
		return res, nil
	}
	own := o.Env.folders()
	if err := plan.mayWrite(own); err != nil {
		return nil, err
	}
	// The session's own file comes last: an agent lists it as soon as it is there.
	if err = plan.copySides(own); err == nil {
		err = writeSession(own, plan.path, false, plan.write, plan.check)
	}
	if err == nil && !o.SelfTest {
		err = e.recordFork(ctx, plan, p)
	}
	if err != nil {
		return nil, errors.Join(err, plan.remove(own))
	}
	if fi, err := os.Stat(plan.path); err == nil {
		res.Bytes = fi.Size()
	}
	if o.SelfTest {
		return res, e.selfTest(own, plan, res)
	}
	e.linkHistory(own, plan.path, false)
	e.list(ctx, plan.agent, o.Env, res)
	return res, nil
}

// recordFork makes the fork a session, durably.
func (e *Engine) recordFork(ctx context.Context, plan *forkPlan, p *point) error {
	var at objstore.ID
	if p.cp != nil {
		at = p.cp.ID
	}
	tx := e.objs.Begin()
	var s *Session
	_, err := e.refs.Commit(ctx, tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		s = plan.session(objstore.ID{}, seq)
		op := refs.Operation{Kind: refs.KindFork, Time: e.now().UnixMilli(), Session: plan.name, Checkpoint: at, Message: plan.path, Changes: e.place(plan.name, at)}
		return op, updatesOf(op.Changes), tx.Batch().Set(sessionKey(s.Name), s.encode())
	})
	if err != nil {
		tx.Discard()
		return err
	}
	e.sessions[s.Name] = s
	return nil
}

// selfTest says what a fork was found to be, and takes it away again. The agent is not told of it: what it lists must not lead nowhere.
func (e *Engine) selfTest(own agentfiles.Folders, plan *forkPlan, f *Fork) error {
	f.Checks = append(f.Checks,
		fmt.Sprintf("%s parses, and every call of a tool has its result", plan.path),
		fmt.Sprintf("it holds %d messages and ends with turn %d", f.Cut.Messages, f.Cut.Turn))
	root, _, err := transcript.SessionFile(plan.agent, plan.path)
	if err == nil {
		var found []string
		if found, _, err = transcript.Find(plan.agent, os.DirFS(root), e.project.Root); err == nil {
			err = errNotFoundThere
			for _, p := range found {
				if filepath.Join(root, filepath.FromSlash(p)) == plan.path {
					err = nil
				}
			}
		}
	}
	if err == nil {
		f.Checks = append(f.Checks, fmt.Sprintf("it is where %s looks for sessions of %s", plan.agent, e.project.Root))
	}
	return errors.Join(err, plan.remove(own))
}

var errNotFoundThere = errors.New("engine: fork: it is not where the agent looks")

// forkAndGo is a fork that takes the code along: a checkout that makes a new session whatever the one that is there ends with.
func (e *Engine) forkAndGo(ctx context.Context, name string, o ForkOptions) (*Forked, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	r, err := e.checkout(ctx, name, RestoreOptions{Exact: o.Exact, Session: o.Session, Conversation: ConversationOptions{Title: o.Title}, Env: o.Env})
	if err != nil {
		return nil, err
	}
	r.mustFork = true
	res, err := e.run(ctx, r, o.Progress)
	if err != nil {
		return nil, err
	}
	return &Forked{res.Conversation.Fork, res, r.kind}, nil
}
