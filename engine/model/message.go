package model

import (
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// What a person wrote when nothing had changed is put on the checkpoint that was there: the checkpoint cannot change, since its id is
// its hash, so it lies beside it. It goes with the checkpoint, and for gc the operation names the checkpoint as a tag's does.

// MaxMessages is how many messages lie beside one checkpoint; then the oldest goes.
const MaxMessages = 64

// tagMTexts is the only field of a record of messages, docs/format.md#messages.
const tagMTexts = 1

// MessageKey is where the messages lie that a person put on a checkpoint.
func MessageKey(id objstore.ID) []byte {
	key := id.Key()
	return append([]byte{kv.PrefixMessage}, key[:]...)
}

// EncodeMessages gives the bytes of messages, docs/format.md#messages.
func EncodeMessages(list []string) []byte {
	var e record.Encoder
	e.List(tagMTexts, len(list), func(i int) []byte { return []byte(list[i]) })
	return e.Encoded()
}

// DecodeMessages reads what EncodeMessages wrote, and refuses everything else.
func DecodeMessages(raw []byte) (list []string, err error) {
	err = record.Decode(raw, func(tag uint64, f record.Field) error {
		if tag != tagMTexts {
			return record.Unknown(tag)
		}
		return f.List(func(v record.Field) error {
			list = append(list, string(v))
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("messages: %w: %w", kv.ErrCorrupt, err)
	}
	return list, nil
}
