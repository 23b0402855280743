package ledger

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"rewind/internal/kv"
	"rewind/internal/record"
)

// Turn is the row of a turn of a session: which operations tell of it. A row has numbers of operations and nothing of
// what they say, so that it stays right when gc thins the log and when somebody purges a word. An operation that is not
// known is 0.
//
// A number comes again where the session's file was cut: then there are several rows of it. A turn that goes on behind
// a cut has a row for each side.
type Turn struct {
	Index  uint64 // of the session's rows, from 0: the key, with the session
	Number uint64 // as the conversation counts it; 0: before the first prompt
	First  uint64 // its oldest operation; 0: the row says only where the session's file was made
	Time   time.Time
	Cut    uint64 // the newest operation before it that changed the session's file
	GoesOn bool   // it is the turn of the row before, behind the cut
	// versions are operations that made a version of the session's file again: the first one that does not have the
	// turn, the next one that has it, and so on.
	versions []uint64

	Asked uint64   // has its prompt
	Begin uint64   // the oldest that names a checkpoint
	Found uint64   // the oldest that names one as the turn's own
	End   uint64   // where it ends
	Code  uint64   // names the code at its end
	Said  uint64   // names the conversation at its end
	Made  uint64   // the newest up to its end that made a checkpoint of the session
	Heard uint64   // the oldest that names a conversation
	Later []uint64 // behind its end, that name conversations; at most maxLater
	Steps uint64   // checkpoints that are its own
	Over  bool     // it has a stop, or something that is no part of it came behind it
	Start uint64   // of turn 0, the newest that names a checkpoint

	born uint64 // the first operation that was folded into a row of the session
	both uint64 // turns of another session, by which its numbers were counted
	open open
	run  run
}

// maxLater is how many captures behind the end of a turn a row names. An agent writes what it said last in one.
const maxLater = 4

// open is what the fold has to know of the newest row of a session to go on.
type open struct {
	Work    uint64 // the newest of what its calls did
	Stopped bool   // a stop lies before that
	Stop    uint64 // the oldest stop behind it
	Loose   uint64 // the newest moment behind it at which the turn may end without a stop
	Aside   bool   // behind it lies what is no part of the turn
	Step    uint64 // the newest checkpoint
	Code    uint64 // the newest of the session that names the code
	Said    uint64 // the newest that names its conversation
	Cut     uint64 // changed the session's file after the row's newest moment
}

// With is a row that goes on behind a cut, of which nothing is known of the end, with the row before it.
func (t *Turn) With(before *Turn) Turn {
	all := *t
	all.Over, all.Steps, all.Time = t.Over || before.Over, t.Steps+before.Steps, before.Time
	all.Asked, all.Begin = cmp.Or(t.Asked, before.Asked), cmp.Or(before.Begin, t.Begin)
	return all
}

// Hidden reports whether the version of the session's file that was current behind operation seq (0: the newest) lacks
// the turn, although the numbers of its turns do not say so.
func (t *Turn) Hidden(seq uint64) bool {
	n := len(t.versions)
	for n > 0 && seq > 0 && t.versions[n-1] > seq {
		n--
	}
	return n%2 == 1
}

// CutBehind is the operation that changed the session's file behind the row, before another row began; 0: none did.
func (t *Turn) CutBehind() uint64 { return t.open.Cut }

const prefix = kv.PrefixLedger

// The second byte of a key.
const (
	keyEpoch   = 0
	keyHead    = 1
	keyTurn    = 2
	keyPlace   = 3
	keyRestore = 4
)

// turnsPrefix is how the keys of a session's rows begin. No session's name has a zero byte.
func turnsPrefix(session string) []byte {
	return append(append([]byte{prefix, keyTurn}, session...), 0)
}

// afterTurns is behind the keys of a session's rows, and in front of all others behind those.
func afterTurns(session string) []byte {
	return append(append([]byte{prefix, keyTurn}, session...), 1)
}

func turnKey(session string, index uint64) []byte {
	return binary.BigEndian.AppendUint64(turnsPrefix(session), index)
}

// How it stands in the store, docs/format.md#ledger.
var turnTable = record.New(
	record.Uint(1, func(t *Turn) *uint64 { return &t.Number }),
	record.Uint(2, func(t *Turn) *uint64 { return &t.First }),
	record.Time(3, func(t *Turn) *time.Time { return &t.Time }),
	record.Uint(4, func(t *Turn) *uint64 { return &t.Cut }),
	record.Bool(5, func(t *Turn) *bool { return &t.GoesOn }),
	record.Decimals(6, func(t *Turn) *[]uint64 { return &t.versions }),
	record.Uint(7, func(t *Turn) *uint64 { return &t.Asked }),
	record.Uint(8, func(t *Turn) *uint64 { return &t.Begin }),
	record.Uint(9, func(t *Turn) *uint64 { return &t.Found }),
	record.Uint(10, func(t *Turn) *uint64 { return &t.End }),
	record.Uint(11, func(t *Turn) *uint64 { return &t.Code }),
	record.Uint(12, func(t *Turn) *uint64 { return &t.Said }),
	record.Uint(13, func(t *Turn) *uint64 { return &t.Made }),
	record.Uint(14, func(t *Turn) *uint64 { return &t.Heard }),
	record.Decimals(15, func(t *Turn) *[]uint64 { return &t.Later }),
	record.Uint(16, func(t *Turn) *uint64 { return &t.Steps }),
	record.Bool(17, func(t *Turn) *bool { return &t.Over }),
	record.Uint(18, func(t *Turn) *uint64 { return &t.Start }),
	record.Uint(19, func(t *Turn) *uint64 { return &t.open.Work }),
	record.Bool(20, func(t *Turn) *bool { return &t.open.Stopped }),
	record.Uint(21, func(t *Turn) *uint64 { return &t.open.Stop }),
	record.Uint(22, func(t *Turn) *uint64 { return &t.open.Loose }),
	record.Bool(23, func(t *Turn) *bool { return &t.open.Aside }),
	record.Uint(24, func(t *Turn) *uint64 { return &t.open.Step }),
	record.Uint(25, func(t *Turn) *uint64 { return &t.open.Code }),
	record.Uint(26, func(t *Turn) *uint64 { return &t.open.Said }),
	record.Uint(27, func(t *Turn) *uint64 { return &t.open.Cut }),
	record.Uint(28, func(t *Turn) *uint64 { return &t.born }),
	record.Uint(29, func(t *Turn) *uint64 { return &t.both }),
	record.Uint(30, func(t *Turn) *uint64 { return &t.run.Last }),
	record.Uint(31, func(t *Turn) *uint64 { return &t.run.End }),
	record.Decimals(32, func(t *Turn) *[]uint64 { return &t.run.Of }),
)

// encode gives the bytes of a row, docs/format.md#ledger.
func (t *Turn) encode() []byte { return turnTable.Encode(t) }

// decodeTurn reads the row under a key, which encode wrote, and refuses everything else with record.ErrFormat.
func decodeTurn(key, raw []byte) (Turn, error) {
	if len(key) < 8 {
		return Turn{}, fmt.Errorf("%w: key %x of a turn", record.ErrFormat, key)
	}
	t := Turn{Index: binary.BigEndian.Uint64(key[len(key)-8:])}
	err := turnTable.Decode(raw, &t)
	return t, err
}

// head says how far the rows are.
type head struct {
	Format   uint64 // of the fold that made them
	Epoch    uint64 // of the log's past that they were folded from
	Seq      uint64 // the newest operation that is in them
	Restored uint64 // the newest restore of the whole tree
}

// foldFormat goes up whenever fold makes other rows of the same log.
const foldFormat = 9

var headKey = []byte{prefix, keyHead}

var headTable = record.New(
	record.Uint(1, func(h *head) *uint64 { return &h.Format }),
	record.Uint(2, func(h *head) *uint64 { return &h.Epoch }),
	record.Uint(3, func(h *head) *uint64 { return &h.Seq }),
	record.Uint(4, func(h *head) *uint64 { return &h.Restored }),
)

// epoch is how often the log's past was changed. While it is being changed the rows are as they were before.
type epoch struct {
	Changes  uint64
	Changing bool
}

var epochKey = []byte{prefix, keyEpoch}

var epochTable = record.New(
	record.Uint(1, func(e *epoch) *uint64 { return &e.Changes }),
	record.Bool(2, func(e *epoch) *bool { return &e.Changing }),
)
