package ledger

import (
	"bytes"
	"cmp"
	"slices"

	"rewind/engine/model"
	"rewind/internal/kv"
)

// Check folds the log anew, and names the sessions of which the stored rows say otherwise. It changes nothing. Rows
// that are not stored yet are no difference, nor are those of another fold, or of a past that changes meanwhile.
// Questions are answered while it folds.
func (l *Ledger) Check() (differ []string, err error) {
	begun, err := l.stored()
	if err != nil || begun.Seq == 0 {
		return nil, err
	}
	st := &State{head: head{Format: foldFormat}, newest: map[string]*Turn{}, waiting: nothingWaits()}
	st.anew, st.never = true, true
	is := &Ledger{log: l.log, versions: l.versions, slice: l.slice, State: st}
	if err := is.foldUpTo(begun.Seq); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil || l.anew || l.head.Epoch != begun.Epoch {
		return nil, err
	}
	if err := is.foldUpTo(l.head.Seq); err != nil { // what came meanwhile
		return nil, err
	}
	return l.differ(is)
}

// stored is how far the rows are that the store has; Seq 0: it has none that count.
func (l *Ledger) stored() (head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil || l.anew {
		return head{}, err
	}
	return l.head, nil
}

// foldUpTo folds exactly up to an operation.
func (l *Ledger) foldUpTo(end uint64) error {
	for l.head.Seq < end {
		if err := l.foldTo(end, end); err != nil {
			return err
		}
	}
	return nil
}

// differ names the sessions whose stored rows are not those of another ledger, which has all of them waiting.
func (l *Ledger) differ(is *Ledger) (differ []string, err error) {
	was := map[string][]Turn{}
	err = l.log.DB.Scan(kv.Range{Prefix: []byte{prefix, keyTurn}}, func(key, raw []byte) error {
		session, _, _ := bytes.Cut(key[2:], []byte{0})
		t, err := decodeTurn(key, raw)
		if err != nil {
			t = Turn{} // is no row
		}
		was[string(session)] = append(was[string(session)], t)
		return nil //nolint:nilerr // the session differs
	})
	if err != nil {
		return nil, err
	}
	for session := range is.rows {
		if was[session] == nil {
			differ = append(differ, session)
		}
	}
	for session, rows := range was {
		s, err := l.log.StoredSession(session)
		if err != nil {
			return nil, err
		}
		if !counted(rows, both(s)) { // it is folded anew when somebody asks
			continue
		}
		now, err := is.turnsOf(session)
		if err != nil {
			return nil, err
		}
		same := func(a, b Turn) bool { return a.Index == b.Index && bytes.Equal(a.encode(), b.encode()) }
		if !slices.EqualFunc(rows, now, same) {
			differ = append(differ, session)
		}
	}
	elsewhere, err := l.placesDiffer(is)
	if err != nil {
		return nil, err
	}
	restores, err := l.restoresDiffer(is)
	if err != nil {
		return nil, err
	}
	differ = slices.Concat(differ, elsewhere, restores)
	slices.Sort(differ)
	return slices.Compact(differ), nil
}

// placesDiffer names the sessions of which stored rows of places are not those of another ledger.
func (l *Ledger) placesDiffer(is *Ledger) (differ []string, err error) {
	stored := map[uint64][]byte{}
	err = l.log.DB.Scan(kv.Range{Prefix: []byte{prefix, keyPlace}}, func(key, raw []byte) error {
		p, _ := decodePlace(key, raw) // what is no row is none of the other's
		if want := is.places[p.first]; want == nil {
			differ = append(differ, cmp.Or(p.Session, model.Manual))
		}
		stored[p.first] = bytes.Clone(raw)
		return nil
	})
	for first, p := range is.places {
		if !bytes.Equal(stored[first], p.encode()) {
			differ = append(differ, p.Session)
		}
	}
	return differ, err
}
