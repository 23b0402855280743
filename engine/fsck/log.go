package fsck

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// commit makes what names objects say what is there, and marks what is lost, in one batch with the operation that
// records it. The operation of the first pass also records what was done to the files. It reports whether it has
// changed anything.
func (r *repair) commit(ctx context.Context, v *verifier, first bool) (changed bool, err error) {
	e := r.e
	defer e.log.Hold()()
	s := &fixup{repair: r, v: v, d: newDamage(v)}
	done := len(r.out.Done)
	if first {
		done = 0
	}
	if err := s.orphans(ctx); err != nil {
		return false, err
	}
	tx := e.log.Objs.BeginAlone()
	s.tx = tx
	if err = s.run(); err == nil {
		err = s.passed()
	}
	unchanged := err == nil && len(r.out.Done) == done
	files := r.out.Files
	repaired := files != nil && (files.Rebuilt || len(files.Files) > 0)
	if unchanged && !(first && repaired) {
		tx.Discard()
		return false, nil
	}
	blind := s.blind()
	if err == nil {
		err = s.passed()
	}
	if err != nil {
		tx.Discard()
		return false, err
	}
	op, err := e.log.BeginWith(tx).Commit(ctx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		o := refs.Operation{
			Kind: refs.KindRepair, Time: e.log.Now().UnixMilli(),
			Message: r.message(first, r.out.Done[done:]),
		}
		if blind {
			o.Restore, r.blind = &refs.Restore{Scope: refs.Scope{ContextOnly: true}}, true
		}
		return o, nil, s.markLost(seq)
	})
	if err != nil {
		return false, err
	}
	r.out.Operation = op
	e.log.Forget()
	e.worktree.Forget()
	e.talks.Files = nil
	return true, nil
}

// passed is an error that what is to be repaired hangs on, and that may be gone the next time: nothing is changed for
// it.
func (s *fixup) passed() error { return cmp.Or(s.v.passing.err, s.d.passing.err) }

// message says in the log what was done.
func (r *repair) message(first bool, done []string) string {
	var parts []string
	if f := r.out.Files; f != nil && first {
		if f.Rebuilt {
			parts = append(parts, fmt.Sprintf("database made anew, of %s", counted(f.Keys, "key")))
		}
		for i := 0; i+1 < len(f.Lost); i += 2 {
			parts = append(parts, fmt.Sprintf("operations %d to %d are lost", f.Lost[i], f.Lost[i+1]))
		}
	}
	parts = append(parts, done...)
	text := strings.Join(parts, "; ")
	return text[:min(len(text), maxRepairText)]
}

// maxRepairText bounds the message of the operation, in bytes.
const maxRepairText = 4 << 10

// fixup collects one batch.
type fixup struct {
	*repair
	v  *verifier
	d  *damage
	tx *objstore.Tx

	alone  map[uint64]*model.Checkpoint // whose operations are lost, by these
	newest map[string]objstore.ID       // of each session, the newest checkpoint that can be read
	final  []*refs.Operation            // the newest, as they will stand
	logged map[refs.Name]refs.Ref       // where the log says that names point; zero: deleted
}

func (s *fixup) run() error {
	for _, step := range []func() error{s.operations, s.refs, s.sessions, s.journal, s.cache, s.healed} {
		if err := step(); err != nil {
			return err
		}
	}
	n := 0
	for _, lost := range s.v.bad {
		if !lost.known {
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

// lacks reports whether a checkpoint that a restore names cannot be read.
func (s *fixup) lacks(r *refs.Restore) bool {
	return r != nil && (s.unreadable(r.Target) || s.unreadable(r.Safety))
}

// lose has an operation that cannot be read stand as lost; its bytes are kept beside the store.
func (s *fixup) lose(b *kv.Batch, seq uint64) error {
	raw := []byte(nil)
	if err := s.e.log.DB.View(kv.OperationKey(seq), func(v []byte) error { raw = slices.Clone(v); return nil }); err != nil {
		return err
	}
	if err := s.keep(fmt.Sprintf("operation-%d", seq), raw); err != nil {
		return err
	}
	s.say(&refs.Operation{Seq: seq, Kind: refs.KindLost, Message: "?"})
	return refs.Restate(b, &refs.Operation{Seq: seq, Kind: refs.KindLost, Time: s.e.log.Now().UnixMilli()})
}

// operations rewrites those that cannot be read, and those whose checkpoints cannot, as lost; of an event, which is
// more than its checkpoint, only that goes.
func (s *fixup) operations() error {
	s.newest, s.logged = map[string]objstore.ID{}, map[refs.Name]refs.Ref{}
	b := s.tx.Batch()
	lost, oldest := 0, uint64(0)
	err := s.e.log.Refs.Log(func(seq uint64, op *refs.Operation, err error) error {
		if seq == 0 {
			return nil
		}
		if model.MayPass(err) {
			return err
		}
		oldest = seq
		gap := err != nil || op.Kind == refs.KindLost && op.Checkpoint.IsZero()
		if cp := s.alone[seq]; cp != nil && gap {
			return s.again(b, cp)
		}
		if err != nil {
			lost++
			return s.lose(b, seq)
		}
		s.hear(op)
		switch {
		case op.Kind == refs.KindLost:
			s.say(op)
			return nil
		case op.Kind == refs.KindEvent && s.unreadable(op.Checkpoint):
			now := *op
			now.Checkpoint = objstore.ID{}
			return refs.Restate(b, &now)
		}
		if !s.unreadable(op.Checkpoint) && !s.lacks(op.Restore) {
			s.say(op)
			return nil
		}
		lost++
		now := op.Lost()
		s.say(&now)
		return refs.Restate(b, &now)
	})
	if err == nil {
		err = s.before(b, oldest)
	}
	if lost > 0 {
		s.did("%s of the log stand as lost", counted(lost, "operation"))
	}
	return err
}

func (s *fixup) unreadable(id objstore.ID) bool {
	return !id.IsZero() && s.d.bad(objstore.Checkpoint, id)
}

// sound reports whether captures can be compared with a checkpoint: all of it can be read but, perhaps, contents of
// files and the conversation.
func (s *fixup) sound(id objstore.ID) bool {
	cp, err := s.e.log.Checkpoint(id)
	s.d.passing.note(err)
	trees := err == nil && s.d.shape(cp.Tree) && s.d.shape(cp.Base)
	return trees && (cp.Note.IsZero() || !s.d.bad(objstore.Note, cp.Note))
}

// say takes an operation in as it stands from now on, the newest first, as far back as is needed to know in which state
// the worktree was left.
func (s *fixup) say(op *refs.Operation) {
	if n := len(s.final); n == 0 || s.final[n-1].Kind != refs.KindCheckpoint {
		s.final = append(s.final, op)
	}
}

// blind reports whether what the newest operations say of the state that the worktree was left in cannot be read. The
// repair says then that nothing is known of it, and takes a checkpoint of what is there.
func (s *fixup) blind() bool {
	for _, op := range s.final {
		var of []objstore.ID
		switch {
		case op.Kind == refs.KindRepair && op.Restore != nil:
			return false
		case op.Kind == refs.KindLost && op.Message != "":
			return true
		case op.Kind == refs.KindCheckpoint, op.Kind == refs.KindSafety:
			of = []objstore.ID{op.Checkpoint}
		case op.Restore != nil:
			of = []objstore.ID{op.Restore.Target, op.Restore.Safety}
		}
		for _, id := range of {
			if !s.sound(id) {
				return true
			}
		}
		if op.Kind == refs.KindCheckpoint {
			return false
		}
	}
	return false
}

// hear takes from an operation where it moved names: the newest word on each counts, and operations come newest first.
func (s *fixup) hear(op *refs.Operation) {
	say := func(n refs.Name, id objstore.ID) {
		if _, ok := s.logged[n]; !ok {
			s.logged[n] = refs.Ref{Name: n, ID: id, Seq: op.Seq}
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
	if _, ok := s.newest[op.Session]; !ok && s.sound(op.Checkpoint) {
		s.newest[op.Session] = op.Checkpoint
	}
}

// refs sets the names that cannot be read, are missing, or name a checkpoint that cannot be read: to what the log says;
// failing that, a session's to the newest of its checkpoints that can be read. In a database that was made anew also
// those that an old table may have had: older than the log's word.
func (s *fixup) refs() error {
	b := s.tx.Batch()
	have, stored := map[refs.Name]refs.Ref{}, map[refs.Name]bool{}
	err := s.e.log.Refs.Each(func(n refs.Name, ref refs.Ref, err error) error {
		if err != nil {
			ref = refs.Ref{Name: n}
		}
		have[n], stored[n] = ref, true
		return nil
	})
	if err != nil {
		return err
	}
	for n, said := range s.logged {
		if _, ok := have[n]; !ok && !said.ID.IsZero() {
			have[n] = refs.Ref{Name: n}
		}
	}
	rebuilt := s.out.Files != nil && s.out.Files.Rebuilt
	for n, ref := range have {
		said, known := s.logged[n]
		to := ref
		if known && (ref.Seq == 0 || rebuilt && ref.Seq < said.Seq) {
			to = said
		}
		tag := strings.HasPrefix(string(n), refs.Tags)
		switch {
		case to.ID.IsZero() && known && said.ID.IsZero(): // it was deleted
		case to.ID.IsZero(), s.unreadable(to.ID), !tag && !s.sound(to.ID):
			to = refs.Ref{ID: s.newest[n.Base()], Seq: max(said.Seq, ref.Seq, 1)}
			if tag {
				to.ID = objstore.ID{}
			}
		}
		if to.ID == ref.ID && ref.Seq > 0 || to.ID.IsZero() && !stored[n] {
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
func (s *fixup) sessions() error {
	b := s.tx.Batch()
	return s.e.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, raw []byte) error {
		session, err := model.DecodeSession(string(k[1:]), raw)
		if errors.Is(err, kv.ErrCorrupt) {
			s.did("session %s begins anew: its record cannot be read", k[1:])
			return errors.Join(s.keep("session-"+hex.EncodeToString(k[1:]), raw), b.Delete(k))
		}
		if err != nil {
			return err
		}
		changed := false
		if !session.Cursor.Transcript.IsZero() && s.d.conversation(session.Cursor.Transcript) {
			session.Cursor = model.Cursor{TranscriptEnd: model.TranscriptEnd{Generation: session.Cursor.Generation}}
			changed = true
		}
		if s.d.conversation(session.Cursor.Lost) {
			session.Cursor.Lost, changed = objstore.ID{}, true
		}
		if f := session.Fork; f != nil && s.d.conversation(f.Transcript) {
			f.Transcript, changed = objstore.ID{}, true
		}
		if !changed {
			return nil
		}
		s.did("the conversation of session %s is captured anew", session.Name)
		return b.Set(model.SessionKey(session.Name), session.Encode())
	})
}

// journal takes out one that cannot be read: nobody can finish what it was for.
func (s *fixup) journal() error {
	if s.was == nil {
		j, err := s.e.log.ReadJournal()
		if err != nil || j == nil || !s.ended(j) {
			return err
		}
		s.did("a checkout that had ended is not half done")
		return s.tx.Batch().Delete(model.JournalKey)
	}
	s.did("a checkout was half done, and what it was to do cannot be read: the files are as they are")
	return errors.Join(s.keep("journal", s.was), s.tx.Batch().Delete(model.JournalKey))
}

// ended reports whether the log says that the journal's restore has ended: an old table had the journal.
func (r *repair) ended(j *model.Journal) bool {
	ended := false
	_ = r.e.log.Refs.Log(func(_ uint64, op *refs.Operation, err error) error {
		if err == nil && op.Restore != nil && op.Restore.Safety == j.Safety {
			ended = true
			return kv.ErrStop
		}
		return nil
	})
	return ended
}

// cache drops what is known of session files and of turns, and when objects are lost the stat cache: an entry of it may
// name one.
func (s *fixup) cache() error {
	if err := ledger.Changed(s.e.log.DB, s.tx.Batch()); err != nil {
		return err
	}
	if n := len(s.v.turned); n > 0 {
		s.did("the rows of %s were folded anew", counted(n, "session"))
	}
	err := s.tx.Batch().DeleteRange([]byte{kv.PrefixKnown}, []byte{kv.PrefixKnown + 1})
	if err != nil || len(s.v.bad) == 0 {
		return err
	}
	return s.tx.Batch().DeleteRange([]byte{kv.PrefixStat}, []byte{kv.PrefixStat + 1})
}

// healed takes the marks of what can be read again away.
func (s *fixup) healed() error {
	n := 0
	var back []model.Object
	err := s.e.log.Objs.WalkTombstones(func(k objstore.Kind, key objstore.Key, g objstore.Tombstone, err error) error {
		if err != nil || g.Reason != objstore.Lost {
			return nil
		}
		if id, err := s.e.log.Objs.IDOf(k, key); err == nil && s.e.log.Objs.Verify(context.Background(), k, id) == nil {
			back = append(back, model.Object{Kind: k, Id: id})
		}
		return nil
	})
	for _, o := range back {
		if err == nil {
			err = s.tx.Found(o.Kind, o.Id.Key())
			n++
		}
	}
	if n > 0 {
		s.did("%s no longer lost", counted(n, "object"))
	}
	return err
}

// markLost marks what is lost. What lies under its key stays: the rest of a line of deltas may come back with its base.
func (s *fixup) markLost(seq uint64) error {
	for o, lost := range s.v.bad {
		if lost.known {
			continue
		}
		if err := s.tx.Miss(o.Kind, o.Id.Key(), objstore.Tombstone{Reason: objstore.Lost, Operation: seq, Text: lost.place}); err != nil {
			return err
		}
	}
	for _, o := range s.v.loose {
		if err := s.tx.Miss(o.kind, o.key, objstore.Tombstone{Reason: objstore.Lost, Operation: seq}); err != nil {
			return err
		}
	}
	return nil
}
