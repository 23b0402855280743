package fsck

import (
	"context"
	"errors"
	"fmt"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Faults is what a check of the store found.
type Faults struct {
	Checked  int              // objects
	Faults   []error          // what is wrong, in the order in which it was met
	Lost     []value.Lost     // objects that a repair has found nothing to make of, and has said so
	LostOps  []value.Span     // operations that are lost, newest first
	Affected []value.Affected // the checkpoints that what is lost belongs to, or what faults name, newest first
}

// lost is an object that cannot be read.
type lost struct {
	path  string // of a blob, where the tree names it first
	known bool   // a repair has found nothing to make it of, and has said so
	place string // what names it
}

// Verify looks for everything that is wrong with the store: tables, logs, objects, what names them, refs, operations,
// sessions, indexes. Full reads and checks every byte; otherwise only the structure: what is named is there, and every
// envelope and the base of every delta. Events and commands go on meanwhile: what they add is not checked. fault, which
// may be nil, is told each fault as it is found.
func (ck *Checker) Verify(ctx context.Context, full bool, p model.Progress, fault func(error)) (*Faults, error) {
	v := ck.newVerifier(full, p, fault)
	return v.out, v.run(ctx)
}

func (ck *Checker) newVerifier(full bool, p model.Progress, fault func(error)) *verifier {
	v := &verifier{
		e: ck, progress: p, full: full, seen: map[model.Object]bool{}, bad: map[model.Object]lost{}, out: &Faults{},
		trees: ck.log.Objs.Memo(objstore.Tree), transcripts: ck.log.Objs.Memo(objstore.Transcript), checkpointOf: ck.log.Checkpoints(),
	}
	v.fault = func(err error) {
		v.passing.note(err)
		v.out.Faults = append(v.out.Faults, err)
		if fault != nil {
			fault(err)
		}
	}
	return v
}

func (v *verifier) run(ctx context.Context) error {
	if err := v.e.log.Damage(); err != nil && !errors.Is(err, kv.ErrUnwritable) {
		v.fault(err)
	}
	if v.full {
		if err := v.e.log.DB.Verify(ctx, v.fault); err != nil {
			return err
		}
	}
	if err := v.references(ctx); err != nil {
		return err
	}
	if err := v.unreached(ctx); err != nil {
		return err
	}
	if err := v.turns(); err != nil {
		return err
	}
	v.out.Checked = v.n
	return v.affected(ctx)
}

// turns compares the ledger with the log, unless that is not whole: who repairs it has the rows folded anew.
func (v *verifier) turns() (err error) {
	if v.torn {
		return nil
	}
	if v.turned, err = v.e.ledger.Check(); model.IsLost(err) {
		return nil // it is among the faults
	} else if err != nil {
		return err
	}
	for _, session := range v.turned {
		v.fault(fmt.Errorf("the stored rows of %s are not what the log says", session))
	}
	return nil
}

// keyOnly is an object of which only the key is known.
type keyOnly struct {
	kind objstore.Kind
	key  objstore.Key
}

// verifier walks everything that refs and operations lead to, then the rest.
type verifier struct {
	e        *Checker
	out      *Faults
	fault    func(error)
	progress model.Progress
	full     bool
	seen     map[model.Object]bool
	bad      map[model.Object]lost
	loose    []keyOnly // objects that cannot be read and that nothing names
	n        int
	passing  passing
	torn     bool     // operations are missing or cannot be read
	turned   []string // sessions whose rows of turns are not what the log folds to

	// They keep what was built: of most objects versions before and after are read too.
	trees, transcripts *objstore.Memo
	checkpointOf       func(objstore.ID) (*model.Checkpoint, error)
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
	o := model.Object{Kind: k, Id: id}
	if v.seen[o] {
		return false
	}
	v.seen[o] = true
	v.count()
	ok, err := true, error(nil)
	if v.full {
		if err = v.e.log.Objs.Verify(ctx, k, id); errors.Is(err, objstore.ErrPurged) {
			return true // on purpose
		}
	} else if ok, err = v.e.log.Objs.Has(k, id); err == nil && !ok {
		if err = v.e.absent(k, id); err == nil {
			err = fmt.Errorf("%s %s is missing", k, id.Short())
		}
	}
	if err != nil && ctx.Err() == nil {
		v.broken(from, o, err)
	}
	return ok && err == nil
}

// broken records an object that cannot be read. One that is known to be lost is no fault any more.
func (v *verifier) broken(from string, o model.Object, err error) {
	v.passing.note(err)
	if _, ok := v.bad[o]; ok || errors.Is(err, objstore.ErrPurged) {
		return
	}
	known := project.IsGone(err) || project.IsGone(v.e.absent(o.Kind, o.Id))
	v.bad[o] = lost{known: known, place: from}
	if known {
		v.out.Lost = append(v.out.Lost, value.Lost{Kind: o.Kind.String(), ID: o.Id.String(), Place: value.Text(from)})
	} else {
		v.fault(&value.OpError{Op: "verify", Subject: from, Err: err})
	}
}

func (v *verifier) references(ctx context.Context) error {
	err := v.e.log.Refs.Each(func(n refs.Name, ref refs.Ref, err error) error {
		if err != nil {
			v.fault(err)
			return nil
		}
		v.checkpoint(ctx, "ref "+string(n), ref.ID)
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.fault(err)
	}
	later := uint64(0)
	err = v.e.log.Refs.Log(func(seq uint64, op *refs.Operation, err error) error {
		if later > 0 && seq != later-1 {
			v.torn = true
			v.fault(fmt.Errorf("verify: operations %d to %d are missing", seq+1, later-1))
		}
		later = seq
		if err != nil {
			v.torn = true
			v.fault(err)
			return nil
		}
		v.operation(ctx, op)
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.fault(err)
	}
	v.unfinished(ctx)
	v.sessions(ctx)
	return ctx.Err()
}

// operation walks what an operation names. One that is lost names nothing: that it is lost has been said.
func (v *verifier) operation(ctx context.Context, op *refs.Operation) {
	from := fmt.Sprintf("operation %d", op.Seq)
	if op.Kind == refs.KindLost {
		v.checkpoint(ctx, from, op.Checkpoint)
		if op.Checkpoint.IsZero() {
			v.lostOperation(op.Seq)
		}
		return
	}
	ids := []objstore.ID{op.Checkpoint}
	if op.Restore != nil {
		ids = append(ids, op.Restore.Target, op.Restore.Safety)
		v.tree(ctx, from, "", op.Restore.Result)
		v.files(ctx, from, op.Restore.Files)
	}
	v.transcript(ctx, from, op.Transcript)
	for _, c := range op.Changes {
		ids = append(ids, c.Old, c.New)
	}
	for _, id := range ids {
		v.checkpoint(ctx, from, id)
	}
}

func (v *verifier) lostOperation(seq uint64) {
	if n := len(v.out.LostOps); n > 0 && v.out.LostOps[n-1].First == seq+1 {
		v.out.LostOps[n-1].First = seq
		return
	}
	v.out.LostOps = append(v.out.LostOps, value.Span{First: seq, Last: seq})
}

func (v *verifier) unfinished(ctx context.Context) {
	j, err := v.e.log.ReadJournal()
	if err != nil {
		v.fault(err)
	}
	if j == nil {
		return
	}
	v.checkpoint(ctx, "journal", j.Target)
	v.checkpoint(ctx, "journal", j.Safety)
	v.files(ctx, "journal", j.Files)
	for _, f := range j.Files {
		if !agentfiles.Shape(f.Path) {
			v.fault(&model.ForeignFileError{In: "the journal", Cause: fmt.Errorf("%s: %w", f.Path, agentfiles.ErrForeign)})
		}
	}
}

func (v *verifier) sessions(ctx context.Context) {
	err := v.e.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, raw []byte) error {
		s, err := model.DecodeSession(string(k[1:]), raw)
		if err != nil {
			v.fault(err)
			return nil
		}
		v.transcript(ctx, "session "+s.Name, s.Cursor.Transcript)
		v.transcript(ctx, "session "+s.Name, s.BeganAs())
		v.transcript(ctx, "session "+s.Name, s.Cursor.Lost)
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.fault(err)
	}
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
	for !id.IsZero() && v.visit(ctx, from+": conversation", objstore.Transcript, id) {
		raw, err := v.transcripts.Get(id)
		var n *conversation.Node
		if err == nil {
			n, err = conversation.DecodeNode(id, raw)
		}
		if err != nil {
			v.broken(from, model.Object{Kind: objstore.Transcript, Id: id}, err)
			return
		}
		if v.visit(ctx, from+": conversation", objstore.Blob, n.Tail) && n.Made {
			// what cannot be read is met below
			if err := conversation.CheckMade(v.e.log.Objs, n); errors.Is(err, kv.ErrCorrupt) {
				v.broken(from, model.Object{Kind: objstore.Transcript, Id: id}, err)
			}
		}
		id = n.Parent
	}
}

// checkpoint walks one checkpoint; its parents are met through their own operations.
func (v *verifier) checkpoint(ctx context.Context, from string, id objstore.ID) {
	if id.IsZero() || !v.visit(ctx, from, objstore.Checkpoint, id) {
		return
	}
	cp, err := v.checkpointOf(id)
	if err != nil {
		v.broken(from, model.Object{Kind: objstore.Checkpoint, Id: id}, err)
		return
	}
	from = "checkpoint " + id.Short()
	if !cp.Note.IsZero() && v.visit(ctx, from, objstore.Note, cp.Note) {
		if _, err := v.e.log.Note(cp); err != nil {
			v.broken(from, model.Object{Kind: objstore.Note, Id: cp.Note}, err)
		}
	}
	v.tree(ctx, from, "", cp.Tree)
	v.tree(ctx, from, "", cp.Base)
	v.transcript(ctx, from, cp.Conversation.Transcript)
}

func (v *verifier) tree(ctx context.Context, from, path string, id objstore.ID) {
	if id.IsZero() || ctx.Err() != nil || !v.visit(ctx, placeText(from, path), objstore.Tree, id) {
		return
	}
	ents, err := v.entries(id)
	if err != nil {
		v.broken(placeText(from, path), model.Object{Kind: objstore.Tree, Id: id}, err)
		return
	}
	for _, ent := range ents {
		p := tree.Join(path, ent.Name)
		if ent.Type == tree.TypeDir {
			v.tree(ctx, from, p, ent.ID)
		} else {
			v.visit(ctx, placeText(from, p), objstore.Blob, ent.ID)
			if l, ok := v.bad[model.Object{Kind: objstore.Blob, Id: ent.ID}]; ok && l.path == "" {
				l.path = p
				v.bad[model.Object{Kind: objstore.Blob, Id: ent.ID}] = l
			}
		}
	}
}

func placeText(from, path string) string {
	if path == "" {
		return from
	}
	return fmt.Sprintf("%s: %q", from, path)
}

// entries reads one tree.
func (v *verifier) entries(id objstore.ID) ([]tree.Entry, error) {
	raw, err := v.trees.Get(id)
	if err != nil {
		return nil, err
	}
	return tree.Decode(raw)
}

// look checks one object, as far as is asked for.
func (v *verifier) look(k objstore.Kind, key objstore.Key, info objstore.Info) error {
	switch {
	case info.Damage != nil:
		return info.Damage
	case v.full:
		_, err := v.e.log.Objs.IDOf(k, key)
		return err
	case info.Codec == objstore.CodecChunks || info.Index > 0 && info.Base.IsZero():
		return v.needs(k, key)
	}
	return nil
}

// unreached checks what nothing leads to: it would be the base of what comes. Quick looks at envelopes and at the bases
// of deltas only.
func (v *verifier) unreached(ctx context.Context) error {
	met := make(map[keyOnly]objstore.ID, len(v.seen))
	for o := range v.seen {
		met[keyOnly{o.Kind, o.Id.Key()}] = o.Id
	}
	err := v.e.log.Objs.Walk(ctx, func(k objstore.Kind, key objstore.Key, info objstore.Info) error {
		id, named := met[keyOnly{k, key}]
		if named && v.full {
			return nil // read already
		}
		if !named {
			v.count()
		}
		err := v.look(k, key, info)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if named { // quick had only looked whether it is there
			v.broken("the store", model.Object{Kind: k, Id: id}, err)
			return nil
		}
		if g, ok, _ := v.e.log.Objs.Tombstone(k, key); !ok || g.Reason != objstore.Lost {
			v.loose = append(v.loose, keyOnly{k, key})
			v.fault(fmt.Errorf("verify: %w", err))
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		v.fault(err)
	}
	return ctx.Err()
}

// needs looks for what an object cannot be read without.
func (v *verifier) needs(k objstore.Kind, key objstore.Key) error {
	deps, err := v.e.log.Objs.Deps(k, key)
	if err != nil {
		return err
	}
	for _, d := range deps {
		if _, err := v.e.log.Objs.Deps(k, d); errors.Is(err, objstore.ErrNotFound) {
			return fmt.Errorf("%s %s: %s of it is missing", k, key.Short(), d.Short())
		}
	}
	return nil
}
