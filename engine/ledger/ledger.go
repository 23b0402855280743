// Package ledger keeps rows derived from the log, so that nobody reads the log for them. Rows of turns say where a turn
// begins and ends, what its session made, and which conversation belongs to it. Rows of places say where the project
// is, and where it was before. Rows of restores say what went back and can be undone.
//
// The operations are the truth. A row is made of them by one function, fold, in the order of the log, and of nothing
// else; it names operations and repeats nothing of them. Rows are brought up to date with the log when somebody asks,
// and stored together with their place in the log. So an agent's hook pays nothing for them, and after a kill they are
// of a beginning of the log. Where the log's past changes, by gc, a repair or a purge, they are folded anew.
package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/refs"
)

// Version is what a restore has made of a session's file again: it has so many turns, and From is the restore that had
// replaced it. What was said between the two is not in it.
type Version struct {
	Turns uint64
	From  uint64
}

// Versions tells what version of a session's file the operation seq has made again, by which change of it; nil: none
// that there was before, or it is not known. It asks nothing of the ledger but restores, as of Restores.
type Versions func(s *model.Session, seq uint64, f refs.File, restores Before) *Version

// Before calls fn with operations before another one, the newest first, until it returns kv.ErrStop.
type Before func(seq uint64, fn func(*refs.Operation) error) error

// Ledger reads and brings up the rows of an open project.
type Ledger struct {
	log      *oplog.Log
	versions Versions
	told     func(done, total int) // of operations; nil: nobody waits
	slice    int                   // operations of a batch
	*State
}

// State is what all views of a Ledger share. Safe for concurrent use.
type State struct {
	mu       sync.Mutex
	began    bool // rows that count were there since the project was opened
	loaded   bool
	rewrites uint64 // of the log, when head was read
	head     head
	newest   map[string]*Turn // row of each session that was met; nil: it has none
	place    *Place           // the newest row; nil: it was not met
	recent   recent
	waiting  // what the store has not
}

// waiting is what the store is to have next. Where it cannot be written, on a full disk or in a damaged store, the rows
// are here, and questions are answered all the same.
type waiting struct {
	rows     map[string]map[uint64]*Turn // by session and index
	places   map[uint64]*Place           // by their oldest operations
	restores []uint64                    // the oldest first
	anew     bool                        // no stored row counts
	redone   map[string]bool             // of these sessions no stored row counts
	never    bool                        // it is not written
	// who was changing the log's past was killed: nobody is any more
	settles bool
}

func nothingWaits() waiting {
	return waiting{rows: map[string]map[uint64]*Turn{}, places: map[uint64]*Place{}, redone: map[string]bool{}}
}

// New makes a Ledger of a log.
func New(log *oplog.Log, st *State) *Ledger { return &Ledger{log: log, slice: slice, State: st} }

// VersionsBy says who tells versions of session files. It is called before the ledger is used.
func (l *Ledger) VersionsBy(v Versions) { l.versions = v }

// Tells sets a function that reports to a waiting person how many of the log's operations are folded, if that takes
// more than one batch. The store is of a version without rows then, or its rows no longer count. It is called before
// the ledger is used.
func (l *Ledger) Tells(told func(done, total int)) { l.told = told }

// Turns are the rows of a session, the oldest first, up to the end of the log. The caller need not hold the log's lock.
func (l *Ledger) Turns(session string) ([]Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := healed(l, func() ([]Turn, error) { return l.turns(session) })
	if err != nil {
		return nil, fmt.Errorf("turns of %s: %w", session, err)
	}
	return list, nil
}

func (l *Ledger) turns(session string) ([]Turn, error) {
	return l.numbered(session, func() ([]Turn, error) { return l.turnsOf(session) })
}

// numbered reads rows of a session, and again where it became known meanwhile that they are counted otherwise.
func (l *Ledger) numbered(session string, read func() ([]Turn, error)) ([]Turn, error) {
	if err := l.bringUp(); err != nil {
		return nil, err
	}
	list, err := read()
	if err != nil || len(list) == 0 {
		return list, err
	}
	s, err := l.log.StoredSession(session)
	if err != nil {
		return nil, err
	}
	if counted(list, both(s)) {
		return list, nil
	}
	if err := l.again(session, list[0].born); err != nil {
		return nil, err
	}
	return read()
}

// Each calls fn with the rows of all sessions, those of each in order. What fn is given is not kept or changed.
func (l *Ledger) Each(fn func(session string, t *Turn) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := healed(l, func() (any, error) { return nil, l.bringUp() }); err != nil {
		return err
	}
	sessions, err := l.named()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		list, err := healed(l, func() ([]Turn, error) { return l.turns(session) })
		if err != nil {
			return fmt.Errorf("turns of %s: %w", session, err)
		}
		for i := range list {
			if err := fn(session, &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// healed is what read reads, after a fold of all anew where it met a row that is damaged: rows are derived.
func healed[T any](l *Ledger, read func() (T, error)) (T, error) {
	list, err := read()
	if errors.Is(err, record.ErrFormat) && l.refold() == nil {
		list, err = read()
	}
	return list, err
}

// named are the sessions that have rows.
func (l *Ledger) named() ([]string, error) {
	names := map[string]bool{}
	for session := range l.rows {
		names[session] = true
	}
	from := []byte{prefix, keyTurn}
	for more := !l.anew; more; {
		more = false
		err := l.log.DB.Scan(kv.Range{Prefix: []byte{prefix, keyTurn}, From: from}, func(key, _ []byte) error {
			session, _, _ := bytes.Cut(key[2:], []byte{0})
			names[string(session)], more = true, true
			from = afterTurns(string(session))
			return kv.ErrStop
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// TurnsBefore are rows of a session with an index below another one, the newest first, at most n of them. The caller
// need not hold the log's lock.
func (l *Ledger) TurnsBefore(session string, below uint64, n int) ([]Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	read := func() ([]Turn, error) { return l.turnsBefore(session, below, n) }
	list, err := healed(l, func() ([]Turn, error) { return l.numbered(session, read) })
	if err != nil {
		return nil, fmt.Errorf("turns of %s: %w", session, err)
	}
	return list, nil
}

func (l *Ledger) turnsBefore(session string, below uint64, n int) (list []Turn, err error) {
	if below == 0 {
		return nil, nil
	}
	for i, t := range l.rows[session] {
		if i < below {
			list = append(list, *t)
		}
	}
	stored := 0
	if !l.anew && !l.redone[session] {
		rg := kv.Range{Prefix: turnsPrefix(session), From: turnKey(session, below-1), Reverse: true}
		err = l.log.DB.Scan(rg, func(key, raw []byte) error {
			t, err := decodeTurn(key, raw)
			if err != nil {
				return err
			}
			if l.rows[session][t.Index] == nil {
				list = append(list, t)
			}
			if stored++; stored == n {
				return kv.ErrStop
			}
			return nil
		})
	}
	slices.SortFunc(list, func(a, b Turn) int { return cmp.Compare(b.Index, a.Index) })
	return list[:min(n, len(list))], err
}

// counted reports whether the numbers of a session's rows were counted by so many turns of another one, see both.
func counted(list []Turn, both uint64) bool {
	return !slices.ContainsFunc(list, func(t Turn) bool { return t.First > 0 && t.both != both })
}

// both is by how many turns of another session the numbers of a session's turns are counted, see oplog.Count.
func both(s *model.Session) uint64 {
	if s == nil || s.Fork == nil || s.Fork.Kind != model.ByAgent {
		return 0
	}
	return uint64(max(s.Fork.Both, 0))
}

// turnsOf are the rows of a session, those of the store and those that it is to have.
func (l *Ledger) turnsOf(session string) (list []Turn, err error) {
	if !l.anew && !l.redone[session] {
		err = l.log.DB.Scan(kv.Range{Prefix: turnsPrefix(session)}, func(key, raw []byte) error {
			t, err := decodeTurn(key, raw)
			list = append(list, t)
			return err
		})
	}
	for _, i := range slices.Sorted(maps.Keys(l.rows[session])) {
		at, there := slices.BinarySearchFunc(list, i, func(t Turn, i uint64) int { return cmp.Compare(t.Index, i) })
		if !there {
			list = slices.Insert(list, at, Turn{})
		}
		list[at] = *l.rows[session][i]
	}
	return list, err
}

// BringUp folds what the log has more than the rows, so that who asks next need not wait for it.
func (l *Ledger) BringUp() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := healed(l, func() (any, error) { return nil, l.bringUp() })
	return err
}

// bringUp folds what the log has more than the rows.
func (l *Ledger) bringUp() error {
	if !l.loaded || l.rewrites != l.log.Rewrites() {
		if err := l.load(); err != nil {
			return err
		}
	}
	for last := l.log.DB.LastSeq(); l.head.Seq < last; {
		if err := l.fold(last); err != nil {
			l.loaded = false // rows in memory may be newer than those of the store
			return err
		}
		if l.told != nil && l.head.Seq < last {
			l.told(int(l.head.Seq), int(last))
		}
	}
	return nil
}

// load reads how far the rows are. Rows of another past, or of another fold, do not count.
func (l *Ledger) load() error {
	l.loaded, l.rewrites = false, l.log.Rewrites()
	l.newest, l.place, l.recent = map[string]*Turn{}, nil, recent{}
	l.waiting = nothingWaits()
	l.never = l.log.Damage() != nil
	var e epoch
	if err := get(l.log.DB, epochKey, epochTable.Decode, &e); err != nil {
		return err
	}
	l.head = head{}
	if err := get(l.log.DB, headKey, headTable.Decode, &l.head); err != nil {
		return err
	}
	broken := e.Changing && !l.began // who changed the past was killed
	known := l.head.Format == foldFormat && l.head.Epoch == e.Changes && l.head.Seq <= l.log.DB.LastSeq()
	l.settles = broken
	if l.anew = !known || broken || l.never; l.anew {
		l.head = head{Format: foldFormat, Epoch: e.Changes}
	}
	l.loaded, l.began = true, l.began || !broken
	return nil
}

// refold has all rows be folded anew.
func (l *Ledger) refold() error {
	err := l.load()
	l.head, l.anew = head{Format: foldFormat, Epoch: l.head.Epoch}, true
	return err
}

// get reads a record; one that is not there, or is none, leaves v as it is.
func get[T any](db *kv.DB, key []byte, decode func([]byte, *T) error, v *T) error {
	err := db.View(key, func(raw []byte) error {
		var is T
		if decode(raw, &is) == nil {
			*v = is
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	return err
}

// Changing says, in the batch of who changes the log's past, that more of it will change: rows stay as they are until
// Changed.
func Changing(db *kv.DB, b *kv.Batch) error { return setEpoch(db, b, true) }

// Changed says that the log's past has changed: all rows are folded anew.
func Changed(db *kv.DB, b *kv.Batch) error { return setEpoch(db, b, false) }

func setEpoch(db *kv.DB, b *kv.Batch, changing bool) error {
	var e epoch
	if err := get(db, epochKey, epochTable.Decode, &e); err != nil {
		return err
	}
	if !changing {
		e.Changes++
	}
	e.Changing = changing
	return b.Set(epochKey, epochTable.Encode(&e))
}
