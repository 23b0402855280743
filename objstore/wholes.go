package objstore

import (
	"context"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// Wholes calls fn for the objects of a kind that can be read without another one: neither deltas nor chunked blobs. It
// takes those whose key's first byte is in [from, to). The order is that of the keys, the fastest way to read many. raw
// is verified, and good until fn returns. What is damaged is left out, and so is what would take more than max bytes.
// No lock is held during fn; Wholes may be called at the same time for other parts.
func (s *Store) Wholes(ctx context.Context, k Kind, from, to int, max int64, fn func(Key, []byte) error) error {
	var raw []byte
	for first := from; first < to; first++ {
		err := s.db.Scan(kv.Range{Prefix: appendPrefix(nil, k, []byte{byte(first)})}, func(at, val []byte) error {
			_, key, err := splitKey(at)
			if err != nil {
				return err
			}
			e, err := object.Decode(k, val)
			notWhole := err != nil || e.Codec.IsDelta()
			if notWhole || e.Codec == CodecChunks || e.Length > max {
				return nil //nolint:nilerr // who asks for it by its name is told
			}
			if raw, err = e.Whole(raw[:0]); err != nil || Sum(k, raw).Key() != key {
				return nil //nolint:nilerr // as above
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return fn(key, raw)
		})
		if err != nil {
			return wrap("walk", k, Key{}, err)
		}
	}
	return nil
}
