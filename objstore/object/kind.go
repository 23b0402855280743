package object

import (
	"fmt"
	"sync"

	"github.com/zeebo/blake3"
)

// A Kind says what an object is. The value is the byte that stands in its key.
type Kind byte

// The kinds. Numbers are never reused.
const (
	Blob       Kind = 'b'
	Tree       Kind = 't'
	Checkpoint Kind = 'c'
	Note       Kind = 'n'
	Transcript Kind = 's'
)

// String gives the kind's word.
func (k Kind) String() string {
	switch k {
	case Blob:
		return "blob"
	case Tree:
		return "tree"
	case Checkpoint:
		return "checkpoint"
	case Note:
		return "note"
	case Transcript:
		return "transcript"
	}
	return fmt.Sprintf("kind(0x%02x)", byte(k))
}

func (k Kind) known() bool {
	switch k {
	case Blob, Tree, Checkpoint, Note, Transcript:
		return true
	}
	return false
}

// Check is a *FormatError for what is no kind.
func (k Kind) Check() error {
	if !k.known() {
		return &FormatError{What: "kind", Value: fmt.Sprintf("0x%02x", byte(k))}
	}
	return nil
}

// context is the derive-key context of the kind's ids; a blob has none.
func (k Kind) context() string {
	if k == Blob {
		return ""
	}
	return "rewind v1 " + k.String()
}

// Sum gives the id of an object. It is safe for concurrent use.
func Sum(k Kind, raw []byte) ID {
	if k == Blob {
		return blake3.Sum256(raw)
	}
	h := BorrowHasher(k)
	defer ReturnHasher(k, h)
	var id ID
	_, _ = h.Write(raw) // a hasher never fails
	h.Sum(id[:0])
	return id
}

// hashers are kept by kind byte: a hasher knows its key for good, and is some kilobytes.
var hashers [256]sync.Pool

// BorrowHasher gives a hasher of a kind's ids that has seen nothing; ReturnHasher takes it back.
func BorrowHasher(k Kind) *blake3.Hasher {
	if h, ok := hashers[k].Get().(*blake3.Hasher); ok {
		h.Reset()
		return h
	}
	if k == Blob {
		return blake3.New()
	}
	return blake3.NewDeriveKey(k.context())
}

// ReturnHasher keeps a hasher for whoever borrows the next one of its kind.
func ReturnHasher(k Kind, h *blake3.Hasher) { hashers[k].Put(h) }
