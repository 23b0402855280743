package refs

import (
	"sync"

	"rewind/internal/cache"
)

// maxHeld bounds how many names are remembered.
const maxHeld = 4096

// nameCache remembers where names point. Nobody else moves them: the process that has the store open is its only
// writer. Safe for concurrent use.
type nameCache struct {
	mu    sync.Mutex
	refs  *cache.Cache[Name, Ref] // the zero id: absent
	moves uint64                  // how often names were about to move
}

func newNameCache() nameCache { return nameCache{refs: cache.New[Name, Ref](maxHeld, nil)} }

// get gives what is remembered of a name; not ok: nothing. Who then reads the store hands moves to read.
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

// forget is called before a commit that moves names: nothing is known of them until moved says that it succeeded, since
// one that fails may have moved them all the same.
func (h *nameCache) forget(updates []Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moves++
	for _, u := range updates {
		h.refs.Drop(u.Name)
	}
}

// moved remembers where a commit that succeeded has moved names, by operation seq. forget was called before it with the
// same updates.
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
