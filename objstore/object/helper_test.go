package object

import "math/rand/v2"

// tb is what *testing.T, *testing.B and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// noise is n bytes that no compression makes less of.
func noise(seed uint64, n int) []byte {
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

// kinds are all kinds, ascending by byte.
var kinds = []Kind{Blob, Checkpoint, Note, Transcript, Tree}
