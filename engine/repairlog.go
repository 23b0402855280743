package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// settle makes what names objects say what is there, and marks what is lost, in one batch with the operation that records it.
func (r *repair) settle(ctx context.Context, v *verifier) error {
	e := r.e
	defer e.hold()()
	s := &settling{repair: r, v: v, d: newDamage(v)}
	if err := s.orphans(ctx); err != nil {
		return err
	}
	tx := e.objs.BeginAlone()
	s.tx = tx
	err := s.run()
	if err == nil && len(r.out.Done) == 0 && (r.out.Files == nil || !r.out.Files.Rebuilt && len(r.out.Files.Files) == 0) {
		tx.Discard()
		return nil
	}
	if err == nil {
		err = e.db.Stamp(formatRepair)
	}
	if err != nil {
		tx.Discard()
		return err
	}
	op, err := e.refs.Commit(ctx, tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		o := refs.Operation{Kind: refs.KindRepair, Time: e.now().UnixMilli(), Message: r.message()}
		return o, nil, s.mark(seq)
	})
	if err != nil {
		tx.Discard()
		return err
	}
	r.out.Operation = op
	e.refs.Forget()
	e.objs.Forget()
	e.known, e.sessions, e.seen, e.cache, e.unsaved, e.whole, e.followed = nil, nil, nil, nil, nil, false, nil
	e.noted = noted{}
	return nil
}

// formatRepair is the first store format that has the kinds of operation that a repair writes.
const formatRepair = 4

// message says in the log what was done.
func (r *repair) message() string {
	var parts []string
	if f := r.out.Files; f != nil {
		if f.Rebuilt {
			parts = append(parts, fmt.Sprintf("database made anew, of %s", counted(f.Keys, "key")))
		}
		for i := 0; i+1 < len(f.Lost); i += 2 {
			parts = append(parts, fmt.Sprintf("operations %d to %d are lost", f.Lost[i], f.Lost[i+1]))
		}
	}
	parts = append(parts, r.out.Done...)
	text := strings.Join(parts, "; ")
	return text[:min(len(text), maxRepairText)]
}

// maxRepairText bounds the message of the operation, in bytes.
const maxRepairText = 4 << 10

// settling collects one batch.
type settling struct {
	*repair
	v  *verifier
	d  *damage
	tx *objstore.Tx

	alone  map[uint64]*Checkpoint // whose operations are lost, by these
	newest map[string]objstore.ID // of each session, the newest checkpoint that can be read
	said   map[refs.Name]refs.Ref // where the log says that names point; zero: deleted
}

func (s *settling) run() error {
	for _, step := range []func() error{s.operations, s.refs, s.sessions, s.journal, s.cache, s.healed} {
		if err := step(); err != nil {
			return err
		}
	}
	n := 0
	for _, lost := range s.v.bad {
		if !lost.Known {
			n++
		}
	}
	if n > 0 {
		s.did("%s marked as lost", counted(n, "object"))
	}
	if n := len(s.v.loose); n > 0 {
		s.did("%s that nothing names marked as lost", counted(n, "object"))
	}
	return nil
}

// operations rewrites those that cannot be read, and those whose checkpoints cannot, as lost; of an event, which is more than its checkpoint, only that goes. The
// state that captures are compared with must be one that can be read: what the newest operations say of it is lost until one can.
func (s *settling) operations() error {
	s.newest, s.said = map[string]objstore.ID{}, map[refs.Name]refs.Ref{}
	b := s.tx.Batch()
	lost, based, oldest := 0, false, uint64(0)
	err := s.e.refs.Log(func(seq uint64, op *refs.Operation, err error) error {
		if seq == 0 {
			return nil
		}
		oldest = seq
		if cp := s.alone[seq]; cp != nil && (err != nil || op.Kind == refs.KindLost && op.Checkpoint.IsZero()) {
			if based = based || s.whole(cp.Tree, cp.Note); based {
				return s.again(b, cp)
			}
		}
		if err != nil {
			lost++
			raw := []byte(nil)
			if err := s.e.db.View(kv.OperationKey(seq), func(v []byte) error { raw = slices.Clone(v); return nil }); err != nil {
				return err
			}
			if err := s.keep(fmt.Sprintf("operation-%d", seq), raw); err != nil {
				return err
			}
			return refs.Rewrite(b, &refs.Operation{Seq: seq, Kind: refs.KindLost, Time: s.e.now().UnixMilli()})
		}
		s.hear(op)
		switch {
		case op.Kind == refs.KindLost:
			return nil
		case op.Kind == refs.KindEvent && s.unreadable(op.Checkpoint):
			now := *op
			now.Checkpoint = objstore.ID{}
			return refs.Rewrite(b, &now)
		}
		gone := s.unreadable(op.Checkpoint) || op.Restore != nil && (s.unreadable(op.Restore.Target) || s.unreadable(op.Restore.Safety))
		if !gone && !based {
			settles, whole := s.settles(op)
			based, gone = settles && whole, settles && !whole
		}
		if !gone {
			return nil
		}
		lost++
		now := op.Lost()
		return refs.Rewrite(b, &now)
	})
	if err == nil {
		err = s.before(b, oldest)
	}
	if lost > 0 {
		s.did("%s of the log stand as lost", counted(lost, "operation"))
	}
	return err
}

func (s *settling) unreadable(id objstore.ID) bool {
	return !id.IsZero() && s.d.bad(objstore.Checkpoint, id)
}

// settles reports whether an operation says which state the worktree was left in, and whether that can be read but for contents of files.
func (s *settling) settles(op *refs.Operation) (settles, whole bool) {
	e := s.e
	e.known = nil
	var h head
	var err error
	switch {
	case op.Kind == refs.KindCheckpoint:
		var cp *Checkpoint
		if cp, err = e.checkpoint(op.Checkpoint); err == nil {
			h = head{tree: cp.Tree, note: cp.Note}
		}
	case op.Kind == refs.KindSafety:
		h, err = e.headBefore(op.Checkpoint)
	case op.Kind == refs.KindAbort && op.Restore != nil:
		h, err = e.headBefore(op.Restore.Safety)
	case op.Restore != nil:
		h, err = e.headAfter(op.Restore)
	default:
		return false, false
	}
	return true, err == nil && s.whole(h.tree, h.note)
}

// whole reports whether captures can be compared with a state.
func (s *settling) whole(tree, note objstore.ID) bool {
	return (note.IsZero() || !s.d.bad(objstore.Note, note)) && s.d.shape(tree)
}

// hear takes from an operation where it moved names: the newest word on each counts, and operations come newest first.
func (s *settling) hear(op *refs.Operation) {
	say := func(n refs.Name, id objstore.ID) {
		if _, ok := s.said[n]; !ok {
			s.said[n] = refs.Ref{Name: n, ID: id, Seq: op.Seq}
		}
	}
	for _, c := range op.Changes {
		say(c.Name, c.New)
	}
	if op.Kind != refs.KindCheckpoint || op.Session == "" {
		return
	}
	say(refs.Session(op.Session), op.Checkpoint)
	say(refs.Cursor(op.Session), op.Checkpoint)
	if _, ok := s.newest[op.Session]; !ok && !s.unreadable(op.Checkpoint) {
		s.newest[op.Session] = op.Checkpoint
	}
}

// refs sets the names that cannot be read, are missing, or name a checkpoint that cannot be read: to what the log says; failing that, a session's to
// the newest of its checkpoints that can be read. In a database that was made anew also those that an old table may have had: older than the log's word.
func (s *settling) refs() error {
	b := s.tx.Batch()
	have := map[refs.Name]refs.Ref{}
	err := s.e.refs.Each(func(n refs.Name, ref refs.Ref, err error) error {
		if err != nil {
			ref = refs.Ref{Name: n}
		}
		have[n] = ref
		return nil
	})
	if err != nil {
		return err
	}
	for n, said := range s.said {
		if _, ok := have[n]; !ok && !said.ID.IsZero() {
			have[n] = refs.Ref{Name: n}
		}
	}
	rebuilt := s.out.Files != nil && s.out.Files.Rebuilt
	for n, ref := range have {
		said, known := s.said[n]
		to := ref
		if known && (ref.Seq == 0 || rebuilt && ref.Seq < said.Seq) {
			to = said
		}
		if s.unreadable(to.ID) || to.ID.IsZero() && !(known && said.ID.IsZero()) {
			to = refs.Ref{ID: s.newest[n.Base()], Seq: max(said.Seq, ref.Seq, 1)}
			if strings.HasPrefix(string(n), refs.Tags) {
				to.ID = objstore.ID{}
			}
		}
		if to.ID == ref.ID && ref.Seq > 0 {
			continue
		}
		if err := refs.Repoint(b, n, to.ID, max(to.Seq, 1)); err != nil {
			return err
		}
		switch {
		case to.ID.IsZero():
			s.did("ref %s is lost: no checkpoint of it can be read", n)
		default:
			s.did("ref %s set to checkpoint %s", n, to.ID.Short())
		}
	}
	return nil
}

// sessions has the conversations whose end is lost captured anew.
func (s *settling) sessions() error {
	b := s.tx.Batch()
	return s.e.db.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, raw []byte) error {
		session, err := decodeSession(string(k[1:]), raw)
		if errors.Is(err, kv.ErrCorrupt) {
			s.did("session %s begins anew: its record cannot be read", k[1:])
			return errors.Join(s.keep("session-"+hex.EncodeToString(k[1:]), raw), b.Delete(k))
		}
		if err != nil {
			return err
		}
		changed := false
		if !session.Cursor.Transcript.IsZero() && s.d.talk(session.Cursor.Transcript) {
			session.Cursor = Cursor{Mark: Mark{Generation: session.Cursor.Generation}}
			changed = true
		}
		if f := session.Fork; f != nil && s.d.talk(f.Transcript) {
			f.Transcript, changed = objstore.ID{}, true
		}
		if !changed {
			return nil
		}
		s.did("the conversation of session %s is captured anew", session.Name)
		return b.Set(sessionKey(session.Name), session.encode())
	})
}

// journal takes out one that cannot be read: nobody can finish what it was for.
func (s *settling) journal() error {
	if s.was == nil {
		j, err := s.e.readJournal()
		if err != nil || j == nil || !s.ended(j) {
			return err
		}
		s.did("a checkout that had ended is not half done")
		return s.tx.Batch().Delete(journalKey)
	}
	s.did("a checkout was half done, and what it was to do cannot be read: the files are as they are")
	return errors.Join(s.keep("journal", s.was), s.tx.Batch().Delete(journalKey))
}

// ended reports whether the log says that the journal's restore has ended: an old table had the journal.
func (r *repair) ended(j *journal) bool {
	ended := false
	_ = r.e.refs.Log(func(_ uint64, op *refs.Operation, err error) error {
		if err == nil && op.Restore != nil && op.Restore.Safety == j.Safety {
			ended = true
			return kv.ErrStop
		}
		return nil
	})
	return ended
}

// cache drops the stat cache when objects are lost: an entry of it may name one.
func (s *settling) cache() error {
	if len(s.v.bad) == 0 {
		return nil
	}
	return s.tx.Batch().DeleteRange([]byte{kv.PrefixStat}, []byte{kv.PrefixStat + 1})
}

// healed takes the marks of what can be read again away.
func (s *settling) healed() error {
	n := 0
	var back []object
	err := s.e.objs.WalkGone(func(k objstore.Kind, key objstore.Key, g objstore.Gone, err error) error {
		if err != nil || g.Reason != objstore.Lost {
			return nil
		}
		if id, err := s.e.objs.IDOf(k, key); err == nil && s.e.objs.Verify(context.Background(), k, id) == nil {
			back = append(back, object{k, id})
		}
		return nil
	})
	for _, o := range back {
		if err == nil {
			err = s.tx.Found(o.kind, o.id.Key())
			n++
		}
	}
	if n > 0 {
		s.did("%s no longer lost", counted(n, "object"))
	}
	return err
}

// mark marks what is lost. What lies under its key stays: the rest of a line of deltas may come back with its base.
func (s *settling) mark(seq uint64) error {
	for o, lost := range s.v.bad {
		if lost.Known {
			continue
		}
		if err := s.tx.Miss(o.kind, o.id.Key(), objstore.Gone{Reason: objstore.Lost, Operation: seq, Text: lost.Place}); err != nil {
			return err
		}
	}
	for _, o := range s.v.loose {
		if err := s.tx.Miss(o.kind, o.key, objstore.Gone{Reason: objstore.Lost, Operation: seq}); err != nil {
			return err
		}
	}
	return nil
}
