package oplog

import (
	"errors"
	"fmt"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// Beside reads the objects of two worktrees of one family. What Here does not have comes from the store of There; its
// hash is compared as with every read. What was purged Here stays gone. It holds no lock of either: if gc removes an
// object There meanwhile, the error is a *BesideError.
type Beside struct {
	Here  objstore.Getter
	There *Log
}

// Get implements objstore.Getter.
func (b Beside) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	raw, err := b.Here.Get(k, id)
	if !errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrPurged) {
		return raw, err
	}
	raw, err = b.There.Objs.Get(k, id)
	return raw, b.There.AsBeside(err)
}

// BesideError is what went wrong in the store of another worktree.
type BesideError struct {
	root string
	err  error
}

func (e *BesideError) Error() string { return fmt.Sprintf("worktree %s: %v", e.root, e.err) }

// Unwrap is the cause.
func (e *BesideError) Unwrap() error { return e.err }

// Swept reports whether an object is missing that no tombstone tells of: gc has removed what named it since that was
// looked up.
func (e *BesideError) Swept() bool {
	var gone *objstore.GoneError
	return errors.Is(e.err, objstore.ErrNotFound) && !errors.As(e.err, &gone)
}

// AsBeside says of an error that it is of this log, to who asks from another worktree.
func (l *Log) AsBeside(err error) error {
	var told *BesideError
	if err == nil || errors.As(err, &told) {
		return err
	}
	return &BesideError{l.Project.Root, err}
}

// GoneBeside is GoneEntry where what this store does not have can come from another one's.
func (l *Log) GoneBeside(there *Log, ent *tree.Entry) (value.KeptReason, error) {
	why, err := l.GoneEntry(ent)
	gone := err != nil || why == value.KeptPurged
	if gone || there == nil || !model.IsFile(ent) {
		return why, err
	}
	if has, err := l.Objs.Has(objstore.Blob, ent.ID); err != nil || has {
		return "", err
	}
	why, err = there.GoneEntry(ent)
	return why, there.AsBeside(err)
}

// Borrow copies the content of a file or link from another project's store into a transaction of this store, if it is
// missing here. It hashes the content again, and fails if it is not what the entry names.
func (l *Log) Borrow(tx *objstore.Tx, there *Log, ent *tree.Entry) error {
	if has, err := tx.Has(objstore.Blob, ent.ID); err != nil || has {
		return err
	}
	r, err := there.Objs.Open(ent.ID)
	if err != nil {
		return there.AsBeside(err)
	}
	defer r.Close()
	id, size, err := tx.PutReader(r, objstore.Zero)
	if err != nil {
		return there.AsBeside(err)
	}
	if id != ent.ID || size != ent.Size {
		return there.AsBeside(fmt.Errorf("%w: blob %s has the bytes of another one", objstore.ErrCorrupt, ent.ID.Short()))
	}
	return nil
}
