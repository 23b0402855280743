package engine

import (
	"context"
	"errors"
	"fmt"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Faults lists everything that is wrong with the store: tables, objects, references, refs, operations. Full reads and
// checks every byte; otherwise only the structure. Events and commands go on meanwhile: what they add is not checked.
func (e *Engine) Faults(ctx context.Context, full bool, p Progress, fault func(error)) (checked int, err error) {
	v := verifier{e: e, fault: fault, progress: p, full: full, seen: map[object]bool{}}
	if err := e.Damage(); err != nil {
		fault(err)
	}
	if full {
		if err := e.db.Verify(ctx, fault); err != nil {
			return 0, err
		}
	}
	err = v.references(ctx)
	return v.n, err
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
	full     bool
	seen     map[object]bool
	n        int
}

func (v *verifier) count() {
	v.n++
	if v.progress != nil && v.n%256 == 0 {
		v.progress(v.n, 0)
	}
}

// visit checks one object and reports whether it is sound and met for the first time. A fault names what led to it: the
// newest checkpoint that it is part of.
func (v *verifier) visit(ctx context.Context, from string, k objstore.Kind, id objstore.ID) bool {
	o := object{k, id}
	if v.seen[o] {
		return false
	}
	v.seen[o] = true
	v.count()
	ok, err := true, error(nil)
	if v.full {
		if err = v.e.objs.Verify(ctx, k, id); errors.Is(err, objstore.ErrPurged) {
			return true // on purpose
		}
	} else if ok, err = v.e.objs.Has(k, id); err == nil && !ok && v.e.objs.Refused(k, id) == nil {
		err = fmt.Errorf("%s %s is missing", k, id.Short())
	}
	if err != nil {
		v.fault(fmt.Errorf("engine: verify %s: %w", from, err))
	}
	return ok && err == nil
}

func (v *verifier) references(ctx context.Context) error {
	all, err := v.e.refs.List("")
	if err != nil {
		v.fault(err)
	}
	for _, r := range all {
		v.checkpoint(ctx, "ref "+string(r.Name), r.ID)
	}
	later := uint64(0)
	err = v.e.refs.Newest(0, func(op *refs.Operation) error {
		if later > 0 && op.Seq != later-1 {
			v.fault(fmt.Errorf("engine: verify: operations %d to %d are missing", op.Seq+1, later-1))
		}
		later = op.Seq
		from := fmt.Sprintf("operation %d", op.Seq)
		ids := []objstore.ID{op.Checkpoint}
		if op.Restore != nil {
			ids = append(ids, op.Restore.Target, op.Restore.Safety)
			v.files(ctx, from, op.Restore.Files)
		}
		v.transcript(ctx, from, op.Transcript)
		for _, c := range op.Changes {
			ids = append(ids, c.Old, c.New)
		}
		for _, id := range ids {
			if !id.IsZero() {
				v.checkpoint(ctx, from, id)
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
		v.checkpoint(ctx, "journal", j.Target)
		v.checkpoint(ctx, "journal", j.Safety)
		v.files(ctx, "journal", j.Files)
	}
	err = v.e.db.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, raw []byte) error {
		s, err := decodeSession(string(k[1:]), raw)
		if err != nil {
			v.fault(err)
			return nil
		}
		v.transcript(ctx, "session "+s.Name, s.Cursor.Transcript)
		if s.Fork != nil {
			v.transcript(ctx, "session "+s.Name, s.Fork.Transcript)
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.fault(err)
	}
	return ctx.Err()
}

// files checks the bytes of session files that a restore changed.
func (v *verifier) files(ctx context.Context, from string, files []refs.File) {
	for _, f := range files {
		v.transcript(ctx, from, f.From)
		v.transcript(ctx, from, f.To)
	}
}

// transcript walks one conversation; what it has in common with one that was checked is not checked again.
func (v *verifier) transcript(ctx context.Context, from string, id objstore.ID) {
	for !id.IsZero() && v.visit(ctx, from, objstore.Transcript, id) {
		raw, err := v.e.objs.Get(objstore.Transcript, id)
		var n *node
		if err == nil {
			n, err = decodeNode(id, raw)
		}
		if err != nil {
			v.fault(fmt.Errorf("engine: verify %s: %w", from, err))
			return
		}
		v.visit(ctx, from+": conversation", objstore.Blob, n.tail)
		id = n.parent
	}
}

// checkpoint walks one checkpoint; its parents are met through their own operations.
func (v *verifier) checkpoint(ctx context.Context, from string, id objstore.ID) {
	if !v.visit(ctx, from, objstore.Checkpoint, id) {
		return
	}
	cp, err := v.e.checkpoint(id)
	if err != nil {
		v.fault(err)
		return
	}
	from = "checkpoint " + id.Short()
	if !cp.Note.IsZero() && v.visit(ctx, from, objstore.Note, cp.Note) {
		if _, err := v.e.note(cp); err != nil {
			v.fault(err)
		}
	}
	v.tree(ctx, from, "", cp.Tree)
	v.transcript(ctx, from, cp.Mark.Transcript)
}

func (v *verifier) tree(ctx context.Context, from, path string, id objstore.ID) {
	if !v.visit(ctx, from, objstore.Tree, id) {
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
			v.tree(ctx, from, p, ent.ID)
		} else {
			v.visit(ctx, fmt.Sprintf("%s: %q", from, p), objstore.Blob, ent.ID)
		}
	}
}
