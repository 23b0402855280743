package capture

import (
	"context"
	"slices"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// SaveResult is the result of Save.
type SaveResult struct {
	Checkpoint *model.Checkpoint // the new one, or the current one when nothing changed
	Unchanged  bool
	Noted      bool // Checkpoint is unchanged, and the message was put on it
	Skips      []tree.Skip
	Uncaptured []tree.Skip // files on disk that the checkpoint before has and this one does not
}

// Save takes a checkpoint of the worktree and adds it to the branch of the current session, or of the named one; it is
// durable when Save returns. An unchanged tree makes no new checkpoint: the message is put on the one that is there.
func (wt *Worktree) Save(ctx context.Context, session, message string, p model.Progress) (*SaveResult, error) {
	defer wt.log.Hold()()
	if err := wt.log.CheckWhole(); err != nil {
		return nil, err
	}
	on, err := wt.sessions.Session(model.SessionChoice{Session: session, Choose: true})
	if err != nil {
		return nil, err
	}
	r, err := wt.step(ctx, on, model.Cause{Event: model.EventSave, Message: message}, p)
	if err == nil && r.Unchanged && message != "" {
		r.Noted, err = wt.log.PutMessage(ctx, r.Checkpoint, message)
	}
	return r, err
}

// SaveAtTip is Save for work that continues a session's newest state. It saves only if the project is there and nothing
// else has been restored or captured since; otherwise the unsaved changes are not that session's. nil: nothing was
// unsaved, or it stands elsewhere. The log's lock is held.
func (wt *Worktree) SaveAtTip(
	ctx context.Context, session, message string, p model.Progress,
) (*model.Checkpoint, error) {
	at, err := wt.sessions.Position()
	if err != nil || at.Session != session {
		return nil, err
	}
	cur, err := wt.sessions.Current(session)
	if err != nil || cur == nil {
		return nil, err
	}
	if head, err := wt.log.Head(); err != nil || head.Checkpoint != cur.ID {
		return nil, err
	}
	r, err := wt.step(ctx, session, model.Cause{Event: model.EventSave, Message: message}, p)
	if err != nil || r.Unchanged {
		return nil, err
	}
	return r.Checkpoint, nil
}

// FirstCheckpoint takes the checkpoint that an initialised project begins with, unless it has one.
func (wt *Worktree) FirstCheckpoint(ctx context.Context, p model.Progress) (*SaveResult, error) {
	defer wt.log.Hold()()
	if err := wt.log.CheckWhole(); err != nil {
		return nil, err
	}
	at, err := wt.sessions.Position()
	if err != nil {
		return nil, err
	}
	cur, err := wt.sessions.Current(at.Session)
	if err != nil {
		return nil, err
	}
	if cur != nil {
		skips, err := wt.log.Note(cur)
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: skips}, err
	}
	return wt.step(ctx, model.Manual, model.Cause{Event: model.EventInit}, p)
}

// Begin makes the state that is there now the first that a worktree has of its own, whatever that is: the log that it
// began with tells of another directory.
func (wt *Worktree) Begin(ctx context.Context, p model.Progress) error {
	defer wt.log.Hold()()
	if err := wt.log.CheckWhole(); err != nil {
		return err
	}
	_, err := wt.stepOf(ctx, model.Manual, model.Cause{Event: model.EventInit}, true, p)
	return err
}

// step captures the worktree as the next step of a session's branch, unless it is as that has it. The log's lock is
// held.
func (wt *Worktree) step(
	ctx context.Context, session string, cause model.Cause, p model.Progress,
) (*SaveResult, error) {
	return wt.stepOf(ctx, session, cause, false, p)
}

// stepOf is step; always: also where the worktree is as the branch has it.
func (wt *Worktree) stepOf(
	ctx context.Context, session string, cause model.Cause, always bool, p model.Progress,
) (*SaveResult, error) {
	cur, err := wt.sessions.Current(session)
	if err != nil {
		return nil, err
	}
	root, err := wt.log.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	judge := wt.newLeakJudge(ctx)
	c, err := wt.Capture(ctx, root, Options{Full: true, leaks: judge, Progress: p})
	if err != nil {
		return nil, err
	}
	if err := judge.flag(c); err != nil {
		c.Discard()
		return nil, err
	}
	if err := c.FlushCache(); err != nil {
		c.Discard()
		return nil, err
	}
	same, err := wt.sameState(cur, c)
	saved := cause.Event == model.EventSave && !c.Repo // who saves without the repository that was there says so
	if err == nil && same && saved {
		var was *model.Checkpoint
		was, err = wt.lastRepo()
		same = was == nil
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	if same && !always {
		if err := c.keepCache(ctx); err != nil {
			return nil, err
		}
		judge.committed()
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: c.Res.Skips}, nil
	}
	cp, err := wt.commitStep(ctx, c, kv.Durable, session, cur, cause)
	if err != nil {
		return nil, err
	}
	judge.committed()
	r := &SaveResult{Checkpoint: cp, Skips: c.Res.Skips}
	r.Uncaptured, err = wt.uncaptured(TreeOf(cur), cp.Tree, c.Res.Skips)
	return r, err
}

// TreeOf is the tree of a checkpoint, zero for none.
func TreeOf(cp *model.Checkpoint) objstore.ID {
	if cp == nil {
		return objstore.ID{}
	}
	return cp.Tree
}

// uncaptured lists what tree a has and b lacks although it is still on disk: skipped since. Of a directory that is
// skipped there is one line, its own.
func (wt *Worktree) uncaptured(a, b objstore.ID, skips []tree.Skip) ([]tree.Skip, error) {
	if a.IsZero() {
		return nil, nil
	}
	var out []tree.Skip
	err := tree.Diff(wt.log.Objs, a, b, func(ch tree.Change) error {
		s, ok := model.Covering(skips, ch.Path)
		if !ok || ch.New != nil || !model.IsFile(ch.Old) {
			return nil
		}
		if n := len(out); n == 0 || out[n-1].Path != s.Path { // a walk has what is below a directory in a row
			out = append(out, s)
		}
		return nil
	})
	return out, err
}

// sameState reports whether a capture has nothing that a checkpoint lacks; cur nil: an empty one.
func (wt *Worktree) sameState(cur *model.Checkpoint, c *Capture) (bool, error) {
	if cur == nil {
		return false, nil
	}
	return wt.same(oplog.Head{Tree: cur.Tree, Note: cur.Note}, c)
}

// same reports whether a capture has nothing new beside the state h: the same tree, the same secret files by their
// hashes, and no repository that was deleted since. Other entries of the note say nothing about content.
func (wt *Worktree) same(h oplog.Head, c *Capture) (bool, error) {
	if h.Tree != c.Res.Root || wt.lostRepo(c) {
		return false, nil
	}
	if h.Note == c.note {
		return true, nil
	}
	old, err := wt.log.NoteOf(h.Note)
	return len(history.ChangedSecrets(old, c.Res.Skips)) == 0 && len(history.ChangedSecrets(c.Res.Skips, old)) == 0, err
}

// Visible leaves out of a note the project's own git directory and rewind's, which are never captured. Other projects'
// are listed, as are names that some file system takes for git's, and what a restore left. Named paths are captured.
func Visible(skips []tree.Skip) []tree.Skip {
	return slices.DeleteFunc(slices.Clone(skips), func(s tree.Skip) bool {
		own := s.Path == gitDir || s.Path == project.MarkerDir
		return s.IsNamed() || own && s.Reason == tree.ReasonBuiltin
	})
}

// commitStep makes the capture the next step of session after cur: its branch and cursor move there. With an error the
// capture is discarded.
func (wt *Worktree) commitStep(ctx context.Context, c *Capture, du kv.Durability, session string, cur *model.Checkpoint, cause model.Cause,
) (*model.Checkpoint, error) {
	cp, err := wt.NewStep(c, session, cur, cause)
	if err != nil {
		c.Discard()
		return nil, err
	}
	return wt.commitNext(ctx, c, cp, du)
}

// commitNext makes a checkpoint of a capture the next step of its session.
func (wt *Worktree) commitNext(
	ctx context.Context, c *Capture, cp *model.Checkpoint, du kv.Durability,
) (*model.Checkpoint, error) {
	return wt.CommitCapture(ctx, c, cp, du, func(cp *model.Checkpoint) ([]refs.Operation, []refs.Update, error) {
		op, updates, err := wt.Advance(cp)
		return []refs.Operation{op}, updates, err
	})
}

// NewStep is newCheckpoint for a step that no event made. Its authors are the sessions with running calls, its turn is
// the session's.
func (wt *Worktree) NewStep(
	c *Capture, session string, cur *model.Checkpoint, cause model.Cause,
) (*model.Checkpoint, error) {
	if err := wt.log.LoadSessions(); err != nil {
		return nil, err
	}
	cp, err := wt.newCheckpoint(c, session, cur, cause)
	if err != nil {
		return nil, err
	}
	was, err := wt.log.Head()
	if err != nil {
		return nil, err
	}
	if cp.By, cp.Owned, err = wt.attribute(c, was.Tree, wt.OpenCalls()); err != nil {
		return nil, err
	}
	if s := wt.log.Session(session); s != nil {
		if cause.Event == model.EventScan && cp.ChangedBy(session) {
			cp.Cause.Tool, cp.Cause.Call = during(s.Calls)
		}
		now := *s
		now.Problem = conversation.Problem(wt.conversations.Tail(c.Tx, &now, model.PersonRead))
		c.session = &now
		cp.Cause.Turn, cp.Cause.Prompt, cp.Conversation = s.Turn, s.Prompt, now.Cursor.TranscriptEnd
	}
	return cp, nil
}

// Advance is the operation that makes a checkpoint the newest step of its session, with the updates of branch and
// cursor.
func (wt *Worktree) Advance(cp *model.Checkpoint) (refs.Operation, []refs.Update, error) {
	op := refs.Operation{Kind: refs.KindCheckpoint, Turn: cp.Cause.Turn, Cause: refs.Cause{Event: cp.Cause.Event}}
	branch, cursor := refs.Session(cp.Session), refs.Cursor(cp.Session)
	tip, err := wt.log.Refs.ID(branch)
	if err != nil {
		return op, nil, err
	}
	at, err := wt.log.Refs.ID(cursor)
	if err != nil {
		return op, nil, err
	}
	parent := cp.Parent()
	// Only a ref that does not move from the first parent to the checkpoint is told: where it had stood is
	// found there.
	if tip != parent {
		op.Changes = append(op.Changes, refs.Change{Name: branch, Old: tip, New: cp.ID})
	}
	if at != parent {
		op.Changes = append(op.Changes, refs.Change{Name: cursor, Old: at, New: cp.ID})
	}
	return op, []refs.Update{{Name: branch, Old: tip, New: cp.ID}, {Name: cursor, Old: at, New: cp.ID}}, nil
}

// CommitCapture stores the capture as a checkpoint with the operations and updates that prepare returns; the first
// operation is the checkpoint's. With an error the capture is discarded.
func (wt *Worktree) CommitCapture(ctx context.Context, c *Capture, cp *model.Checkpoint, du kv.Durability,
	prepare func(*model.Checkpoint) ([]refs.Operation, []refs.Update, error),
) (*model.Checkpoint, error) {
	change := wt.log.BeginWith(c.Tx)
	if c.session != nil {
		change.SetSession(c.session)
	}
	_, err := change.CommitAll(ctx, du, func(seq uint64) ([]refs.Operation, []refs.Update, error) {
		if err := c.checkRoot(); err != nil {
			return nil, nil, err
		}
		if err := wt.log.PutCheckpoint(c.Tx, cp, seq); err != nil {
			return nil, nil, err
		}
		ops, updates, err := prepare(cp)
		if err == nil {
			op := &ops[0]
			op.Time, op.Session, op.Checkpoint = cp.Time.UnixMilli(), cp.Session, cp.ID
			if cp.Cause.Event != model.EventSafety { // what no step has stays unsaved
				change.SetHead(oplog.Head{Tree: cp.Tree, Note: cp.Note, Checkpoint: cp.ID})
			}
		}
		return ops, updates, err
	})
	if err != nil {
		c.Discard()
		return nil, err
	}
	c.committed()
	wt.flushRest(ctx)
	return cp, nil
}

// newCheckpoint is a checkpoint of the capture, complete but for its sequence and its authors.
func (wt *Worktree) newCheckpoint(
	c *Capture, session string, parent *model.Checkpoint, cause model.Cause,
) (*model.Checkpoint, error) {
	was, err := wt.log.Head()
	if err != nil {
		return nil, err
	}
	cp := &model.Checkpoint{
		Time: wt.log.Now().Truncate(time.Millisecond), Session: session, Tree: c.Res.Root, Note: c.note, Cause: cause,
		Git:    c.Git,
		Counts: model.Counts{Files: c.Res.Files + c.Res.Links, Bytes: c.Res.Bytes, Skipped: len(Visible(c.Res.Skips))},
	}
	if parent != nil {
		cp.Parents = []objstore.ID{parent.ID}
	}
	before := c.before(was)
	if before != TreeOf(parent) {
		cp.Base = before
	}
	if was.Tree.IsZero() { // everything was added: the capture has the counts
		cp.Counts.Added = c.Res.Files + c.Res.Links
		return cp, nil
	}
	err = c.Changes(before, func(ch tree.Change) error {
		if _, skipped := model.Covering(c.Res.Skips, ch.Path); !skipped || ch.New != nil {
			cp.Counts.Add(ch) // a file that is skipped now is not deleted
		}
		return nil
	})
	return cp, err
}
