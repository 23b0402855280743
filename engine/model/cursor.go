package model

import (
	"rewind/internal/record"
	"rewind/objstore"
)

// TranscriptEnd is a place in a conversation.
type TranscriptEnd struct {
	Transcript objstore.ID // the bytes up to it, docs/format.md#transcript; zero: there is no conversation
	Length     int64       // how many; they end with a whole record
	Last       string      // the agent's id of the newest record that has one
	Path       string      // of the session file
	Generation uint64      // from 1: how many files, or versions of one that did not continue each other, the session has had
}

// Cursor is how far a session file has been captured.
type Cursor struct {
	TranscriptEnd
	Base    int64 // bytes at the beginning that stand in another file
	Checked int64 // the length at which the whole file was compared last
}

// Field tags of a cursor, docs/format.md#session-record.
const (
	tagCTranscript = iota + 1
	tagCLength
	tagCLast
	tagCPath
	tagCGeneration
	tagCBase
	tagCChecked
)

// Encode gives the bytes of a cursor, docs/format.md#session-record.
func (c *Cursor) Encode() []byte {
	var e record.Encoder
	e.NonZero(tagCTranscript, c.Transcript[:])
	e.Uint(tagCLength, uint64(c.Length))
	e.String(tagCLast, c.Last)
	e.String(tagCPath, c.Path)
	e.Uint(tagCGeneration, c.Generation)
	e.Uint(tagCBase, uint64(c.Base))
	e.Uint(tagCChecked, uint64(c.Checked))
	return e.Encoded()
}

// DecodeCursor reads what encode wrote, and refuses everything else.
func DecodeCursor(raw record.Field) (Cursor, error) {
	var c Cursor
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagCTranscript:
			err = f.NonZero(c.Transcript[:])
		case tagCLength:
			err = DecodeCount(f, &c.Length)
		case tagCLast:
			c.Last = string(f)
		case tagCPath:
			c.Path = string(f)
		case tagCGeneration:
			c.Generation, err = f.Uint()
		case tagCBase:
			err = DecodeCount(f, &c.Base)
		case tagCChecked:
			err = DecodeCount(f, &c.Checked)
		default:
			return record.Unknown(tag)
		}
		return err
	})
	return c, err
}

// Field tags of a lineage, docs/format.md#session-record.
const (
	tagLSession = iota + 1
	tagLTurn
	tagLMessage
	tagLCheckpoint
	tagLTime
	tagLClone
	tagLKind
	tagLTranscript
	tagLTurns
)
