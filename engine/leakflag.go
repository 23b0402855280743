package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/record"
	"rewind/objstore"
)

// A leakFlag says that a content looks like it holds a secret: where it stood, and which rules say so of which lines; never what they
// found. Flags can be made
// again from what is stored, as far as it still is.
type leakFlag struct {
	Paths      []string        // ascending, at most maxFlagPaths
	Checkpoint objstore.ID     // the first that was seen to have it
	Findings   []leaks.Finding // by line, then rule
	Free       []string        // those of Paths whose file has had a content without a secret since: they are captured again. Ascending
}

// leakMark is how far contents have been looked at.
type leakMark struct {
	Rules string      // leaks.Version: by other rules it begins anew
	Done  uint64      // the checkpoints of all operations up to this one
	Tree  objstore.ID // of the newest step among them; zero: none
	Path  string      // in the next checkpoint all up to this path
}

// maxFlagPaths is how many paths of one content are kept.
const maxFlagPaths = 64

// Field tags, docs/format.md#flag.
const (
	tagKPaths = iota + 1
	tagKCheckpoint
	tagKFindings
	tagKFree
)

const (
	tagKRule = iota + 1
	tagKLine
)

const (
	tagKRules = iota + 1
	tagKDone
	tagKTree
	tagKPath
)

var leakMarkKey = []byte{kv.PrefixLeak}

func leakKey(content objstore.Key) []byte { return append([]byte{kv.PrefixLeak}, content[:]...) }

func (f *leakFlag) encode() []byte {
	var e record.Encoder
	strs := func(tag uint64, list []string) {
		e.List(tag, len(list), func(i int) []byte { return []byte(list[i]) })
	}
	strs(tagKPaths, f.Paths)
	e.NonZero(tagKCheckpoint, f.Checkpoint[:])
	e.List(tagKFindings, len(f.Findings), func(i int) []byte {
		var one record.Encoder
		one.String(tagKRule, f.Findings[i].Rule)
		one.Uint(tagKLine, uint64(f.Findings[i].Line))
		return one.Encoded()
	})
	strs(tagKFree, f.Free)
	return e.Encoded()
}

func decodeLeakFlag(raw []byte) (*leakFlag, error) {
	f := &leakFlag{}
	err := record.Decode(raw, func(tag uint64, v record.Field) (err error) {
		switch tag {
		case tagKPaths:
			f.Paths, err = ascending(v)
		case tagKCheckpoint:
			err = v.NonZero(f.Checkpoint[:])
		case tagKFindings:
			err = v.List(func(v record.Field) error {
				one, err := decodeFinding(v)
				f.Findings = append(f.Findings, one)
				return err
			})
		case tagKFree:
			f.Free, err = ascending(v)
		default:
			err = record.Unknown(tag)
		}
		return err
	})
	if err == nil && (len(f.Paths) == 0 || len(f.Findings) == 0) {
		err = fmt.Errorf("%w: no path or no finding", record.ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: flag of a content: %w: %w", kv.ErrCorrupt, err)
	}
	return f, nil
}

func decodeFinding(raw record.Field) (f leaks.Finding, err error) {
	err = record.Decode(raw, func(tag uint64, v record.Field) (err error) {
		switch tag {
		case tagKRule:
			f.Rule = string(v)
		case tagKLine:
			err = decodeCount(v, &f.Line)
		default:
			err = record.Unknown(tag)
		}
		return err
	})
	if err == nil && (f.Rule == "" || f.Line == 0) {
		err = fmt.Errorf("%w: a finding without rule or line", record.ErrFormat)
	}
	return f, err
}

func (m *leakMark) encode() []byte {
	var e record.Encoder
	e.String(tagKRules, m.Rules)
	e.Uint(tagKDone, m.Done)
	e.NonZero(tagKTree, m.Tree[:])
	e.String(tagKPath, m.Path)
	return e.Encoded()
}

func decodeLeakMark(raw []byte) (*leakMark, error) {
	m := &leakMark{}
	err := record.Decode(raw, func(tag uint64, v record.Field) (err error) {
		switch tag {
		case tagKRules:
			m.Rules = string(v)
		case tagKDone:
			m.Done, err = v.Uint()
		case tagKTree:
			err = v.NonZero(m.Tree[:])
		case tagKPath:
			m.Path = string(v)
		default:
			err = record.Unknown(tag)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("engine: how far contents were looked at: %w: %w", kv.ErrCorrupt, err)
	}
	return m, nil
}

// flagged is all flags as they are at one moment.
type flagged struct {
	flags   map[objstore.Key]*leakFlag
	skipped map[string]bool // paths that are not captured in mode skip
}

// leakFlags reads the flags, once a process. One that cannot be read is passed over: it is no reason not to capture.
func (e *Engine) leakFlags() (*flagged, error) {
	if f := e.leak.flagged.Load(); f != nil {
		return f, nil
	}
	f := &flagged{flags: map[objstore.Key]*leakFlag{}, skipped: map[string]bool{}}
	err := e.db.Scan(kv.Range{Prefix: leakMarkKey}, func(key, raw []byte) error {
		var id objstore.Key
		if len(key) != 1+len(id) {
			return nil
		}
		copy(id[:], key[1:])
		if one, err := decodeLeakFlag(raw); err == nil {
			f.add(id, one)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("engine: flags of contents: %w", err)
	}
	e.leak.flagged.CompareAndSwap(nil, f)
	return e.leak.flagged.Load(), nil
}

func (f *flagged) add(id objstore.Key, one *leakFlag) {
	f.flags[id] = one
	for _, p := range one.Paths {
		if _, free := slices.BinarySearch(one.Free, p); !free {
			f.skipped[p] = true
		}
	}
}

// same reports whether the same paths are skipped.
func (f *flagged) same(was *flagged) bool {
	return f == was || f != nil && was != nil && maps.Equal(f.skipped, was.skipped)
}

// with gives the flags with some changed; nil takes one away.
func (f *flagged) with(changed map[objstore.Key]*leakFlag) *flagged {
	out := &flagged{flags: make(map[objstore.Key]*leakFlag, len(f.flags)+len(changed)), skipped: map[string]bool{}}
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

// reflag has this process know flags that were written; nil: taken away.
func (e *Engine) reflag(changed map[objstore.Key]*leakFlag) error {
	for {
		was, err := e.leakFlags()
		if err != nil || e.leak.flagged.CompareAndSwap(was, was.with(changed)) {
			return err
		}
	}
}

// readLeakMark gives how far contents were looked at; the zero mark where that is not known.
func (e *Engine) readLeakMark() (m leakMark, err error) {
	err = e.db.View(leakMarkKey, func(raw []byte) error {
		got, err := decodeLeakMark(raw)
		if err == nil {
			m = *got
		}
		return nil //nolint:nilerr // one that cannot be read is made again
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	if err == nil && m.Rules != leaks.Version() {
		m = leakMark{}
	}
	m.Rules = leaks.Version()
	return m, err
}
