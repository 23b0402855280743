package model

import (
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// What a person wrote when nothing had changed is put on the checkpoint that was there: the checkpoint cannot change,
// since its id is its hash, so it lies beside it. It goes with the checkpoint, and for gc the operation names the
// checkpoint as a tag's does.

// MaxMessages is how many messages lie beside one checkpoint; then the oldest goes.
const MaxMessages = 64

// How they stand in the store, docs/format.md#messages.
var messagesTable = record.New(record.Strings(1, func(l *[]string) *[]string { return l }))

// MessageKey is where the messages lie that a person put on a checkpoint.
func MessageKey(id objstore.ID) []byte {
	key := id.Key()
	return append([]byte{kv.PrefixMessage}, key[:]...)
}

// EncodeMessages gives the bytes of messages, docs/format.md#messages.
func EncodeMessages(list []string) []byte { return messagesTable.Encode(&list) }

// DecodeMessages reads what EncodeMessages wrote, and refuses everything else.
func DecodeMessages(raw []byte) ([]string, error) {
	var list []string
	if err := messagesTable.Decode(raw, &list); err != nil {
		return nil, fmt.Errorf("messages: %w: %w", kv.ErrCorrupt, err)
	}
	return list, nil
}
