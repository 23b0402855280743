package oplog

import (
	"errors"
	"io"

	"rewind/objstore"
	"rewind/tree"
)

// HeadOf returns what a content begins with, tree.DatabaseHead bytes or all of it, from the store or, where that lacks
// it, from get. It is empty for a content that was purged or lost.
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

// DatabaseFiles returns the paths of a database and its companions in a tree, of which path is one. It returns none for
// any other path.
func (l *Log) DatabaseFiles(in *Lookups, path string) ([]string, error) {
	of, ok := tree.CompanionOf(path)
	if !ok {
		of = path
	}
	head, err := l.headIn(in, of)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, p := range tree.Companions(of) {
		own, err := l.headIn(in, p)
		if err != nil {
			return nil, err
		}
		if own != nil && tree.Accompanies(p, head, own) {
			files = append(files, p)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	if head != nil {
		files = append(files, of)
	}
	return files, nil
}

// headIn is HeadOf the file at a path of a tree; nil if that has none there.
func (l *Log) headIn(in *Lookups, path string) ([]byte, error) {
	ent, err := in.Find(path)
	if err != nil || ent == nil || ent.Type != tree.TypeFile {
		return nil, err
	}
	head, err := l.HeadOf(in.get, ent.ID)
	return append([]byte{}, head...), err
}
