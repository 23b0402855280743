package objstore

import (
	"encoding/hex"
	"fmt"
	"strings"

	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore/object"
)

// Resolve gives the id of the only object of a kind whose id begins with prefix: minPrefix to 64 hex digits of either
// case. The errors are ErrBadID, ErrNotFound and *AmbiguousError.
func (s *Store) Resolve(k Kind, prefix string) (ID, error) {
	if err := k.Check(); err != nil {
		return Zero, fmt.Errorf("resolve %.80q: %w", prefix, err)
	}
	digits := strings.ToLower(prefix)
	if len(digits) < minPrefix || len(digits) > 2*len(ID{}) || !object.LowerHex(digits) {
		return Zero, fmt.Errorf("resolve %.80q: %w", prefix, ErrBadID)
	}
	found, err := s.begin(k, digits[:min(len(digits), 2*len(Key{}))])
	switch {
	case err != nil:
		return Zero, &value.OpError{Op: "resolve", Subject: prefix, Err: err}
	case len(found) == 0:
		return Zero, fmt.Errorf("resolve %s %s: %w", k, prefix, ErrNotFound)
	case len(found) > 1:
		return Zero, &AmbiguousError{Prefix: prefix, Candidates: found}
	}
	id, err := s.IDOf(k, found[0])
	if err == nil && !strings.HasPrefix(id.String(), digits) {
		err = ErrNotFound
	}
	if err != nil {
		return Zero, fmt.Errorf("resolve %s %s: %w", k, prefix, err)
	}
	return id, nil
}

// begin gives the first objects, ascending, whose keys begin with some hex digits.
func (s *Store) begin(k Kind, digits string) (found []Key, err error) {
	var from Key // the least with the prefix
	if _, err := hex.Decode(from[:], []byte(digits+strings.Repeat("0", len(digits)%2))); err != nil {
		return nil, ErrBadID
	}
	r := kv.Range{Prefix: appendPrefix(nil, k, from[:len(digits)/2]), From: appendKey(nil, k, from)}
	err = s.db.Scan(r, func(key, _ []byte) error {
		_, as, err := splitKey(key)
		if err != nil {
			return err
		}
		if len(digits)%2 == 1 && as.Digit(len(digits)-1) != from.Digit(len(digits)-1) {
			return kv.ErrStop
		}
		if found = append(found, as); len(found) == maxCandidates {
			return kv.ErrStop
		}
		return nil
	})
	return found, translate(k, from, err)
}

// IDOf gives the whole id of the object under a key, which takes reading it. The errors are those of Get.
func (s *Store) IDOf(k Kind, key Key) (ID, error) {
	if id, ok := s.ids.Get(Object{k, key}); ok {
		return id, nil
	}
	id, err := s.idOf(k, name{key: key})
	if err != nil {
		return Zero, wrap("name", k, key, err)
	}
	return id, nil
}

func (s *Store) idOf(k Kind, as name) (ID, error) {
	got, err := fetch(s, k, as, nil, anySize)
	if err != nil || got.list == nil {
		return got.id, err
	}
	r, err := newReader(s, as, *got.list)
	if err != nil {
		return Zero, err
	}
	for {
		if c, err := r.nextChunk(); err != nil || c == nil {
			return r.name.id, err
		}
	}
}

// UniqueLen gives the number of hex digits, at least minShort, that tell id from every other object of its kind. The
// object itself need not be stored.
func (s *Store) UniqueLen(k Kind, id ID) (int, error) {
	if err := k.Check(); err != nil {
		return 0, wrap("shorten", k, id.Key(), err)
	}
	n, err := s.uniqueLens(k, []ID{id})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// uniqueLens is UniqueLen for several.
func (s *Store) uniqueLens(k Kind, ids []ID) ([]int, error) {
	keys, lens := make([][]byte, len(ids)), make([]int, len(ids))
	for i, id := range ids {
		keys[i] = appendKey(nil, k, id.Key())
	}
	err := s.db.Around(appendPrefix(nil, k, nil), keys, func(i int, before, after []byte) error {
		lens[i] = minShort
		for _, key := range [][]byte{before, after} {
			if key == nil {
				continue
			}
			_, as, err := splitKey(key)
			if err != nil {
				return err
			}
			same := 0
			for ids[i].Digit(same) == as.Digit(same) {
				same++
			}
			lens[i] = max(lens[i], same+1)
		}
		return nil
	})
	if err != nil && len(ids) > 0 {
		return nil, wrap("shorten", k, ids[0].Key(), translate(k, ids[0].Key(), err))
	}
	return lens, err
}

// ShortID gives the first UniqueLen digits of id.
func (s *Store) ShortID(k Kind, id ID) (string, error) {
	short, err := s.ShortIDs(k, []ID{id})
	if err != nil {
		return "", err
	}
	return short[0], nil
}

// ShortIDs is ShortID for several.
func (s *Store) ShortIDs(k Kind, ids []ID) ([]string, error) {
	if err := k.Check(); err != nil {
		return nil, fmt.Errorf("shorten: %w", err)
	}
	lens, err := s.uniqueLens(k, ids)
	if err != nil {
		return nil, err
	}
	short := make([]string, len(ids))
	for i, n := range lens {
		short[i] = ids[i].String()[:n]
	}
	return short, nil
}
