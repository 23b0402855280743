package model

import (
	"fmt"
	"time"

	"rewind/internal/kv"
	"rewind/internal/osfile"
	"rewind/internal/record"
	"rewind/objstore"
	"rewind/transcript"
)

// Known is what a list of sessions tells of a session's file, learnt when that was read last. It is derived: who has
// none reads the file.
type Known struct {
	Read       uint64       // KnownRead of the program that read it
	Stamp      osfile.Stamp // of the file as it was read; zero: it was the transcript
	Transcript objstore.ID
	Path       string // of the file
	Turns      int
	Messages   int
	Bytes      int64
	Title      string
	Parent     transcript.Parent // as the file says
	First      time.Time         // when its first record was written; millisecond precision
	Branches   []transcript.Branch
}

// KnownRead goes up whenever package transcript finds more, or something else, in the same file.
const KnownRead = 3

// Is reports whether k is of the file with this stamp at path, or where the stamp is zero of the transcript.
func (k *Known) Is(path string, at osfile.Stamp, said objstore.ID) bool {
	samePath := k != nil && k.Read == KnownRead && k.Path == path
	return samePath && k.Stamp == at && k.Transcript == said
}

// KnownKey is where it lies what is known of a session.
func KnownKey(session string) []byte { return append([]byte{kv.PrefixKnown}, session...) }

// KnownFrom is in front of the first key that there can be of a known session: those before it are of points and of
// talks.
func KnownFrom() []byte { return []byte{kv.PrefixKnown, talkMark + 2} }

// How it stands in the store, docs/format.md#known-session.
var knownTable = record.New(
	record.Uint(1, func(k *Known) *uint64 { return &k.Read }),
	record.Count(2, func(k *Known) *int64 { return &k.Stamp.Size }),
	record.Uint(3, func(k *Known) *uint64 { return &k.Stamp.Modified }),
	record.Uint(4, func(k *Known) *uint64 { return &k.Stamp.Changed }),
	record.Uint(5, func(k *Known) *uint64 { return &k.Stamp.Device }),
	record.Uint(6, func(k *Known) *uint64 { return &k.Stamp.Inode }),
	record.ID(7, func(k *Known) *objstore.ID { return &k.Transcript }),
	record.String(8, func(k *Known) *string { return &k.Path }),
	record.Count(9, func(k *Known) *int { return &k.Turns }),
	record.Count(10, func(k *Known) *int { return &k.Messages }),
	record.Count(11, func(k *Known) *int64 { return &k.Bytes }),
	record.String(12, func(k *Known) *string { return &k.Title }),
	record.String(13, func(k *Known) *string { return &k.Parent.Session }),
	record.String(14, func(k *Known) *string { return &k.Parent.Message }),
	record.Time(15, func(k *Known) *time.Time { return &k.First }),
	record.Records(16, branchTable, func(k *Known) *[]transcript.Branch { return &k.Branches }),
)

var branchTable = record.New(
	record.Count(1, func(b *transcript.Branch) *int { return &b.After }),
	record.Decimals(2, func(b *transcript.Branch) *[]int { return &b.Turns }).
		Must(func(b *transcript.Branch) bool { return len(b.Turns) > 0 }).Required(),
	record.Count(3, func(b *transcript.Branch) *int { return &b.Within }),
	record.Uint(4, func(b *transcript.Branch) *transcript.Back { return &b.How }),
	record.Time(5, func(b *transcript.Branch) *time.Time { return &b.Left }),
	record.String(6, func(b *transcript.Branch) *string { return &b.Message }),
	record.String(7, func(b *transcript.Branch) *string { return &b.Summary }),
	record.Time(8, func(b *transcript.Branch) *time.Time { return &b.At }),
)

// Encode gives the bytes of what is known, docs/format.md#known-session.
func (k *Known) Encode() []byte { return knownTable.Encode(k) }

// DecodeKnown reads what Encode wrote, and refuses everything else.
func DecodeKnown(raw []byte) (*Known, error) {
	k := &Known{}
	if err := knownTable.Decode(raw, k); err != nil {
		return nil, fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	return k, nil
}
