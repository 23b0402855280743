package oplog

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// Change is a change of the log: objects, an operation, records of sessions and the newest state come into the store
// and into memory together, or into neither. Every operation comes into the log by one. Where it sets more than an
// operation the log's lock is held until it is committed.
type Change struct {
	Tx       *objstore.Tx // what else comes in with it
	log      *Log
	sessions []*model.Session
	head     *Head
	note     *StoredNote
}

// Begin begins a change.
func (l *Log) Begin() *Change { return l.BeginWith(l.Objs.Begin()) }

// BeginWith begins a change with what tx has.
func (l *Log) BeginWith(tx *objstore.Tx) *Change { return &Change{Tx: tx, log: l} }

// SetSession has s be the record of its session, as it is when the change is committed. From then on it is the log's.
func (c *Change) SetSession(s *model.Session) { c.sessions = append(c.sessions, s) }

// SetHead has h be the newest state.
func (c *Change) SetHead(h Head) { c.head = &h }

// SetNote has n be the note of the last capture.
func (c *Change) SetNote(n StoredNote) { c.note = &n }

// Discard gives the change up.
func (c *Change) Discard() { c.Tx.Discard() }

// Commit commits the change with the operation and the moves of refs that prepare returns, see refs.Refs.Commit. With
// an error the change is given up, and nothing is changed.
func (c *Change) Commit(
	ctx context.Context, du kv.Durability, prepare func(seq uint64) (refs.Operation, []refs.Update, error),
) (*refs.Operation, error) {
	ops, err := c.CommitAll(ctx, du, func(seq uint64) ([]refs.Operation, []refs.Update, error) {
		op, updates, err := prepare(seq)
		return []refs.Operation{op}, updates, err
	})
	if err != nil {
		return nil, err
	}
	return &ops[0], nil
}

// CommitAll is Commit with several operations, see refs.Refs.Commit.
func (c *Change) CommitAll(
	ctx context.Context, du kv.Durability, prepare func(seq uint64) ([]refs.Operation, []refs.Update, error),
) ([]refs.Operation, error) {
	ops, err := c.log.Refs.Commit(ctx, c.Tx, du, func(seq uint64) ([]refs.Operation, []refs.Update, error) {
		ops, updates, err := prepare(seq)
		if err == nil {
			err = c.put()
		}
		return ops, updates, err
	})
	return ops, c.end(err)
}

// CommitSilently commits the change without an operation: what it says is no act of anybody.
func (c *Change) CommitSilently(ctx context.Context, du kv.Durability) error {
	err := c.put()
	if err == nil {
		err = c.Tx.Commit(ctx, du)
	}
	return c.end(err)
}

// put adds the records of sessions to what is committed.
func (c *Change) put() error {
	for _, s := range c.sessions {
		if err := c.Tx.Batch().Set(model.SessionKey(s.Name), s.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// end has memory say what the store says; err, and nothing of it, if there is one.
func (c *Change) end(err error) error {
	if err != nil {
		c.Tx.Discard()
		return err
	}
	for _, s := range c.sessions {
		c.log.Remember(s)
	}
	if c.head != nil {
		c.log.known = c.head
	}
	if c.note != nil {
		c.log.noted = *c.note
	}
	return nil
}
