package restore

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/register"
	"rewind/internal/kv"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// Result is what a restore did, or with a dry run what it would do.
type Result struct {
	Plan         *Plan
	Operation    *refs.Operation     // nil: a dry run, or nothing to do
	Safety       *model.Checkpoint   // the state before; nil as above
	Saved        *model.Checkpoint   // the step that unsaved changes became; nil: none
	Changed      int                 // paths changed
	Conflicts    []value.Conflict    // paths that changed while the restore ran; left as they are
	KeptDirs     []string            // directories that could not go because something is in them
	Without      []value.Without     // paths that are set, or as the target has them, without something
	Change       *merge.Change       // of Pick and Revert
	Conversation *model.Conversation // nil: nothing was asked about a conversation
	Managed      []value.Managed     // of an operation that managed sessions, taken back: what became of each
	AtWork       []value.AtWork      // agents that were at work when it began
	Behind       *value.Behind       // of a dry run: what of the branch lies behind the target; nil: it is the end, or not on it
	KeptFor      string              // how long gc keeps the state before, as the setting says it
	Prompt       string              // in front of which it went back, whole; "": not in front of one
	Prompts      []string            // the others that went out of the conversation, the oldest first
	MorePrompts  int                 // those behind them
	Of           string              // the session that goes back, as turns are named by it; "": none names the target
	Becomes      []Becoming          // of a dry run, as many as were asked for: what merged files become
	PlanHash     string              // of a dry run, or where the request names a plan: what would be done, or was

	perms map[string]uint16 // permissions of the paths that did not get the target's
}

// changedFiles are the session files that the restore changed.
func (res *Result) changedFiles() []refs.File {
	if res.Operation == nil || res.Operation.Restore == nil {
		return nil
	}
	return res.Operation.Restore.Files
}

// Options are what a person asks of a restore, or of a fork.
type Options struct {
	refs.Scope                     // with paths as they were given, from the project's root
	CodeOnly   bool                // the conversation is left alone
	InPlace    bool                // the session file itself is cut, instead of copied to a new session
	Force      bool                // cut even though the agent seems to have the session open
	Title      string              // of the new session; "": as the one that it is made of
	Tag        string              // for the state before, unless there is nothing to do; "": none
	DryRun     bool                // change nothing; the Result says what would be done
	TakeBack   bool                // take away what the session's line did, and nothing else
	KeepMine   bool                // what a person changed since stays
	Merge      bool                // what goes is taken out of paths that stay for others
	Prefer     textdiff.Side       // of a merge: how conflicts are settled
	Becomes    int                 // of a dry run: Result.Becomes has so many files at most
	Plan       string              // the hash of the plan that is to be carried out, and no other; "": whatever it is
	Session    model.SessionChoice // whose branch is walked, and whose changes are no colleague's

	Checkout bool // of a fork: the code goes there too
	LaidOut  bool // of that: the directory was made as the target has it, so that nothing there is unsaved
	SelfTest bool // of a fork: it is made, checked and removed again
	Reuse    bool // of a fork: one that an earlier fork made of the same place and that nobody has used serves

	Env      value.AgentEnv // where the agents' session files are
	Progress model.Progress
}

// request is a restore that was asked for, with the journal that it becomes. Of the journal the kind, the session, the
// scope and the cursor before are set from the beginning.
type request struct {
	model.Journal
	options      Options // the scope is the journal's
	namedSession string  // the session that the request names; "": none
	target       *model.Checkpoint
	partOf       *model.Checkpoint   // the checkpoint of which the target holds parts; nil: the target is all of it
	found        *model.Checkpoint   // what the restore that is set back found; nil: the target
	undone       []*model.Checkpoint // of an undo, the steps behind the target, the newest first
	// choose, where it is not nil, sets target and saveOn once the worktree is captured
	choose     func(*planner, *capture.Capture) error
	saveOn     string          // the state before becomes a step of this session; "": a safety checkpoint
	keepCursor bool            // the cursor stays; else it goes to After, or if that is zero to the target
	moment     *history.Moment // the moment whose conversation goes with the code; nil: the target's
	keepForks  bool            // an unused fork of earlier restores stays
	asItWas    bool            // no session names the target
	front      uint64          // the turn in front of whose prompt the target is, as its name says; 0: it says none
	lineOf     string          // the session whose line the target is on, as its name says; "": the target's
	mustFork   bool            // make a new session even where an existing one ends at the target
	clone      bool            // of a fork: the whole conversation
	merges     bool            // it makes contents, even for a dry run; nobody's place changes, so that no step is nothing to do
	reverts    *refs.Operation // the operation that an undo-restore reverts
	gaveUp     map[string]bool // of a revert, as the planner's
	again      bool            // it brings the turns again that reverts has taken back
}

// newRequest is a restore of the given kind, of a session.
func (o Options) newRequest(kind refs.Kind, session string) *request {
	return &request{
		Journal: model.Journal{
			Kind: kind, Session: session, Restore: refs.Restore{Scope: o.Scope, TakesBack: o.TakeBack},
		},
		options: o,
	}
}

// since is the checkpoint behind which changes are others'.
func (r *request) since() *model.Checkpoint { return cmp.Or(r.partOf, r.found, r.target) }

// foundBy is the operation that found the worktree as since has it; 0: the one that made that.
func (r *request) foundBy() uint64 {
	if r.moment != nil && r.moment.Checkpoint != nil && r.since() != nil {
		if r.moment.Checkpoint.ID == r.since().ID {
			return r.moment.Found
		}
	}
	return 0
}

// setTarget sets the checkpoint that the worktree and, unless the cursor stays, the session go to.
func (r *request) setTarget(to *model.Checkpoint) {
	r.target, r.Target = to, to.ID
}

// Run carries out a request: plan, safety checkpoint with the journal, apply, operation. With a dry run it ends after
// the plan. The outcomes are Checkout's.
func (rs *runner) Run(ctx context.Context, r *request, p model.Progress) (*Result, error) {
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
	r.settleCursor()
	if r.saveOn != "" {
		plan.Replaced = nil // a step has their bytes
	}
	res := &Result{Plan: plan, Without: plan.without, Of: rs.wentBack(r)}
	res.Changed = changedPaths(plan.Steps, len(plan.Steps))
	if conv != nil {
		res.Conversation = &conv.conversation
	}
	successor, err := rs.settle(r, res, conv)
	none := false
	if err == nil {
		none, err = rs.isNothing(r, plan, conv, successor)
	}
	if err == nil && !none {
		res.Prompt, res.Prompts, res.MorePrompts, err = rs.promptTaken(r, conv)
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	res.KeptFor, _ = rs.log.Config.Get("gc.keep_safety").(string)
	if r.options.DryRun {
		res.Becomes, err = rs.becomes(c, r, plan)
		c.Discard()
		if err != nil {
			return nil, err
		}
		return rs.foresee(root, r, res)
	}
	if none {
		c.Discard()
		return res, nil
	}
	j := &r.Journal
	j.Stage, j.Steps = NewStageName(), plan.Steps
	j.Restore.Kept, j.Beside = len(plan.Kept)+plan.beside, plan.beside
	conv.FillJournal(j)
	if successor != j.Session {
		j.Goes = successor
	}
	j.Folders, j.NeedsConversation = register.Folders(r.options.Env), r.mustHaveConversation()
	return rs.perform(ctx, root, c, r, res)
}

// settleCursor sets where the session stands afterwards, where that was not asked for.
func (r *request) settleCursor() {
	switch {
	case r.keepCursor:
		r.After = r.Before
	case r.After.IsZero():
		r.After = r.target.ID
	}
}

// settle decides in which session one goes on, tells who is at work on the files, and compares the plan with the one
// that was shown.
func (rs *runner) settle(r *request, res *Result, conv *conversationPlan) (successor string, err error) {
	successor, err = rs.successor(r, conv)
	if err == nil {
		res.AtWork, err = rs.sessions.Underfoot(successor, conv.forkedFrom(), res.Plan.Steps)
	}
	if err == nil {
		err = rs.settlePlan(r, res, conv, successor)
	}
	return successor, err
}

// foresee is the answer of a dry run.
func (rs *runner) foresee(root worktreefs.Dir, r *request, res *Result) (*Result, error) {
	res.Behind = rs.behind(r)
	without, perms, err := apply.Foresee(root, res.Plan.Steps)
	if err != nil {
		return nil, rs.restoreError(err)
	}
	res.Without, res.perms = append(res.Without, without...), perms
	res.adoptPerms()
	return res, nil
}

// isNothing reports whether a restore changes no file and no conversation, and leaves one where one stands.
func (rs *runner) isNothing(r *request, plan *Plan, conv *conversationPlan, successor string) (bool, error) {
	if len(plan.Steps) > 0 || r.Before != r.After {
		return false, nil
	}
	if r.saveOn != "" || !conv.isEmpty() {
		return false, nil
	}
	at, err := rs.sessions.Position()
	return r.merges || at.Session == successor, err
}

// perform keeps what is there, with the journal, and does what is planned. What cannot be done is taken back.
func (rs *runner) perform(
	ctx context.Context, root worktreefs.Dir, c *capture.Capture, r *request, res *Result,
) (*Result, error) {
	j := &r.Journal
	durable, err := rs.MakeStage(root, j.Stage)
	if err != nil {
		c.Discard()
		return nil, err
	}
	rs.progress(ctx)("storing what is there", 0, 0)
	res.Safety, err = rs.CommitSafety(ctx, c, j, r.saveOn, r.options.Tag)
	stageErr := durable()
	if err != nil {
		_ = rs.removeStage(root, j.Stage) // empty; who finds a journal after all makes it again
		if gone := rs.checkRoot(root); gone != nil {
			err = gone
		}
		return nil,
			&TakenBackError{Cause: &value.OpError{Op: "safety checkpoint of", Subject: rs.log.Project.Root, Err: err}}
	}
	if r.saveOn != "" {
		res.Saved = res.Safety
	}
	c.Get.Getter, j.Trees = rs.log.Objs, c.Get
	if err = stageErr; err == nil {
		j.Staged = true
		err = rs.applyAndRecord(ctx, root, j, res)
	}
	if err != nil {
		return nil, rs.takeBack(ctx, root, j, res, err)
	}
	rs.notifyAgents(ctx, r.options.Env, j, res.changedFiles(), res.Conversation)
	res.adoptPerms()
	return res, nil
}

// CommitSafety makes the captured state a checkpoint, in one durable batch with the journal. It is a step of the
// session on; if on is "", it is on no branch. It gets the given tag ("": none). From here on the restore is finished
// or taken back, by whichever process comes next. c is committed, or discarded with an error.
func (rs *runner) CommitSafety(
	ctx context.Context, c *capture.Capture, j *model.Journal, on, tag string,
) (*model.Checkpoint, error) {
	session, cause := on, model.Cause{Event: model.EventUndo, Message: "unsaved changes before " + j.Kind.String()}
	var err error
	if on == "" {
		cause = model.Cause{Event: model.EventSafety, Message: "before " + j.Kind.String()}
		session, err = rs.leaves(j)
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	cur, err := rs.sessions.Current(session)
	if err == nil {
		err = c.FlushCache()
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	cp, err := rs.worktree.NewStep(c, session, cur, cause)
	if err != nil {
		c.Discard()
		return nil, err
	}
	du := kv.Durable
	return rs.worktree.CommitCapture(ctx, c, cp, du,
		func(cp *model.Checkpoint) ([]refs.Operation, []refs.Update, error) {
			first, updates := refs.Operation{Kind: refs.KindSafety}, []refs.Update(nil)
			if on != "" {
				if first, updates, err = rs.worktree.Advance(cp); err != nil {
					return nil, nil, err
				}
			}
			ops := []refs.Operation{first}
			if tag != "" {
				op := history.TagOperation(tag, objstore.ID{}, cp.ID)
				op.Time = cp.Time.UnixMilli()
				ops, updates = append(ops, op), append(updates, conversation.UpdatesOf(op.Changes)...)
			}
			if j.Safety = cp.ID; on != "" && on == j.Session {
				j.Before = cp.ID
			}
			rs.log.BeginRestore()
			return ops, updates, c.Tx.Batch().Set(model.JournalKey, j.Encode())
		})
}

// leaves is the session whose state a restore leaves: the one on which the project stands, where that is on another
// branch than the restore's own.
func (rs *runner) leaves(j *model.Journal) (string, error) {
	goes := j.Kind == refs.KindSwitch || j.Kind == refs.KindCheckout && len(j.Paths) == 0
	if !goes {
		return j.Session, nil
	}
	at, err := rs.sessions.Position()
	if err == nil && j.Kind == refs.KindCheckout && at.Branch == j.Session {
		return j.Session, nil
	}
	return at.Session, err
}

// applyAndRecord applies the journal's steps, sets its session files and records the operation.
func (rs *runner) applyAndRecord(ctx context.Context, root worktreefs.Dir, j *model.Journal, res *Result) error {
	if err := rs.checkRoot(root); err != nil {
		return err
	}
	if err := rs.Apply(ctx, root, j, j.Steps, res); err != nil {
		return err
	}
	if err := rs.checkRoot(root); err != nil {
		return err
	}
	kept, err := conversation.SetSessions(rs.log.Objs, j.Folders, j.Files, false)
	if err != nil && j.NeedsConversation {
		return err
	}
	if err != nil {
		kept = nil
		rs.dropConversation(j, res, err)
	}
	if res.Conversation != nil {
		res.Conversation.Kept = append(res.Conversation.Kept, kept...)
	}
	done := j.Restore
	done.Changed, done.Kept, done.Fork = res.Changed, j.Kept+len(res.Conflicts), j.Made.NameOf()
	done.Files = append(withoutKept(j.Files, kept), j.KeptFiles...)
	return rs.syncAndFinish(ctx, root,
		refs.Operation{Kind: j.Kind, Session: j.Session, Restore: &done, Message: j.Message()}, j, res)
}

// changedPaths is how many paths so many of some steps have changed: a renamed file is one, as in the list of changes.
func changedPaths(steps []tree.Change, done int) int {
	renames, _ := tree.Renames(steps)
	return max(done-len(renames), 0)
}

// syncAndFinish is finish beside a sync of the directories that held the stage. Whether the stage is gone for good does
// not matter: one that comes back after a power cut holds nothing that is not stored.
func (rs *runner) syncAndFinish(
	ctx context.Context, root worktreefs.Dir, op refs.Operation, j *model.Journal, res *Result,
) error {
	if list, err := rs.StageDirs(root); err == nil {
		for _, stages := range list {
			if dir, err := stages.Open(); err == nil {
				wait := rs.syncInBackground(dir)
				defer func() { _ = wait() }()
			}
			stages.Close()
		}
	}
	return rs.finish(ctx, op, j, res)
}

// withoutKept are the files that were set: those of files whose path is not in kept.
func withoutKept(files []refs.File, kept []string) []refs.File {
	return slices.DeleteFunc(slices.Clone(files), func(f refs.File) bool { return slices.Contains(kept, f.Path) })
}

// Apply carries out steps in the worktree, and adds to res what became of them. The journal's stage is made if it is
// not there, and removed unless it holds the bytes of a racing edit.
func (rs *runner) Apply(
	ctx context.Context, root worktreefs.Dir, j *model.Journal, steps []tree.Change, res *Result,
) error {
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
	stages, err := rs.stageDirOf(root, j.Stage)
	if err != nil {
		return err
	}
	defer stages.Close()
	stage, err := worktreefs.OpenPath(stages.base, stages.pathOf(j.Stage))
	if err != nil {
		return rs.restoreError(err)
	}
	defer stage.Close()
	safety, err := rs.log.Checkpoint(j.Safety)
	if err != nil {
		return err
	}
	done, err := apply.Run(ctx, apply.Options{
		Root: root, Stage: stage, Op: j.Stage, Steps: steps, Stays: oplog.NewLookups(rs.log.Objs, safety.Tree).Find,
		Open:     func(id objstore.ID) (io.ReadCloser, error) { return rs.log.Objs.Open(id) },
		Progress: rs.progress(ctx),
	})
	res.Changed = changedPaths(steps, done.Done)
	res.KeptDirs = slices.DeleteFunc(done.KeptDirs, res.Plan.isIgnored)
	res.Conflicts = append(res.Conflicts, done.Conflicts...)
	res.Without, res.perms = append(res.Without, done.Without...), done.Perms
	if err != nil {
		return rs.restoreError(err)
	}
	j.Staged = false
	if err := rs.removeStage(root, j.Stage); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
		return rs.restoreError(err)
	}
	return nil
}

// finish records the operation of a restore and deletes the journal, in one durable batch.
func (rs *runner) finish(ctx context.Context, op refs.Operation, j *model.Journal, res *Result) error {
	rs.log.ForgetHead()
	c := rs.log.Begin()
	left, err := rs.completeOperation(c.Tx, &op, j, res)
	if err != nil {
		c.Discard()
		return err
	}
	if op.Kind == refs.KindAbort {
		j = &model.Journal{} // none of the journal's session records is written
	}
	res.Operation, err = rs.commitOperation(ctx, c, op, j, left)
	return err
}

// completeOperation adds to the operation of a restore the refs that it moves and the tree that it leaves, and returns
// the session records whose Left changes with it.
func (rs *runner) completeOperation(tx *objstore.Tx, op *refs.Operation, j *model.Journal, res *Result) (left []*model.Session,
	err error,
) {
	if op.Kind == refs.KindAbort {
		return nil, nil
	}
	if op.Kind.Manages() {
		return rs.manager.Records(j.Managed, j.Files)
	}
	if j.Before != j.After {
		op.Changes = []refs.Change{{Name: refs.Cursor(j.Session), Old: j.Before, New: j.After}}
	}
	if left, err = rs.leftRecords(j); err != nil {
		return nil, err
	}
	also, err := rs.otherRefChanges(j, op.Changes)
	if err != nil {
		return nil, err
	}
	op.Changes = append(op.Changes, also...)
	if j.Made != nil {
		at := j.Aim()
		if j.ContextOnly {
			at = j.Before // the code stays what it is
		}
		op.Changes = append(op.Changes, rs.newSessionRefs(j.Made.Name, at)...)
	}
	return left, rs.setResultTree(tx, op, j, res)
}

// commitOperation puts an operation into the log, with what the change has and the session records that change, and
// deletes the journal: one durable batch. The files are written by now, so an interrupt of ctx does not stop it. With
// an error the change is given up.
func (rs *runner) commitOperation(
	ctx context.Context, c *oplog.Change, op refs.Operation, j *model.Journal, left []*model.Session,
) (*refs.Operation, error) {
	op.Time = rs.log.Now().UnixMilli()
	var changed []string
	done, err := c.Commit(context.WithoutCancel(ctx), kv.Durable,
		func(seq uint64) (refs.Operation, []refs.Update, error) {
			err := j.Changed(seq, left, func(s *model.Session) error {
				c.SetSession(s)
				changed = append(changed, s.Name)
				return nil
			})
			if err != nil {
				return op, nil, err
			}
			return op, conversation.UpdatesOf(op.Changes), c.Tx.Batch().Delete(model.JournalKey)
		})
	if err != nil {
		return nil, err
	}
	for _, name := range changed {
		delete(rs.conversations.Files, name)
	}
	return done, nil
}
