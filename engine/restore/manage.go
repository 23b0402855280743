package restore

import (
	"context"
	"errors"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// Managed is what was done with sessions, or with a dry run would be.
type Managed struct {
	Operation *refs.Operation // nil: a dry run
	Sessions  []value.Managed
	Losses    []model.Loss // of delete: one for each session
	Kept      []string     // session files that were written meanwhile: left as they are
	Problem   string       // why the agent's own list does not show it

	planHash string // Result.PlanHash
}

// Manage renames, deletes, archives, brings back into lists or promotes sessions, all of those named or none: one
// operation, which UndoRestore takes back. Session files are changed as by a restore: their bytes are stored with the
// journal first. The outcomes are those of Checkout and of manage.Plan.Decide.
func (rs *undoer) Manage(ctx context.Context, r manage.Request) (*Managed, error) {
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	p, err := rs.manager.Plan(r)
	if err != nil {
		return nil, err
	}
	return rs.carryOut(ctx, p, "")
}

// undoManaged takes back an operation that managed sessions.
func (rs *undoer) undoManaged(ctx context.Context, op *refs.Operation, o Options) (*Result, error) {
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	at, err := rs.log.Checkpoint(op.Restore.Target)
	if err != nil {
		return nil, err
	}
	p, err := rs.manager.PlanUndo(op, manage.Request{Force: o.Force, DryRun: o.DryRun, Env: o.Env})
	if err != nil {
		return nil, err
	}
	r, err := rs.carryOut(ctx, p, o.Plan)
	if err != nil {
		return nil, err
	}
	return &Result{
		Plan: &Plan{Target: at, Scope: op.Restore.Scope}, Operation: r.Operation, Managed: r.Sessions, PlanHash: r.planHash,
	}, nil
}

// carryOut carries out a plan: decide, store, journal, set the files, record. hash is Options.Plan.
func (rs *undoer) carryOut(ctx context.Context, p *manage.Plan, hash string) (*Managed, error) {
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
	err = p.Decide(ctx, tx)
	res := &Managed{Sessions: p.Managed, Losses: p.Losses}
	if err == nil {
		res.planHash, err = rs.settleManaged(p, hash)
	}
	if err != nil || p.DryRun {
		if c != nil {
			c.Discard()
		}
		return res, err
	}
	session := p.Session()
	at, err := rs.sessions.Current(session)
	if err == nil && at == nil {
		err = model.ErrNotFound
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	j := &model.Journal{Kind: p.Kind, Session: session, Stage: NewStageName(), ByItself: p.ByItself}
	j.Target, j.ContextOnly, j.Managed, j.Files = at.ID, true, p.Managed, p.Files
	if p.Undoes != nil {
		j.Undoes = p.Undoes.Seq
	}
	if j.Before, err = rs.log.Refs.ID(refs.Cursor(session)); err != nil {
		c.Discard()
		return nil, err
	}
	j.After, j.Folders, j.NeedsConversation = j.Before, p.Own, true
	done := &Result{Plan: &Plan{Target: at, Scope: j.Scope}, Conversation: &model.Conversation{Mode: model.ConversationNone}}
	if done.Safety, err = rs.CommitSafety(ctx, c, j, "", ""); err != nil {
		return nil, &TakenBackError{Cause: err}
	}
	if err := rs.applyAndRecord(ctx, root, j, done); err != nil {
		return nil, rs.takeBack(ctx, root, j, done, err)
	}
	res.Operation, res.Kept = done.Operation, done.Conversation.Kept
	res.Problem = rs.manager.TellTitles(ctx, p.Env, p.Managed)
	return res, nil
}

// PruneForks deletes the forks that p chooses, in one operation. Without m.LastCopy those that have turns which no
// other session has stay: they are left. One that an agent has opened meanwhile stays, too, and one whose file another
// session goes on from.
func (rs *undoer) PruneForks(
	ctx context.Context, p manage.Prune, m manage.Request,
) (r *Managed, left []model.Loss, err error) {
	names, err := rs.manager.Prunable(ctx, p, m.Env)
	if err != nil {
		return nil, nil, err
	}
	m.Kind, m.ByItself = refs.KindDelete, p.Itself
	for len(names) > 0 {
		try := m
		try.Sessions, try.DryRun = names, true
		if r, err = rs.Manage(ctx, try); err != nil {
			stays := ""
			if running := (*model.RunningError)(nil); errors.As(err, &running) {
				stays = running.Session
			}
			if needed := (*model.NeededError)(nil); errors.As(err, &needed) {
				stays = needed.Session
			}
			if !slices.Contains(names, stays) {
				return nil, nil, err
			}
			names = without(names, stays)
			continue
		}
		kept := len(names)
		for _, l := range r.Losses {
			if l.Turns > 0 && !m.LastCopy {
				left, names = append(left, l), without(names, l.Session)
			}
		}
		if kept > len(names) { // what stays may have what others would lose
			continue
		}
		if m.DryRun {
			return r, left, nil
		}
		m.Sessions = names
		r, err = rs.Manage(ctx, m)
		return r, left, err
	}
	return &Managed{}, left, nil
}

// TellManyForks makes a notice of a project's forks, if there are many. The log's lock is held.
func (rs *runner) TellManyForks() {
	if many := rs.manager.Many(); many != "" {
		rs.log.Notice(many)
	}
}

// PruneByItself deletes the forks that the settings say, if they say so; nil: nothing was deleted. Nobody waits for it.
func (rs *undoer) PruneByItself(ctx context.Context, env value.AgentEnv) (*Managed, error) {
	p, on := rs.manager.Automatic()
	if !on {
		return nil, nil
	}
	r, _, err := rs.PruneForks(ctx, p, manage.Request{Env: env})
	if err != nil || r.Operation == nil {
		return nil, err
	}
	return r, nil
}

// without is list without one name.
func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return n == name })
}
