package oplog

import (
	"bytes"
	"fmt"

	"rewind/engine/model"
	"rewind/internal/cache"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Orphaned is cp without the parents that are lost, so that its line begins with it. It passes err on.
func (l *Log) Orphaned(cp *model.Checkpoint, err error) (*model.Checkpoint, error) {
	if err != nil {
		return nil, err
	}
	for i, p := range cp.Parents {
		if g, ok, err := l.Objs.Tombstone(objstore.Checkpoint, p.Key()); err != nil || ok && g.Reason == objstore.Lost {
			cp.Parents = cp.Parents[:i]
			break
		}
	}
	return cp, nil
}

// PutCheckpoint puts a checkpoint into a transaction as that of operation seq, and sets its sequence and its id.
func (l *Log) PutCheckpoint(tx *objstore.Tx, cp *model.Checkpoint, seq uint64) error {
	cp.Seq = seq
	id, err := tx.Put(objstore.Checkpoint, cp.Encode(), cp.Parent())
	cp.ID = id
	return err
}

// Checkpoint reads a checkpoint, with what gc has merged into it, and without lost parents.
func (l *Log) Checkpoint(id objstore.ID) (*model.Checkpoint, error) {
	raw, err := l.Objs.Get(objstore.Checkpoint, id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return l.Orphaned(l.squashed(model.DecodeCheckpoint(id, raw)))
}

const (
	recentBytes = 1 << 20 // about what the checkpoints that were read last take in memory, as they are stored
	recentReads = 512     // are kept of what one reader reads: who goes far back does not push out what all begin with
)

// recent are the checkpoints that many read again and again: whoever lists, the newest of the log. What an id names
// stays what it is.
type recent = cache.Shared[objstore.ID, []byte]

func newRecent() *recent {
	const entry = 128 // beside the bytes
	return cache.NewShared[objstore.ID](recentBytes, func(raw []byte) int { return len(raw) + entry })
}

// Checkpoints is a function that reads checkpoints as Checkpoint does, faster for many of one line, and for those that
// were read before.
func (l *Log) Checkpoints() func(objstore.ID) (*model.Checkpoint, error) {
	count := l.Count()
	var memo *objstore.Memo
	left := recentReads
	return func(id objstore.ID) (*model.Checkpoint, error) {
		left--
		raw, ok := l.recent.Get(id)
		if !ok {
			if memo == nil {
				memo = l.Objs.Memo(objstore.Checkpoint)
			}
			rewrites := l.Rewrites()
			var err error
			if raw, err = memo.Get(id); err != nil {
				return nil, fmt.Errorf("checkpoint: %w", err)
			}
			if left > 0 {
				// it may have been taken out of the log meanwhile
				if l.recent.Put(id, bytes.Clone(raw)); l.Rewrites() != rewrites {
					l.recent.Drop(id)
				}
			}
		}
		cp, err := l.Orphaned(l.squashed(model.DecodeCheckpoint(id, raw)))
		if err == nil {
			cp.Cause.Turn = count(cp.Session, cp.Cause.Turn, cp.Seq)
		}
		return cp, err
	}
}

// NewestMade is the newest operation, from `from` (0: the newest) back, that made a step or a safety checkpoint and is
// the one that is meant; nil: there is none. is may end the search by kv.ErrStop.
func (l *Log) NewestMade(
	from uint64, is func(*refs.Operation) (bool, error),
) (found *refs.Operation, err error) {
	err = l.madeFrom(from, func(op *refs.Operation) error {
		meant, err := is(op)
		if err == nil && meant {
			found, err = op, kv.ErrStop
		}
		return err
	})
	return found, err
}

// StepOf is the newest checkpoint of a session between two operations; nil: there is none.
func (l *Log) StepOf(session string, from, to uint64) (*model.Checkpoint, error) {
	op, err := l.NewestMade(to, func(op *refs.Operation) (bool, error) {
		if op.Seq < from {
			return false, kv.ErrStop
		}
		return op.Kind == refs.KindCheckpoint && op.Session == session, nil
	})
	if op == nil || err != nil {
		return nil, err
	}
	return l.Checkpoint(op.Checkpoint)
}

// StepsBetween are the steps behind an operation and before another one, the newest first; nil: there are more than
// most, or not all are known any more.
func (l *Log) StepsBetween(behind, before uint64, most int) ([]*model.Checkpoint, error) {
	list := []*model.Checkpoint{}
	err := l.madeFrom(before-1, func(op *refs.Operation) error {
		if op.Seq <= behind {
			return kv.ErrStop
		}
		if op.Kind != refs.KindCheckpoint {
			return nil
		}
		cp, err := l.Checkpoint(op.Checkpoint)
		if unknown := model.IsLost(err) || len(list) == most; unknown {
			list = nil
			return kv.ErrStop
		}
		list = append(list, cp)
		return err
	})
	return list, err
}

// Note is what a checkpoint's capture skipped, by path.
func (l *Log) Note(cp *model.Checkpoint) ([]tree.Skip, error) { return l.NoteOf(cp.Note) }

// NoteOf is a note's list, by path; of the zero id, none.
func (l *Log) NoteOf(id objstore.ID) ([]tree.Skip, error) {
	if id.IsZero() {
		return nil, nil
	}
	raw, err := l.Objs.Get(objstore.Note, id)
	if err != nil {
		return nil, fmt.Errorf("note of checkpoint: %w", err)
	}
	return tree.DecodeNote(raw)
}

// Folded reports whether lists leave a step out; later is the one after it on its line. The last step of a turn shows,
// and so does the one that a save or an undo came to: what a person saved, or the undo took back, is a step by itself.
// A person's change in the middle of a turn is one, too.
func Folded(cp, later *model.Checkpoint) bool {
	if !cp.Minor || later == nil || later.Session != cp.Session {
		return false
	}
	saved := later.Cause.Event == model.EventUndo || later.Cause.Event == model.EventSave
	edited := !later.Minor && later.Persons()
	return later.Cause.Turn == cp.Cause.Turn && !saved && !edited
}
