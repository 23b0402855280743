package objstore

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// Store formats 1 and 2 have objects under long keys, and deltas in their old form.

// oldDelta writes the delta of an edit in the old form, by docs/format.md: every copy has its offset.
func oldDelta(delta []byte) (old []byte) {
	next := func() (n uint64) {
		n, size := binary.Uvarint(delta)
		delta = delta[size:]
		return n
	}
	var end, inserted int64
	for begun, copies := false, false; len(delta) > 0; begun = true {
		n := next()
		due := !copies
		if due && n == 0 && !begun {
			n, due = next(), false
		}
		size := int64(n >> 1)
		if n&1 == 0 && !due {
			old = append(binary.AppendUvarint(old, n), delta[:size]...)
			delta, inserted, copies = delta[size:], size, false
			continue
		}
		off := end + inserted
		if n&1 == 1 {
			z := next()
			off = end + (int64(z>>1) ^ -int64(z&1))
		}
		old = binary.AppendUvarint(old, n|1)
		old = binary.AppendVarint(old, off-end)
		end, inserted, copies = off+size, 0, true
	}
	return old
}

// frames are what the bodies of compressed deltas are the blocks of: the header of a frame follows from its length.
var frames = struct {
	*zstd.Encoder
	*zstd.Decoder
}{testEncoder(), testDecoder()}

func testEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err)
	}
	return e
}

func testDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return d
}

// frameHeader is that of a frame of some content.
func frameHeader(size int) []byte {
	head := []byte{0x28, 0xb5, 0x2f, 0xfd}
	switch {
	case size < 256:
		return append(head, 1<<5, byte(size))
	case size < 65536+256:
		return binary.LittleEndian.AppendUint16(append(head, 1<<5|1<<6), uint16(size-256))
	}
	return binary.LittleEndian.AppendUint32(append(head, 1<<5|2<<6), uint32(size))
}

// oldEnvelope gives what format 2 has for an envelope of this one; base is the base's id, where there is one.
func oldEnvelope(env []byte, base ID) ([]byte, error) {
	e, err := object.DecodeHead(env)
	if err != nil {
		return nil, err
	}
	switch e.Codec {
	case object.CodecDelta:
		e.Codec = object.CodecOldDelta
		e.Body = oldDelta(e.Body)
	case object.CodecDeltaZstd:
		e.Codec = object.CodecOldDeltaZstd
		size, n := binary.Uvarint(e.Body)
		delta, err := frames.DecodeAll(append(frameHeader(int(size)), e.Body[n:]...), nil)
		if err != nil {
			return nil, err
		}
		delta = oldDelta(delta)
		frame := frames.EncodeAll(delta, nil)
		e.Body = append(binary.AppendUvarint(nil, uint64(len(delta))), frame[len(frameHeader(len(delta))):]...)
	default:
		return append([]byte(nil), env...), nil
	}
	copy(e.Prefix(), base[:])
	return object.Seal(e), nil
}

// age makes the objects that are chosen what format 2 would have, where it can: a delta that is longer than its object in
// the old form stays. It gives how many are.
func age(t tb, s *Store, chosen func(Object) bool) (n int) {
	t.Helper()
	b := s.db.NewBatch()
	defer b.Close()
	err := s.Walk(context.Background(), func(k Kind, key Key, info Info) error {
		node, err := nodeOf(s, k, name{key: key})
		if err != nil || !node.id.IsZero() || !chosen(Object{k, key}) {
			return err
		}
		id, err := s.IDOf(k, key)
		if err != nil {
			return err
		}
		var base ID
		if info.Codec.IsDelta() {
			if base, err = s.IDOf(k, info.Base); err != nil {
				return err
			}
		}
		env, err := oldEnvelope(node.env, base)
		if err != nil {
			return err
		}
		if _, err := object.Decode(k, env); err != nil {
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
