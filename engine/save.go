package engine

import (
	"context"
	"fmt"
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
	Skips      []tree.Skip
}

// Save takes a checkpoint of the worktree and adds it to the manual branch; it is durable when Save returns. An
// unchanged tree makes no new checkpoint.
func (e *Engine) Save(ctx context.Context, message string, p Progress) (*SaveResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	return e.step(ctx, Cause{Event: EventSave, Message: message}, p)
}

// FirstCheckpoint takes the checkpoint that an initialised project begins with, unless it has one.
func (e *Engine) FirstCheckpoint(ctx context.Context, p Progress) (*SaveResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	cur, err := e.current()
	if err != nil {
		return nil, err
	}
	if cur != nil {
		skips, err := e.note(cur)
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: skips}, err
	}
	return e.step(ctx, Cause{Event: EventInit}, p)
}

// step captures the worktree as the next step of the manual branch.
func (e *Engine) step(ctx context.Context, cause Cause, p Progress) (*SaveResult, error) {
	cur, err := e.current()
	if err != nil {
		return nil, err
	}
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var prev objstore.ID
	if cur != nil {
		prev = cur.Tree
	}
	c, err := e.capture(ctx, root, prev, nil, p)
	if err != nil {
		return nil, err
	}
	if err := c.flushCache(); err != nil {
		c.tx.Discard()
		return nil, err
	}
	same, err := e.sameState(cur, c)
	if err != nil {
		c.tx.Discard()
		return nil, err
	}
	if same {
		// Only the stat cache is new; losing it costs a second read of some files.
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: c.res.Skips}, c.tx.Commit(ctx, kv.Written)
	}
	cp, err := e.commitStep(ctx, c, cur, cause)
	return &SaveResult{Checkpoint: cp, Skips: c.res.Skips}, err
}

// sameState reports whether a capture holds nothing that cur does not hold: the same tree, and the same secret files as
// far as their hashes tell. Other entries of the note say nothing about content.
func (e *Engine) sameState(cur *Checkpoint, c *capture) (bool, error) {
	if cur == nil || cur.Tree != c.res.Root {
		return false, nil
	}
	if cur.Note == c.note {
		return true, nil
	}
	old, err := e.note(cur)
	return len(changedSecrets(old, c.res.Skips)) == 0 && len(changedSecrets(c.res.Skips, old)) == 0, err
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

// commitStep makes the capture the next step after cur: branch and cursor of the session move to it.
func (e *Engine) commitStep(ctx context.Context, c *capture, cur *Checkpoint, cause Cause) (*Checkpoint, error) {
	cp, err := e.newCheckpoint(c, cur, cause)
	if err != nil {
		c.tx.Discard()
		return nil, err
	}
	cp.Session = Manual
	var before objstore.ID
	if cur != nil {
		before = cur.ID
	}
	_, err = e.refs.Commit(ctx, c.tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		if err := e.putCheckpoint(c.tx, cp, seq); err != nil {
			return refs.Operation{}, nil, err
		}
		op := refs.Operation{Time: cp.Time.UnixMilli(), Kind: refs.KindCheckpoint, Session: Manual, Checkpoint: cp.ID}
		tip, err := e.refs.ID(refs.Session(Manual))
		if err != nil {
			return op, nil, err
		}
		if tip != before {
			// A step that begins elsewhere than at the tip leaves the later steps behind; the log says where they are.
			op.Changes = []refs.Change{{Name: refs.Session(Manual), Old: tip, New: cp.ID}}
		}
		return op, []refs.Update{
			{Name: refs.Session(Manual), Old: tip, New: cp.ID},
			{Name: refs.Cursor(Manual), Old: before, New: cp.ID},
		}, nil
	})
	if err != nil {
		c.tx.Discard()
		return nil, err
	}
	return cp, nil
}

// newCheckpoint fills in everything but session and sequence.
func (e *Engine) newCheckpoint(c *capture, parent *Checkpoint, cause Cause) (*Checkpoint, error) {
	cp := &Checkpoint{
		Time: e.now().Truncate(time.Millisecond), Tree: c.res.Root, Note: c.note, Cause: cause, Git: c.git,
		Counts: Counts{Files: c.res.Files + c.res.Links, Bytes: c.res.Bytes, Skipped: len(c.res.Skips)},
	}
	var from objstore.ID
	if parent != nil {
		cp.Parents, from = []objstore.ID{parent.ID}, parent.Tree
	}
	err := tree.Diff(c.tx, from, cp.Tree, func(ch tree.Change) error {
		cp.Counts.add(ch)
		return nil
	})
	return cp, err
}

// add counts one change; directories do not count.
func (n *Counts) add(ch tree.Change) {
	switch {
	case isFile(ch.Old) && isFile(ch.New):
		n.Modified++
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
	return decodeCheckpoint(id, raw)
}

// current is the checkpoint that the worktree stands on; nil before the first.
func (e *Engine) current() (*Checkpoint, error) {
	id, err := e.refs.ID(refs.Cursor(Manual))
	if err != nil || id.IsZero() {
		return nil, err
	}
	return e.checkpoint(id)
}

// note reads what a checkpoint skipped.
func (e *Engine) note(cp *Checkpoint) ([]tree.Skip, error) {
	if cp.Note.IsZero() {
		return nil, nil
	}
	raw, err := e.objs.Get(objstore.Note, cp.Note)
	if err != nil {
		return nil, fmt.Errorf("engine: note of checkpoint: %w", err)
	}
	return tree.DecodeNote(raw)
}
