package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// check is the check at open: what pebble gave back is what was stored. A flipped bit in MANIFEST can make pebble forget tables
// without an error; the operations then have a gap or an early end.
func (d *DB) check() error {
	key, err := d.checkFormatKey()
	if err != nil {
		return err
	}
	d.stamped.key = key
	tide, err := d.readTide()
	if err != nil {
		return err
	}
	d.checkedFile = d.readChecked()
	newest, err := d.checkOperations(d.checkedFile)
	if err != nil {
		return err
	}
	if newest < max(tide, d.checkedFile) {
		return corrupt(d.fs.db, "the newest operation is %d, at the last close it was %d", newest, max(tide, d.checkedFile))
	}
	d.lastSeq.Store(newest)
	d.checked = newest
	return nil
}

// checkFormatKey returns the format that the key f gives. Accepted are, with the file format at n:
//
//   - n: a store of format n.
//   - m, 1 <= m < n: one of format m, whose upgrade to n ended after the file. Every value is one of format m.
//
// All else is damage: a key above the file cannot come about, since the file is on disk before the key is written.
func (d *DB) checkFormatKey() (uint64, error) {
	val, closer, err := d.pdb.Get(formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, corrupt(d.fs.db, "the format key is missing")
	}
	if err != nil {
		return 0, missing(err)
	}
	defer func() { _ = closer.Close() }()
	version, _ := binary.Uvarint(val)
	if version == 0 || string(val) != string(formatValue(version)) {
		return 0, corrupt(d.fs.db, "the format key is %x", val)
	}
	if version > d.stamped.file {
		return 0, corrupt(d.fs.db, "the format key is %d, the file %s has %d", version, nameFormat, d.stamped.file)
	}
	return version, nil
}

// checkOperations returns the newest sequence; 0: there is no operation. Those before `from` are not looked at, but for the oldest.
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
			return 0, corrupt(d.fs.db, "%x is not an operation's key", it.Key())
		}
		if !first && seq != last+1 {
			return 0, corrupt(d.fs.db, "operations %d to %d are missing", last+1, seq-1)
		}
		last = seq
	}
	return last, missing(it.Error())
}

func (d *DB) readTide() (uint64, error) {
	path := d.fs.PathJoin(d.dir, nameTide)
	text, err := readSmall(d.base, path, 64)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // never closed cleanly
	}
	if err != nil {
		return 0, err
	}
	digits, ok := strings.CutSuffix(text, "\n")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || strconv.FormatUint(n, 10) != digits {
		return 0, corrupt(path, "content is %q", text)
	}
	return n, nil
}

func (d *DB) writeTide() error {
	return writeSmall(d.fs, d.dir, nameTide, strconv.FormatUint(d.lastSeq.Load(), 10)+"\n")
}

// settle does what only an open that has been checked may do: it stamps a store of an older format, and removes what is left over.
func (d *DB) settle() error {
	if err := d.upgrade(); err != nil {
		return err
	}
	d.fs.checked.Store(true)
	if err := d.emptyArchive(); err != nil {
		return err
	}
	names, err := d.fs.List(d.fs.db)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, loadPrefix) {
			if err := d.fs.Remove(d.fs.PathJoin(d.fs.db, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	dir := d.fs.PathJoin(d.fs.db, nameArchive)
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

// checkLastLog finds damage in the newest log that pebble would take for the torn end of a crash, and drop: an unreadable chunk
// before an offset which a later chunk says was on disk, or before the mark of a clean close.
func checkLastLog(f vfs.FS, db string) error {
	names, err := f.List(db)
	if errors.Is(err, fs.ErrNotExist) {
		return corrupt(db, "missing")
	}
	if err != nil {
		return err
	}
	var last uint64
	path := ""
	for _, name := range names {
		num, ok := strings.CutSuffix(name, ".log")
		n, err := strconv.ParseUint(num, 10, 64)
		if ok && err == nil && n >= last {
			last, path = n, f.PathJoin(db, name)
		}
	}
	if path == "" {
		return nil
	}
	h, err := f.Open(path)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(h)
	if err = errors.Join(err, h.Close()); err != nil {
		return err
	}
	if at, durable, ok := checkLog(b, uint32(last)); !ok {
		return &CorruptError{File: path, Cause: fmt.Errorf("unreadable at byte %d, on disk until byte %d", at, durable)}
	}
	return nil
}

// checkLog reads a log. Not ok: the chunk at offset at cannot be read although the log was on disk at least until durable.
func checkLog(b []byte, num uint32) (at, durable int64, ok bool) {
	good := 0
	for good < len(b) {
		end := validChunk(b, good, num)
		if left := walBlock - good%walBlock; end < 0 && left < walHeader {
			end = min(good+left, len(b)) // padding
		}
		if end < 0 {
			break
		}
		good = end
	}
	if good == len(b) || isTrailer(b[good:], num) {
		return 0, 0, true
	}
	if n := len(b) - walTrailer; n > good && isTrailer(b[n:], num) {
		return int64(good), int64(n), false
	}
	for i := good + 1; i+walHeader <= len(b); i++ {
		if e := b[i+6]; e < walEncodeMin || e > walEncodeMax {
			continue
		}
		if validChunk(b, i, num) < 0 {
			continue
		}
		if claim := int64(binary.LittleEndian.Uint64(b[i+11:])); claim > durable {
			durable = claim
		}
	}
	return int64(good), durable, durable <= int64(good)
}

// validChunk returns the end of the chunk at offset i, or -1. The first log of a new database has chunks without a synced offset.
func validChunk(b []byte, i int, num uint32) int {
	header := walHeader
	if i+walTrailer > len(b) || binary.LittleEndian.Uint32(b[i+7:]) != num {
		return -1
	}
	switch e := b[i+6]; {
	case e >= walEncodeOld && e < walEncodeMin:
		header = walTrailer
	case e < walEncodeMin || e > walEncodeMax:
		return -1
	}
	end := i + header + int(binary.LittleEndian.Uint16(b[i+4:]))
	if end > len(b) || end > i/walBlock*walBlock+walBlock || binary.LittleEndian.Uint32(b[i:]) != maskedSum(b[i+6:end]) {
		return -1
	}
	return end
}

func isTrailer(b []byte, num uint32) bool {
	return len(b) >= walTrailer && string(b[:6]) == "\x00\x00\x00\x00\x00\x00" && b[6] == walEncodeOld &&
		binary.LittleEndian.Uint32(b[7:]) == num+1
}
