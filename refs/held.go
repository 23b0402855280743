package refs

import (
	"sync"

	"rewind/internal/cache"
)

// maxHeld bounds how many names are remembered.
const maxHeld = 4096

// nameCache remembers where names point. Nobody else moves them: the process that has the store open is its only writer. Safe for concurrent
// use.
type nameCache struct {
	mu    sync.Mutex
	refs  *cache.Cache[Name, Ref] // the zero id: absent
	moves uint64                  // how often names were about to move
}

func newNameCache() nameCache { return nameCache{refs: cache.New[Name, Ref](maxHeld, nil)} }

// get gives what is remembered of a name. moves is for read, when that is nothing.
func (h *nameCache) get(n Name) (ref Ref, moves uint64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ref, ok = h.refs.Get(n)
	return ref, h.moves, ok
}

// read remembers what was read from the store since get, unless a name may have moved meanwhile.
func (h *nameCache) read(n Name, ref Ref, moves uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moves == moves {
		h.refs.Put(n, ref)
	}
}

// forget says that names are about to move. Whether a commit that fails has moved them is not known.
func (h *nameCache) forget(updates []Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moves++
	for _, u := range updates {
		h.refs.Drop(u.Name)
	}
}

// moved says that they have.
func (h *nameCache) moved(updates []Update, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moves++
	for _, u := range updates {
		h.refs.Put(u.Name, Ref{Name: u.Name, ID: u.New, Seq: seq})
	}
}

// clear forgets all: names have moved behind its back.
func (h *nameCache) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moves++
	h.refs.Clear()
}
