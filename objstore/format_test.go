package objstore

import (
	"context"
	"encoding/binary"
	"testing"

	"rewind/internal/kv"
)

// Store formats 1 and 2 have objects under long keys, and deltas in their old form.

// oldDelta writes a delta in the old form.
func oldDelta(delta []byte) ([]byte, error) {
	return recode(delta, formKept, formOld, MaxObject+idLen)
}

// oldEnvelope gives what format 2 has for an envelope of this one; base is the base's id, where there is one.
func oldEnvelope(env []byte, base ID) ([]byte, error) {
	e, err := decodeHead(env)
	if err != nil {
		return nil, err
	}
	switch e.codec {
	case CodecDelta:
		e.codec = CodecOldDelta
		e.body, err = oldDelta(e.body)
	case CodecDeltaZstd:
		e.codec = CodecOldDeltaZstd
		var size int64
		var delta []byte
		if size, delta, err = e.packed(); err == nil {
			if delta, err = decompress(nil, delta, size); err == nil {
				delta, err = oldDelta(delta)
			}
		}
		if err == nil {
			var frame []byte
			var at int
			frame, at, err = compress(nil, delta, careful)
			e.body = append(binary.AppendUvarint(nil, uint64(len(delta))), frame[at:]...)
		}
	default:
		return append([]byte(nil), env...), nil
	}
	copy(e.base[:], base[:])
	return appendEnvelope(nil, e), err
}

// age makes the objects that are chosen what format 2 would have, where it can: a delta that is longer than its object in
// the old form stays. It gives how many are.
func age(t tb, s *Store, chosen func(object) bool) (n int) {
	t.Helper()
	b := s.db.NewBatch()
	defer b.Close()
	err := s.Walk(context.Background(), func(k Kind, key Key, info Info) error {
		node, err := nodeOf(s, k, name{key: key})
		if err != nil || !node.id.IsZero() || !chosen(object{k, key}) {
			return err
		}
		id, err := s.IDOf(k, key)
		if err != nil {
			return err
		}
		var base ID
		if info.Codec.isDelta() {
			if base, err = s.IDOf(k, info.Base); err != nil {
				return err
			}
		}
		env, err := oldEnvelope(node.env, base)
		if err != nil {
			return err
		}
		if _, err := decodeEnvelope(k, env); err != nil {
			return nil
		}
		n++
		if err := b.Delete(appendKey(nil, k, key)); err != nil {
			return err
		}
		return b.Set(appendLongKey(nil, k, id), env)
	})
	if err == nil {
		err = b.Commit(context.Background(), kv.Written)
	}
	if err != nil {
		t.Fatalf("age: %v", err)
	}
	s.long = hasLong(s.db)
	return n
}

func writeLong(t testing.TB, s *Store, k Kind, id ID, val []byte) {
	t.Helper()
	b := s.db.NewBatch()
	if err := b.Set(appendLongKey(nil, k, id), val); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	s.long = true
}

func keysOf(ids ...ID) (keys []Key) {
	for _, id := range ids {
		keys = append(keys, id.Key())
	}
	return keys
}
