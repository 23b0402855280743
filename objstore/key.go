package objstore

import (
	"fmt"

	"rewind/internal/kv"
)

// A name is what is known of an object's id: the key, and all of it or Zero.
type name struct {
	key Key
	id  ID
}

func nameOf(id ID) name { return name{id.Key(), id} }

// check compares what an object turned out to be with its name. Another object of the same key is ErrNotFound: the one
// that is named is not there.
func (n name) check(sum ID) error {
	switch {
	case sum.Key() != n.key:
		return errHash
	case !n.id.IsZero() && n.id != sum:
		return ErrNotFound
	}
	return nil
}

// Objects lie under PrefixObject, kind and key.
const keyLen = 1 + 1 + len(Key{})

func appendKey(dst []byte, k Kind, key Key) []byte {
	return append(append(dst, kv.PrefixObject, byte(k)), key[:]...)
}

// appendPrefix appends the beginning of the keys of the objects whose ids begin with some bytes.
func appendPrefix(dst []byte, k Kind, begin []byte) []byte {
	return append(append(dst, kv.PrefixObject, byte(k)), begin...)
}

// splitKey is the inverse of appendKey.
func splitKey(key []byte) (Kind, Key, error) {
	if len(key) != keyLen || key[0] != kv.PrefixObject {
		return 0, Key{}, &FormatError{What: "key", Value: fmt.Sprintf("%x", key)}
	}
	k := Kind(key[1])
	return k, Key(key[2:]), k.Check()
}
