package fsck

import (
	"cmp"
	"context"
	"errors"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// maxAffectedPaths is how many paths of a checkpoint are named.
const maxAffectedPaths = 100

// absent is why an object is not there, when that is known.
func (ck *Checker) absent(k objstore.Kind, id objstore.ID) error {
	g, ok, err := ck.log.Objs.Tombstone(k, id.Key())
	if err == nil && ok {
		err = &objstore.GoneError{Kind: k, Key: id.Key(), Tombstone: g}
	}
	return err
}

// lostPaths are the paths of a tree that cannot be read.
type lostPaths struct {
	paths []string
	more  int
}

func (l *lostPaths) add(path string) {
	if len(l.paths) < maxAffectedPaths {
		l.paths = append(l.paths, path)
	} else {
		l.more++
	}
}

// affected finds the checkpoints that the damage belongs to.
func (v *verifier) affected(ctx context.Context) error {
	if len(v.bad) == 0 {
		return nil
	}
	d := newDamage(v)
	met := map[objstore.ID]bool{}
	err := v.e.log.Refs.Log(func(_ uint64, op *refs.Operation, err error) error {
		none := err != nil || op.Checkpoint.IsZero()
		if none || met[op.Checkpoint] || op.Kind == refs.KindEvent {
			return ctx.Err()
		}
		met[op.Checkpoint] = true
		if a := d.checkpoint(op.Checkpoint); a != nil {
			v.out.Affected = append(v.out.Affected, *a)
		}
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, kv.ErrCorrupt) {
		return err
	}
	for o := range v.seen {
		if o.Kind == objstore.Checkpoint && !met[o.Id] {
			if a := d.checkpoint(o.Id); a != nil {
				v.out.Affected = append(v.out.Affected, *a)
			}
		}
	}
	return cmp.Or(ctx.Err(), d.passing.err)
}

// passing is the first of the errors that may be gone the next time. What one of these says is no reason to change
// anything.
type passing struct{ err error }

func (p *passing) note(err error) {
	if p.err == nil && model.MayPass(err) {
		p.err = err
	}
}

// damage tells what is lost of trees and conversations; it remembers each.
type damage struct {
	v       *verifier
	trees   map[objstore.ID]lostPaths
	talks   map[objstore.ID]bool
	passing passing
}

func newDamage(v *verifier) *damage {
	return &damage{v: v, trees: map[objstore.ID]lostPaths{}, talks: map[objstore.ID]bool{}}
}

func (d *damage) bad(k objstore.Kind, id objstore.ID) bool {
	_, ok := d.v.bad[model.Object{Kind: k, Id: id}]
	return ok
}

func (d *damage) checkpoint(id objstore.ID) *value.Affected {
	if d.bad(objstore.Checkpoint, id) {
		return &value.Affected{Checkpoint: id.String(), Whole: true}
	}
	cp, err := d.v.checkpointOf(id)
	if err != nil {
		d.passing.note(err)
		return nil // named as a fault already
	}
	lost := d.tree(cp.Tree)
	a := &value.Affected{
		Checkpoint: id.String(), Paths: value.Texts(lost.paths), More: lost.more,
		Conversation: d.conversation(cp.Conversation.Transcript), Note: !cp.Note.IsZero() && d.bad(objstore.Note, cp.Note),
	}
	if len(a.Paths) == 0 && !a.Conversation && !a.Note {
		return nil
	}
	return a
}

// tree gives the paths below a tree that are lost.
func (d *damage) tree(id objstore.ID) lostPaths {
	if l, ok := d.trees[id]; ok {
		return l
	}
	var l lostPaths
	ents, err := d.v.entries(id)
	if err != nil {
		d.passing.note(err)
		l.add("")
	}
	for _, ent := range ents {
		if ent.Type != tree.TypeDir {
			if d.bad(objstore.Blob, ent.ID) {
				l.add(ent.Name)
			}
			continue
		}
		below := d.tree(ent.ID)
		l.more += below.more
		for _, p := range below.paths {
			if p == "" {
				l.add(ent.Name)
			} else {
				l.add(tree.Join(ent.Name, p))
			}
		}
	}
	d.trees[id] = l
	return l
}

// shape reports whether all directories of a tree can be read.
func (d *damage) shape(id objstore.ID) bool {
	if id.IsZero() {
		return true
	}
	ents, err := d.v.entries(id)
	if err != nil {
		d.passing.note(err)
		return false
	}
	for _, ent := range ents {
		if ent.Type == tree.TypeDir && !d.shape(ent.ID) {
			return false
		}
	}
	return true
}

// conversation reports whether some of a conversation cannot be read.
func (d *damage) conversation(id objstore.ID) bool {
	var walked []objstore.ID
	lost := false
	for !id.IsZero() && !lost {
		known, ok := d.talks[id]
		if ok {
			lost = known
			break
		}
		walked = append(walked, id)
		raw, err := d.v.e.log.Objs.Get(objstore.Transcript, id)
		var n *conversation.Node
		if err == nil {
			n, err = conversation.DecodeNode(id, raw)
		}
		if err != nil || d.bad(objstore.Blob, n.Tail) {
			d.passing.note(err)
			lost = true
			break
		}
		id = n.Parent
	}
	for _, w := range walked {
		d.talks[w] = lost
	}
	return lost
}
