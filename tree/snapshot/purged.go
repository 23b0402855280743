package snapshot

import (
	"io"

	"rewind/objstore"
	"rewind/tree"
)

// A content that was purged from the store is refused by it. The file that still has it is not in the tree; the note lists it, as it does a
// secret file. It is read anew by every snapshot: as soon as its content is another, it is captured.

// purged notes a file whose content the store refuses.
func (s *scan) purged(n *node, m miss, size int64) {
	s.unsure(n, m.name, touched)
	s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonPurged, Size: size})
}

// refuser is a Store that may refuse what was purged.
type refuser interface {
	Refused(k objstore.Kind, id objstore.ID) error
}

// refused tells whether the store refuses a content; the stat cache may still name one.
func (s *scan) refused(id objstore.ID) bool {
	return s.refuses != nil && s.refuses.Refused(objstore.Blob, id) != nil
}

// refusesLarge tells before a large file is stored whether it is refused: its chunks would be stored before its id is known. It is read
// only where a purged file was as long.
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
