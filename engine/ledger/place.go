package ledger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/refs"
)

// How is what an operation says of where somebody works.
type How byte

// The project stands where somebody Worked, Saved or Restored last. A session that Ended was at work up to then.
const (
	nowhere  How = iota // it says nothing: a session's start, a scan, a restore of some paths
	Worked              // an event in a turn
	Saved               // by a person
	Restored            // by a person
	Ended               // the end of a session
)

// Place is the row of where somebody worked: what operations say that lie behind each other and say the same.
type Place struct {
	first   uint64 // the oldest of them: the key
	last    uint64 // the newest of them
	Time    time.Time
	Session string // that goes on there
	Branch  string // whose steps it stands on: of a restore, the session that it moved; else the same
	How     How
}

// Here reports whether the project stands there until somebody works elsewhere.
func (p *Place) Here() bool { return p.How != Ended }

// Person reports whether it was a person who worked there.
func (p *Place) Person() bool { return p.How == Saved || p.How == Restored }

// Since reports whether all of it lies behind an operation, or its newest does.
func (p *Place) Since(seq uint64) (all, some bool) { return p.first > seq, p.last > seq }

// like reports whether two places differ in nothing but when somebody worked there.
func (p *Place) like(q *Place) bool {
	return p.Session == q.Session && p.Branch == q.Branch && p.How == q.How
}

// wayOf is what an operation says, by the word of its event. What was captured at a session's start or end, or by a
// scan, its session did not do; where a turn is seen to be over without a word, nobody has done anything. What a
// restore saves first moves nothing: the restore behind it says where one goes, and its undo goes back (backTo).
func wayOf(op *refs.Operation, event string) How {
	switch {
	case op.Kind.IsRestore() && op.Restore != nil && len(op.Restore.Paths) > 0:
		return nowhere // paths alone move nothing
	case op.Kind.IsRestore():
		return Restored
	case event == model.EventUndo:
		return nowhere
	case op.Kind == refs.KindCheckpoint && op.Session == model.Manual:
		return Saved
	}
	switch event {
	case model.EventSafety, model.EventScan, model.EventQuiet, model.EventWords[hooks.SessionStart]:
		return nowhere
	case model.EventSave, model.EventInit:
		return Saved
	case model.EventWords[hooks.SessionEnd]:
		return Ended
	}
	if op.Turn == 0 {
		return nowhere
	}
	return Worked
}

// placed takes in where an operation says that somebody works. event is the word of its event.
func (f *folding) placed(op *refs.Operation, event string) error {
	how := wayOf(op, event)
	if f.session != "" || op.Session == "" || how == nowhere {
		return nil
	}
	was, err := f.l.newestPlace()
	if err != nil {
		return err
	}
	p := &Place{first: op.Seq, last: op.Seq, Time: time.UnixMilli(op.Time), How: how}
	p.Session, p.Branch = model.Successor(op), op.Session
	if op.Kind == refs.KindUndoRestore && op.Restore != nil {
		if err := f.l.backTo(p, op.Restore.Undoes); err != nil {
			return err
		}
	}
	if was != nil && was.like(p) {
		p.first = was.first
	}
	f.l.places[p.first], f.l.place = p, p
	return nil
}

// backTo has a place be the one before an operation, if there was one.
func (l *Ledger) backTo(p *Place, seq uint64) error {
	return l.scanPlaces(seq, func(was *Place) error {
		if !was.Here() {
			return nil
		}
		p.Session, p.Branch, p.How = was.Session, was.Branch, was.How
		return kv.ErrStop
	})
}

// newestPlace is the newest row; nil: there is none.
func (l *Ledger) newestPlace() (*Place, error) {
	if l.place != nil {
		return l.place, nil
	}
	err := l.scanPlaces(0, func(p *Place) error {
		l.place = p
		return kv.ErrStop
	})
	return l.place, err
}

// scanPlaces calls fn with the rows that begin before an operation, the newest first; 0: with all of them. fn may end
// that by kv.ErrStop, and asks the ledger nothing.
func (l *Ledger) scanPlaces(before uint64, fn func(*Place) error) error {
	waiting := slices.SortedFunc(maps.Keys(l.places), func(a, b uint64) int { return cmp.Compare(b, a) })
	for _, first := range waiting { // which are behind those of the store, or instead of the newest of them
		if before > 0 && first >= before {
			continue
		}
		if err := fn(l.places[first]); err != nil {
			return stopped(err)
		}
	}
	if l.anew {
		return nil
	}
	rows := kv.Range{Prefix: []byte{prefix, keyPlace}, Reverse: true}
	if before > 0 {
		rows.From = placeKey(before - 1)
	}
	return l.log.DB.Scan(rows, func(key, raw []byte) error {
		p, err := decodePlace(key, raw)
		if err != nil || l.places[p.first] != nil {
			return err
		}
		return fn(&p)
	})
}

func stopped(err error) error {
	if errors.Is(err, kv.ErrStop) {
		return nil
	}
	return err
}

// placesAtOnce is how many rows are read before somebody is asked whether more are wanted.
const placesAtOnce = 32

// Places calls fn with the rows that begin before an operation, the newest first; 0: with all of them. fn may end that
// by kv.ErrStop, and may ask the ledger. The caller need not hold the log's lock.
func (l *Ledger) Places(before uint64, fn func(*Place) error) error {
	for {
		list, err := l.placesBefore(before)
		if err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			if err := fn(&list[i]); err != nil {
				return stopped(err)
			}
		}
		before = list[len(list)-1].first
	}
}

func (l *Ledger) placesBefore(before uint64) ([]Place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := healed(l, func() (list []Place, err error) {
		if err := l.bringUp(); err != nil {
			return nil, err
		}
		err = l.scanPlaces(before, func(p *Place) error {
			if list = append(list, *p); len(list) == placesAtOnce {
				return kv.ErrStop
			}
			return nil
		})
		return list, err
	})
	if err != nil {
		return nil, fmt.Errorf("places: %w", err)
	}
	return list, nil
}

// recent is what Recent said last, of the rows up to an operation.
type recent struct {
	seq   uint64
	since time.Time
	list  []Place
}

// Recent are the newest places since a time, the newest first: one of each session for each way of working there. The
// newest place at which the project stands is among them, also an older one. The caller need not hold the log's lock.
func (l *Ledger) Recent(since time.Time) ([]Place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := healed(l, func() ([]Place, error) { return l.recently(since) })
	if err != nil {
		return nil, fmt.Errorf("places: %w", err)
	}
	return slices.Clone(list), nil
}

// recently reads each row once, as long as time goes on.
func (l *Ledger) recently(since time.Time) ([]Place, error) {
	if err := l.bringUp(); err != nil {
		return nil, err
	}
	was := l.recent
	if since.Before(was.since) { // the clock was set back
		was = recent{}
	}
	type way struct {
		session, branch string
		how             How
	}
	now, here, met := recent{seq: l.head.Seq, since: since}, false, map[way]bool{}
	take := func(p *Place) error {
		if p.last <= was.seq || here && p.Time.Before(since) {
			return kv.ErrStop
		}
		here = here || p.Here()
		if w := (way{p.Session, p.Branch, p.How}); !met[w] {
			met[w] = true
			now.list = append(now.list, *p)
		}
		return nil
	}
	if err := l.scanPlaces(0, take); err != nil {
		return nil, err
	}
	was.seq = 0 // all of what it has is older
	for i := range was.list {
		if take(&was.list[i]) != nil {
			break
		}
	}
	l.recent = now
	return now.list, nil
}

func placeKey(first uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefix, keyPlace}, first)
}

// How it stands in the store, docs/format.md#ledger.
var placeTable = record.New(
	record.Uint(1, func(p *Place) *uint64 { return &p.last }).Required(),
	record.Time(2, func(p *Place) *time.Time { return &p.Time }),
	record.String(3, func(p *Place) *string { return &p.Session }).Required(),
	record.String(4, func(p *Place) *string { return &p.Branch }).Unless((*Place).onItself),
	record.Uint(5, func(p *Place) *How { return &p.How }).Must((*Place).isSome).Required(),
).Then(func(p *Place) error {
	p.Branch = cmp.Or(p.Branch, p.Session)
	return nil
})

func (p *Place) isSome() bool { return p.How > nowhere && p.How <= Ended }

func (p *Place) onItself() bool { return p.Branch == p.Session }

func (p *Place) encode() []byte { return placeTable.Encode(p) }

// decodePlace reads the row under a key, which encode wrote, and refuses everything else with record.ErrFormat.
func decodePlace(key, raw []byte) (Place, error) {
	if len(key) != 10 {
		return Place{}, fmt.Errorf("%w: key %x of a place", record.ErrFormat, key)
	}
	p := Place{first: binary.BigEndian.Uint64(key[2:])}
	err := placeTable.Decode(raw, &p)
	return p, err
}
