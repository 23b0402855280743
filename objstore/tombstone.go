package objstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"rewind/internal/kv"
	"rewind/internal/record"
)

// An object that was there and is not there any more has a tombstone: why, since when, by which operation. A read of it
// is a *GoneError instead of ErrNotFound, so that a checkpoint that names it stays whole in all else. Tombstones are
// few; they are read once, when the first of them is asked for, and a store that has none answers with one atomic load.

// A Reason says why an object is gone. The value is the byte that stands in the tombstone.
type Reason byte

// The reasons. Letters are never reused.
const (
	Purged Reason = 'p' // taken out on purpose; its content is refused from then on
	Lost   Reason = 'l' // damaged beyond repair; its content heals it when it is put again
	// Rewritten: the object is there with other bytes than its id says, from which words were taken out; its own bytes
	// heal it when they are
	// put again.
	Rewritten Reason = 'r'
)

// String gives the reason's word.
func (r Reason) String() string {
	switch r {
	case Purged:
		return "purged"
	case Lost:
		return "lost"
	case Rewritten:
		return "rewritten"
	}
	return fmt.Sprintf("reason(0x%02x)", byte(r))
}

// A Tombstone says why an object is gone, since when, and by which operation.
type Tombstone struct {
	Reason    Reason
	Operation uint64 // that made it so; 0: none is known
	Time      int64  // unix milliseconds; 0: not known
	Text      string // for people; untrusted
	Chunked   int64  // bytes of a blob that was chunked: its content is known to be refused only when all of it was read
	id        ID     // of what was rewritten: its own
	now       ID     // the hash of the bytes that it has now
}

// A tombstone cannot be decoded, which pebble's checksums leave hardly possible: its content is refused, since it may
// be a secret's.
const unreadable = "the tombstone cannot be read"

// ErrPurged and ErrLost are matched by a *GoneError of that reason.
var (
	ErrPurged = errors.New("object was purged")
	ErrLost   = errors.New("object is lost")
)

// A GoneError names an object that is not there any more, and says why. It is an ErrNotFound, and ErrPurged or ErrLost.
type GoneError struct {
	Kind Kind
	Key  Key
	Tombstone
}

func (e *GoneError) Error() string {
	text := fmt.Sprintf("%s %s was purged", e.Kind, e.Key.Short())
	if e.Reason == Lost {
		text = fmt.Sprintf("%s %s is lost", e.Kind, e.Key.Short())
	}
	if e.Operation > 0 {
		text += fmt.Sprintf(" (operation %d)", e.Operation)
	}
	return text
}

// Is makes a GoneError match ErrNotFound and the error of its reason.
func (e *GoneError) Is(target error) bool {
	return target == ErrNotFound || target == ErrPurged && e.Reason == Purged || target == ErrLost && e.Reason == Lost
}

const maxTombstoneText = 1 << 10 // bytes of Tombstone.Text; what is beyond is cut

// How it stands in the store, docs/format.md#tombstone.
var tombstoneTable = record.New(
	record.Uint(1, func(g *Tombstone) *Reason { return &g.Reason }).Required().Must(func(g *Tombstone) bool {
		return g.Reason == Purged || g.Reason == Lost || g.Reason == Rewritten
	}),
	record.Uint(2, func(g *Tombstone) *uint64 { return &g.Operation }),
	record.Uint(3, func(g *Tombstone) *int64 { return &g.Time }),
	record.String(4, func(g *Tombstone) *string { return &g.Text }).Must(func(g *Tombstone) bool {
		return len(g.Text) <= maxTombstoneText
	}),
	record.Uint(5, func(g *Tombstone) *int64 { return &g.Chunked }).Must(func(g *Tombstone) bool { return g.Reason == Purged }),
	record.ID(6, func(g *Tombstone) *ID { return &g.id }),
	record.ID(7, func(g *Tombstone) *ID { return &g.now }),
).Then(func(g *Tombstone) error {
	if r := g.Reason == Rewritten; r == g.id.IsZero() || r == g.now.IsZero() {
		return fmt.Errorf("%w: ids of what was rewritten", record.ErrFormat)
	}
	return nil
})

func encodeTombstone(g Tombstone) []byte {
	g.Text = g.Text[:min(len(g.Text), maxTombstoneText)]
	return tombstoneTable.Encode(&g)
}

func decodeTombstone(val []byte) (Tombstone, error) {
	var g Tombstone
	if err := tombstoneTable.Decode(val, &g); err != nil {
		return Tombstone{}, err
	}
	return g, nil
}

func appendTombstoneKey(dst []byte, o Object) []byte {
	return append(append(dst, kv.PrefixTombstone, byte(o.Kind)), o.Key[:]...)
}

// tombstones are all of a store, in memory.
type tombstones struct {
	none atomic.Bool // it is loaded, and empty
	mu   sync.RWMutex
	of   map[Object]Tombstone // nil: not loaded
}

func (s *tombstones) get(db *kv.DB, o Object) (Tombstone, bool, error) {
	if s.none.Load() {
		return Tombstone{}, false, nil
	}
	if err := s.load(db); err != nil {
		return Tombstone{}, false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	g, ok := s.of[o]
	return g, ok, nil
}

// load reads them, once.
func (s *tombstones) load(db *kv.DB) error {
	s.mu.RLock()
	loaded := s.of != nil
	s.mu.RUnlock()
	if loaded {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != nil {
		return nil
	}
	of := make(map[Object]Tombstone)
	err := scanTombstones(db, func(o Object, g Tombstone, err error) error {
		if err != nil {
			g = Tombstone{Reason: Purged, Text: unreadable}
		}
		of[o] = g
		return nil
	})
	if err != nil {
		return err
	}
	s.of = of
	s.none.Store(len(of) == 0)
	return nil
}

// note changes the set as a batch that was committed has changed them.
func (s *tombstones) note(set map[Object]Tombstone, healed map[Object]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		return // it is read when it is asked for
	}
	for o, g := range set {
		s.of[o] = g
	}
	for o := range healed {
		delete(s.of, o)
	}
	s.none.Store(len(s.of) == 0)
}

// chunked tells whether a chunked blob of so many bytes was purged.
func (s *tombstones) chunked(db *kv.DB, size int64) (bool, error) {
	if s.none.Load() {
		return false, nil
	}
	if err := s.load(db); err != nil {
		return false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, g := range s.of {
		if g.Chunked == size {
			return true, nil
		}
	}
	return false, nil
}

func scanTombstones(db *kv.DB, fn func(Object, Tombstone, error) error) error {
	return db.Scan(kv.Range{Prefix: []byte{kv.PrefixTombstone}}, func(key, val []byte) error {
		if len(key) != keyLen {
			return fn(Object{}, Tombstone{}, &FormatError{What: "key", Value: fmt.Sprintf("%x", key)})
		}
		g, err := decodeTombstone(val)
		return fn(Object{Kind(key[1]), Key(key[2:])}, g, err)
	})
}

// Tombstone gives that of an object; ok is false when it has none. An object that is there can have one of Lost: it was
// put again by who did not know; its next put takes it away.
func (s *Store) Tombstone(k Kind, key Key) (g Tombstone, ok bool, err error) {
	g, ok, err = s.tombstones.get(s.db, Object{k, key})
	return g, ok, wrap("look up", k, key, translate(k, key, err))
}

// WalkTombstones calls fn for every tombstone, ascending by kind byte and key, until fn gives an error, which it
// returns. err says that one
// cannot be read; g is then empty. fn must not write.
func (s *Store) WalkTombstones(fn func(k Kind, key Key, g Tombstone, err error) error) error {
	return scanTombstones(s.db, func(o Object, g Tombstone, err error) error { return fn(o.Kind, o.Key, g, err) })
}

// absence is the error for an object that is not there.
func (s *Store) absence(k Kind, key Key) error {
	g, ok, err := s.tombstones.get(s.db, Object{k, key})
	switch {
	case err != nil:
		return translate(k, key, err)
	case ok && g.Reason != Rewritten: // gc has that one since
		return &GoneError{k, key, g}
	}
	return ErrNotFound
}

// rewritten implements source.
func (s *Store) rewritten(o Object) (Tombstone, bool) {
	g, ok, err := s.tombstones.get(s.db, o)
	return g, ok && err == nil && g.Reason == Rewritten
}

// rewritten implements source.
func (t *Tx) rewritten(o Object) (Tombstone, bool) { return t.s.rewritten(o) }

// at is g with the time, if it has none.
func (g Tombstone) at() Tombstone {
	if g.Time == 0 {
		g.Time = time.Now().UnixMilli()
	}
	return g
}

// RewordTombstone gives the value of a tombstone with to(s) in place of its text s.
func RewordTombstone(val []byte, to func(string) string) ([]byte, error) {
	g, err := decodeTombstone(val)
	if err != nil {
		return nil, err
	}
	tombstoneTable.Texts(&g, to)
	return encodeTombstone(g), nil
}

// IsPurged reports whether the value of a tombstone says that its object must not come back. One that cannot be read
// may.
func IsPurged(val []byte) bool {
	g, err := decodeTombstone(val)
	return err != nil || g.Reason == Purged
}
