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

// An object that was there and is not there any more has a gone marker: why, since when, by which operation. A read of it is a *GoneError
// instead of ErrNotFound, so that a checkpoint that names it stays whole in all else. Markers are few; they are read once, when the first
// of them is asked for, and a store that has none answers with one atomic load.

// A GoneReason says why an object is gone. The value is the byte that stands in the marker.
type GoneReason byte

// The reasons. Letters are never reused.
const (
	Purged GoneReason = 'p' // taken out on purpose; its content is refused from then on
	Lost   GoneReason = 'l' // damaged beyond repair; its content heals it when it is put again
)

// String gives the reason's word.
func (r GoneReason) String() string {
	switch r {
	case Purged:
		return "purged"
	case Lost:
		return "lost"
	}
	return fmt.Sprintf("gone(0x%02x)", byte(r))
}

// Gone is what a marker says.
type Gone struct {
	Reason    GoneReason
	Operation uint64 // that made it so; 0: none is known
	Time      int64  // unix milliseconds; 0: not known
	Text      string // for people; untrusted
	Chunked   int64  // bytes of a blob that was chunked: its content is known to be refused only when all of it was read
}

// A marker cannot be decoded, which pebble's checksums leave hardly possible: its content is refused, since it may be a secret's.
const unreadable = "the marker cannot be read"

// ErrPurged and ErrLost are matched by a *GoneError of that reason.
var (
	ErrPurged = errors.New("object was purged")
	ErrLost   = errors.New("object is lost")
)

// A GoneError names an object that is not there any more, and says why. It is an ErrNotFound, and ErrPurged or ErrLost.
type GoneError struct {
	Kind Kind
	Key  Key
	Gone
}

func (e *GoneError) Error() string {
	text := fmt.Sprintf("objstore: %s %s was purged", e.Kind, e.Key.Short())
	if e.Reason == Lost {
		text = fmt.Sprintf("objstore: %s %s is lost", e.Kind, e.Key.Short())
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

const maxGoneText = 1 << 10 // bytes of Gone.Text; what is beyond is cut

// appendGone encodes a marker, a record.
func appendGone(g Gone) []byte {
	var e record.Encoder
	e.Bytes(1, []byte{byte(g.Reason)})
	e.Uint(2, g.Operation)
	e.Uint(3, uint64(g.Time))
	e.String(4, g.Text[:min(len(g.Text), maxGoneText)])
	e.Uint(5, uint64(g.Chunked))
	return e.Encoded()
}

// decodeGone is the inverse of appendGone, and refuses what that does not give.
func decodeGone(val []byte) (g Gone, err error) {
	signed := func(f record.Field, to *int64) error {
		n, err := f.Uint()
		if *to = int64(n); err == nil && *to < 0 {
			err = fmt.Errorf("%w: integer field", record.ErrFormat)
		}
		return err
	}
	err = record.Decode(val, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case 1:
			var reason [1]byte
			err = f.Fixed(reason[:])
			g.Reason = GoneReason(reason[0])
		case 2:
			g.Operation, err = f.Uint()
		case 3:
			err = signed(f, &g.Time)
		case 4:
			g.Text = string(f)
		case 5:
			err = signed(f, &g.Chunked)
		default:
			err = record.Unknown(tag)
		}
		return err
	})
	switch {
	case err != nil:
	case g.Reason != Purged && g.Reason != Lost:
		err = &FormatError{What: "reason", Value: fmt.Sprintf("0x%02x", byte(g.Reason))}
	case len(g.Text) > maxGoneText || g.Chunked != 0 && g.Reason != Purged:
		err = fmt.Errorf("%w: gone marker", record.ErrFormat)
	}
	if err != nil {
		return Gone{}, err
	}
	return g, nil
}

func appendGoneKey(dst []byte, o Object) []byte {
	return append(append(dst, kv.PrefixGone, byte(o.Kind)), o.Key[:]...)
}

// A goneSet is every marker of the store, in memory.
type goneSet struct {
	none atomic.Bool // it is loaded, and empty
	mu   sync.RWMutex
	of   map[Object]Gone // nil: not loaded
}

func (s *goneSet) get(db *kv.DB, o Object) (Gone, bool, error) {
	if s.none.Load() {
		return Gone{}, false, nil
	}
	if err := s.load(db); err != nil {
		return Gone{}, false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	g, ok := s.of[o]
	return g, ok, nil
}

// load reads the markers, once.
func (s *goneSet) load(db *kv.DB) error {
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
	of := make(map[Object]Gone)
	err := scanGone(db, func(o Object, g Gone, err error) error {
		if err != nil {
			g = Gone{Reason: Purged, Text: unreadable}
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

// note changes the set as a batch that was committed has changed the markers.
func (s *goneSet) note(set map[Object]Gone, healed map[Object]bool) {
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
func (s *goneSet) chunked(db *kv.DB, size int64) (bool, error) {
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

func scanGone(db *kv.DB, fn func(Object, Gone, error) error) error {
	return db.Scan(kv.Range{Prefix: []byte{kv.PrefixGone}}, func(key, val []byte) error {
		if len(key) != keyLen {
			return fn(Object{}, Gone{}, &FormatError{What: "key", Value: fmt.Sprintf("%x", key)})
		}
		g, err := decodeGone(val)
		return fn(Object{Kind(key[1]), Key(key[2:])}, g, err)
	})
}

// Gone gives the marker of an object; ok is false when it has none. An object that is there can have one of Lost: it was put again by
// who did not know; its next put takes the marker away.
func (s *Store) Gone(k Kind, key Key) (g Gone, ok bool, err error) {
	g, ok, err = s.gone.get(s.db, Object{k, key})
	return g, ok, wrap("look up", k, key, translate(k, key, err))
}

// WalkGone calls fn for every marker, ascending by kind byte and key, until fn gives an error, which it returns. err says that a marker
// cannot be read; g is then empty. fn must not write.
func (s *Store) WalkGone(fn func(k Kind, key Key, g Gone, err error) error) error {
	return scanGone(s.db, func(o Object, g Gone, err error) error { return fn(o.Kind, o.Key, g, err) })
}

// absence is the error for an object that is not there.
func (s *Store) absence(k Kind, key Key) error {
	g, ok, err := s.gone.get(s.db, Object{k, key})
	switch {
	case err != nil:
		return translate(k, key, err)
	case ok:
		return &GoneError{k, key, g}
	}
	return ErrNotFound
}

// at is g with the time, if it has none.
func (g Gone) at() Gone {
	if g.Time == 0 {
		g.Time = time.Now().UnixMilli()
	}
	return g
}

// IsPurged reports whether the value of a marker says that its object must not come back. One that cannot be read may.
func IsPurged(val []byte) bool {
	g, err := decodeGone(val)
	return err != nil || g.Reason == Purged
}
