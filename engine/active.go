package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/refs"
)

// lately is what the log says of who was at work, kept so that each operation is read once. Its own lock: commands ask that do not wait for a capture.
type lately struct {
	mu    sync.Mutex
	upTo  uint64            // the newest operation that was read; 0: none
	floor int64             // what is older than this, in unix milliseconds, was not read
	last  atWork            // the newest operation of all that say where somebody works
	by    map[string]atWork // the same of each session
}

// atWork is what one such operation says.
type atWork struct {
	session string
	seq     uint64
	time    int64 // unix milliseconds
	restore bool
	ended   bool // it is a session's end
}

// active gives the current session, and when it is not a restore that says which one it is, the sessions of agents that had
// events in the last ten minutes, newest first. It reads the operations of that time that it has not read yet.
func (e *Engine) active() (current string, names []string, err error) {
	k := &e.lately
	k.mu.Lock()
	defer k.mu.Unlock()
	since := e.now().Add(-activeWithin).UnixMilli()
	if since < k.floor { // the clock went back
		k.upTo = 0
	}
	if err := k.read(e.refs, since); err != nil {
		return Manual, nil, err
	}
	if k.last.seq == 0 {
		return Manual, nil, nil
	}
	if k.last.restore {
		return k.last.session, nil, nil
	}
	newest := slices.SortedFunc(maps.Values(k.by), func(a, b atWork) int { return cmp.Compare(b.seq, a.seq) })
	for _, m := range newest {
		if m.time < since {
			break
		}
		if m.session != Manual && !m.ended && !e.isLane(m.session) {
			names = append(names, m.session)
		}
	}
	return k.last.session, names, nil
}

// read takes in what is new, but nothing older than since except the newest of all. Under mu; after an error nothing has changed.
func (k *lately) read(r *refs.Refs, since int64) error {
	var upTo uint64
	var last atWork
	by := map[string]atWork{}
	err := r.Newest(0, func(op *refs.Operation) error {
		upTo = max(upTo, op.Seq)
		if op.Seq <= k.upTo {
			return kv.ErrStop
		}
		if !works(op) {
			return nil
		}
		m := atWork{session: op.Session, seq: op.Seq, time: op.Time, restore: op.Kind.IsRestore()}
		m.ended = op.Kind == refs.KindEvent && op.Cause.Event == eventWords[hooks.SessionEnd]
		if last.seq == 0 {
			last = m
		}
		if _, known := by[m.session]; !known {
			by[m.session] = m
		}
		if op.Time < since && k.upTo == 0 {
			return kv.ErrStop
		}
		return nil
	})
	if err != nil {
		return err
	}
	if k.upTo == 0 {
		k.by, k.floor, k.last = by, since, last
	} else {
		maps.Copy(k.by, by)
		if last.seq > 0 {
			k.last = last
		}
	}
	maps.DeleteFunc(k.by, func(_ string, m atWork) bool { return m.time < since })
	k.upTo = upTo
	return nil
}

// works reports whether an operation says that somebody works in its session: a session that was only opened has no turn.
func works(op *refs.Operation) bool {
	switch {
	case op.Session == "", op.Kind == refs.KindSafety, op.Kind == refs.KindTag, op.Kind == refs.KindFork, op.Kind == refs.KindImport:
		return false
	case op.Kind == refs.KindThinned:
		return op.Cause.Event != EventSafety
	case op.Kind == refs.KindEvent:
		return op.Cause.Event != EventScan && op.Turn != 0
	}
	return true
}
