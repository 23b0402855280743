package secrets

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
)

// A LeakFlag says that a content looks like it holds a secret: where it stood, and which rules say so of which lines;
// never what they found. Flags can be made again from what is stored, as far as it still is.
type LeakFlag struct {
	Paths      []string        // ascending, at most MaxFlagPaths
	Checkpoint objstore.ID     // the first that was seen to have it
	Findings   []value.Finding // by line, then rule
	Free       []string        // those of Paths whose file has had a content without a secret since: they are captured again. Ascending
}

// LeakCursor is how far contents have been looked at.
type LeakCursor struct {
	Rules string      // leaks.Version: by other rules it begins anew
	Done  uint64      // the checkpoints of all operations up to this one
	Tree  objstore.ID // of the newest step among them; zero: none
	Path  string      // in the next checkpoint all up to this path
}

// MaxFlagPaths is how many paths of one content are kept.
const MaxFlagPaths = 64

// How both stand in the store, docs/format.md#flag.
var (
	flagTable = record.New(
		record.Ascending(1, func(f *LeakFlag) *[]string { return &f.Paths }).Required(),
		record.ID(2, func(f *LeakFlag) *objstore.ID { return &f.Checkpoint }),
		record.Records(3, findingTable, func(f *LeakFlag) *[]value.Finding { return &f.Findings }).Required(),
		record.Ascending(4, func(f *LeakFlag) *[]string { return &f.Free }),
	)
	findingTable = record.New(
		record.String(1, func(f *value.Finding) *string { return &f.Rule }).Required(),
		record.Count(2, func(f *value.Finding) *int { return &f.Line }).Required(),
	)
	cursorTable = record.New(
		record.String(1, func(m *LeakCursor) *string { return &m.Rules }),
		record.Uint(2, func(m *LeakCursor) *uint64 { return &m.Done }),
		record.ID(3, func(m *LeakCursor) *objstore.ID { return &m.Tree }),
		record.String(4, func(m *LeakCursor) *string { return &m.Path }),
	)
)

// LeakMarkKey is where it stands how far the search for secrets got.
var LeakMarkKey = []byte{kv.PrefixLeak}

// LeakKey is where the flag of a content lies.
func LeakKey(content objstore.Key) []byte { return append([]byte{kv.PrefixLeak}, content[:]...) }

// Encode gives the bytes of a flag, docs/format.md#flag.
func (f *LeakFlag) Encode() []byte { return flagTable.Encode(f) }

// DecodeLeakFlag reads what encode wrote, and refuses everything else.
func DecodeLeakFlag(raw []byte) (*LeakFlag, error) {
	f := &LeakFlag{}
	if err := flagTable.Decode(raw, f); err != nil {
		return nil, fmt.Errorf("flag of a content: %w: %w", kv.ErrCorrupt, err)
	}
	return f, nil
}

// Encode gives the bytes of the cursor, docs/format.md#flag.
func (m *LeakCursor) Encode() []byte { return cursorTable.Encode(m) }

// DecodeLeakMark reads what encode wrote, and refuses everything else.
func DecodeLeakMark(raw []byte) (*LeakCursor, error) {
	m := &LeakCursor{}
	if err := cursorTable.Decode(raw, m); err != nil {
		return nil, fmt.Errorf("how far contents were looked at: %w: %w", kv.ErrCorrupt, err)
	}
	return m, nil
}

// Reword gives the value of a flag with to(s) in place of every text s of it; nil: it is to be made anew, as how far
// was looked is.
func Reword(key, val []byte, to func(string) string) []byte {
	var id objstore.Key
	if len(key) != 1+len(id) {
		return nil
	}
	f, err := DecodeLeakFlag(val)
	if err != nil {
		return nil
	}
	flagTable.Texts(f, to)
	return f.Encode()
}

// Forget has what is in memory read again from the store.
func (k *Leaks) Forget() {
	k.Scan.Flagged.Store(nil)
	k.Scan.said.Store(nil)
}

// Flagged is all flags as they are at one moment.
type Flagged struct {
	flags   map[objstore.Key]*LeakFlag
	skipped map[string]bool // paths that are not captured in mode skip
}

// leakFlags reads the flags, once a process. One that cannot be read is passed over: it is no reason not to capture.
func (k *Leaks) leakFlags() (*Flagged, error) {
	if f := k.Scan.Flagged.Load(); f != nil {
		return f, nil
	}
	f := &Flagged{flags: map[objstore.Key]*LeakFlag{}, skipped: map[string]bool{}}
	err := k.log.DB.Scan(kv.Range{Prefix: LeakMarkKey}, func(key, raw []byte) error {
		var id objstore.Key
		if len(key) != 1+len(id) {
			return nil
		}
		copy(id[:], key[1:])
		if one, err := DecodeLeakFlag(raw); err == nil {
			f.add(id, one)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("flags of contents: %w", err)
	}
	k.Scan.Flagged.CompareAndSwap(nil, f)
	return k.Scan.Flagged.Load(), nil
}

func (f *Flagged) add(id objstore.Key, one *LeakFlag) {
	f.flags[id] = one
	for _, p := range one.Paths {
		if _, free := slices.BinarySearch(one.Free, p); !free {
			f.skipped[p] = true
		}
	}
}

// Same reports whether the same paths are skipped.
func (f *Flagged) Same(was *Flagged) bool {
	if f == was || f == nil || was == nil {
		return f == was
	}
	return maps.Equal(f.skipped, was.skipped)
}

// with gives the flags with some changed; nil takes one away.
func (f *Flagged) with(changed map[objstore.Key]*LeakFlag) *Flagged {
	out := &Flagged{flags: make(map[objstore.Key]*LeakFlag, len(f.flags)+len(changed)), skipped: map[string]bool{}}
	for id, one := range f.flags {
		if _, ok := changed[id]; !ok {
			out.add(id, one)
		}
	}
	for id, one := range changed {
		if one != nil {
			out.add(id, one)
		}
	}
	return out
}

// Reflag has this process know flags that were written; nil: taken away.
func (k *Leaks) Reflag(changed map[objstore.Key]*LeakFlag) error {
	for {
		was, err := k.leakFlags()
		if err != nil || k.Scan.Flagged.CompareAndSwap(was, was.with(changed)) {
			return err
		}
	}
}

// ReadLeakCursor gives how far contents were looked at; the zero cursor where that is not known.
func (k *Leaks) ReadLeakCursor() (m LeakCursor, err error) {
	err = k.log.DB.View(LeakMarkKey, func(raw []byte) error {
		got, err := DecodeLeakMark(raw)
		if err == nil {
			m = *got
		}
		return nil //nolint:nilerr // one that cannot be read is made again
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	if err == nil && m.Rules != leaks.Version() {
		m = LeakCursor{}
	}
	m.Rules = leaks.Version()
	return m, err
}
