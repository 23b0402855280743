package kv

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"rewind/internal/kv/ondisk"
)

// check is the check at open: what pebble gave back is what was stored. A flipped bit in MANIFEST can make pebble
// forget tables without an error; the operations then have a gap or an early end.
func (d *DB) check() error {
	if err := d.checkFormatKey(); err != nil {
		return err
	}
	highWater, err := d.readHighWater()
	if err != nil {
		return err
	}
	d.checkedFile = d.readChecked()
	newest, err := d.checkOperations(d.checkedFile)
	if err != nil {
		return err
	}
	if err := tooShort(d.db, newest, highWater, max(d.checkedFile, d.syncedNewest())); err != nil {
		return err
	}
	d.lastSeq.Store(newest)
	d.checked = newest
	return nil
}

// tooShort is damage: the newest operation is not the one that was known to be on disk, nor that of the last clean
// close. The file tide, which has the latter, the high-water mark, has no checksum, so it may be what is wrong.
func tooShort(db string, newest, highWater, known uint64) error {
	switch {
	case newest < known:
		return ondisk.Corrupt(db, "operations %d to %d are missing", newest+1, known)
	case newest < highWater:
		return ondisk.Corrupt(db, "the newest operation is %d, at the last close it was %d", newest, highWater)
	}
	return nil
}

// checkFormatKey holds the key f against the file format, which was read before.
func (d *DB) checkFormatKey() error {
	val, closer, err := d.pdb.Get(formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return ondisk.Corrupt(d.db, "the format key is missing")
	}
	if err != nil {
		return missing(err)
	}
	defer func() { _ = closer.Close() }()
	if !bytes.Equal(val, formatValue) {
		return ondisk.Corrupt(d.db, "the format key is %x, it should be %x", val, formatValue)
	}
	return nil
}

// checkOperations returns the newest sequence; 0: there is no operation. Those before `from` are not looked at, but for
// the oldest.
func (d *DB) checkOperations(from uint64) (uint64, error) {
	lower := []byte{PrefixOperation}
	it, err := d.pdb.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: after(lower)})
	if err != nil {
		return 0, missing(err)
	}
	defer func() { _ = it.Close() }()
	var last uint64
	ok := it.First()
	if ok && from > 0 {
		if oldest, is := operationSeq(it.Key()); is && oldest < from {
			last, ok = from-1, it.SeekGE(OperationKey(from))
		}
	}
	for first := last == 0; ok; first, ok = false, it.Next() {
		seq, ok := operationSeq(it.Key())
		if !ok {
			return 0, ondisk.Corrupt(d.db, "%x is not an operation's key", it.Key())
		}
		if !first && seq != last+1 {
			return 0, ondisk.Corrupt(d.db, "operations %d to %d are missing", last+1, seq-1)
		}
		last = seq
	}
	return last, missing(it.Error())
}

func (d *DB) readHighWater() (uint64, error) {
	path := d.fs.PathJoin(d.dir, nameHighWater)
	text, err := ondisk.ReadSmall(d.base, path, 64)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // never closed cleanly
	}
	if err != nil {
		return 0, err
	}
	digits, ok := strings.CutSuffix(text, "\n")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || strconv.FormatUint(n, 10) != digits {
		return 0, ondisk.Corrupt(path, "content is %q", text)
	}
	return n, nil
}

func (d *DB) writeHighWater() error {
	return ondisk.WriteSmall(d.fs, d.dir, nameHighWater, strconv.FormatUint(d.lastSeq.Load(), 10)+"\n")
}

// settle removes what is left over, which only an open that has been checked may do.
func (d *DB) settle() error {
	d.fs.SetChecked()
	if err := d.emptyArchive(); err != nil {
		return err
	}
	names, err := d.fs.List(d.db)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, ondisk.LoadPrefix) {
			if err := d.fs.Remove(d.fs.PathJoin(d.db, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := d.removeRepair(); err != nil {
		return err
	}
	return d.removeMaking()
}

func (d *DB) emptyArchive() error {
	dir := d.fs.PathJoin(d.db, ondisk.ArchiveDir)
	names, err := d.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.fs.Remove(d.fs.PathJoin(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncedNewest is the newest operation that the file synced vouches for; 0: none.
func (d *DB) syncedNewest() uint64 {
	s, ok := ondisk.ReadLogOffsets(d.base, d.db)
	if !ok {
		return 0
	}
	return s.Newest
}

// The file checked spares the check at open the operations that an earlier one has seen. It is a hint: without it, or
// with anything else in it, all are looked at.
//
// An open that writes begins a MANIFEST: its first record has all tables there are, its second those made of what the
// logs hold. Damage to a later record makes pebble forget only tables that were made since; to the second, all that the
// logs held, the newest operation of that open with it; to the first, the store does not open. So what that open has
// seen is there if its newest operation is, and only what comes after is looked at.

// checkedStep is how many operations are looked at again and again before the file is written anew: less than 10 ms of
// them.
var checkedStep uint64 = 1 << 15

const nameChecked = "checked"

func checkedText(seq uint64) string { return ondisk.Sealed(strconv.FormatUint(seq, 10)) }

// readChecked gives the newest operation that an earlier open has seen; 0: it is not known.
func (d *DB) readChecked() uint64 {
	text, err := ondisk.ReadSmall(d.base, d.fs.PathJoin(d.dir, nameChecked), 64)
	if err != nil {
		return 0
	}
	digits, _, _ := strings.Cut(text, " ")
	seq, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || text != checkedText(seq) {
		return 0
	}
	return seq
}

// writeChecked is called by a clean close. Under one name it never goes back.
func (d *DB) writeChecked() error {
	if d.checked < d.checkedFile+checkedStep {
		return nil
	}
	return ondisk.WriteSmall(d.fs, d.dir, nameChecked, checkedText(d.checked))
}
