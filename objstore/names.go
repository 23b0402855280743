package objstore

import "sync"

// maxNames is how many ids are remembered, about 1 MB.
const maxNames = 1 << 13

// names remembers the whole ids of objects that this process has written or verified. It says what a reading of the
// object would say, since what lies under a key does not change: only who removes it, and has it forgotten, makes
// room for another. Safe for concurrent use.
type names struct {
	mu sync.Mutex
	id map[Object]ID
}

func (m *names) get(o Object) (ID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.id[o]
	return id, ok
}

func (m *names) put(o Object, id ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.id == nil || len(m.id) >= maxNames {
		m.id = make(map[Object]ID)
	}
	m.id[o] = id
}

func (m *names) drop(gone []Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range gone {
		delete(m.id, o)
	}
}

func (m *names) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.id = nil
}
