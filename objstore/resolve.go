package objstore

import (
	"encoding/hex"
	"fmt"
	"strings"

	"rewind/internal/kv"
)

// Resolve gives the id of the only object of a kind whose id begins with prefix: MinPrefix to 64 hex digits of either
// case. The errors are ErrBadID, ErrNotFound and *AmbiguousError.
func (s *Store) Resolve(k Kind, prefix string) (ID, error) {
	if err := k.check(); err != nil {
		return Zero, fmt.Errorf("objstore: resolve %.80q: %w", prefix, err)
	}
	digits := strings.ToLower(prefix)
	if len(digits) < MinPrefix || len(digits) > 2*len(ID{}) || !lowerHex(digits) {
		return Zero, fmt.Errorf("objstore: resolve %.80q: %w", prefix, ErrBadID)
	}
	var from ID // the least id with the prefix
	if _, err := hex.Decode(from[:], []byte(digits+strings.Repeat("0", len(digits)%2))); err != nil {
		return Zero, fmt.Errorf("objstore: resolve %.80q: %w", prefix, ErrBadID)
	}
	whole := keyLen - len(from) + len(digits)/2
	key := appendKey(nil, k, from)
	var found []ID
	err := s.db.Scan(kv.Range{Prefix: key[:whole:whole], From: key}, func(key, _ []byte) error {
		_, id, err := splitKey(key)
		if err != nil {
			return err
		}
		if len(digits)%2 == 1 && id.digit(len(digits)-1) != from.digit(len(digits)-1) {
			return kv.ErrStop
		}
		if found = append(found, id); len(found) == MaxCandidates {
			return kv.ErrStop
		}
		return nil
	})
	switch {
	case err != nil:
		return Zero, fmt.Errorf("objstore: resolve %s: %w", prefix, translate(k, from, err))
	case len(found) == 0:
		return Zero, fmt.Errorf("objstore: resolve %s %s: %w", k, prefix, ErrNotFound)
	case len(found) > 1:
		return Zero, &AmbiguousError{Prefix: prefix, Candidates: found}
	}
	return found[0], nil
}

// UniqueLen gives the number of hex digits, at least MinShort, that tell id from every other object of its kind. The
// object itself need not be stored.
func (s *Store) UniqueLen(k Kind, id ID) (int, error) {
	if err := k.check(); err != nil {
		return 0, wrap("shorten", k, id, err)
	}
	n := MinShort
	key := appendKey(nil, k, id)
	for _, reverse := range []bool{false, true} {
		err := s.db.Scan(kv.Range{Prefix: key[:2:2], From: key, Reverse: reverse}, func(key, _ []byte) error {
			_, other, err := splitKey(key)
			if err != nil {
				return err
			}
			if other == id {
				return nil
			}
			same := 0
			for same < 2*len(id) && id.digit(same) == other.digit(same) {
				same++
			}
			n = max(n, same+1)
			return kv.ErrStop
		})
		if err != nil {
			return 0, wrap("shorten", k, id, translate(k, id, err))
		}
	}
	return n, nil
}

// ShortID gives the first UniqueLen digits of id.
func (s *Store) ShortID(k Kind, id ID) (string, error) {
	n, err := s.UniqueLen(k, id)
	if err != nil {
		return "", err
	}
	return id.String()[:n], nil
}
