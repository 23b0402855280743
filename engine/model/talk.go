package model

import (
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// Talk is a long conversation as it was read, so that it is read on from there by the next process, too. It is derived:
// who has none reads the conversation from its beginning.
type Talk struct {
	Read       uint64 // transcript.ReadingVersion of the program that read it
	Transcript objstore.ID
	Length     int64  // of it
	State      string // transcript.Reading.State
}

// talkMark stands in front of the session's name in a key of a talk. A talk is a block of megabytes, which pebble reads
// when it looks whether there is more in a range: between it and what lies before and behind is a key to end a range
// at.
const talkMark = 2

// OldTalks are the first key under which talks were before, and the first behind those.
func OldTalks() (from, to []byte) {
	return []byte{kv.PrefixKnown, talkMark - 1}, []byte{kv.PrefixKnown, talkMark}
}

// TalkKey is where it lies how a session's conversation was read.
func TalkKey(session string) []byte { return append([]byte{kv.PrefixKnown, talkMark}, session...) }

// How it stands in the store, docs/format.md#read-conversation.
var talkTable = record.New(
	record.Uint(1, func(t *Talk) *uint64 { return &t.Read }),
	record.ID(2, func(t *Talk) *objstore.ID { return &t.Transcript }),
	record.Count(3, func(t *Talk) *int64 { return &t.Length }),
	record.String(4, func(t *Talk) *string { return &t.State }),
)

// Encode gives the bytes of a talk, docs/format.md#read-conversation.
func (t *Talk) Encode() []byte { return talkTable.Encode(t) }

// DecodeTalk reads what Encode wrote, and refuses everything else.
func DecodeTalk(raw []byte) (*Talk, error) {
	t := &Talk{}
	if err := talkTable.Decode(raw, t); err != nil {
		return nil, fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	return t, nil
}
