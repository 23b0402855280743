package model

import (
	"fmt"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// A Squash is what is true of a checkpoint since gc has removed others before it; the checkpoint itself cannot change,
// since its id is its hash. The changes of a removed step belong to the next kept step of the log, whichever session
// that is of. So each difference of two heads still belongs to exactly one step, and another session's changes are
// still its own (promise 12). Every reader of a checkpoint sees it squashed.
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

// How it stands in the store, docs/format.md#squash-record.
var squashTable = record.New(
	record.ID(1, func(g *Squash) *objstore.ID { return &g.Parent }),
	record.ID(2, func(g *Squash) *objstore.ID { return &g.Base }),
	record.Strings(3, func(g *Squash) *[]string { return &g.By }),
	record.Uint(4, func(g *Squash) *uint64 { return &g.Merged }),
	record.Count(5, func(g *Squash) *int { return &g.Counts.Added }),
	record.Count(6, func(g *Squash) *int { return &g.Counts.Modified }),
	record.Count(7, func(g *Squash) *int { return &g.Counts.Deleted }),
	record.Ascending(8, func(g *Squash) *[]string { return &g.Reverted }),
	record.Ascending(9, func(g *Squash) *[]string { return &g.Aside }),
	record.Records(10, ownedTable, func(g *Squash) *[]Owned { return &g.Owned }),
)

// Encode gives the bytes of a squash record, docs/format.md#squash-record.
func (g *Squash) Encode() []byte { return squashTable.Encode(g) }

// Texts puts to(s) in place of every text s of a squash record.
func (g *Squash) Texts(to func(string) string) { squashTable.Texts(g, to) }

// DecodeSquash reads what encode wrote, and refuses everything else; the error is kv.ErrCorrupt.
func DecodeSquash(raw []byte) (*Squash, error) {
	g := &Squash{}
	if err := squashTable.Decode(raw, g); err != nil {
		return nil, fmt.Errorf("squash record: %w: %w", kv.ErrCorrupt, err)
	}
	return g, nil
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
