package engine

import (
	"bytes"
	"io"
	"sync"

	"rewind/internal/textdiff"
	"rewind/objstore"
)

// sketchBytes bounds the file contents that a sketch keeps, in bytes.
const sketchBytes = 256 << 20

// sketch takes a snapshot's objects without storing anything, for commands that only compare: trees are kept in
// memory, and of contents that the store lacks, what a comparison of texts could want. It implements tree.Store.
type sketch struct {
	store *objstore.Store
	mu    sync.Mutex
	objs  map[object][]byte
	room  int64
}

func newSketch(s *objstore.Store) *sketch {
	return &sketch{store: s, objs: map[object][]byte{}, room: sketchBytes}
}

// Put implements objstore.Putter.
func (s *sketch) Put(k objstore.Kind, raw []byte, _ objstore.ID) (objstore.ID, error) {
	id := objstore.Sum(k, raw)
	has, err := s.Has(k, id)
	if err != nil || has {
		return id, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k == objstore.Blob {
		if len(raw) > textdiff.MaxBytes || int64(len(raw)) > s.room {
			return id, nil
		}
		s.room -= int64(len(raw))
	}
	s.objs[object{k, id}] = bytes.Clone(raw)
	return id, nil
}

// PutReader implements tree.Store.
func (s *sketch) PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error) {
	head, err := io.ReadAll(io.LimitReader(r, textdiff.MaxBytes+1))
	if err != nil {
		return objstore.ID{}, 0, err
	}
	if len(head) <= textdiff.MaxBytes {
		id, err := s.Put(objstore.Blob, head, prev)
		return id, int64(len(head)), err
	}
	h := objstore.NewHasher()
	_, _ = h.Write(head)
	n, err := io.Copy(h, r)
	return h.Sum(), int64(len(head)) + n, err
}

// Get implements objstore.Getter; objstore.ErrNotFound for contents that were too large to keep.
func (s *sketch) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	s.mu.Lock()
	raw, ok := s.objs[object{k, id}]
	s.mu.Unlock()
	if ok {
		return bytes.Clone(raw), nil
	}
	return s.store.Get(k, id)
}

// Has reports whether the store or the sketch has an object.
func (s *sketch) Has(k objstore.Kind, id objstore.ID) (bool, error) {
	s.mu.Lock()
	_, ok := s.objs[object{k, id}]
	s.mu.Unlock()
	if ok {
		return true, nil
	}
	return s.store.Has(k, id)
}
