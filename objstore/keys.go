package objstore

import "context"

// Keys calls fn for every object of a kind, ascending by key; Info.Base is left out. No content is read. No
// lock is held during fn, which may write.
func (s *Store) Keys(ctx context.Context, k Kind, fn func(Key, Info) error) error {
	for from := appendPrefix(nil, k, nil); len(from) > 1 && Kind(from[1]) == k; {
		page, next, err := s.page(from)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return wrap("walk", k, Key{}, err)
		}
		for _, o := range page {
			if o.kind != k {
				break
			}
			if err := fn(o.key, o.info); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// HasKey tells whether anything lies under the key of an object. Nobody may rely on it: gc may be about to remove it.
func (s *Store) HasKey(k Kind, key Key) (found bool, err error) {
	found, err = s.db.Has(appendKey(nil, k, key))
	return found, wrap("has", k, key, err)
}

// Refused is a *GoneError for content that a transaction would refuse to take, as it was purged; nil for any other.
func (s *Store) Refused(k Kind, id ID) error {
	g, ok, err := s.tombstones.get(s.db, Object{k, id.Key()})
	switch {
	case err != nil:
		return translate(k, id.Key(), err)
	case ok && g.Reason == Purged:
		return &GoneError{k, id.Key(), g}
	}
	return nil
}
