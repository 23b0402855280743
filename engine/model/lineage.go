package model

import (
	"fmt"
	"strconv"

	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// Lineage is where a fork comes from, and how its turns are the other session's.
type Lineage struct {
	value.Lineage
	Both       int         // so many of its turns both have: Lineage.Turn as this session counts
	Turns      []int       // the other's numbers of those; nil: the same
	Transcript objstore.ID // the session file as it was made; zero: not known
}

// Share says how many turns both have, and the other's numbers of them.
func (l *Lineage) Share(both int, turns []int) {
	l.Both, l.Turns = both, turns
	l.Turn = int(l.Of(uint64(both)))
}

// Encode gives the bytes of a lineage, docs/format.md#session-record.
func (l *Lineage) Encode() []byte {
	if l == nil {
		return nil
	}
	var e record.Encoder
	e.String(tagLSession, l.Session)
	e.Uint(tagLTurn, uint64(l.Both))
	e.String(tagLMessage, l.Message)
	e.String(tagLCheckpoint, l.Checkpoint)
	e.Uint(tagLTime, unixMilli(l.Time))
	e.Bool(tagLClone, l.Clone)
	e.String(tagLKind, l.Kind)
	e.NonZero(tagLTranscript, l.Transcript[:])
	e.List(tagLTurns, len(l.Turns), func(i int) []byte { return strconv.AppendInt(nil, int64(l.Turns[i]), 10) })
	return e.Encoded()
}

// DecodeLineage reads what encode wrote, and refuses everything else.
func DecodeLineage(raw record.Field) (*Lineage, error) {
	l := &Lineage{}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagLSession:
			l.Session = string(f)
		case tagLTurn:
			err = DecodeCount(f, &l.Both)
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
	l.Share(l.Both, l.Turns)
	return l, err
}

// An agent makes sessions of others by itself (/branch, --fork-session, a fork by reference). Their files name the other session, and how
// far both are the same is found by comparing them, once: the turn and the message stand in the session's lineage from then on, and turns
// up to there have the other one's checkpoints.

// ByAgent is the kind of a lineage that an agent made.
const ByAgent = "agent"

// MadeByAgent is where a session comes from whose file names the session that its agent made it of. How far both are the same is not known
// yet.
func MadeByAgent(agent value.Agent, c *transcript.Conversation) *Lineage {
	return &Lineage{Lineage: value.Lineage{Session: string(agent) + "/" + c.Parent.Session, Message: c.Parent.Message, Time: c.First, Kind: ByAgent}}
}

// Resolved reports whether it is known up to which turn both sessions are the same.
func (l *Lineage) Resolved() bool { return l != nil && (l.Kind != ByAgent || l.Both > 0) }

// Of is the other session's number of turn n, which both have. It may have gone back behind turns that an agent did not take along.
func (l *Lineage) Of(n uint64) uint64 {
	if n == 0 || n > uint64(len(l.Turns)) {
		return n
	}
	return uint64(l.Turns[n-1])
}
