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
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// Result is what a restore did, or with a dry run would do.
type Result struct {
	Plan         *Plan
	Operation    *refs.Operation      // nil: a dry run, or nothing to do
	Safety       *model.Checkpoint    // the state before; nil as above
	Saved        *model.Checkpoint    // unsaved changes that an undo made a step of their own
	Changed      int                  // paths changed
	Conflicts    []apply.Conflict     // paths that changed while the restore ran; left as they are
	KeptDirs     []string             // directories that could not go because something is in them
	Without      []apply.Without      // paths that are set, or as the target has them, without something
	Conversation *model.Conversation  // nil: nothing was asked about a conversation
	AtWork       []sessions.Underfoot // agents that were at work when it began

	perms map[string]uint16 // of paths that are set, but have others than the target
}

// Options are common to all restores.
type Options struct {
	Paths        []string // relative to the project's root; empty: the whole tree
	Exact        bool     // take paths that no checkpoint holds, too
	DryRun       bool
	Session      model.Whose // whose line is walked, and whose changes are not another session's
	Conversation model.ConversationOptions
	Env          register.AgentEnv // where the agents' session files are
	Progress     model.Progress
}

// restore is one request.
type restore struct {
	Kind    refs.Kind
	Session string // whose cursor moves
	named   string // the session that was asked for by its name; "": none was
	Target  *model.Checkpoint
	// choose sets target, and asStep, once the worktree is known
	choose func(*planner, *capture.Capture) error
	asStep bool // the state before becomes a step instead of a safety checkpoint
	opt    planOptions
	undoes uint64
	Before objstore.ID // the cursor
	stay   bool        // the cursor stays where it is
	after  objstore.ID // where it goes; zero: to the target
	dryRun bool

	conversation model.ConversationOptions
	env          register.AgentEnv
	point        *history.Point  // whose conversation goes with the target; nil: the target's own
	mustFork     bool            // a new session, also where the one that is there ends at the target
	reverts      *refs.Operation // of an undo-restore
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
	paths, err := model.NewPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	if n, err := history.ParseName(name); err == nil && o.Session.Session == "" {
		o.Session.Session = n.Whose // "turn:2@x" says whose line is meant
	}
	p, err := rs.history.NamedPoint(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	target := p.Cp
	if target == nil && o.Conversation.ContextOnly { // the code stays: what it is now is the target
		if target, err = rs.sessions.Current(p.Session); err != nil {
			return nil, err
		}
	}
	if target == nil {
		return nil, fmt.Errorf("checkout %s: %w: no code was captured then; --context-only goes back in the conversation alone", name, model.ErrNotFound)
	}
	for _, p := range paths {
		if _, err := rs.log.Lookup(target, p); err != nil {
			return nil, err
		}
	}
	session, err := rs.sessions.Mover(target, o.Session)
	if err != nil {
		return nil, err
	}
	r := &restore{
		Kind: refs.KindCheckout, Session: session, Target: target, opt: planOptions{paths: paths, exact: o.Exact}, dryRun: o.DryRun,
		stay: len(paths) > 0 || o.Conversation.ContextOnly, conversation: o.Conversation, env: o.Env, point: p,
	}
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
	if r.conversation.ContextOnly {
		plan.Steps, plan.Kept, plan.Replaced, plan.Without, plan.Missing = nil, nil, nil, nil, nil
	}
	conv, err := rs.PlanConversation(r, c.Tx)
	if err != nil {
		c.Discard()
		return nil, err
	}
	defer conv.Close()
	after := r.after
	switch {
	case r.stay:
		after = r.Before
	case after.IsZero():
		after = r.Target.ID
	}
	if r.asStep {
		plan.Replaced = nil // a step has their bytes
	}
	res := &Result{Plan: plan, Changed: len(plan.Steps), Without: plan.Without}
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
	if r.dryRun {
		c.Discard()
		lost, perms, err := apply.Foresee(root, plan.Steps)
		if err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		res.Without, res.perms = append(res.Without, lost...), perms
		res.settle()
		return res, nil
	}
	if len(plan.Steps) == 0 && r.Before == after && !r.asStep && conv.idle() {
		if at, err := rs.sessions.Position(); err != nil || at.Session == goes {
			c.Discard()
			return res, err
		}
	}
	j := &model.Journal{
		Kind: r.Kind, Session: r.Session, Target: r.Target.ID, Paths: plan.Paths, Exact: plan.Exact, Undoes: r.undoes,
		Before: r.Before, After: after, Stage: NewStageName(), Kept: len(plan.Kept), Steps: plan.Steps, ContextOnly: r.conversation.ContextOnly,
	}
	conv.Enter(j)
	if err := rs.enterGoes(goes, j); err != nil {
		c.Discard()
		return nil, err
	}
	j.Own, j.Must = r.env.Folders(), r.mustTalk()
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
	rs.tellAgents(ctx, r.env, j, res)
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
	kept, err := rs.talks.SetSessions(j.Own, j.Files, false)
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
	op := refs.Operation{Kind: j.Kind, Session: j.Session, Restore: &refs.Restore{
		Target: j.Target, Safety: j.Safety, Paths: j.Paths, Exact: j.Exact, Undoes: j.Undoes,
		Changed: res.Changed, Kept: j.Kept + len(res.Conflicts), Files: append(without(j.Files, kept), j.Left...), Fork: j.Made.NameOf(), ContextOnly: j.ContextOnly, Goes: j.Goes,
	}}
	return rs.end(ctx, root, op, j, res)
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

// finish records the operation and deletes the journal, in one durable batch.
func (rs *Restorer) finish(ctx context.Context, op refs.Operation, j *model.Journal, res *Result) error {
	var updates []refs.Update
	if op.Kind == j.Kind && j.Before != j.After {
		updates = []refs.Update{{Name: refs.Cursor(j.Session), Old: j.Before, New: j.After}}
		op.Changes = []refs.Change{{Name: refs.Cursor(j.Session), Old: j.Before, New: j.After}}
	}
	var left []*model.Session
	if op.Kind != refs.KindAbort {
		var err error
		if left, err = rs.leaving(j); err != nil {
			return err
		}
		also, err := rs.beside(j, op.Changes)
		if err != nil {
			return err
		}
		op.Changes, updates = append(op.Changes, also...), append(updates, conversation.UpdatesOf(also)...)
	}
	op.Time = rs.log.Now().UnixMilli()
	rs.log.Known = nil
	tx := rs.log.Objs.Begin()
	if op.Kind != refs.KindAbort {
		if err := rs.result(tx, &op, j, res); err != nil {
			tx.Discard()
			return err
		}
		if j.Made != nil {
			at := j.Target
			if j.ContextOnly {
				at = j.Before // the code stays what it is
			}
			placed := rs.place(j.Made.Name, at)
			op.Changes, updates = append(op.Changes, placed...), append(updates, conversation.UpdatesOf(placed)...)
		}
	}
	// The worktree is as the operation says by now: an interrupt must not keep the log from saying so.
	done, err := rs.log.Refs.Commit(context.WithoutCancel(ctx), tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		if op.Kind != refs.KindAbort {
			if err := j.Changed(seq, left, func(s *model.Session) error { return tx.Batch().Set(model.SessionKey(s.Name), s.Encode()) }); err != nil {
				return op, nil, err
			}
		}
		return op, updates, tx.Batch().Delete(model.JournalKey)
	})
	if err != nil {
		tx.Discard()
		return err
	}
	if op.Kind != refs.KindAbort && rs.log.Records != nil {
		_ = j.Changed(done.Seq, left, func(s *model.Session) error {
			rs.log.Records[s.Name] = s
			delete(rs.talks.Followed, s.Name)
			return nil
		})
	}
	res.Operation = done
	return nil
}
