package kv

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// View calls fn with the value of key. The slice must not be kept or changed. An absent key is ErrNotFound; an error of
// fn is returned as it is.
func (d *DB) View(key []byte, fn func(val []byte) error) error {
	if err := d.enter("read"); err != nil {
		return err
	}
	defer d.life.leave()
	if err := d.count(); err != nil {
		return d.fail("read", showKey(key), err)
	}
	val, closer, err := d.pdb.Get(key)
	if perr := d.poison.Err(); perr != nil {
		if err == nil {
			_ = closer.Close()
		}
		return perr
	}
	if err != nil {
		return d.fail("read", showKey(key), err)
	}
	defer func() { _ = closer.Close() }()
	return fn(val)
}

// Reads is how many keys View, Has and Scan have read so far.
func (d *DB) Reads() uint64 { return d.reads.Load() }

// count counts a key that is read, and gives the error that a test puts in its place.
func (d *DB) count() error {
	d.reads.Add(1)
	if d.o.ReadFault == nil {
		return nil
	}
	return d.o.ReadFault()
}

// Has tells whether key is present. For one that is not it is what to ask: pebble's Get leaves the filters of the
// lowest level out, where nearly everything lies, and reads the block in which the key would stand.
func (d *DB) Has(key []byte) (bool, error) {
	if err := d.enter("read"); err != nil {
		return false, err
	}
	defer d.life.leave()
	if err := d.count(); err != nil {
		return false, d.fail("read", showKey(key), err)
	}
	it, err := d.pdb.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return false, d.fail("read", showKey(key), err)
	}
	there := it.SeekPrefixGE(key)
	err = errors.Join(it.Error(), it.Close())
	if perr := d.poison.Err(); perr != nil {
		return false, perr
	}
	if err != nil {
		return false, d.fail("read", showKey(key), err)
	}
	return there, nil
}

// Range selects the keys of a Scan.
type Range struct {
	// Prefix is what keys begin with; empty: all keys.
	Prefix []byte
	// From is the first key, inclusive: the smallest, or for Reverse the largest. nil: the end of the prefix's range.
	From []byte
	// Reverse goes from large to small.
	Reverse bool
}

// Scan calls fn with the keys of r in order. The slices must not be kept or changed. fn ends the scan by ErrStop (Scan
// then returns nil) or by any other error (which Scan returns as it is). Scan sees the store as it was when it began.
func (d *DB) Scan(r Range, fn func(key, val []byte) error) error {
	if err := d.enter("scan"); err != nil {
		return err
	}
	defer d.life.leave()
	o := &pebble.IterOptions{LowerBound: r.Prefix, UpperBound: after(r.Prefix)}
	if len(r.Prefix) == 0 {
		o.LowerBound = nil
	}
	it, err := d.pdb.NewIter(o)
	if err != nil {
		return d.fail("scan", showKey(r.Prefix), err)
	}
	defer func() { _ = it.Close() }()
	for ok := seek(it, r); ok; {
		if err := d.count(); err != nil {
			return d.fail("scan", showKey(it.Key()), err)
		}
		val, err := it.ValueAndErr()
		if err != nil {
			return d.fail("scan", showKey(it.Key()), err)
		}
		if err := d.poison.Err(); err != nil {
			return err
		}
		err = fn(it.Key(), val)
		if to, skips := err.(skipTo); skips { //nolint:errorlint // fn returns it as it is
			r.From = to
			ok = seek(it, r)
			continue
		}
		if errors.Is(err, ErrStop) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = step(it, r)
	}
	if err := it.Error(); err != nil {
		return d.fail("scan", showKey(r.Prefix), err)
	}
	return d.poison.Err()
}

// Around calls fn with the key before each of some keys and with the one after it, if they begin with prefix; nil:
// there is none. A key itself need not be there. The slices must not be kept or changed. Around sees the store as it
// was when it began.
func (d *DB) Around(prefix []byte, keys [][]byte, fn func(i int, before, after []byte) error) error {
	if err := d.enter("scan"); err != nil {
		return err
	}
	defer d.life.leave()
	it, err := d.pdb.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return d.fail("scan", showKey(prefix), err)
	}
	defer func() { _ = it.Close() }()
	for i, key := range keys {
		if err := d.count(); err != nil {
			return d.fail("scan", showKey(key), err)
		}
		var sides [2][]byte
		if it.SeekLT(key) {
			sides[0] = bytes.Clone(it.Key())
		}
		there := it.Next() // the first key of all, where none is before
		if there && bytes.Equal(it.Key(), key) {
			there = it.Next()
		}
		if there {
			sides[1] = it.Key()
		}
		if err := cmp.Or(it.Error(), d.poison.Err()); err != nil {
			return d.fail("scan", showKey(key), err)
		}
		if err := fn(i, sides[0], sides[1]); err != nil {
			return err
		}
	}
	return nil
}

// skipTo is the key that SkipTo was given.
type skipTo []byte

func (skipTo) Error() string { return "skip keys" }

// SkipTo returns what the function given to Scan returns to go on with key, or with the next one in the direction of
// the scan if the store has no such key. A key that was passed already makes the scan go back.
func SkipTo(key []byte) error { return skipTo(key) }

func seek(it *pebble.Iterator, r Range) bool {
	switch {
	case r.From == nil && r.Reverse:
		return it.Last()
	case r.From == nil:
		return it.First()
	case !r.Reverse:
		return it.SeekGE(r.From)
	}
	return it.SeekLT(append(bytes.Clone(r.From), 0)) // the smallest key above From
}

func step(it *pebble.Iterator, r Range) bool {
	if r.Reverse {
		return it.Prev()
	}
	return it.Next()
}

// showKey writes a key for a message: its prefix letter and the rest in hex, cut at 40 bytes.
func showKey(key []byte) string {
	if len(key) == 0 {
		return "key"
	}
	rest, more := key[1:], ""
	if len(rest) > 40 {
		rest, more = rest[:40], "..."
	}
	return fmt.Sprintf("key %q %x%s", key[:1], rest, more)
}
