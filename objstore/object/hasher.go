package object

import "github.com/zeebo/blake3"

// Hasher computes the id of a blob from its content, piece by piece. Not for concurrent use.
type Hasher struct{ h *blake3.Hasher }

// NewHasher returns a hasher that has seen nothing yet.
func NewHasher() *Hasher { return &Hasher{blake3.New()} }

// NewKeyedHasher returns one whose sums are not ids but tell nothing about the content without the key: keyed BLAKE3.
func NewKeyedHasher(key [32]byte) *Hasher {
	h, err := blake3.NewKeyed(key[:])
	if err != nil {
		panic("keyed hash: " + err.Error()) // only for a key of another length
	}
	return &Hasher{h}
}

// Write adds content; it never fails.
func (h *Hasher) Write(p []byte) (int, error) { return h.h.Write(p) }

// Sum is the hash of what was written so far.
func (h *Hasher) Sum() (id ID) {
	h.h.Sum(id[:0])
	return id
}

// Reset makes the hasher as it was when it was new, key included.
func (h *Hasher) Reset() { h.h.Reset() }
