package refs

import (
	"encoding/binary"
	"fmt"

	"rewind/internal/kv"
	"rewind/objstore"
)

// Each calls fn for every ref, by name; err says that one cannot be read. It is for whoever looks for damage: List ends
// at the first.
func (r *Refs) Each(fn func(n Name, ref Ref, err error) error) error {
	return r.db.Scan(kv.Range{Prefix: []byte{kv.PrefixRef}}, func(k, v []byte) error {
		n := Name(k[1:])
		ref, err := decodeRef(n, v)
		if err == nil {
			err = n.Check()
		}
		return fn(n, ref, err)
	})
}

// Log calls fn for every operation, the newest first; err says that one cannot be read, op is nil then. Newest ends at
// the first of these.
func (r *Refs) Log(fn func(seq uint64, op *Operation, err error) error) error {
	return r.db.Scan(kv.Range{Prefix: []byte{kv.PrefixOperation}, Reverse: true}, func(k, v []byte) error {
		if len(k) != 9 {
			return fn(0, nil, fmt.Errorf("operation key %x: %w", k, ErrCorrupt))
		}
		seq := binary.BigEndian.Uint64(k[1:])
		op, err := DecodeOperation(seq, v)
		return fn(seq, op, err)
	})
}

// LostValue gives what stands in the log for an operation that is lost: val itself where that is one.
func LostValue(seq uint64, val []byte, time int64) []byte {
	if val != nil {
		if _, err := DecodeOperation(seq, val); err == nil {
			return val
		}
	}
	op := Operation{Kind: KindLost, Time: time}
	return op.Encode()
}

// Lost gives an operation as one that is lost: what it says is kept for people, and nothing is read by it any more.
func (o *Operation) Lost() Operation {
	lost := *o
	lost.Kind = KindLost
	lost.Message = o.Kind.String()
	if o.Message != "" {
		lost.Message += ": " + o.Message
	}
	return lost
}

// Restate adds to a batch what an operation that is there says from now on.
func Restate(b *kv.Batch, op *Operation) error { return b.Set(kv.OperationKey(op.Seq), op.Encode()) }

// Repoint adds to a batch where a name points, whatever it said before; zero: it goes. Forget comes after the commit.
func Repoint(b *kv.Batch, n Name, id objstore.ID, seq uint64) error {
	if id.IsZero() {
		return b.Delete(key(n))
	}
	return b.Set(key(n), encodeRef(id, seq))
}

// Forget drops what is remembered of names.
func (r *Refs) Forget() {
	r.held.clear()
}
