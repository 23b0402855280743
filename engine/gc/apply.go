package gc

import (
	"context"
	"slices"

	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// carryOut writes the plan into the log, some operations at a time, between which events are taken in. The squash
// records come first: a record whose merged steps are still in the log says a little too much of what others changed,
// and never too little. Stopped anywhere, the next gc goes on.
func (g *gcPlan) carryOut(ctx context.Context, p *pacer) error {
	if g.idle() {
		return nil
	}
	var ids []objstore.ID
	for i := range g.steps {
		if g.squashes[g.steps[i].id] != nil {
			ids = append(ids, g.steps[i].id)
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), gcBatch)
		err := g.slice(ctx, func(b *kv.Batch) error {
			for _, id := range ids[:n] {
				if err := b.Set(model.SquashKey(id), g.squashes[id].Encode()); err != nil {
					return err
				}
			}
			g.e.log.KnowSquashes()
			return nil
		})
		if err != nil {
			return err
		}
		ids = ids[n:]
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
	return g.rewrite(ctx, p)
}

// forgetNotes removes what was said of checkpoints that are gone.
func forgetNotes(b *kv.Batch, gone []objstore.ID) error {
	for _, id := range gone {
		if id.IsZero() {
			continue
		}
		for _, key := range [][]byte{model.SquashKey(id), model.MessageKey(id)} {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite takes out of the log's operations what goes, oldest operation first.
func (g *gcPlan) rewrite(ctx context.Context, p *pacer) error {
	for at := 0; at < len(g.ops); {
		var ops []refs.Operation
		var gone []objstore.ID
		for ; at < len(g.ops) && len(ops) < gcBatch; at++ {
			if g.ops[at].flags&opDrop == 0 {
				continue
			}
			op, err := g.e.log.Refs.Operation(g.oldest + uint64(at))
			if err != nil {
				return err
			}
			made := op.Checkpoint
			changed, err := g.rewritten(op)
			if err != nil {
				return err
			}
			if changed {
				ops = append(ops, *op)
			}
			if op.Kind == refs.KindThinned {
				gone = append(gone, made)
			}
		}
		if len(ops) == 0 {
			break
		}
		err := g.slice(ctx, func(b *kv.Batch) error {
			if err := forgetNotes(b, gone); err != nil {
				return err
			}
			return refs.Rewrite(b, ops)
		})
		if err == nil {
			err = p.pause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return g.slice(ctx, nil)
}

// changed says that no more of the log will change: rows of turns, which stay as they were meanwhile, are folded anew.
func (co *Collector) changed(ctx context.Context) error {
	co.log.Lock()
	defer co.log.Unlock()
	return co.commit(context.WithoutCancel(ctx), nil)
}

// slice commits one batch under the log's lock, unless something has come to need what goes (ErrReplan). With write nil
// it makes all batches before durable.
func (g *gcPlan) slice(ctx context.Context, write func(*kv.Batch) error) error {
	e := g.e
	e.log.Lock()
	defer e.log.Unlock()
	if err := g.recheck(); err != nil {
		return err
	}
	return e.commit(ctx, write)
}

// commit is slice that looks at nothing. The log's lock is held.
func (co *Collector) commit(ctx context.Context, write func(*kv.Batch) error) error {
	b := co.log.DB.NewBatch()
	defer b.Close()
	du, past := kv.Durable, ledger.Changed
	if write != nil {
		du, past = kv.Written, ledger.Changing
		if err := write(b); err != nil {
			return err
		}
	}
	if err := past(co.log.DB, b); err != nil {
		return err
	}
	if err := b.Commit(ctx, du); err != nil {
		return err
	}
	co.Run.changing = write != nil
	co.log.Rewrote()
	return nil
}

// recheck returns ErrReplan if newer operations of the log need a checkpoint that the plan removes. A tag, a cursor or
// a restore comes by an operation; a restore under way has a journal. The log's lock is held.
func (g *gcPlan) recheck() error {
	j, err := g.e.log.ReadJournal()
	if err != nil {
		return err
	}
	if j != nil && slices.ContainsFunc([]objstore.ID{j.Target, j.Safety, j.Before, j.After}, g.goes) {
		return ErrReplan
	}
	g.checked, err = g.e.since(max(g.checked+1, g.end())-1, func(op *refs.Operation) error {
		if g.goes(op.Checkpoint) || slices.ContainsFunc(g.withParents(namedBy(op)), g.goes) {
			return ErrReplan
		}
		return nil
	})
	return err
}

// since calls fn with the operations behind one, the newest first, and returns the newest of all.
func (co *Collector) since(seq uint64, fn func(*refs.Operation) error) (newest uint64, err error) {
	newest = seq
	err = co.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= seq {
			return kv.ErrStop
		}
		newest = max(newest, op.Seq)
		return fn(op)
	})
	return newest, err
}
