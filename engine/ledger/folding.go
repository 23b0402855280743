package ledger

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
	"rewind/refs"
)

// folding is one batch of the fold.
type folding struct {
	l       *Ledger
	session string // alone; "": all
	read    func(objstore.ID) (*model.Checkpoint, error)
	count   oplog.Count
	failed  error             // why the numbers of count may be wrong
	both    map[string]uint64 // of each session that was met
	head    head
	begun   bool
	behind  uint64            // the operation before the one that is taken, if it has begun
	tools   map[uint64]string // of steps that rows name
}

// folding begins a batch.
func (l *Ledger) folding(session string) *folding {
	f := &folding{l: l, session: session, read: l.log.Checkpoints(), both: map[string]uint64{}, head: l.head}
	f.behind, f.tools = l.head.Seq, map[uint64]string{}
	f.count = l.log.CountOr(func(err error) { f.failed = err })
	return f
}

// slice is how many operations are folded in one batch.
const slice = 1024

// fold takes the next operations in, up to last at least, or as many as are a slice, and stores their rows.
func (l *Ledger) fold(last uint64) error {
	return l.foldTo(last, 0)
}

// foldTo is fold that takes no operation behind end; 0: there is no end.
func (l *Ledger) foldTo(last, end uint64) error {
	f := l.folding("")
	n := 0
	err := l.log.Refs.Since(l.head.Seq+1, func(op *refs.Operation) error {
		if end > 0 && op.Seq > end {
			f.head.Seq = end
			return kv.ErrStop
		}
		if n++; n > l.slice {
			return kv.ErrStop
		}
		f.head.Seq = op.Seq
		return f.next(op)
	})
	switch {
	case errors.Is(err, refs.ErrCorrupt) && n > 0: // up to what cannot be read
	case errors.Is(err, refs.ErrCorrupt):
		f.head.Seq++ // which says nothing
	case err != nil:
		return err
	case n == 0:
		f.head.Seq = last // the last numbers have no operation
	}
	l.head = f.head
	l.store()
	return nil
}

// again folds the rows of one session anew, from the operation that its first row was made by.
func (l *Ledger) again(session string, born uint64) error {
	f := l.folding(session)
	f.head.Restored, f.behind = 0, 0
	l.newest[session], l.redone[session] = nil, true
	delete(l.rows, session)
	err := l.log.Refs.Since(born, func(op *refs.Operation) error {
		if op.Seq > l.head.Seq {
			return kv.ErrStop
		}
		return f.next(op)
	})
	if err != nil {
		l.loaded = false
		return err
	}
	l.store()
	return nil
}

// next takes the next operation of the log.
func (f *folding) next(op *refs.Operation) error {
	if !f.begun {
		var err error
		if f.behind, err = f.operationBefore(f.behind); err != nil {
			return err
		}
		f.begun = true
	}
	err := f.take(op)
	f.behind = op.Seq
	return err
}

func (f *folding) take(op *refs.Operation) error {
	if op.Restore != nil && f.session == "" {
		f.l.restores = append(f.l.restores, op.Seq)
	}
	if op.Kind.IsRestore() {
		if err := f.placed(op, ""); err != nil || op.Restore == nil {
			return err
		}
		return f.restored(op.Seq, op.Restore)
	}
	if !model.InTurn(op) || f.session != "" && op.Session != f.session {
		return nil
	}
	m, err := f.moment(f.count.Operation(op))
	if err = cmp.Or(f.failed, err); err != nil {
		return err
	}
	if err := f.placed(op, m.Word); err != nil {
		return err
	}
	newest, err := f.newest(op.Session)
	if err != nil {
		return err
	}
	f.l.put(op.Session, fold(newest, m, f.head.Restored))
	return nil
}

// moment is an operation with what its checkpoint says of it. What cannot be read any more says nothing.
func (f *folding) moment(op *refs.Operation) (*moment, error) {
	m := &moment{Op: op, Word: op.Cause.Event, Said: !op.Transcript.IsZero(), Behind: f.behind}
	m.Asked = model.BeginsTurn(op) && op.Message != ""
	var err error
	if m.Both, err = f.bothOf(op.Session); err != nil {
		return nil, err
	}
	found := op.Kind == refs.KindEvent && m.Word == model.EventWords[hooks.AfterTool] && !op.Checkpoint.IsZero()
	if op.Kind != refs.KindCheckpoint && !found {
		return m, nil
	}
	cp, err := f.read(op.Checkpoint)
	switch {
	case model.IsLost(err), errors.Is(err, record.ErrFormat):
		return m, nil
	case err != nil:
		return nil, err
	case found: // another session's event may have found what the call did
		m.Own = cp.Session != op.Session && cp.ChangedBy(op.Session)
		return m, nil
	}
	m.Word, m.Own = cp.Cause.Event, cp.ChangedBy(op.Session)
	m.Said, m.Asked = !cp.Conversation.Transcript.IsZero(), cp.Cause.Prompt != ""
	return m, f.inRun(m, cp)
}

func (f *folding) bothOf(session string) (uint64, error) {
	if n, met := f.both[session]; met {
		return n, nil
	}
	s, err := f.l.log.StoredSession(session)
	if err != nil {
		return 0, err
	}
	f.both[session] = both(s)
	return f.both[session], nil
}

// newest is the newest row of a session; nil: it has none.
func (f *folding) newest(session string) (*Turn, error) {
	l := f.l
	if t, met := l.newest[session]; met {
		return t, nil
	}
	var newest *Turn
	var err error
	if !l.anew && !l.redone[session] {
		err = l.log.DB.Scan(kv.Range{Prefix: turnsPrefix(session), Reverse: true}, func(key, raw []byte) error {
			t, err := decodeTurn(key, raw)
			if err != nil {
				return err
			}
			newest = &t
			return kv.ErrStop
		})
	}
	if err == nil {
		l.newest[session] = newest
	}
	return newest, err
}

// put takes a row in. Where the batch is given up all is read anew.
func (l *Ledger) put(session string, t *Turn) {
	if l.rows[session] == nil {
		l.rows[session] = map[uint64]*Turn{}
	}
	l.rows[session][t.Index] = t
	if was := l.newest[session]; was == nil || was.Index <= t.Index {
		l.newest[session] = t
	}
}

// store stores what waits. Where that cannot be, it waits on.
func (l *Ledger) store() {
	if l.never {
		return
	}
	b := l.log.DB.NewBatch()
	defer b.Close() //nolint:errcheck // after a commit there is nothing to close
	if l.collect(b) != nil || b.Commit(context.Background(), kv.Written) != nil {
		return
	}
	clear(l.rows)
	clear(l.places)
	l.restores = nil
	clear(l.redone)
	l.anew, l.settles, l.began = false, false, true
}

// collect adds what waits to a batch.
func (l *Ledger) collect(b *kv.Batch) error {
	if l.anew {
		if err := l.clear(b); err != nil {
			return err
		}
	}
	if l.settles {
		if err := b.Set(epochKey, epochTable.Encode(&epoch{Changes: l.head.Epoch})); err != nil {
			return err
		}
	}
	for session := range l.redone {
		if err := b.DeleteRange(turnsPrefix(session), afterTurns(session)); err != nil {
			return err
		}
	}
	for session, rows := range l.rows {
		for i, t := range rows {
			if err := b.Set(turnKey(session, i), t.encode()); err != nil {
				return err
			}
		}
	}
	for first, p := range l.places {
		if err := b.Set(placeKey(first), p.encode()); err != nil {
			return err
		}
	}
	for _, seq := range l.restores {
		if err := b.Set(restoreKey(seq), nil); err != nil {
			return err
		}
	}
	return b.Set(headKey, headTable.Encode(&l.head))
}

// clear takes all rows out of the store. A new store has none, and needs no tombstone.
func (l *Ledger) clear(b *kv.Batch) error {
	has := false
	err := l.log.DB.Scan(kv.Range{Prefix: []byte{prefix}, From: headKey}, func(_, _ []byte) error {
		has = true
		return kv.ErrStop
	})
	if none := err == nil && !has; none {
		return nil
	}
	return b.DeleteRange(headKey, []byte{prefix, keyRestore + 1})
}

// restored takes a restore in: where the code went back to, and session files that it changed.
func (f *folding) restored(seq uint64, r *refs.Restore) error {
	if len(r.Paths) == 0 && !r.ContextOnly {
		f.head.Restored = seq
	}
	if len(r.Files) == 0 {
		return nil
	}
	return f.l.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(key, raw []byte) error {
		s, err := model.DecodeSession(string(key[1:]), raw)
		if err != nil || f.session != "" && s.Name != f.session {
			return nil //nolint:nilerr // a record that cannot be read begins anew
		}
		if i := FileOf(s, r); i >= 0 {
			return f.cut(s, seq, r.Files[i])
		}
		return nil
	})
}

// FileOf is which of the files that a restore changed is a session's; -1: none. A file has the session's id in its
// name, and may be in another folder since: the project was moved.
func FileOf(s *model.Session, r *refs.Restore) int {
	return slices.IndexFunc(r.Files, func(file refs.File) bool {
		name := filepath.Base(file.Path)
		return file.Path != "" && (name == filepath.Base(s.Transcript) || name == filepath.Base(s.Cursor.Path))
	})
}

// cut takes a change of the session's file in.
func (f *folding) cut(s *model.Session, seq uint64, file refs.File) error {
	newest, err := f.newest(s.Name)
	if err != nil {
		return err
	}
	f.l.put(s.Name, cut(newest, seq))
	var v *Version
	if f.l.versions != nil && !file.From.IsZero() && !file.To.IsZero() {
		v = f.l.versions(s, seq, file, f.earlier)
	}
	if v == nil {
		return nil
	}
	return f.version(s.Name, seq, v)
}

// version sets the turns of a session's file from operation seq on. seq has made an earlier version of the file again.
// Its turns are those from before the operation that had replaced that version, not later ones of the same numbers.
func (f *folding) version(session string, seq uint64, v *Version) error {
	list, err := f.l.turnsOf(session)
	if err != nil {
		return err
	}
	for i := range list {
		t := &list[i]
		hidden := t.Hidden(0)
		switch since := t.First > v.From; {
		case !since:
			hidden = t.Hidden(v.From - 1)
		case t.Number <= v.Turns:
			hidden = true
		}
		if hidden != t.Hidden(0) {
			t.versions = append(t.versions, seq)
			f.l.put(session, t)
		}
	}
	return nil
}
