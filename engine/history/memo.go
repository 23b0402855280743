package history

import "rewind/objstore"

// memo reads objects of one kind, each mostly a version of one that was read a moment ago, through a memo, and others as they are.
type memo struct {
	objstore.Getter
	kind objstore.Kind
	memo *objstore.Memo
}

func newMemo(s *objstore.Store, k objstore.Kind) memo { return memo{s, k, s.Memo(k)} }

// Get implements objstore.Getter.
func (m memo) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == m.kind {
		return m.memo.Get(id)
	}
	return m.Getter.Get(k, id)
}
