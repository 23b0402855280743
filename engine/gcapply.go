package engine

import (
	"context"
	"slices"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

<<<<<<< HEAD
=======
// graftAll works out the grafts of the checkpoints that stay. A step that goes is merged into the next step of the log that stays, since the states before steps
// follow each other in the log, not along a line; the newest step always stays.
func (g *gcPlan) graftAll(p *pacer) error {
	g.grafts = map[objstore.ID]*graft{}
	near := make([]int32, len(g.steps)) // the nearest one before, or itself, that stays
	run := int32(-1)                    // the first of the steps that are to be merged
	var by []string
	var merged uint64
	for i := range g.steps {
		s := &g.steps[i]
		parent := int32(-1)
		if s.parent >= 0 {
			parent = near[s.parent]
		}
		near[i] = int32(i)
		if !s.keep {
			near[i] = parent
			if !s.safety {
				if run < 0 {
					run = int32(i)
				}
				by, merged = append(by, g.authors(s)...), merged+s.merged+1
			}
			continue
		}
		merges := run >= 0 && !s.safety
		if !merges && parent == s.parent {
			continue
		}
		to := &graft{Base: s.base, By: g.authors(s), Merged: s.merged, Counts: s.counts}
		if parent >= 0 {
			to.Parent = g.steps[parent].id
		}
		if merges {
			by = append(by, to.By...)
			slices.Sort(by)
			to.Base, to.By, to.Merged = g.steps[run].base, slices.Compact(by), s.merged+merged
			var err error
			if to.Counts, err = countBetween(g.read, to.Base, s.tree); err != nil {
				return err
			}
			run, by, merged = -1, nil, 0
		}
		g.grafts[s.id] = to
		if err := p.pause(p.ctx); err != nil {
			return err
		}
	}
	return nil
}

// authors are the sessions that could have changed something up to a step.
func (g *gcPlan) authors(s *stepFacts) []string {
	if joined := g.by.of[s.by]; joined != "" {
		return strings.Split(joined, bySeparator)
	}
	return nil
}

// countBetween counts what differs between two trees.
func countBetween(trees objstore.Getter, from, to objstore.ID) (n Counts, err error) {
	err = tree.Diff(trees, from, to, func(ch tree.Change) error {
		n.add(ch)
		return nil
	})
	return n, err
}

>>>>>>> h/gcbench
// carryOut writes the plan into the log, some operations at a time, between which events are taken in. First the grafts: one on a checkpoint whose neighbours are still
// there says a little too much of what others changed, and never too little. Stopped anywhere, the next gc goes on.
func (g *gcPlan) carryOut(ctx context.Context, p *pacer) error {
	if g.idle() {
		return nil
	}
	if err := g.e.db.Stamp(formatThinned); err != nil {
		return err
	}
	var ids []objstore.ID
	for i := range g.steps {
		if g.grafts[g.steps[i].id] != nil {
			ids = append(ids, g.steps[i].id)
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), gcBatch)
		err := g.slice(ctx, func(b *kv.Batch) error {
			for _, id := range ids[:n] {
				if err := b.Set(graftKey(id), g.grafts[id].encode()); err != nil {
					return err
				}
			}
			g.e.shared.grafts.Store(graftsSome)
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

// formatThinned is the first store format that has grafts and thinned operations.
const formatThinned = 4

// rewrite takes out of the log what goes, oldest operations first.
func (g *gcPlan) rewrite(ctx context.Context, p *pacer) error {
	for at := 0; at < len(g.ops); {
		var ops []refs.Operation
		var gone []objstore.ID
		for ; at < len(g.ops) && len(ops) < gcBatch; at++ {
			if g.ops[at].flags&opDrop == 0 {
				continue
			}
			op, err := g.e.refs.Operation(g.oldest + uint64(at))
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
			for _, id := range gone {
				if id.IsZero() {
					continue
				}
				if err := b.Delete(graftKey(id)); err != nil {
					return err
				}
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

// slice writes one batch while no capture and no command is under way, unless something has come to need what goes. write nil: all before is made durable.
func (g *gcPlan) slice(ctx context.Context, write func(*kv.Batch) error) error {
	e := g.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := g.recheck(); err != nil {
		return err
	}
	b := e.db.NewBatch()
	defer b.Close()
	du := kv.Durable
	if write != nil {
		du = kv.Written
		if err := write(b); err != nil {
			return err
		}
	}
	if err := b.Commit(ctx, du); err != nil {
		return err
	}
	e.tally.forget()
	return nil
}

// recheck looks at what has come since the plan was made; e.mu is held. Whatever names a checkpoint anew, a tag, a cursor, a restore, does so by an operation, and a restore under way
// by its journal.
func (g *gcPlan) recheck() error {
	j, err := g.e.readJournal()
	if err != nil {
		return err
	}
	if j != nil && (g.gone(j.Target) || g.gone(j.Safety) || g.gone(j.Before) || g.gone(j.After)) {
		return errReplan
	}
	checked := g.checked
	err = g.e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq < g.end() || op.Seq <= checked {
			return kv.ErrStop
		}
		g.checked = max(g.checked, op.Seq)
		if g.gone(op.Checkpoint) || slices.ContainsFunc(namedBy(op), g.gone) {
			return errReplan
		}
		return nil
	})
	return err
}

// forget has the log counted anew.
func (t *tally) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.upTo, t.checkpoints, t.safety, t.last = 0, 0, 0, nil
}
