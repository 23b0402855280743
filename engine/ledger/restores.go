package ledger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/refs"
)

// A restore has a row with nothing in it: the operation says all.

// restoresAtOnce is how many rows are read before somebody is asked whether more are wanted.
const restoresAtOnce = 32

// Restores calls fn with the operations before another one that tell of a restore, the newest first; 0: with all of
// them. They went back or forward, managed sessions, or put right what was half done or damaged. fn may end that by
// kv.ErrStop, and may ask the ledger. The caller need not hold the log's lock.
func (l *Ledger) Restores(before uint64, fn func(*refs.Operation) error) error {
	for {
		list, err := l.restoresBefore(before)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := l.tell(list, fn); err != nil {
			return stopped(err)
		}
		before = list[len(list)-1]
	}
}

// tell calls fn with operations. One that gc has taken away meanwhile is passed over.
func (l *Ledger) tell(list []uint64, fn func(*refs.Operation) error) error {
	for _, seq := range list {
		op, err := l.log.Refs.Operation(seq)
		if errors.Is(err, refs.ErrNotFound) || err == nil && op.Restore == nil {
			continue
		}
		if err == nil {
			err = fn(op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) restoresBefore(before uint64) ([]uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := healed(l, func() (list []uint64, err error) {
		if err := l.bringUp(); err != nil {
			return nil, err
		}
		err = l.scanRestores(before, func(seq uint64) error {
			if list = append(list, seq); len(list) == restoresAtOnce {
				return kv.ErrStop
			}
			return nil
		})
		return list, err
	})
	if err != nil {
		return nil, fmt.Errorf("restores: %w", err)
	}
	return list, nil
}

// scanRestores calls fn with the rows before an operation, the newest first; 0: with all of them.
func (l *Ledger) scanRestores(before uint64, fn func(seq uint64) error) error {
	for _, seq := range slices.Backward(l.restores) { // which are behind those of the store
		if before > 0 && seq >= before {
			continue
		}
		if err := fn(seq); err != nil {
			return stopped(err)
		}
	}
	if l.anew {
		return nil
	}
	rows := kv.Range{Prefix: []byte{prefix, keyRestore}, Reverse: true}
	if before > 0 {
		rows.From = restoreKey(before - 1)
	}
	return l.log.DB.Scan(rows, func(key, raw []byte) error {
		seq, err := decodeRestore(key, raw)
		if err != nil {
			return err
		}
		return fn(seq)
	})
}

// earlier is Restores for who is asked in the middle of a fold.
func (f *folding) earlier(before uint64, fn func(*refs.Operation) error) error {
	return f.l.scanRestores(before, func(seq uint64) error { return f.l.tell([]uint64{seq}, fn) })
}

func restoreKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefix, keyRestore}, seq)
}

// decodeRestore reads the row under a key, and refuses everything else with record.ErrFormat; seq is that of the key,
// where it has one.
func decodeRestore(key, raw []byte) (seq uint64, err error) {
	if len(key) == 10 {
		seq = binary.BigEndian.Uint64(key[2:])
	}
	if len(key) != 10 || len(raw) > 0 {
		err = fmt.Errorf("%w: key %x of a restore", record.ErrFormat, key)
	}
	return seq, err
}

// restoresDiffer names the sessions of which restores have no row, or have one and are not those of another ledger.
func (l *Ledger) restoresDiffer(is *Ledger) (differ []string, err error) {
	var stored, broken []uint64
	err = l.log.DB.Scan(kv.Range{Prefix: []byte{prefix, keyRestore}}, func(key, raw []byte) error {
		seq, err := decodeRestore(key, raw)
		if err != nil {
			broken = append(broken, seq)
		} else {
			stored = append(stored, seq)
		}
		return nil //nolint:nilerr // it differs
	})
	if err != nil {
		return nil, err
	}
	for _, seq := range append(symmetric(stored, is.restores), broken...) {
		by := model.Manual
		if op, err := l.log.Refs.Operation(seq); err == nil {
			by = cmp.Or(op.Session, by)
		}
		differ = append(differ, by)
	}
	return differ, nil
}

// symmetric is what one of two sorted lists has.
func symmetric(a, b []uint64) (one []uint64) {
	for _, pair := range [][2][]uint64{{a, b}, {b, a}} {
		for _, n := range pair[0] {
			if _, both := slices.BinarySearch(pair[1], n); !both {
				one = append(one, n)
			}
		}
	}
	return one
}
