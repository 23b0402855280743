package oplog

import (
	"context"
	"errors"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// MessagesOn are the messages beside a checkpoint, the oldest first. What cannot be read is left out: the operations
// have the texts, too.
func (l *Log) MessagesOn(id objstore.ID) (list []string, err error) {
	err = l.DB.View(model.MessageKey(id), func(v []byte) error {
		list, _ = model.DecodeMessages(v)
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// AllMessages are those of every checkpoint that has some, by the keys of their ids.
func (l *Log) AllMessages() (map[objstore.Key][]string, error) {
	all := map[objstore.Key][]string{}
	err := l.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixMessage}}, func(k, v []byte) error {
		if list, err := model.DecodeMessages(v); err == nil && len(k) == 1+len(objstore.Key{}) {
			all[objstore.Key(k[1:])] = list
		}
		return nil
	})
	return all, err
}

// PutMessage puts a message on a checkpoint that is there, durably; false: it had it already. the log's lock is held.
func (l *Log) PutMessage(ctx context.Context, cp *model.Checkpoint, message string) (bool, error) {
	list, err := l.MessagesOn(cp.ID)
	if err != nil {
		return false, err
	}
	if n := len(list); n > 0 && list[n-1] == message || n == 0 && cp.Cause.Message == message {
		return false, nil
	}
	if list = append(list, message); len(list) > model.MaxMessages {
		list = list[1:]
	}
	op := refs.Operation{Kind: refs.KindNote, Time: l.Now().UnixMilli(), Checkpoint: cp.ID, Message: message}
	c := l.Begin()
	_, err = c.Commit(ctx, kv.Durable, func(uint64) (refs.Operation, []refs.Update, error) {
		return op, nil, c.Tx.Batch().Set(model.MessageKey(cp.ID), model.EncodeMessages(list))
	})
	if err != nil {
		return false, &value.OpError{Op: "message on checkpoint", Subject: cp.ID.Short(), Err: err}
	}
	return true, nil
}
