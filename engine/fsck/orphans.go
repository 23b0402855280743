package fsck

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// A checkpoint says which operation made it, and of which session. So an operation that is lost is made again where its
// checkpoint is there.

// storedAs is the checkpoint under a key; nil: it is damaged, which is a fault of its own.
func (s *fixup) storedAs(key objstore.Key) (*model.Checkpoint, error) {
	var cp *model.Checkpoint
	id, err := s.e.log.Objs.IDOf(objstore.Checkpoint, key)
	if err == nil {
		cp, err = s.e.log.Checkpoint(id)
	}
	if model.MayPass(err) {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilerr // as said
	}
	return cp, nil
}

// orphans finds the checkpoints whose operations the log does not have, if it lacks any. Those behind its end are put
// into it at once.
func (s *fixup) orphans(ctx context.Context) error {
	e := s.e
	have, gaps, oldest := map[uint64]bool{}, false, uint64(1)
	err := e.log.Refs.Log(func(seq uint64, op *refs.Operation, err error) error {
		if model.MayPass(err) {
			return err
		}
		lost := err != nil || op.Kind == refs.KindLost && op.Checkpoint.IsZero()
		have[seq] = !lost
		gaps, oldest = gaps || lost, seq
		return ctx.Err()
	})
	if rebuilt := s.out.Files != nil && s.out.Files.Rebuilt; rebuilt {
		gaps = gaps || oldest > 1 || len(s.out.Files.Lost) > 0
	}
	if err != nil || !gaps {
		return err
	}
	s.alone = map[uint64]*model.Checkpoint{}
	last := e.log.DB.LastSeq()
	newest := last
	err = e.log.Objs.Walk(ctx, func(k objstore.Kind, key objstore.Key, _ objstore.Info) error {
		if k != objstore.Checkpoint {
			return nil
		}
		cp, err := s.storedAs(key)
		if cp == nil || have[cp.Seq] || cp.Seq > last+maxTail {
			return err
		}
		if old := s.alone[cp.Seq]; old == nil || believed(cp, old) {
			s.alone[cp.Seq] = cp
		}
		newest = max(newest, cp.Seq)
		return nil
	})
	if err != nil || newest == last {
		return err
	}
	b := e.log.DB.NewBatch()
	defer func() { _ = b.Close() }()
	for seq := last + 1; seq <= newest; seq++ {
		if err := refs.Restate(b, &refs.Operation{Seq: seq, Kind: refs.KindLost, Time: e.log.Now().UnixMilli()}); err != nil {
			return err
		}
	}
	return b.Commit(ctx, kv.Durable)
}

// believed reports whether a checkpoint is the operation's rather than another one with its place: states that no
// operation names have that of a step, and are safety checkpoints.
func believed(cp, than *model.Checkpoint) bool {
	safety := cp.Cause.Event == model.EventSafety
	if safety != (than.Cause.Event == model.EventSafety) {
		return !safety
	}
	return than.Time.Before(cp.Time)
}

// maxTail is how far behind the end of the log a checkpoint is looked for.
const maxTail = 1 << 20

// again makes the operation of a checkpoint again.
func (s *fixup) again(b *kv.Batch, cp *model.Checkpoint) error {
	op := refs.Operation{
		Seq: cp.Seq, Kind: refs.KindCheckpoint, Time: cp.Time.UnixMilli(), Session: cp.Session, Checkpoint: cp.ID, Turn: cp.Cause.Turn,
		Message: "made again by a repair",
		Cause:   refs.Cause{Event: cp.Cause.Event},
	}
	if cp.Cause.Event == model.EventSafety {
		op.Kind, op.Cause = refs.KindSafety, refs.Cause{}
	}
	s.hear(&op)
	s.say(&op)
	s.did("operation %d made again of its checkpoint %s", cp.Seq, cp.ID.Short())
	return refs.Restate(b, &op)
}

// before makes operations again that were older than the oldest one that is left; between them the log says that they
// are lost.
func (s *fixup) before(b *kv.Batch, oldest uint64) error {
	if s.alone == nil || oldest == 0 {
		return nil
	}
	for seq := oldest; seq > 1; seq-- {
		if cp := s.alone[seq-1]; cp != nil {
			if err := s.again(b, cp); err != nil {
				return err
			}
			continue
		}
		if err := refs.Restate(b, &refs.Operation{Seq: seq - 1, Kind: refs.KindLost, Time: s.e.log.Now().UnixMilli()}); err != nil {
			return err
		}
	}
	return nil
}
