package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Manual is the session of everything that no agent did.
const Manual = "manual"

// SaveResult is what Save did.
type SaveResult struct {
	Checkpoint *Checkpoint // the new one, or the current one when nothing changed
	Unchanged  bool
	Noted      bool // of an unchanged one: the message was put on it
	Skips      []tree.Skip
	Uncaptured []tree.Skip // files that the checkpoint before holds and this one does not, though they are there
}

// Save takes a checkpoint of the worktree and adds it to the branch of the current session, or of the named one; it is
// durable when Save returns. An unchanged tree makes no new checkpoint: the message is put on the one that is there.
func (e *Engine) Save(ctx context.Context, session, message string, p Progress) (*SaveResult, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	on, err := e.session(Whose{Session: session, Choose: true})
	if err != nil {
		return nil, err
	}
	r, err := e.step(ctx, on, Cause{Event: EventSave, Message: message}, p)
	if err == nil && r.Unchanged && message != "" {
		r.Noted, err = e.putMessage(ctx, r.Checkpoint, message)
	}
	return r, err
}

// FirstCheckpoint takes the checkpoint that an initialised project begins with, unless it has one.
func (e *Engine) FirstCheckpoint(ctx context.Context, p Progress) (*SaveResult, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	at, err := e.position()
	if err != nil {
		return nil, err
	}
	cur, err := e.current(at.Session)
	if err != nil {
		return nil, err
	}
	if cur != nil {
		skips, err := e.note(cur)
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: skips}, err
	}
	return e.step(ctx, Manual, Cause{Event: EventInit}, p)
}

// step captures the worktree as the next step of a session's branch.
func (e *Engine) step(ctx context.Context, session string, cause Cause, p Progress) (*SaveResult, error) {
	cur, err := e.current(session)
	if err != nil {
		return nil, err
	}
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	judge := e.newLeakJudge(ctx)
	c, err := e.capture(ctx, root, captureOptions{full: true, leaks: judge, progress: p})
	if err != nil {
		return nil, err
	}
	if err := judge.flag(c); err != nil {
		c.discard()
		return nil, err
	}
	if err := c.flushCache(); err != nil {
		c.discard()
		return nil, err
	}
	same, err := e.sameState(cur, c)
	if err != nil {
		c.discard()
		return nil, err
	}
	if same {
		if err := c.keepCache(ctx); err != nil {
			return nil, err
		}
		judge.committed()
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: c.res.Skips}, nil
	}
	cp, err := e.commitStep(ctx, c, kv.Durable, session, cur, cause, nil)
	if err != nil {
		return nil, err
	}
	judge.committed()
	r := &SaveResult{Checkpoint: cp, Skips: c.res.Skips}
	r.Uncaptured, err = e.uncaptured(treeOf(cur), cp.Tree, c.res.Skips)
	return r, err
}

// treeOf is the tree of a checkpoint, zero for none.
func treeOf(cp *Checkpoint) objstore.ID {
	if cp == nil {
		return objstore.ID{}
	}
	return cp.Tree
}

// uncaptured lists the files that a has and b does not, although they are still there: skipped since.
func (e *Engine) uncaptured(a, b objstore.ID, skips []tree.Skip) ([]tree.Skip, error) {
	if a.IsZero() {
		return nil, nil
	}
	var out []tree.Skip
	err := tree.Diff(e.objs, a, b, func(ch tree.Change) error {
		if s, ok := covering(skips, ch.Path); ok && ch.New == nil && isFile(ch.Old) {
			out = append(out, tree.Skip{Path: ch.Path, Reason: s.Reason})
		}
		return nil
	})
	return out, err
}

// sameState reports whether a capture holds nothing that a checkpoint does not hold; nil holds nothing.
func (e *Engine) sameState(cur *Checkpoint, c *capture) (bool, error) {
	if cur == nil {
		return false, nil
	}
	return e.same(head{tree: cur.Tree, note: cur.Note}, c)
}

// same reports whether a capture holds nothing that the state h does not hold: the same tree, and the same secret files as
// far as their hashes tell. Other entries of the note say nothing about content.
func (e *Engine) same(h head, c *capture) (bool, error) {
	if h.tree != c.res.Root {
		return false, nil
	}
	if h.note == c.note {
		return true, nil
	}
	old, err := e.noteOf(h.note)
	return len(changedSecrets(old, c.res.Skips)) == 0 && len(changedSecrets(c.res.Skips, old)) == 0, err
}

// Visible leaves out of a note the project's own git directory and ours: that they are not captured goes without saying. Those of others,
// a name that some file system takes for git's, and what a restore has left are listed.
func Visible(skips []tree.Skip) []tree.Skip {
	return slices.DeleteFunc(slices.Clone(skips), func(s tree.Skip) bool {
		return s.Reason == tree.ReasonBuiltin && (s.Path == gitDir || s.Path == markerDir)
	})
}

// changedSecrets lists the secret files of now that were not there before, or with another hash.
func changedSecrets(before, now []tree.Skip) map[string]bool {
	was := map[tree.Skip]bool{}
	for _, s := range before {
		was[s] = true
	}
	out := map[string]bool{}
	for _, s := range now {
		if s.Reason == tree.ReasonSecret && !was[s] {
			out[s.Path] = true
		}
	}
	return out
}

// commitStep makes the capture the next step of session after cur: its branch and cursor move to it. with adds
// to the same batch, once the checkpoint has its id. On an error the capture is discarded.
func (e *Engine) commitStep(ctx context.Context, c *capture, du kv.Durability, session string, cur *Checkpoint, cause Cause, with func(*Checkpoint) error) (*Checkpoint, error) {
	cp, err := e.newStep(c, session, cur, cause)
	if err != nil {
		c.discard()
		return nil, err
	}
	return e.commitCapture(ctx, c, cp, du, func(cp *Checkpoint) ([]refs.Operation, []refs.Update, error) {
		op, updates, err := e.advance(cp)
		if err == nil && with != nil {
			err = with(cp)
		}
		return []refs.Operation{op}, updates, err
	})
}

// newStep is newCheckpoint for a step that no event made: changed by whoever has a call running, in the session's turn.
func (e *Engine) newStep(c *capture, session string, cur *Checkpoint, cause Cause) (*Checkpoint, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	cp, err := e.newCheckpoint(c, session, cur, cause)
	if err != nil {
		return nil, err
	}
	was, err := e.head()
	if err != nil {
		return nil, err
	}
	if cp.By, cp.Owned, err = e.whose(c, was.tree, e.openCalls()); err != nil {
		return nil, err
	}
	if s := e.sessions[session]; s != nil {
		now := *s
		now.Problem = problem(e.follow(c.tx, &now, personRead))
		c.session = &now
		cp.Cause.Turn, cp.Cause.Prompt, cp.Mark = s.Turn, s.Prompt, now.Cursor.Mark
	}
	return cp, nil
}

// personRead is how many bytes of a session file a person waits for.
const personRead = 256 << 20

// advance is the operation that makes a checkpoint the newest step of its session.
func (e *Engine) advance(cp *Checkpoint) (refs.Operation, []refs.Update, error) {
	op := refs.Operation{Kind: refs.KindCheckpoint, Turn: cp.Cause.Turn, Cause: refs.Cause{Event: cp.Cause.Event}}
	branch, cursor := refs.Session(cp.Session), refs.Cursor(cp.Session)
	tip, err := e.refs.ID(branch)
	if err != nil {
		return op, nil, err
	}
	at, err := e.refs.ID(cursor)
	if err != nil {
		return op, nil, err
	}
	var parent objstore.ID
	if len(cp.Parents) > 0 {
		parent = cp.Parents[0]
	}
	// What does not move from the first parent to the checkpoint is told: the steps left behind by one that begins elsewhere
	// than at the tip are there.
	if tip != parent {
		op.Changes = append(op.Changes, refs.Change{Name: branch, Old: tip, New: cp.ID})
	}
	if at != parent {
		op.Changes = append(op.Changes, refs.Change{Name: cursor, Old: at, New: cp.ID})
	}
	return op, []refs.Update{{Name: branch, Old: tip, New: cp.ID}, {Name: cursor, Old: at, New: cp.ID}}, nil
}

// commitCapture stores the capture as a checkpoint with the operations and updates that prepare gives, the first of which is
// its own. On an error the capture is discarded.
func (e *Engine) commitCapture(ctx context.Context, c *capture, cp *Checkpoint, du kv.Durability,
	prepare func(*Checkpoint) ([]refs.Operation, []refs.Update, error),
) (*Checkpoint, error) {
	_, err := e.refs.CommitAll(ctx, c.tx, du, func(seq uint64) ([]refs.Operation, []refs.Update, error) {
		if err := e.putCheckpoint(c.tx, cp, seq); err != nil {
			return nil, nil, err
		}
		ops, updates, err := prepare(cp)
		if err == nil {
			op := &ops[0]
			op.Time, op.Session, op.Checkpoint = cp.Time.UnixMilli(), cp.Session, cp.ID
			if c.session != nil {
				err = c.tx.Batch().Set(sessionKey(c.session.Name), c.session.encode())
			}
		}
		return ops, updates, err
	})
	if err != nil {
		c.discard()
		return nil, err
	}
	c.committed()
	e.flushRest(ctx)
	if c.session != nil {
		e.sessions[c.session.Name] = c.session
	}
	if cp.Cause.Event == EventSafety {
		return cp, nil // on no branch: what is in it and in no step stays unsaved
	}
	e.known = &head{tree: cp.Tree, note: cp.Note, checkpoint: cp.ID}
	return cp, nil
}

// newCheckpoint fills in everything but the sequence and who changed it.
func (e *Engine) newCheckpoint(c *capture, session string, parent *Checkpoint, cause Cause) (*Checkpoint, error) {
	was, err := e.head()
	if err != nil {
		return nil, err
	}
	cp := &Checkpoint{
		Time: e.now().Truncate(time.Millisecond), Session: session, Tree: c.res.Root, Note: c.note, Cause: cause, Git: c.git,
		Counts: Counts{Files: c.res.Files + c.res.Links, Bytes: c.res.Bytes, Skipped: len(Visible(c.res.Skips))},
	}
	if parent != nil {
		cp.Parents = []objstore.ID{parent.ID}
	}
	if was.tree != treeOf(parent) {
		cp.Base = was.tree
	}
	if was.tree.IsZero() { // everything was added: no tree need be read for that
		cp.Counts.Added = c.res.Files + c.res.Links
		return cp, nil
	}
	err = c.changes(was.tree, func(ch tree.Change) error {
		if _, skipped := covering(c.res.Skips, ch.Path); !skipped || ch.New != nil {
			cp.Counts.add(ch) // what is skipped now is not deleted
		}
		return nil
	})
	return cp, err
}

// add counts one change; directories that come and go do not count.
func (n *Counts) add(ch tree.Change) {
	switch {
	case isFile(ch.Old) && isFile(ch.New), ch.Old != nil && ch.New != nil && ch.Old.Type == ch.New.Type:
		n.Modified++ // a directory's permission bits, too
	case isFile(ch.New):
		n.Added++
	case isFile(ch.Old):
		n.Deleted++
	}
}

func isFile(e *tree.Entry) bool { return e != nil && e.Type != tree.TypeDir }

func (e *Engine) putCheckpoint(tx *objstore.Tx, cp *Checkpoint, seq uint64) error {
	cp.Seq = seq
	var prev objstore.ID
	if len(cp.Parents) > 0 {
		prev = cp.Parents[0]
	}
	id, err := tx.Put(objstore.Checkpoint, cp.encode(), prev)
	cp.ID = id
	return err
}

// checkpoint reads one checkpoint.
func (e *Engine) checkpoint(id objstore.ID) (*Checkpoint, error) {
	raw, err := e.objs.Get(objstore.Checkpoint, id)
	if err != nil {
		return nil, fmt.Errorf("engine: checkpoint: %w", err)
	}
	return e.orphaned(e.grafted(decodeCheckpoint(id, raw)))
}

// checkpoints reads checkpoints as checkpoint does, many of a line one after the other.
func (e *Engine) checkpoints() func(objstore.ID) (*Checkpoint, error) {
	return e.checkpointsBy(e.objs.Memo(objstore.Checkpoint))
}

func (e *Engine) checkpointsBy(memo *objstore.Memo) func(objstore.ID) (*Checkpoint, error) {
	return func(id objstore.ID) (*Checkpoint, error) {
		raw, err := memo.Get(id)
		if err != nil {
			return nil, fmt.Errorf("engine: checkpoint: %w", err)
		}
		return e.orphaned(e.grafted(decodeCheckpoint(id, raw)))
	}
}

// note reads what a checkpoint skipped.
func (e *Engine) note(cp *Checkpoint) ([]tree.Skip, error) { return e.noteOf(cp.Note) }

func (e *Engine) noteOf(id objstore.ID) ([]tree.Skip, error) {
	if id.IsZero() {
		return nil, nil
	}
	raw, err := e.objs.Get(objstore.Note, id)
	if err != nil {
		return nil, fmt.Errorf("engine: note of checkpoint: %w", err)
	}
	return tree.DecodeNote(raw)
}
