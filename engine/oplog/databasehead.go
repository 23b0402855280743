package oplog

import (
	"errors"
	"io"

	"rewind/objstore"
	"rewind/tree"
)

// HeadOf returns what a content begins with, tree.DatabaseHead bytes or all of it, from the store or, where that lacks it, from get. It is empty
// for a content that was purged or lost.
func (l *Log) HeadOf(get objstore.Getter, id objstore.ID) ([]byte, error) {
	if r, err := l.Objs.Open(id); err == nil {
		defer r.Close() //nolint:errcheck // only read
		return ReadHead(r), nil
	}
	raw, err := get.Get(objstore.Blob, id)
	if err != nil {
		if why, gerr := l.GoneEntry(&tree.Entry{Type: tree.TypeFile, ID: id}); gerr == nil && why != "" {
			return nil, nil
		}
		return nil, err
	}
	return raw[:min(len(raw), tree.DatabaseHead)], nil
}

// ReadHead returns what r begins with, as HeadOf; nothing of what cannot be read.
func ReadHead(r io.Reader) []byte {
	head := make([]byte, tree.DatabaseHead)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return head[:n]
}
