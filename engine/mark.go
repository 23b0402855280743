package engine

import (
	"fmt"
	"strconv"

	"rewind/internal/record"
	"rewind/objstore"
)

// Mark is a place in a conversation.
type Mark struct {
	Transcript objstore.ID // the bytes up to it, docs/format.md#transcript; zero: there is no conversation
	Length     int64       // how many; they end with a whole record
	Last       string      // the agent's id of the newest record that has one
	Path       string      // of the session file
	Generation uint64      // from 1: how many files, or versions of one that did not continue each other, the session has had
}

// Cursor is how far a session file has been captured.
type Cursor struct {
	Mark
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

func (c *Cursor) encode() []byte {
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

func decodeCursor(raw record.Field) (Cursor, error) {
	var c Cursor
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagCTranscript:
			err = f.NonZero(c.Transcript[:])
		case tagCLength:
			err = decodeCount(f, &c.Length)
		case tagCLast:
			c.Last = string(f)
		case tagCPath:
			c.Path = string(f)
		case tagCGeneration:
			c.Generation, err = f.Uint()
		case tagCBase:
			err = decodeCount(f, &c.Base)
		case tagCChecked:
			err = decodeCount(f, &c.Checked)
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
	tagLTurns // since store format 5
)

func (l *Lineage) encode() []byte {
	if l == nil {
		return nil
	}
	var e record.Encoder
	e.String(tagLSession, l.Session)
	e.Uint(tagLTurn, uint64(l.Turn))
	e.String(tagLMessage, l.Message)
	e.String(tagLCheckpoint, l.Checkpoint)
	e.Uint(tagLTime, unixMilli(l.Time))
	e.Bool(tagLClone, l.Clone)
	e.String(tagLKind, l.Kind)
	e.NonZero(tagLTranscript, l.Transcript[:])
	e.List(tagLTurns, len(l.Turns), func(i int) []byte { return strconv.AppendInt(nil, int64(l.Turns[i]), 10) })
	return e.Encoded()
}

func decodeLineage(raw record.Field) (*Lineage, error) {
	l := &Lineage{}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagLSession:
			l.Session = string(f)
		case tagLTurn:
			err = decodeCount(f, &l.Turn)
		case tagLMessage:
			l.Message = string(f)
		case tagLCheckpoint:
			l.Checkpoint = string(f)
		case tagLTime:
			err = decodeTime(f, &l.Time)
		case tagLClone:
			l.Clone, err = f.Bool()
		case tagLKind:
			l.Kind = string(f)
		case tagLTranscript:
			err = f.NonZero(l.Transcript[:])
		case tagLTurns:
			err = f.List(func(v record.Field) error {
				n, err := strconv.Atoi(string(v))
				if err != nil || n < 1 || strconv.Itoa(n) != string(v) {
					return fmt.Errorf("%w: turn %.20q of a lineage", record.ErrFormat, []byte(v))
				}
				l.Turns = append(l.Turns, n)
				return nil
			})
		default:
			return record.Unknown(tag)
		}
		return err
	})
	return l, err
}
