package model

import (
	"encoding/binary"
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// Points are what is kept of a session's conversation so that others that were made of it are found
// (transcript.Trace.Points). They are derived: who has none reads the conversation.
type Points struct {
	Read       uint64 // PointsRead of the program that read it
	Transcript objstore.ID
	Length     int64  // of it
	Packed     string // where another conversation may begin: numbers of 8 bytes, big-endian
	Starts     int    // so many of them are its own beginning
	Open       bool   // it has nothing of its own behind what it has of another one's: more of that may come
}

// PointsRead goes up whenever package transcript makes other points of the same conversation.
const PointsRead = 2

// pointsMark stands in front of the session's name in a key of points: no name begins so.
const pointsMark = 0

// PointsKey is where a session's points lie.
func PointsKey(session string) []byte { return append([]byte{kv.PrefixKnown, pointsMark}, session...) }

// PointsPrefix is how the keys of points begin.
func PointsPrefix() []byte { return []byte{kv.PrefixKnown, pointsMark} }

// How they stand in the store, docs/format.md#points.
var pointsTable = record.New(
	record.Uint(1, func(p *Points) *uint64 { return &p.Read }),
	record.ID(2, func(p *Points) *objstore.ID { return &p.Transcript }),
	record.Count(3, func(p *Points) *int64 { return &p.Length }),
	record.String(4, func(p *Points) *string { return &p.Packed }),
	record.Count(5, func(p *Points) *int { return &p.Starts }),
	record.Bool(6, func(p *Points) *bool { return &p.Open }),
).Then(func(p *Points) error {
	if len(p.Packed)%8 != 0 || p.Starts > len(p.Packed)/8 {
		return fmt.Errorf("%w: points that do not fit", record.ErrFormat)
	}
	return nil
})

// PackPoints are points as a record has them.
func PackPoints(points []uint64) string {
	b := make([]byte, 0, 8*len(points))
	for _, p := range points {
		b = binary.BigEndian.AppendUint64(b, p)
	}
	return string(b)
}

// Each gives the points, in order.
func (p *Points) Each(yield func(i int, point uint64) bool) {
	for i := 0; i < len(p.Packed)/8; i++ {
		if !yield(i, binary.BigEndian.Uint64([]byte(p.Packed[8*i:]))) {
			return
		}
	}
}

// Encode gives the bytes of points, docs/format.md#points.
func (p *Points) Encode() []byte { return pointsTable.Encode(p) }

// DecodePoints reads what Encode wrote, and refuses everything else.
func DecodePoints(raw []byte) (*Points, error) {
	p := &Points{}
	if err := pointsTable.Decode(raw, p); err != nil {
		return nil, fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	return p, nil
}
