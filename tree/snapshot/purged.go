package snapshot

import (
	"io"

	"rewind/objstore"
	"rewind/tree"
)

// A store refuses content that was purged from it. A file that still has such content is not in the tree; the note
// lists it, as it does a secret file. Every snapshot reads the file again: when its content has changed it is captured.

// purged notes a file whose content the store refuses.
func (s *scan) purged(n *node, m miss, size int64) {
	s.unsure(n, m.name, touched)
	s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonPurged, Size: size})
}

// refuser is a Store that can refuse purged content.
type refuser interface {
	Refused(k objstore.Kind, id objstore.ID) error
}

// refused reports whether the store refuses the content id, which the stat cache may still name.
func (s *scan) refused(id objstore.ID) bool {
	return s.refuses != nil && s.refuses.Refused(objstore.Blob, id) != nil
}

// refusesLarge fails if the store refuses the content of a large file, which must be known before its chunks are
// stored. The file is read for that only if a purged file has had its size.
func (r *reading) refusesLarge() error {
	p, ok := r.Put.(interface {
		Purged(size int64, sum func() (objstore.ID, error)) error
	})
	if !ok {
		return nil
	}
	var failed error
	err := p.Purged(r.size, func() (objstore.ID, error) {
		h := objstore.NewHasher()
		src := &source{ctx: r.ctx, r: io.NewSectionReader(r.file, 0, r.size)}
		_, failed = io.Copy(h, src)
		return h.Sum(), failed
	})
	if err != nil && failed == nil {
		return &storeError{err}
	}
	return failed
}
