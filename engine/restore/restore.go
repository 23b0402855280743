package restore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// Result is what a restore did, or with a dry run would do.
type Result struct {
	Plan         *Plan
	Operation    *refs.Operation     // nil: a dry run, or nothing to do
	Safety       *model.Checkpoint   // the state before; nil as above
	Saved        *model.Checkpoint   // unsaved changes that an undo made a step of their own
	Changed      int                 // paths changed
	Conflicts    []value.Conflict    // paths that changed while the restore ran; left as they are
	KeptDirs     []string            // directories that could not go because something is in them
	Without      []value.Without     // paths that are set, or as the target has them, without something
	Conversation *model.Conversation // nil: nothing was asked about a conversation
	AtWork       []value.AtWork      // agents that were at work when it began

	perms map[string]uint16 // of paths that are set, but have others than the target
}

// set are the session files that were changed.
func (res *Result) set() []refs.File {
	if res.Operation == nil || res.Operation.Restore == nil {
		return nil
	}
	return res.Operation.Restore.Files
}

// Options are what a person asks of a restore, and of a fork, which is one that leaves the code.
type Options struct {
	refs.Scope                     // paths are relative to the project's root, as they were given
	CodeOnly   bool                // the conversation is left alone
	InPlace    bool                // the session file itself goes back, instead of a new session
	Force      bool                // in place though the agent seems to have the session open
	Title      string              // of the new session; "": as the one that it is made of
	DryRun     bool                // nothing is changed: it is told what would be
	Session    model.SessionChoice // whose line is walked, and whose changes are not another session's

	Checkout bool // of a fork: the code goes there too
	SelfTest bool // of a fork: it is made, checked and taken away again

	Env      value.AgentEnv // where the agents' session files are
	Progress model.Progress
}

// restore is one request, with the journal that it becomes: of that, the kind, the session, the scope and the cursor before are known
// from the beginning.
type restore struct {
	model.Journal
	wish   Options // but for its scope, which is the journal's
	named  string  // the session that was asked for by its name; "": none was
	target *model.Checkpoint
	// choose sets the target, and asStep, once the worktree is known
	choose   func(*planner, *capture.Capture) error
	asStep   bool            // the state before becomes a step instead of a safety checkpoint
	stay     bool            // the cursor stays where it is; else it goes to After, where that is known before, or to the target
	point    *history.Moment // whose conversation goes with the target; nil: the target's own
	mustFork bool            // a new session, also where the one that is there ends at the target
	clone    bool            // of a fork: the whole conversation
	reverts  *refs.Operation // of an undo-restore
}

// request is a restore of a session's, for what a person asks.
func (o Options) request(kind refs.Kind, session string) *restore {
	return &restore{Journal: model.Journal{Kind: kind, Session: session, Restore: refs.Restore{Scope: o.Scope}}, wish: o}
}

// aimAt sets what the worktree and, unless the cursor stays, the session go to.
func (r *restore) aimAt(to *model.Checkpoint) {
	r.target, r.Target = to, to.ID
}

// Checkout sets the worktree to a checkpoint; the cursor follows unless it is limited to paths. The outcomes: done;
// done but for Kept and Conflicts; refused with the tree untouched (*UnsavedError, *PathError, kv.ErrNoSpace, ...);
// taken back after a failure (the error says so); half done (*HalfDoneError), when it could not be taken back.
func (rs *Restorer) Checkout(ctx context.Context, name string, o Options) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	r, err := rs.PrepareCheckout(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return rs.Run(ctx, r, o.Progress)
}

// PrepareCheckout is the restore that a checkout of a name is.
func (rs *Restorer) PrepareCheckout(ctx context.Context, name string, o Options) (*restore, error) {
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	var err error
	if o.Paths, err = model.NewPathSet(o.Paths); err != nil {
		return nil, err
	}
	if n, err := history.ParseName(name); err == nil && o.Session.Session == "" {
		o.Session.Session = n.Session // "turn:2@x" says whose line is meant
	}
	p, err := rs.history.NamedMoment(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	target := p.Checkpoint
	if target == nil && o.ContextOnly { // the code stays: what it is now is the target
		if target, err = rs.sessions.Current(p.Session); err != nil {
			return nil, err
		}
	}
	if target == nil {
		return nil, fmt.Errorf("checkout %s: %w: no code was captured then; --context-only goes back in the conversation alone", name, model.ErrNotFound)
	}
	for _, p := range o.Paths {
		if _, err := rs.log.Lookup(target, p); err != nil {
			return nil, err
		}
	}
	session, err := rs.sessions.Mover(target, o.Session)
	if err != nil {
		return nil, err
	}
	r := o.request(refs.KindCheckout, session)
	r.aimAt(target)
	r.stay, r.point = len(r.Paths) > 0 || r.ContextOnly, p
	if r.named, err = rs.sessions.NamedIn(o.Session); err != nil {
		return nil, err
	}
	r.Before, err = rs.log.Refs.ID(refs.Cursor(session))
	return r, err
}

// Run carries one restore through: plan, safety checkpoint and journal, apply, record.
func (rs *Restorer) Run(ctx context.Context, r *restore, p model.Progress) (*Result, error) {
	defer rs.worktree.Restoring(r.Kind.String(), model.AskerOf(ctx).Process)()
	root, err := rs.HoldRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	plan, c, err := rs.Plan(ctx, root, r, p)
	if err != nil {
		return nil, err
	}
	if r.ContextOnly {
		plan.Steps, plan.Kept, plan.Replaced, plan.without, plan.Missing = nil, nil, nil, nil, nil
	}
	conv, err := rs.PlanConversation(r, c.Tx)
	if err != nil {
		c.Discard()
		return nil, err
	}
	defer conv.Close()
	switch {
	case r.stay:
		r.After = r.Before
	case r.After.IsZero():
		r.After = r.Target
	}
	if r.asStep {
		plan.Replaced = nil // a step has their bytes
	}
	res := &Result{Plan: plan, Changed: len(plan.Steps), Without: plan.without}
	if conv != nil {
		res.Conversation = &conv.conversation
	}
	goes, err := rs.successor(r, conv)
	if err == nil {
		res.AtWork, err = rs.sessions.Underfoot(goes, conv.from(), plan.Steps)
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	if r.wish.DryRun {
		c.Discard()
		lost, perms, err := apply.Foresee(root, plan.Steps)
		if err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		res.Without, res.perms = append(res.Without, lost...), perms
		res.settle()
		return res, nil
	}
	if len(plan.Steps) == 0 && r.Before == r.After && !r.asStep && conv.idle() {
		if at, err := rs.sessions.Position(); err != nil || at.Session == goes {
			c.Discard()
			return res, err
		}
	}
	j := &r.Journal
	j.Stage, j.Steps, j.Restore.Kept = NewStageName(), plan.Steps, len(plan.Kept)
	conv.Enter(j)
	if goes != j.Session {
		j.Goes = goes
	}
	j.Own, j.Must = register.Folders(r.wish.Env), r.mustTalk()
	durable, err := rs.MakeStage(root, j.Stage)
	if err != nil {
		c.Discard()
		return nil, err
	}
	rs.reached(ctx)("storing what is there", 0, 0)
	res.Safety, err = rs.Safety(ctx, c, j, r.asStep)
	unsafe := durable()
	if err != nil {
		_ = rs.removeStage(root, j.Stage) // empty; who finds a journal after all makes it again
		return nil, &TakenBackError{Cause: fmt.Errorf("safety checkpoint: %w", err)}
	}
	if r.asStep {
		res.Saved = res.Safety
	}
	c.Get.Getter, j.Trees = rs.log.Objs, c.Get
	if err = unsafe; err == nil {
		j.Staged = true
		err = rs.carryOut(ctx, root, j, res)
	}
	if err != nil {
		return nil, rs.takeBack(ctx, root, j, res, err)
	}
	rs.tellAgents(ctx, r.wish.Env, j, res.set(), res.Conversation)
	res.settle()
	return res, nil
}

// NewStageName makes a name for a stage that nobody can foresee.
func NewStageName() string {
	var b [model.StageNameLength / 2]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

// Safety makes the captured state a checkpoint, in one durable batch with the journal: on no branch, or as a step. From
// here on the restore is finished or taken back, by whichever process comes next.
func (rs *Restorer) Safety(ctx context.Context, c *capture.Capture, j *model.Journal, asStep bool) (*model.Checkpoint, error) {
	cur, err := rs.sessions.Current(j.Session)
	if err == nil {
		err = c.FlushCache()
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	begin := func(cp *model.Checkpoint) error {
		j.Safety = cp.ID
		if asStep {
			j.Before = cp.ID
		}
		rs.log.Whole = false
		return c.Tx.Batch().Set(model.JournalKey, j.Encode())
	}
	if asStep {
		return rs.worktree.CommitStep(ctx, c, kv.Durable, j.Session, cur, model.Cause{Event: model.EventUndo, Message: "unsaved changes before " + j.Kind.String()}, begin)
	}
	cause := model.Cause{Event: model.EventSafety, Message: "before " + j.Kind.String()}
	cp, err := rs.worktree.NewStep(c, j.Session, cur, cause)
	if err != nil {
		c.Discard()
		return nil, err
	}
	du := kv.Durable
	return rs.worktree.CommitCapture(ctx, c, cp, du, func(cp *model.Checkpoint) ([]refs.Operation, []refs.Update, error) {
		return []refs.Operation{{Kind: refs.KindSafety}}, nil, begin(cp)
	})
}

// carryOut applies the journal's steps and records the operation.
func (rs *Restorer) carryOut(ctx context.Context, root worktreefs.Dir, j *model.Journal, res *Result) error {
	if err := rs.sameRoot(root); err != nil {
		return err
	}
	if err := rs.Apply(ctx, root, j, j.Steps, res); err != nil {
		return err
	}
	if err := rs.sameRoot(root); err != nil {
		return err
	}
	kept, err := conversation.SetSessions(rs.log.Objs, j.Own, j.Files, false)
	if err != nil && j.Must {
		return err
	}
	if err != nil {
		kept = nil
		rs.codeAlone(j, res, err)
	}
	if res.Conversation != nil {
		res.Conversation.Kept = append(res.Conversation.Kept, kept...)
	}
	done := j.Restore
	done.Changed, done.Kept, done.Fork = res.Changed, j.Kept+len(res.Conflicts), j.Made.NameOf()
	done.Files = append(without(j.Files, kept), j.Left...)
	return rs.end(ctx, root, refs.Operation{Kind: j.Kind, Session: j.Session, Restore: &done}, j, res)
}

// end is finish, while the end of the stage becomes durable. That is not waited for to be sure of anything: a stage that comes back after a
// power cut holds nothing that is not stored.
func (rs *Restorer) end(ctx context.Context, root worktreefs.Dir, op refs.Operation, j *model.Journal, res *Result) error {
	if list, err := rs.Places(root); err == nil {
		for _, place := range list {
			if dir, err := place.Open(); err == nil {
				wait := rs.syncing(dir)
				defer func() { _ = wait() }()
			}
			place.Close()
		}
	}
	return rs.finish(ctx, op, j, res)
}

// without leaves out the steps that were not carried out.
func without(files []refs.File, kept []string) []refs.File {
	return slices.DeleteFunc(slices.Clone(files), func(f refs.File) bool { return slices.Contains(kept, f.Path) })
}

// Apply carries out steps. Its stage stays only where it holds the bytes of a racing edit.
func (rs *Restorer) Apply(ctx context.Context, root worktreefs.Dir, j *model.Journal, steps []tree.Step, res *Result) error {
	if !j.Staged {
		durable, err := rs.MakeStage(root, j.Stage)
		if err == nil {
			err = durable()
		}
		if err != nil {
			return err
		}
		j.Staged = true
	}
	place, err := rs.placeOf(root, j.Stage)
	if err != nil {
		return err
	}
	defer place.Close()
	stage, err := worktreefs.OpenPath(place.base, place.of(j.Stage))
	if err != nil {
		return rs.restoring(err)
	}
	defer stage.Close()
	done, err := apply.Run(ctx, apply.Options{
		Root: root, Stage: stage, Op: j.Stage, Steps: steps,
		Open:     func(id objstore.ID) (io.ReadCloser, error) { return rs.log.Objs.Open(id) },
		Progress: rs.reached(ctx),
	})
	res.Changed, res.KeptDirs = done.Done, done.KeptDirs
	res.Conflicts = append(res.Conflicts, done.Conflicts...)
	res.Without, res.perms = append(res.Without, done.Without...), done.Perms
	if err != nil {
		return rs.restoring(err)
	}
	j.Staged = false
	if err := rs.removeStage(root, j.Stage); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
		return rs.restoring(err)
	}
	return nil
}

// finish records the operation of a restore and deletes the journal, in one durable batch.
func (rs *Restorer) finish(ctx context.Context, op refs.Operation, j *model.Journal, res *Result) error {
	rs.log.Known = nil
	tx := rs.log.Objs.Begin()
	left, err := rs.moves(tx, &op, j, res)
	if err != nil {
		tx.Discard()
		return err
	}
	if op.Kind == refs.KindAbort {
		j = &model.Journal{} // what it was to change stays
	}
	res.Operation, err = rs.record(ctx, tx, op, j, left)
	return err
}

// moves completes the operation of a restore: the names that move with it, and what is known of the worktree from now on. It gives the
// records of sessions that are left, or gone on with, by it.
func (rs *Restorer) moves(tx *objstore.Tx, op *refs.Operation, j *model.Journal, res *Result) (left []*model.Session, err error) {
	if op.Kind == refs.KindAbort {
		return nil, nil
	}
	if j.Before != j.After {
		op.Changes = []refs.Change{{Name: refs.Cursor(j.Session), Old: j.Before, New: j.After}}
	}
	if left, err = rs.leaving(j); err != nil {
		return nil, err
	}
	also, err := rs.beside(j, op.Changes)
	if err != nil {
		return nil, err
	}
	op.Changes = append(op.Changes, also...)
	if j.Made != nil {
		at := j.Target
		if j.ContextOnly {
			at = j.Before // the code stays what it is
		}
		op.Changes = append(op.Changes, rs.place(j.Made.Name, at)...)
	}
	return left, rs.result(tx, op, j, res)
}

// record puts an operation into the log, durably, with what tx holds and the session records that change with it, and ends the journal.
// What it tells of is done by now: an interrupt must not keep the log from saying so.
func (rs *Restorer) record(
	ctx context.Context, tx *objstore.Tx, op refs.Operation, j *model.Journal, left []*model.Session,
) (*refs.Operation, error) {
	op.Time = rs.log.Now().UnixMilli()
	done, err := rs.log.Refs.Commit(context.WithoutCancel(ctx), tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		err := j.Changed(seq, left, func(s *model.Session) error { return tx.Batch().Set(model.SessionKey(s.Name), s.Encode()) })
		if err != nil {
			return op, nil, err
		}
		return op, conversation.UpdatesOf(op.Changes), tx.Batch().Delete(model.JournalKey)
	})
	if err != nil {
		tx.Discard()
		return nil, err
	}
	if rs.log.Records != nil {
		_ = j.Changed(done.Seq, left, func(s *model.Session) error {
			rs.log.Records[s.Name] = s
			delete(rs.talks.Files, s.Name)
			return nil
		})
	}
	return done, nil
}
