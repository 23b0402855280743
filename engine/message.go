package engine

import (
	"context"
	"errors"
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
	"rewind/refs"
)

// What a person wrote when nothing had changed is put on the checkpoint that was there: the checkpoint cannot change, since its id is
// its hash, so it lies beside it. It goes with the checkpoint, and for gc the operation names the checkpoint as a tag's does.

// maxMessages is how many messages lie beside one checkpoint; then the oldest goes.
const maxMessages = 64

// tagMTexts is the only field of a record of messages, docs/format.md#messages.
const tagMTexts = 1

func messageKey(id objstore.ID) []byte {
	key := id.Key()
	return append([]byte{kv.PrefixMessage}, key[:]...)
}

func encodeMessages(list []string) []byte {
	var e record.Encoder
	e.List(tagMTexts, len(list), func(i int) []byte { return []byte(list[i]) })
	return e.Encoded()
}

func decodeMessages(raw []byte) (list []string, err error) {
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
		return nil, fmt.Errorf("engine: messages: %w: %w", kv.ErrCorrupt, err)
	}
	return list, nil
}

// messagesOn are the messages beside a checkpoint, the oldest first. What cannot be read is left out: the operations have the texts, too.
func (e *Engine) messagesOn(id objstore.ID) (list []string, err error) {
	err = e.db.View(messageKey(id), func(v []byte) error {
		list, _ = decodeMessages(v)
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// allMessages are those of every checkpoint that has some, by the keys of their ids.
func (e *Engine) allMessages() (map[objstore.Key][]string, error) {
	all := map[objstore.Key][]string{}
	err := e.db.Scan(kv.Range{Prefix: []byte{kv.PrefixMessage}}, func(k, v []byte) error {
		if list, err := decodeMessages(v); err == nil && len(k) == 1+len(objstore.Key{}) {
			all[objstore.Key(k[1:])] = list
		}
		return nil
	})
	return all, err
}

// putMessage puts a message on a checkpoint that is there, durably; false: it had it already. e.mu is held.
func (e *Engine) putMessage(ctx context.Context, cp *Checkpoint, message string) (bool, error) {
	list, err := e.messagesOn(cp.ID)
	if err != nil {
		return false, err
	}
	if n := len(list); n > 0 && list[n-1] == message || n == 0 && cp.Cause.Message == message {
		return false, nil
	}
	if list = append(list, message); len(list) > maxMessages {
		list = list[1:]
	}
	if err := e.db.RaiseFormat(formatOwners); err != nil {
		return false, err
	}
	op := refs.Operation{Kind: refs.KindNote, Time: e.now().UnixMilli(), Checkpoint: cp.ID, Message: message}
	tx := e.objs.Begin()
	_, err = e.refs.Commit(ctx, tx, kv.Durable, func(uint64) (refs.Operation, []refs.Update, error) {
		return op, nil, tx.Batch().Set(messageKey(cp.ID), encodeMessages(list))
	})
	if err != nil {
		tx.Discard()
		return false, fmt.Errorf("engine: message on checkpoint %s: %w", cp.ID.Short(), err)
	}
	return true, nil
}
