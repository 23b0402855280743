package kv

import "encoding/binary"

// The first byte of every key.
const (
	prefixFormat    = 'f'
	PrefixObject    = 'O'
	PrefixOperation = 'p'
	PrefixRef       = 'r'
	PrefixStat      = 's'
	PrefixJournal   = 'j'
	PrefixSecret    = 'k'
	PrefixSession   = 'a'
	PrefixTombstone = 'g'
	PrefixSquash    = 'h'
	PrefixLeak      = 'q'
	PrefixMessage   = 'm'
	PrefixKnown     = 'i'
	PrefixLedger    = 'l'
)

// row is one line of the key space table.
type row struct {
	Prefix byte
	Key    string // layout; a bare letter in backquotes is literal
	Value  string
	Writer string // package
}

// Keyspace is the whole key space. docs/format.md#key-space is the same table; a test holds them together.
var Keyspace = []row{
	{prefixFormat, "`f`", "format version, uvarint", "kv"},
	{PrefixObject, "`O` kind(1) id(20: its first bytes)", "envelope", "objstore"},
	{PrefixOperation, "`p` sequence(8)", "operation", "refs"},
	{PrefixRef, "`r` name", "ref", "refs"},
	{PrefixStat, "`s` path", "stat cache entry", "tree/snapshot"},
	{PrefixJournal, "`j`", "journal of an unfinished checkout", "engine"},
	{PrefixSecret, "`k`", "32 random bytes: the key of secret-file hashes", "engine"},
	{PrefixSession, "`a` session", "session record", "engine"},
	{PrefixTombstone, "`g` kind(1) id(20: its first bytes)", "tombstone", "objstore"},
	{PrefixSquash, "`h` checkpoint(20: the first bytes of its id)", "squash record", "engine"},
	{PrefixMessage, "`m` checkpoint(20: the first bytes of its id)", "messages", "engine"},
	{
		PrefixLeak, "`q`, `q` content(20: the first bytes of its id), `q` `s`, or `q` `s` session(20)",
		"how far contents were looked at, a flag, and the same of conversations", "engine",
	},
	{PrefixKnown, "`i` session, `i` 0 session, or `i` 2 session", "what a session's file says, its points, or its conversation as it was read", "engine"},
	{
		PrefixLedger, "`l` 0, `l` 1, `l` 2 session 0 index(8), or `l` 3 or 4 operation(8)",
		"how far rows are folded, or the row of a turn, a place or a restore",
		"engine",
	},
}

var formatKey = []byte{prefixFormat}

// OperationKey is the key of the operation with this sequence number: 'p' and the number in big-endian order.
func OperationKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{PrefixOperation}, seq)
}

// operationSeq is the inverse of OperationKey; ok is false for any other key.
func operationSeq(key []byte) (seq uint64, ok bool) {
	if len(key) != 9 || key[0] != PrefixOperation {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[1:]), true
}

// after is the smallest key above every key that begins with prefix; nil: there is none.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
