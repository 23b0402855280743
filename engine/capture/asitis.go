package capture

import (
	"context"

	"rewind/engine/model"
)

// AsItIs is the worktree as it is now: the checkpoint that it stands on, where nothing is unsaved, else a checkpoint
// that no operation names. No list has that one and nothing stands on it; gc takes it, unless its maker pins it. Its
// changes are told against the state before, and it needs no other checkpoint.
func (wt *Worktree) AsItIs(ctx context.Context, p model.Progress) (*model.Checkpoint, error) {
	defer wt.log.Hold()()
	if err := wt.log.CheckWhole(); err != nil {
		return nil, err
	}
	from, err := wt.standsOn()
	if err != nil {
		return nil, err
	}
	root, err := wt.log.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c, err := wt.Capture(ctx, root, Options{Full: true, Progress: p})
	if err != nil {
		return nil, err
	}
	cp, err := wt.unnamed(c, from)
	if err == nil {
		err = c.FlushCache()
	}
	if err != nil {
		c.Discard()
		return nil, err
	}
	return cp, c.keepCache(ctx)
}

// standsOn is the checkpoint that the worktree stands on: the newest state that is known, or else the current
// session's; nil before the first.
func (wt *Worktree) standsOn() (*model.Checkpoint, error) {
	head, err := wt.log.Head()
	if err != nil {
		return nil, err
	}
	if !head.Checkpoint.IsZero() {
		return wt.log.Checkpoint(head.Checkpoint)
	}
	at, err := wt.sessions.Position()
	if err != nil {
		return nil, err
	}
	return wt.sessions.Current(at.Session)
}

// unnamed is from where a capture has nothing that it lacks, else a checkpoint of the capture, put into its
// transaction. Its place in the log is from's, which a repair believes.
func (wt *Worktree) unnamed(c *Capture, from *model.Checkpoint) (*model.Checkpoint, error) {
	same, err := wt.sameState(from, c)
	if err != nil || same {
		return from, err
	}
	cp, err := wt.newCheckpoint(c, model.Manual, nil, model.Cause{Event: model.EventSafety, Message: "unsaved changes"})
	if err != nil || from == nil {
		return cp, err
	}
	cp.Session, cp.Base = from.Session, from.Tree
	return cp, wt.log.PutCheckpoint(c.Tx, cp, from.Seq)
}
