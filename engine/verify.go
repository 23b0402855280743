package engine

import (
	"context"
	"fmt"

	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Faults lists everything that is wrong with the store: tables, objects, references, refs, operations. Full reads and
// checks every byte; otherwise only the structure.
func (e *Engine) Faults(ctx context.Context, full bool, p Progress, fault func(error)) (checked int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := verifier{e: e, fault: fault, progress: p, seen: map[object]bool{}}
	if full {
		if err := e.db.Verify(ctx, fault); err != nil {
			return 0, err
		}
		err := e.objs.Walk(ctx, func(k objstore.Kind, id objstore.ID, _ objstore.Info) error {
			v.count()
			if err := e.objs.Verify(ctx, k, id); err != nil {
				fault(err)
			}
			return ctx.Err()
		})
		if err != nil {
			fault(err)
		}
	}
	return v.n, v.references(ctx)
}

type object struct {
	kind objstore.Kind
	id   objstore.ID
}

// verifier walks everything that refs and operations lead to.
type verifier struct {
	e        *Engine
	fault    func(error)
	progress Progress
	seen     map[object]bool
	n        int
}

func (v *verifier) count() {
	v.n++
	if v.progress != nil && v.n%256 == 0 {
		v.progress(v.n, 0)
	}
}

// visit reports whether an object is there and met for the first time.
func (v *verifier) visit(from string, k objstore.Kind, id objstore.ID) bool {
	o := object{k, id}
	if v.seen[o] {
		return false
	}
	v.seen[o] = true
	v.count()
	ok, err := v.e.objs.Has(k, id)
	switch {
	case err != nil:
		v.fault(err)
	case !ok:
		v.fault(fmt.Errorf("engine: verify %s: %s %s is missing", from, k, id.Short()))
	}
	return ok && err == nil
}

func (v *verifier) references(ctx context.Context) error {
	all, err := v.e.refs.List("")
	if err != nil {
		v.fault(err)
	}
	for _, r := range all {
		v.checkpoint("ref "+string(r.Name), r.ID)
	}
	err = v.e.refs.Newest(0, func(op *refs.Operation) error {
		from := fmt.Sprintf("operation %d", op.Seq)
		ids := []objstore.ID{op.Checkpoint}
		if op.Restore != nil {
			ids = append(ids, op.Restore.Target, op.Restore.Safety)
		}
		for _, c := range op.Changes {
			ids = append(ids, c.Old, c.New)
		}
		for _, id := range ids {
			if !id.IsZero() {
				v.checkpoint(from, id)
			}
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.fault(err)
	}
	if j, err := v.e.readJournal(); err != nil {
		v.fault(err)
	} else if j != nil {
		v.checkpoint("journal", j.Target)
		v.checkpoint("journal", j.Safety)
	}
	return ctx.Err()
}

// checkpoint walks one checkpoint; its parents are met through their own operations.
func (v *verifier) checkpoint(from string, id objstore.ID) {
	if !v.visit(from, objstore.Checkpoint, id) {
		return
	}
	cp, err := v.e.checkpoint(id)
	if err != nil {
		v.fault(err)
		return
	}
	from = "checkpoint " + id.Short()
	if !cp.Note.IsZero() && v.visit(from, objstore.Note, cp.Note) {
		if _, err := v.e.note(cp); err != nil {
			v.fault(err)
		}
	}
	v.tree(from, "", cp.Tree)
}

func (v *verifier) tree(from, path string, id objstore.ID) {
	if !v.visit(from, objstore.Tree, id) {
		return
	}
	raw, err := v.e.objs.Get(objstore.Tree, id)
	if err != nil {
		v.fault(fmt.Errorf("engine: verify %s: %q: %w", from, path, err))
		return
	}
	ents, err := tree.Decode(raw)
	if err != nil {
		v.fault(fmt.Errorf("engine: verify %s: %q: %w", from, path, err))
		return
	}
	for _, ent := range ents {
		p := tree.Join(path, ent.Name)
		if ent.Type == tree.TypeDir {
			v.tree(from, p, ent.ID)
		} else {
			v.visit(fmt.Sprintf("%s: %q", from, p), objstore.Blob, ent.ID)
		}
	}
}
