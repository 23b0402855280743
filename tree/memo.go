package tree

import (
	"sync"

	"rewind/objstore"
)

// maxMemo is how many entries a Memo keeps: about 12 MB.
const maxMemo = 1 << 17

// Memo is a Getter for those who read the same trees several times: of the directories that Diff, Lookup and List read
// through it, it keeps what they hold, up to a bound. Safe for concurrent use.
type Memo struct {
	objstore.Getter
	mu    sync.Mutex
	lists map[objstore.ID][]Entry
	held  int
}

// NewMemo gives an empty one. Getter may be replaced by another that has the same objects, while nobody reads.
func NewMemo(g objstore.Getter) *Memo { return &Memo{Getter: g} }

func (m *Memo) list(id objstore.ID) ([]Entry, error) {
	m.mu.Lock()
	list, ok := m.lists[id]
	m.mu.Unlock()
	if ok {
		return list, nil
	}
	list, err := List(m.Getter, id)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held+len(list) > maxMemo {
		return list, nil
	}
	if m.lists == nil {
		m.lists = map[objstore.ID][]Entry{}
	}
	m.lists[id] = list
	m.held += len(list)
	return list, nil
}

// List gives the entries of one directory, not to be changed; the zero id is the empty one.
func List(g objstore.Getter, id objstore.ID) ([]Entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	if m, ok := g.(*Memo); ok {
		return m.list(id)
	}
	raw, err := g.Get(objstore.Tree, id)
	if err != nil {
		return nil, err
	}
	return Decode(raw)
}
