package model

import (
	"fmt"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// A Squash is what is true of a checkpoint since gc has removed others before it; the checkpoint itself cannot change, since its id is its
// hash. What a removed step had changed belongs to the next step of the log that is kept, whichever session that is of: so each difference
// of two heads still belongs to exactly one step, and what another session changed is still its (promise 12). Every reader of a checkpoint
// sees it squashed.
type Squash struct {
	Parent   objstore.ID // the nearest step before it, on its line, that is kept; zero: there is none
	Base     objstore.ID // the state before it and the steps that were merged into it, a tree; zero: nothing was there
	By       []string    // the sessions whose calls ran since Base, sorted
	Merged   uint64      // steps that were merged into it
	Counts   Counts      // Added, Modified, Deleted against Base
	Reverted []string    // what these steps changed and is as in Base again, ascending; "d/" stands for all below d, "/" for all
	Aside    []string    // those of By whose steps were merged into it from other lines, sorted
	Owned    []Owned     // of what these steps changed, paths that not all of By did
}

// MaxReverted is how many paths a squash record lists, at most.
const MaxReverted = 1024

// Field tags of a squash record, docs/format.md#squash-record.
const (
	tagGParent = iota + 1
	tagGBase
	tagGBy
	tagGMerged
	tagGAdded
	tagGModified
	tagGDeleted
	tagGReverted
	tagGAside
	tagGOwned
)

// Encode gives the bytes of a squash record, docs/format.md#squash-record.
func (g *Squash) Encode() []byte {
	var e record.Encoder
	e.NonZero(tagGParent, g.Parent[:])
	e.NonZero(tagGBase, g.Base[:])
	strs := func(tag uint64, list []string) {
		e.List(tag, len(list), func(i int) []byte { return []byte(list[i]) })
	}
	strs(tagGBy, g.By)
	e.Uint(tagGMerged, g.Merged)
	e.Uint(tagGAdded, uint64(g.Counts.Added))
	e.Uint(tagGModified, uint64(g.Counts.Modified))
	e.Uint(tagGDeleted, uint64(g.Counts.Deleted))
	strs(tagGReverted, g.Reverted)
	strs(tagGAside, g.Aside)
	encodeOwned(&e, tagGOwned, g.Owned)
	return e.Encoded()
}

// DecodeSquash reads what encode wrote, and refuses everything else; the error is objstore.ErrCorrupt.
func DecodeSquash(raw []byte) (*Squash, error) {
	g := &Squash{}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagGParent:
			err = f.NonZero(g.Parent[:])
		case tagGBase:
			err = f.NonZero(g.Base[:])
		case tagGBy:
			err = f.List(func(v record.Field) error {
				g.By = append(g.By, string(v))
				return nil
			})
		case tagGMerged:
			g.Merged, err = f.Uint()
		case tagGAdded:
			err = DecodeCount(f, &g.Counts.Added)
		case tagGModified:
			err = DecodeCount(f, &g.Counts.Modified)
		case tagGDeleted:
			err = DecodeCount(f, &g.Counts.Deleted)
		case tagGReverted:
			g.Reverted, err = Ascending(f)
		case tagGAside:
			g.Aside, err = Ascending(f)
		case tagGOwned:
			err = f.List(func(v record.Field) error {
				o, err := decodeOwned(v)
				g.Owned = append(g.Owned, o)
				return err
			})
		default:
			err = record.Unknown(tag)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("graft: %w: %w", kv.ErrCorrupt, err)
	}
	return g, nil
}

// Ascending reads a list of texts of which none is empty and each is greater than the one before.
func Ascending(f record.Field) (list []string, err error) {
	last := ""
	err = f.List(func(v record.Field) error {
		if string(v) <= last {
			return fmt.Errorf("%w: %.80q after %.80q", record.ErrFormat, v, last)
		}
		last = string(v)
		list = append(list, last)
		return nil
	})
	return list, err
}

// SquashKey is where a checkpoint's squash record lies.
func SquashKey(id objstore.ID) []byte {
	key := id.Key()
	return append([]byte{kv.PrefixSquash}, key[:]...)
}

// Apply makes a checkpoint what the squash record says.
func (g *Squash) Apply(cp *Checkpoint) {
	cp.Parents = nil
	if !g.Parent.IsZero() {
		cp.Parents = []objstore.ID{g.Parent}
	}
	cp.Base, cp.By, cp.Merged = g.Base, slices.Clone(g.By), g.Merged
	cp.Reverted, cp.Aside, cp.Owned = g.Reverted, g.Aside, g.Owned
	cp.Counts.Added, cp.Counts.Modified, cp.Counts.Deleted = g.Counts.Added, g.Counts.Modified, g.Counts.Deleted
}

// Whether a store has squash records, as far as this process knows.
const (
	SquashesUnknown int32 = iota
	SquashesNone
	SquashesSome
)
