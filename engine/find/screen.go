package find

import (
	"sync"

	"rewind/objstore"
)

// A screen knows of contents that were searched before what they cannot have in them: for each a Bloom filter of its
// trigrams, which are any three bytes in a row. A text that is searched for has trigrams, too, and a content that lacks
// one of them needs not be read. What a content has never changes, so nothing in it can become wrong. It is in memory
// only. The zero value knows nothing. Safe for concurrent use.
type screen struct {
	mu      sync.RWMutex
	filters map[objstore.Key]filter
	size    int // of the filters, in bytes
}

// A filter has a bit for every two bytes of a content, set by one hash of each trigram: of random words six in seven
// are set, fewer of texts in which trigrams come again and again.
type filter []uint64

const (
	bytesPerBit   = 2
	maxFilterBits = 1 << 18 // of a content of 512 KiB; what is larger has them all set soon
	maxScreen     = 32 << 20
)

// trigrams calls fn with a hash of each, until it returns false.
func trigrams(text []byte, fn func(hash uint32) bool) {
	if len(text) < 3 {
		return
	}
	g := uint32(text[0])<<8 | uint32(text[1])
	for _, c := range text[2:] {
		g = (g<<8 | uint32(c)) & 0xffffff
		if !fn(g * 0x9e3779b1) { // Knuth, The Art of Computer Programming 3, 6.4: the high bits are spread evenly
			return
		}
	}
}

// bit is the place of a trigram.
func (f filter) bit(hash uint32) (word int, mask uint64) {
	at := uint64(hash) * uint64(len(f)) * 64 >> 32
	return int(at >> 6), 1 << (at & 63)
}

// add takes in a content that is being searched, while there is room.
func (s *screen) add(k objstore.Key, content []byte) {
	n := 1 + min(len(content)/bytesPerBit, maxFilterBits)/64
	s.mu.RLock()
	_, known := s.filters[k]
	full := s.size+8*n > maxScreen
	s.mu.RUnlock()
	if known || full {
		return
	}
	f := make(filter, n)
	trigrams(content, func(hash uint32) bool {
		word, mask := f.bit(hash)
		f[word] |= mask
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filters == nil {
		s.filters = map[objstore.Key]filter{}
	}
	s.filters[k] = f
	s.size += 8 * n
}

// forget empties it: many contents are not there any more.
func (s *screen) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filters, s.size = nil, 0
}

// without gives what tells that a content has not got a text in it; false: it may have.
func (s *screen) without(text []byte) func(objstore.ID) bool {
	var hashes []uint32
	trigrams(text, func(hash uint32) bool {
		hashes = append(hashes, hash)
		return true
	})
	return func(id objstore.ID) bool {
		if len(hashes) == 0 {
			return false
		}
		s.mu.RLock()
		f, known := s.filters[id.Key()]
		s.mu.RUnlock()
		if !known {
			return false
		}
		for _, h := range hashes {
			if word, mask := f.bit(h); f[word]&mask == 0 {
				return true
			}
		}
		return false
	}
}
