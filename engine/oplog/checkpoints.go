package oplog

import (
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
	recentBytes = 10 << 20 // about what the checkpoints that were read lately take in memory: twice 10,000 of them
	recentKept  = 1024     // that are kept when nothing is asked for: more are of a list of all turns
)

// recent are the checkpoints that many read again and again: whoever lists, the newest of the log. What an id names
// stays what it is, but for what gc has merged into it and which turn it counts as: each reader is told of those anew.
// Safe for concurrent use.
type recent struct {
	kept *cache.Shared[objstore.ID, *model.Packed]
	pack model.Packer
}

func newRecent() *recent {
	return &recent{kept: cache.NewShared[objstore.ID](recentBytes, (*model.Packed).Bytes)}
}

// get returns a checkpoint as its record says; nil: it is not kept. The caller may change its fields, but not what its
// slices hold.
func (r *recent) get(id objstore.ID) *model.Checkpoint {
	p, ok := r.kept.Get(id)
	if !ok {
		return nil
	}
	return p.Checkpoint(id)
}

// put keeps a checkpoint that was just read from its record.
func (r *recent) put(cp *model.Checkpoint) { r.kept.Put(cp.ID, r.pack.Pack(cp)) }

func (r *recent) clear() {
	r.kept.Clear()
	r.pack.Forget()
}

// TrimCaches gives up the checkpoints that were read, where they are more than a list of the newest turns reads.
func (l *Log) TrimCaches() { l.recent.kept.Trim(recentKept) }

// Checkpoints returns a function that reads checkpoints as Checkpoint does. It is faster for many of one line, and for
// those that were read before. The checkpoint is the caller's, what its slices hold is not.
func (l *Log) Checkpoints() func(objstore.ID) (*model.Checkpoint, error) { return l.reader(true) }

// CheckpointsOnce is Checkpoints for who reads very many and keeps what they say: they do not fill the memory.
func (l *Log) CheckpointsOnce() func(objstore.ID) (*model.Checkpoint, error) { return l.reader(false) }

// reader is Checkpoints; keep: what is read is kept for the next reader.
func (l *Log) reader(keep bool) func(objstore.ID) (*model.Checkpoint, error) {
	count := l.Count()
	var memo *objstore.Memo
	return func(id objstore.ID) (*model.Checkpoint, error) {
		cp := l.recent.get(id)
		if cp == nil {
			if memo == nil {
				memo = l.Objs.Memo(objstore.Checkpoint)
			}
			var err error
			if cp, err = l.readRecent(memo, id, keep); err != nil {
				return nil, err
			}
		}
		cp, err := l.Orphaned(l.squashed(cp, nil))
		if err == nil {
			cp.Cause.Turn = count(cp.Session, cp.Cause.Turn, cp.Seq)
		}
		return cp, err
	}
}

// readRecent reads a checkpoint, and may keep it.
func (l *Log) readRecent(memo *objstore.Memo, id objstore.ID, keep bool) (*model.Checkpoint, error) {
	rewrites := l.Rewrites()
	raw, err := memo.Get(id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	cp, err := model.DecodeCheckpoint(id, raw)
	if err != nil || !keep {
		return cp, err
	}
	if l.recent.put(cp); l.Rewrites() != rewrites { // it may have been taken out of the log meanwhile
		l.recent.kept.Drop(id)
	}
	return cp, nil
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

// StepsBefore calls fn for the steps before an operation (0: for all), the newest first, until it gives kv.ErrStop; cp
// is nil where it is not known any more.
func (l *Log) StepsBefore(before uint64, fn func(op *refs.Operation, cp *model.Checkpoint) error) error {
	if before == 1 {
		return nil
	}
	read := l.Checkpoints()
	return l.madeFrom(max(before, 1)-1, func(op *refs.Operation) error {
		if op.Kind != refs.KindCheckpoint {
			return nil
		}
		cp, err := read(op.Checkpoint)
		if err != nil && !model.IsLost(err) {
			return err
		}
		return fn(op, cp)
	})
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

// Folded reports whether lists leave a step out; later is the one after it on its line. The last step of a turn is
// shown, and so is the one before a save or an undo: the save, or the undone change, is a step by itself. A person's
// change in the middle of a turn is one, too.
func Folded(cp, later *model.Checkpoint) bool {
	if !cp.Minor || later == nil || later.Session != cp.Session {
		return false
	}
	saved := later.Cause.Event == model.EventUndo || later.Cause.Event == model.EventSave
	edited := !later.Minor && later.Persons()
	return later.Cause.Turn == cp.Cause.Turn && !saved && !edited
}
