package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	Uncaptured []tree.Skip // files that the checkpoint before holds and this one does not, though they are there
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
	c, err := e.capture(ctx, root, captureOptions{prev: treeOf(cur), progress: p})
	if err != nil {
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
		// Only the stat cache is new; losing it costs a second read of some files.
		if err := c.tx.Commit(ctx, kv.Written); err != nil {
			c.discard()
			return nil, err
		}
		c.committed()
		return &SaveResult{Checkpoint: cur, Unchanged: true, Skips: c.res.Skips}, nil
	}
	cp, err := e.commitStep(ctx, c, cur, cause, nil)
	if err != nil {
		return nil, err
	}
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
	var out []tree.Skip
	err := tree.Diff(e.objs, a, b, func(ch tree.Change) error {
		if s, ok := covering(skips, ch.Path); ok && ch.New == nil && isFile(ch.Old) {
			out = append(out, tree.Skip{Path: ch.Path, Reason: s.Reason})
		}
		return nil
	})
	return out, err
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

// Visible leaves out of a note repositories' own directories and ours: that they are not captured goes without saying.
func Visible(skips []tree.Skip) []tree.Skip {
	return slices.DeleteFunc(slices.Clone(skips), func(s tree.Skip) bool {
		_, name := tree.Split(s.Path)
		own := strings.EqualFold(name, ".git") || s.Path == markerDir || strings.HasSuffix(s.Path, "/"+markerDir) || strings.HasPrefix(name, tree.StagePrefix)
		return own && s.Reason == tree.ReasonBuiltin
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

// commitStep makes the capture the next step after cur: branch and cursor of the session move to it, durably. with adds
// to the same batch, once the checkpoint has its id. On an error the capture is discarded.
func (e *Engine) commitStep(ctx context.Context, c *capture, cur *Checkpoint, cause Cause, with func(*Checkpoint) error) (*Checkpoint, error) {
	var before objstore.ID
	if cur != nil {
		before = cur.ID
	}
	return e.commitCapture(ctx, c, cur, cause, func(cp *Checkpoint) (refs.Operation, []refs.Update, error) {
		op := refs.Operation{Kind: refs.KindCheckpoint}
		tip, err := e.refs.ID(refs.Session(Manual))
		if err != nil {
			return op, nil, err
		}
		if tip != before {
			// A step that begins elsewhere than at the tip leaves the later steps behind; the log says where they are.
			op.Changes = []refs.Change{{Name: refs.Session(Manual), Old: tip, New: cp.ID}}
		}
		if with != nil {
			if err := with(cp); err != nil {
				return op, nil, err
			}
		}
		return op, []refs.Update{
			{Name: refs.Session(Manual), Old: tip, New: cp.ID},
			{Name: refs.Cursor(Manual), Old: before, New: cp.ID},
		}, nil
	})
}

// commitCapture makes the capture a checkpoint after parent, durably, with the operation and the updates that prepare
// gives. On an error the capture is discarded.
func (e *Engine) commitCapture(ctx context.Context, c *capture, parent *Checkpoint, cause Cause,
	prepare func(*Checkpoint) (refs.Operation, []refs.Update, error),
) (*Checkpoint, error) {
	cp, err := e.newCheckpoint(c, parent, cause)
	if err == nil {
		cp.Session = Manual
		_, err = e.refs.Commit(ctx, c.tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
			if err := e.putCheckpoint(c.tx, cp, seq); err != nil {
				return refs.Operation{}, nil, err
			}
			op, updates, err := prepare(cp)
			op.Time, op.Session, op.Checkpoint = cp.Time.UnixMilli(), Manual, cp.ID
			return op, updates, err
		})
	}
	if err != nil {
		c.discard()
		return nil, err
	}
	c.committed()
	return cp, nil
}

// newCheckpoint fills in everything but session and sequence.
func (e *Engine) newCheckpoint(c *capture, parent *Checkpoint, cause Cause) (*Checkpoint, error) {
	cp := &Checkpoint{
		Time: e.now().Truncate(time.Millisecond), Tree: c.res.Root, Note: c.note, Cause: cause, Git: c.git,
		Counts: Counts{Files: c.res.Files + c.res.Links, Bytes: c.res.Bytes, Skipped: len(Visible(c.res.Skips))},
	}
	if parent != nil {
		cp.Parents = []objstore.ID{parent.ID}
	}
	err := tree.Diff(c.get, treeOf(parent), cp.Tree, func(ch tree.Change) error {
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
