package capture

import (
	"bytes"
	"io"
	"sync"

	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
)

const (
	// overlayBytes bounds the file contents that an overlay keeps, in bytes.
	overlayBytes = 256 << 20
	// keptBytes bounds the objects that are kept between two comparisons, in bytes.
	keptBytes = 8 << 20
)

// Overlay takes a snapshot's objects without storing anything, for commands that only compare. It keeps trees in
// memory, and of the contents that the store lacks those that a comparison of texts could need. It implements
// snapshot.Store.
type Overlay struct {
	store *objstore.Store
	known *Overlay // objects of earlier comparisons that are not stored yet; read only; nil: none
	mu    sync.Mutex
	objs  map[model.Object]overlaid
	room  int64
	part  bool // a content was too large to keep
}

// overlaid is an object, and the id of the one that it replaces.
type overlaid struct {
	raw  []byte
	prev objstore.ID
}

// NewOverlay begins an overlay over a store; known is an earlier one whose objects count as there, nil: none.
func NewOverlay(s *objstore.Store, known *Overlay) *Overlay {
	return &Overlay{store: s, known: known, objs: map[model.Object]overlaid{}, room: overlayBytes}
}

// Put implements objstore.Putter.
func (s *Overlay) Put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	id := objstore.Sum(k, raw)
	if err := s.Refused(k, id); err != nil {
		return id, err
	}
	has, err := s.Has(k, id)
	if err != nil || has {
		return id, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k == objstore.Blob {
		if len(raw) > textdiff.MaxBytes || int64(len(raw)) > s.room {
			s.part = true
			return id, nil
		}
		s.room -= int64(len(raw))
	}
	s.objs[model.Object{Kind: k, Id: id}] = overlaid{bytes.Clone(raw), prev}
	return id, nil
}

// PutReader implements snapshot.Store.
func (s *Overlay) PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error) {
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
	s.mu.Lock()
	s.part = true
	s.mu.Unlock()
	if err == nil {
		err = s.Refused(objstore.Blob, h.Sum())
	}
	return h.Sum(), int64(len(head)) + n, err
}

// Refused is a *objstore.GoneError for content that was purged: a capture would not take it either.
func (s *Overlay) Refused(k objstore.Kind, id objstore.ID) error { return s.store.Refused(k, id) }

// find gives an object of the overlay, or of the earlier one.
func (s *Overlay) find(o model.Object) (overlaid, bool) {
	if s == nil {
		return overlaid{}, false
	}
	s.mu.Lock()
	at, ok := s.objs[o]
	s.mu.Unlock()
	if !ok {
		return s.known.find(o)
	}
	return at, true
}

// Get implements objstore.Getter; objstore.ErrNotFound for contents that were too large to keep.
func (s *Overlay) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if at, ok := s.find(model.Object{Kind: k, Id: id}); ok {
		return bytes.Clone(at.raw), nil
	}
	return s.store.Get(k, id)
}

// Has reports whether the store or the overlay has an object.
func (s *Overlay) Has(k objstore.Kind, id objstore.ID) (bool, error) {
	if _, ok := s.find(model.Object{Kind: k, Id: id}); ok {
		return true, nil
	}
	return s.store.Has(k, id)
}

// reachable is an overlay with those of a tree's objects that the store may lack; nil: they are more than keptBytes.
func (s *Overlay) reachable(root objstore.ID) (*Overlay, error) {
	out := NewOverlay(s.store, nil)
	size := 0
	var visit func(o model.Object) error
	visit = func(o model.Object) error {
		at, ok := s.find(o)
		if _, seen := out.objs[o]; !ok || seen {
			return nil
		}
		for {
			before, ok := s.find(model.Object{Kind: o.Kind, Id: at.prev})
			if !ok {
				break
			}
			at.prev = before.prev
		}
		out.objs[o] = at
		if size += len(at.raw); o.Kind != objstore.Tree || size > keptBytes {
			return nil
		}
		ents, err := tree.Decode(at.raw)
		for i := range ents {
			kind := objstore.Blob
			if ents[i].Type == tree.TypeDir {
				kind = objstore.Tree
			}
			if err := visit(model.Object{Kind: kind, Id: ents[i].ID}); err != nil {
				return err
			}
		}
		return err
	}
	if err := visit(model.Object{Kind: objstore.Tree, Id: root}); err != nil || size > keptBytes {
		return nil, err
	}
	return out, nil
}

// storeIn puts all objects of the overlay into a transaction.
func (s *Overlay) storeIn(tx *objstore.Tx) error {
	if s == nil {
		return nil
	}
	for o, at := range s.objs {
		if _, err := tx.Put(o.Kind, at.raw, at.prev); err != nil {
			return err
		}
	}
	return nil
}

// EndCompare ends a capture that was taken to compare. Its stat cache and its objects stay in memory, so that the next
// comparison need not look at everything again; the next capture that stores anything stores the objects first. The
// log's lock is held.
func (wt *Worktree) EndCompare(c *Capture) {
	s, ok := c.Get.Getter.(*Overlay)
	if !ok || s.part {
		c.Discard()
		return
	}
	kept, err := s.reachable(c.Res.Root)
	if err != nil || kept == nil {
		c.Discard()
		return
	}
	wt.Unsaved = kept
	c.Cache.Committed()
}
