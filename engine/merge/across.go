package merge

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/tree"
)

// A change of another worktree of the family is looked up there, under the lock of that log, and brought here under
// this one's; both are never held. In between it is a list of paths and of ids of objects. Of the other store only
// these objects are read: no journal, no operation and no session of it is known to what is done here. What is laid out
// is put into the transaction of the safety checkpoint first, hashed on the way, so that from then on nothing depends
// on the other store.

// Lend looks a change up for another worktree. The log's lock is not held.
func (m *Merger) Lend(ctx context.Context, o Ask) (*Change, error) {
	defer m.log.Hold()()
	if err := m.log.LoadSessions(); err != nil {
		return nil, err
	}
	ch, err := m.ChangeOf(ctx, o)
	if err != nil {
		return nil, m.log.AsBeside(err)
	}
	ch.from, ch.Lent = m.log, ch.Of
	ch.Name += " in " + m.log.Project.Root
	return ch, nil
}

// Borrow takes a change that another worktree has lent. It has a checkpoint of here, since none of there is in this
// log: the current one of a session's branch.
func (m *Merger) Borrow(ch *Change, branch string) (err error) {
	if ch.Of, err = m.sessions.Current(branch); err == nil && ch.Of == nil {
		err = model.Usagef("no checkpoint is here yet: 'rewind save' makes one")
	}
	return err
}

// gone is why the content of an entry can not be brought; "": it can.
func (m *merging) gone(ent *tree.Entry) (value.KeptReason, error) {
	return m.log.GoneBeside(m.from, ent)
}

// borrow has the content of what a path becomes in the capture's transaction, or in the store.
func (m *merging) borrow(to *tree.Entry) error {
	if m.from == nil || to == nil || isDir(to) {
		return nil
	}
	return m.log.Borrow(m.capture.Tx, m.from, to)
}
