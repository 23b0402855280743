package ledger

import (
	"bytes"
	"slices"

	"rewind/internal/kv"
)

// Check folds the log anew, and names what the stored rows say otherwise: a session, or what cannot be read. It changes
// nothing. Rows that are not stored yet are no difference, nor are those of another fold. The log is not changed
// meanwhile, or the result says little.
func (l *Ledger) Check() (differ []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil || l.anew {
		return nil, err
	}
	st := &State{head: head{Format: foldFormat}, newest: map[string]*Turn{}}
	st.rows, st.anew, st.never = map[string]map[uint64]*Turn{}, true, true
	is := &Ledger{log: l.log, versions: l.versions, State: st}
	for is.head.Seq < l.head.Seq {
		if err := is.foldTo(l.head.Seq, l.head.Seq); err != nil {
			return nil, err
		}
	}
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
	slices.Sort(differ)
	return differ, nil
}
