package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/internal/bug"
	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// RestoreResult is what a restore did, or with a dry run would do.
type RestoreResult struct {
	Plan         *Plan
	Operation    *refs.Operation  // nil: a dry run, or nothing to do
	Safety       *Checkpoint      // the state before; nil as above
	Saved        *Checkpoint      // unsaved changes that an undo made a step of their own
	Changed      int              // paths changed
	Conflicts    []apply.Conflict // paths that changed while the restore ran; left as they are
	KeptDirs     []string         // directories that could not go because something is in them
	Without      []apply.Without  // paths that are set, or as the target has them, without something
	Conversation *Conversation    // nil: nothing was asked about a conversation
	AtWork       []Underfoot      // agents that were at work when it began

	perms map[string]uint16 // of paths that are set, but have others than the target
}

// RestoreOptions are common to all restores.
type RestoreOptions struct {
	Paths        []string // relative to the project's root; empty: the whole tree
	Exact        bool     // take paths that no checkpoint holds, too
	DryRun       bool
	Session      Whose // whose line is walked, and whose changes are not another session's
	Conversation ConversationOptions
	Env          AgentEnv // where the agents' session files are
	Progress     Progress
}

// restore is one request.
type restore struct {
	kind    refs.Kind
	session string // whose cursor moves
	named   string // the session that was asked for by its name; "": none was
	target  *Checkpoint
	// choose sets target, and asStep, once the worktree is known
	choose func(*planner, *capture) error
	asStep bool // the state before becomes a step instead of a safety checkpoint
	opt    planOptions
	undoes uint64
	before objstore.ID // the cursor
	stay   bool        // the cursor stays where it is
	after  objstore.ID // where it goes; zero: to the target
	dryRun bool

	conversation ConversationOptions
	env          AgentEnv
	point        *point          // whose conversation goes with the target; nil: the target's own
	mustFork     bool            // a new session, also where the one that is there ends at the target
	reverts      *refs.Operation // of an undo-restore
}

// Checkout sets the worktree to a checkpoint; the cursor follows unless it is limited to paths. The outcomes: done;
// done but for Kept and Conflicts; refused with the tree untouched (*UnsavedError, *PathError, kv.ErrNoSpace, ...);
// taken back after a failure (the error says so); half done (*HalfDoneError), when it could not be taken back.
func (e *Engine) Checkout(ctx context.Context, name string, o RestoreOptions) (*RestoreResult, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	r, err := e.checkout(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return e.run(ctx, r, o.Progress)
}

// checkout is the restore that a checkout of a name is.
func (e *Engine) checkout(ctx context.Context, name string, o RestoreOptions) (*restore, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	paths, err := newPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	if n, err := parseName(name); err == nil && o.Session.Session == "" {
		o.Session.Session = n.Whose // "turn:2@x" says whose line is meant
	}
	p, err := e.namedPoint(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	target := p.cp
	if target == nil && o.Conversation.ContextOnly { // the code stays: what it is now is the target
		if target, err = e.current(p.session); err != nil {
			return nil, err
		}
	}
	if target == nil {
		return nil, fmt.Errorf("engine: checkout %s: %w: no code was captured then; --context-only goes back in the conversation alone", name, ErrNotFound)
	}
	for _, p := range paths {
		if _, err := e.lookup(target, p); err != nil {
			return nil, err
		}
	}
	session, err := e.mover(target, o.Session)
	if err != nil {
		return nil, err
	}
	r := &restore{
		kind: refs.KindCheckout, session: session, target: target, opt: planOptions{paths: paths, exact: o.Exact}, dryRun: o.DryRun,
		stay: len(paths) > 0 || o.Conversation.ContextOnly, conversation: o.Conversation, env: o.Env, point: p,
	}
	if r.named, err = e.namedIn(o.Session); err != nil {
		return nil, err
	}
	r.before, err = e.refs.ID(refs.Cursor(session))
	return r, err
}

// run carries one restore through: plan, safety checkpoint and journal, apply, record.
func (e *Engine) run(ctx context.Context, r *restore, p Progress) (*RestoreResult, error) {
	root, err := e.holdRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	plan, c, err := e.plan(ctx, root, r, p)
	if err != nil {
		return nil, err
	}
	if r.conversation.ContextOnly {
		plan.Steps, plan.Kept, plan.Replaced, plan.Without, plan.Missing = nil, nil, nil, nil, nil
	}
	conv, err := e.planConversation(r, c.tx)
	if err != nil {
		c.discard()
		return nil, err
	}
	defer conv.close()
	after := r.after
	switch {
	case r.stay:
		after = r.before
	case after.IsZero():
		after = r.target.ID
	}
	if r.asStep {
		plan.Replaced = nil // a step has their bytes
	}
	res := &RestoreResult{Plan: plan, Changed: len(plan.Steps), Without: plan.Without}
	if conv != nil {
		res.Conversation = &conv.conversation
	}
	goes, err := e.successor(r, conv)
	if err == nil {
		res.AtWork, err = e.underfoot(goes, conv.from(), plan.Steps)
	}
	if err != nil {
		c.discard()
		return nil, err
	}
	if r.dryRun {
		c.discard()
		lost, perms, err := apply.Foresee(root, plan.Steps)
		if err != nil {
			return nil, fmt.Errorf("engine: plan: %w", err)
		}
		res.Without, res.perms = append(res.Without, lost...), perms
		res.settle()
		return res, nil
	}
	if len(plan.Steps) == 0 && r.before == after && !r.asStep && conv.idle() {
		if at, err := e.position(); err != nil || at.Session == goes {
			c.discard()
			return res, err
		}
	}
	j := &journal{
		Kind: r.kind, Session: r.session, Target: r.target.ID, Paths: plan.Paths, Exact: plan.Exact, Undoes: r.undoes,
		Before: r.before, After: after, Stage: newStageName(), Kept: len(plan.Kept), Steps: plan.Steps, ContextOnly: r.conversation.ContextOnly,
	}
	conv.enter(j)
	if err := e.enterGoes(goes, j); err != nil {
		c.discard()
		return nil, err
	}
	j.own, j.must = r.env.folders(), r.mustTalk()
	durable, err := e.makeStage(root, j.Stage)
	if err != nil {
		c.discard()
		return nil, err
	}
	res.Safety, err = e.safety(ctx, c, j, r.asStep)
	unsafe := durable()
	if err != nil {
		_ = e.removeStage(root, j.Stage) // empty; who finds a journal after all makes it again
		return nil, &TakenBackError{Cause: fmt.Errorf("engine: safety checkpoint: %w", err)}
	}
	if r.asStep {
		res.Saved = res.Safety
	}
	c.get.Getter, j.trees = e.objs, c.get
	if err = unsafe; err == nil {
		j.staged = true
		err = e.carryOut(ctx, root, j, res)
	}
	if err != nil {
		return nil, e.takeBack(ctx, root, j, res, err)
	}
	e.tellAgents(ctx, r.env, j, res)
	res.settle()
	return res, nil
}

const stageNameLength = 16

func newStageName() string {
	var b [stageNameLength / 2]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

// safety makes the captured state a checkpoint, in one durable batch with the journal: on no branch, or as a step. From
// here on the restore is finished or taken back, by whichever process comes next.
func (e *Engine) safety(ctx context.Context, c *capture, j *journal, asStep bool) (*Checkpoint, error) {
	cur, err := e.current(j.Session)
	if err == nil {
		err = c.flushCache()
	}
	if err != nil {
		c.discard()
		return nil, err
	}
	begin := func(cp *Checkpoint) error {
		j.Safety = cp.ID
		if asStep {
			j.Before = cp.ID
		}
		e.whole = false
		return c.tx.Batch().Set(journalKey, j.encode())
	}
	if asStep {
		return e.commitStep(ctx, c, kv.Durable, j.Session, cur, Cause{Event: EventUndo, Message: "unsaved changes before " + j.Kind.String()}, begin)
	}
	cause := Cause{Event: EventSafety, Message: "before " + j.Kind.String()}
	cp, err := e.newStep(c, j.Session, cur, cause)
	if err != nil {
		c.discard()
		return nil, err
	}
	du := kv.Durable
	if bug.Is("journal-unsynced") {
		du = kv.Written
	}
	return e.commitCapture(ctx, c, cp, du, func(cp *Checkpoint) ([]refs.Operation, []refs.Update, error) {
		return []refs.Operation{{Kind: refs.KindSafety}}, nil, begin(cp)
	})
}

// carryOut applies the journal's steps and records the operation.
func (e *Engine) carryOut(ctx context.Context, root worktreefs.Dir, j *journal, res *RestoreResult) error {
	if bug.Is("journal-dropped") {
		b := e.db.NewBatch()
		if err := errors.Join(b.Delete(journalKey), b.Commit(ctx, kv.Durable)); err != nil {
			return err
		}
	}
	if err := e.sameRoot(root); err != nil {
		return err
	}
	if err := e.apply(ctx, root, j, j.Steps, res); err != nil {
		return err
	}
	if err := e.sameRoot(root); err != nil {
		return err
	}
	kept, err := e.setSessions(j.own, j.Files, false)
	if err != nil && j.must {
		return err
	}
	if err != nil {
		kept = nil
		e.codeAlone(j, res, err)
	}
	if res.Conversation != nil {
		res.Conversation.Kept = append(res.Conversation.Kept, kept...)
	}
	op := refs.Operation{Kind: j.Kind, Session: j.Session, Restore: &refs.Restore{
		Target: j.Target, Safety: j.Safety, Paths: j.Paths, Exact: j.Exact, Undoes: j.Undoes,
		Changed: res.Changed, Kept: j.Kept + len(res.Conflicts), Files: append(without(j.Files, kept), j.left...), Fork: j.Made.name(), ContextOnly: j.ContextOnly, Goes: j.Goes,
	}}
	return e.end(ctx, root, op, j, res)
}

// end is finish, while the end of the stage becomes durable. That is not waited for to be sure of anything: a stage that comes back after a
// power cut holds nothing that is not stored.
func (e *Engine) end(ctx context.Context, root worktreefs.Dir, op refs.Operation, j *journal, res *RestoreResult) error {
	if list, err := e.places(root); err == nil {
		for _, place := range list {
			if dir, err := place.open(); err == nil {
				wait := e.syncing(dir)
				defer func() { _ = wait() }()
			}
			place.close()
		}
	}
	return e.finish(ctx, op, j, res)
}

// without leaves out the steps that were not carried out.
func without(files []refs.File, kept []string) []refs.File {
	return slices.DeleteFunc(slices.Clone(files), func(f refs.File) bool { return slices.Contains(kept, f.Path) })
}

// apply carries out steps. Its stage stays only where it holds the bytes of a racing edit.
func (e *Engine) apply(ctx context.Context, root worktreefs.Dir, j *journal, steps []tree.Step, res *RestoreResult) error {
	if !j.staged {
		durable, err := e.makeStage(root, j.Stage)
		if err == nil {
			err = durable()
		}
		if err != nil {
			return err
		}
		j.staged = true
	}
	place, err := e.placeOf(root, j.Stage)
	if err != nil {
		return err
	}
	defer place.close()
	stage, err := worktreefs.OpenPath(place.base, place.of(j.Stage))
	if err != nil {
		return e.restoring(err)
	}
	defer stage.Close()
	done, err := apply.Run(ctx, apply.Options{
		Root: root, Stage: stage, Op: j.Stage, Steps: steps,
		Open: func(id objstore.ID) (io.ReadCloser, error) { return e.objs.Open(id) },
	})
	res.Changed, res.KeptDirs = done.Done, done.KeptDirs
	res.Conflicts = append(res.Conflicts, done.Conflicts...)
	res.Without, res.perms = append(res.Without, done.Without...), done.Perms
	if err != nil {
		return e.restoring(err)
	}
	j.staged = false
	if err := e.removeStage(root, j.Stage); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
		return e.restoring(err)
	}
	return nil
}

// finish records the operation and deletes the journal, in one durable batch.
func (e *Engine) finish(ctx context.Context, op refs.Operation, j *journal, res *RestoreResult) error {
	var updates []refs.Update
	if op.Kind == j.Kind && j.Before != j.After {
		updates = []refs.Update{{Name: refs.Cursor(j.Session), Old: j.Before, New: j.After}}
		op.Changes = []refs.Change{{Name: refs.Cursor(j.Session), Old: j.Before, New: j.After}}
	}
	var left []*Session
	if op.Kind != refs.KindAbort {
		var err error
		if left, err = e.leaving(j); err != nil {
			return err
		}
		also, err := e.beside(j, op.Changes)
		if err != nil {
			return err
		}
		op.Changes, updates = append(op.Changes, also...), append(updates, updatesOf(also)...)
	}
	op.Time = e.now().UnixMilli()
	e.known = nil
	tx := e.objs.Begin()
	if op.Kind != refs.KindAbort {
		if err := e.result(tx, &op, j, res); err != nil {
			tx.Discard()
			return err
		}
		if j.Made != nil {
			at := j.Target
			if j.ContextOnly {
				at = j.Before // the code stays what it is
			}
			placed := e.place(j.Made.Name, at)
			op.Changes, updates = append(op.Changes, placed...), append(updates, updatesOf(placed)...)
		}
	}
	// The worktree is as the operation says by now: an interrupt must not keep the log from saying so.
	done, err := e.refs.Commit(context.WithoutCancel(ctx), tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		if op.Kind != refs.KindAbort {
			if err := j.changed(seq, left, func(s *Session) error { return tx.Batch().Set(sessionKey(s.Name), s.encode()) }); err != nil {
				return op, nil, err
			}
		}
		return op, updates, tx.Batch().Delete(journalKey)
	})
	if err != nil {
		tx.Discard()
		return err
	}
	if op.Kind != refs.KindAbort && e.sessions != nil {
		_ = j.changed(done.Seq, left, func(s *Session) error {
			e.sessions[s.Name] = s
			delete(e.followed, s.Name)
			return nil
		})
	}
	res.Operation = done
	return nil
}
