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

// Objects lie under PrefixObject, kind and key; in a store that an older version has written to also, as it wrote them,
// under PrefixLong, kind and id.
const (
	keyLen     = 1 + 1 + len(Key{})
	longKeyLen = 1 + 1 + len(ID{})
)

func appendKey(dst []byte, k Kind, key Key) []byte {
	return append(append(dst, kv.PrefixObject, byte(k)), key[:]...)
}

func appendLongKey(dst []byte, k Kind, id ID) []byte {
	return append(append(dst, kv.PrefixLong, byte(k)), id[:]...)
}

// appendPrefix appends the beginning of the keys, short or long, of the objects whose ids begin with some bytes.
func appendPrefix(dst []byte, prefix byte, k Kind, begin []byte) []byte {
	return append(append(dst, prefix, byte(k)), begin...)
}

// splitKey is the inverse of appendKey, where the id is Zero, and of appendLongKey.
func splitKey(key []byte) (Kind, name, error) {
	var n name
	switch {
	case len(key) == keyLen && key[0] == kv.PrefixObject:
		n.key = Key(key[2:])
	case len(key) == longKeyLen && key[0] == kv.PrefixLong:
		n = nameOf(ID(key[2:]))
	default:
		return 0, n, &FormatError{What: "key", Value: fmt.Sprintf("%x", key)}
	}
	k := Kind(key[1])
	return k, n, k.Check()
}

// prefixes are the first bytes of the keys that objects of this store have, ascending.
func (s *Store) prefixes() []byte {
	if s.long {
		return []byte{kv.PrefixObject, kv.PrefixLong}
	}
	return []byte{kv.PrefixObject}
}

// hasLong tells whether any object lies under a long key. Nothing puts one there.
func hasLong(db *kv.DB) bool {
	found := false
	err := db.Scan(kv.Range{Prefix: []byte{kv.PrefixLong}}, func(_, _ []byte) error {
		found = true
		return kv.ErrStop
	})
	return found || err != nil
}
