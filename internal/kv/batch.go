package kv

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Batch collects changes that are committed together. It belongs to one goroutine at a time. Reads do not see it before
// Commit.
type Batch struct {
	d   *DB
	pdb *pebble.DB    // that it was begun on; see DB.starved
	p   *pebble.Batch // nil after Commit or Close
	seq uint64        // newest operation in it
}

var errBatchUsed = errors.New("batch: used after commit or close")

// NewBatch begins an empty batch. Close it, or commit it.
func (d *DB) NewBatch() *Batch {
	if d.starved.Load() {
		_ = d.revive() // or Commit will say why not
	}
	d.life.mu.Lock()
	defer d.life.mu.Unlock()
	return &Batch{d: d, pdb: d.pdb, p: d.pdb.NewBatch()}
}

// room refuses what would go over a limit.
func (b *Batch) room(key, val []byte) error {
	switch {
	case b.p == nil:
		return errBatchUsed
	case len(key) > MaxKey:
		return fmt.Errorf("batch: key of %d bytes: %w (limit %d)", len(key), ErrTooLarge, MaxKey)
	case len(val) > MaxValue:
		return fmt.Errorf("batch: value of %d bytes: %w (limit %d)", len(val), ErrTooLarge, MaxValue)
	case b.p.Len()+len(key)+len(val) > maxBatch:
		return fmt.Errorf("batch: %w (limit %d bytes)", ErrTooLarge, maxBatch)
	}
	return nil
}

// Set stores a value; both slices may be reused afterwards. An error is ErrTooLarge and leaves the batch as it was.
func (b *Batch) Set(key, val []byte) error {
	if err := b.room(key, val); err != nil {
		return err
	}
	if seq, ok := operationSeq(key); ok && seq > b.seq {
		b.seq = seq
	}
	return translate("batch", "", b.p.Set(key, val, nil))
}

// Delete removes a key; an absent one is no error.
func (b *Batch) Delete(key []byte) error {
	if err := b.room(key, nil); err != nil {
		return err
	}
	return translate("batch", "", b.p.Delete(key, nil))
}

// DeleteRange removes the keys from lo up to but without hi.
func (b *Batch) DeleteRange(lo, hi []byte) error {
	if err := b.room(lo, hi); err != nil {
		return err
	}
	return translate("batch", "", b.p.DeleteRange(lo, hi, nil))
}

// Len is the size of the batch in bytes, as it goes to the log.
func (b *Batch) Len() int {
	if b.p == nil {
		return 0
	}
	return b.p.Len()
}

// Count is the number of changes.
func (b *Batch) Count() int {
	if b.p == nil {
		return 0
	}
	return int(b.p.Count())
}

// Close gives an uncommitted batch up. It may be called after Commit, and twice.
func (b *Batch) Close() error {
	if b.p == nil {
		return nil
	}
	p := b.p
	b.p = nil
	return translate("batch", "", p.Close())
}

// Commit applies the batch, all or nothing, and returns once it is as durable as du says. The batch cannot be used
// afterwards.
//
// After ErrNoSpace, ErrClosed, ErrReadOnly or ctx's error nothing was applied; after ErrPoisoned it is not known
// whether it was. ctx is looked at before the commit begins, never after.
func (b *Batch) Commit(ctx context.Context, du Durability) error {
	if b.p == nil {
		return errBatchUsed
	}
	defer func() { _ = b.Close() }()
	d := b.d
	if err := d.enterWrite("commit"); err != nil {
		return err
	}
	defer d.life.leave()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if b.pdb != d.pdb {
		return fmt.Errorf("commit: %w when the batch was begun", ErrNoSpace)
	}
	if !b.p.Empty() {
		if err := d.space.check(b.p.Len()); err != nil {
			return d.fail("commit", "", err)
		}
		defer d.writes.Add(1)
		if err := d.poison.guard(func() error { return d.pdb.Apply(b.p, pebble.Sync) }); err != nil {
			return d.fail("commit", "", err)
		}
		if err := d.poison.Err(); err != nil {
			return err
		}
		d.sawSeq(b.seq)
	}
	if du == Durable {
		return d.logs.Sync()
	}
	return d.poison.Err()
}

// Writes counts what was written since the store was opened. While it stays, what was read stays as it was: it is one
// more before the write that changes something returns.
func (d *DB) Writes() uint64 { return d.writes.Load() }
