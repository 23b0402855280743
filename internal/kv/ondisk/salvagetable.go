package ondisk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// An entry is a version of a key as a table or log of pebble holds it. seq is pebble's, 0 in tables that were loaded;
// file breaks ties.
type entry struct {
	key, val []byte // valid until the source's next call of next
	seq      uint64
	file     uint64
	del      bool
}

// newer orders versions of one key.
func (a entry) newer(b entry) bool {
	if a.seq != b.seq {
		return a.seq > b.seq
	}
	return a.file > b.file
}

// A deletedRange is a deletion of the keys from lo up to but without hi.
type deletedRange struct {
	lo, hi string
	seq    uint64
}

// salvageTable reads a table without pebble's database around it, block by block, and passes over what is damaged.
// Where the index is damaged too, the blocks are found by their checksums, one behind the other, as long as there is
// none that is damaged.
type salvageTable struct {
	f      vfs.File
	path   string
	num    uint64
	size   int64
	blocks []block.Handle // nil: to be found
	found  bool           // blocks are known
	at     int64          // where the next block is looked for, unless they are known
	buf    []byte         // in which it is looked for
	lost   func(error)
	dels   []deletedRange

	schema colblk.KeySchema
	dec    colblk.DataBlockDecoder
	it     colblk.DataBlockIter
	open   bool // it is in a block
	first  bool
}

// openSalvageTable opens a table; lost is told each block that cannot be read.
func openSalvageTable(
	in vfs.FS, path string, num uint64, o sstable.ReaderOptions, lost func(error),
) (*salvageTable, error) {
	f, err := in.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &salvageTable{f: f, path: path, num: num, size: info.Size(), lost: lost}
	t.schema = colblk.DefaultKeySchema(pebble.DefaultComparer, 16)
	t.it.InitOnce(&t.schema, pebble.DefaultComparer, nil)
	if err := t.layout(in, o); err != nil {
		lost(&CorruptError{File: path, Cause: fmt.Errorf("index: %w", cause(err))})
	}
	return t, nil
}

// layout reads where the blocks are, and the deletions of ranges.
func (t *salvageTable) layout(in vfs.FS, o sstable.ReaderOptions) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	f, err := in.Open(t.path)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(NewTable(f, t.path))
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, o)
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	l, err := r.Layout()
	if err != nil {
		return err
	}
	var blocks []block.Handle
	for _, h := range l.Data {
		if h.Length > uint64(t.size) || h.Offset > uint64(t.size)-h.Length {
			return errors.New("a block lies outside of the file")
		}
		blocks = append(blocks, h.Handle)
	}
	t.blocks, t.found = blocks, true
	dels, err := r.NewRawRangeDelIter(context.Background(), block.NoFragmentTransforms, sstable.NoReadEnv)
	if err != nil || dels == nil {
		return err
	}
	defer dels.Close()
	s, err := dels.First()
	for ; s != nil && err == nil; s, err = dels.Next() {
		t.dels = append(t.dels, deletedRange{string(s.Start), string(s.End), uint64(s.LargestSeqNum())})
	}
	return err
}

// next gives the next version that can be read, in the order of pebble: keys ascending, of one key the newest first.
// false: there is none.
func (t *salvageTable) next() (entry, bool) {
	for {
		if t.open {
			if e, ok := t.row(); ok {
				return e, true
			}
			t.open = false
		}
		raw, ok := t.block()
		if !ok {
			return entry{}, false
		}
		t.begin(raw)
	}
}

// row steps in the block. pebble's decoder panics on nonsense; whatever was read before is as good as its checksum.
func (t *salvageTable) row() (e entry, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			t.lost(&CorruptError{File: t.path, Cause: fmt.Errorf("block: %v", r)})
			e, ok = entry{}, false
		}
	}()
	for {
		step := t.it.Next
		if t.first {
			step, t.first = t.it.First, false
		}
		kv := step()
		if kv == nil {
			return entry{}, false
		}
		e := entry{key: kv.K.UserKey, val: kv.V.InPlaceValue(), seq: uint64(kv.SeqNum()), file: t.num}
		if e.seq > math.MaxInt64 || len(e.key) == 0 {
			continue
		}
		switch kv.Kind() {
		case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
			return e, true
		case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
			e.del = true
			return e, true
		}
	}
}

// begin enters a block.
func (t *salvageTable) begin(raw []byte) {
	defer func() {
		if r := recover(); r != nil {
			t.open = false
			t.lost(&CorruptError{File: t.path, Cause: fmt.Errorf("block: %v", r)})
		}
	}()
	t.dec.Init(&t.schema, raw)
	if err := t.it.Init(&t.dec, block.NoTransforms); err != nil {
		t.lost(&CorruptError{File: t.path, Cause: err})
		return
	}
	t.open, t.first = true, true
}

// block gives the next block that can be read.
func (t *salvageTable) block() ([]byte, bool) {
	for t.found && len(t.blocks) > 0 {
		h := t.blocks[0]
		t.blocks = t.blocks[1:]
		buf := make([]byte, h.Length+tableTrailer)
		_, err := t.f.ReadAt(buf, int64(h.Offset))
		var raw []byte
		if err == nil {
			raw, err = unpackBlock(buf)
		}
		if err == nil {
			return raw, true
		}
		t.lost(&CorruptError{File: t.path, Cause: fmt.Errorf("block of %d bytes at offset %d has %w", h.Length, h.Offset, err)})
	}
	if t.found {
		return nil, false
	}
	return t.carve()
}

// MaxBlock is the size of the largest block of keys and values that is read, in bytes.
const MaxBlock = 66 << 20

var errTableSize = errors.New("a size that cannot be")

// unpackBlock checks a block with its trailer, and decompresses it.
func unpackBlock(buf []byte) (raw []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	n := len(buf) - tableTrailer
	if got, sum := maskedSum(buf[:n+1]), binary.LittleEndian.Uint32(buf[n+1:]); got != sum {
		return nil, fmt.Errorf("checksum %08x, not %08x", got, sum)
	}
	how := block.CompressionIndicator(buf[n])
	if how == block.NoCompressionIndicator {
		return buf[:n:n], nil
	}
	size, err := block.DecompressedLen(how, buf[:n])
	if err != nil || size > MaxBlock {
		return nil, errTableSize
	}
	raw = make([]byte, size)
	return raw, block.DecompressInto(how, buf[:n], raw)
}

// carve finds the next block by its checksum: where it begins is known, where it ends is where the sum is right.
func (t *salvageTable) carve() ([]byte, bool) {
	const step = 1 << 20
	if t.buf == nil {
		t.buf = make([]byte, 0, min(t.size-t.at, MaxBlock+step)) // never copied: what is not read of it is no memory
	}
	buf := t.buf[:0]
	sum := uint32(0)
	for n := int64(0); t.at+n+tableTrailer <= t.size && n <= MaxBlock; n++ {
		if have := int64(len(buf)); have < n+tableTrailer {
			buf = buf[:min(have+step, int64(cap(buf)), t.size-t.at)]
			if _, err := t.f.ReadAt(buf[have:], t.at+have); err != nil {
				break
			}
		}
		with := crc32.Update(sum, castagnoli, buf[n:n+1])
		if n > 0 && (with>>15|with<<17)+0xa282ead8 == binary.LittleEndian.Uint32(buf[n+1:]) {
			raw, err := unpackBlock(buf[:n+tableTrailer])
			if err == nil && isDataBlock(raw) {
				t.at += n + tableTrailer
				return raw, true
			}
			t.at = t.size // behind the blocks of data stand those of the index, which nobody needs
			return nil, false
		}
		sum = with
	}
	if t.at < t.size {
		t.lost(&CorruptError{File: t.path, Cause: fmt.Errorf("without its index, only the first %d bytes of %d can be read", t.at, t.size)})
	}
	t.at = t.size
	return nil, false
}

// dataColumns is how many columns a block of keys and values has; that of an index has 4. What comes before the header
// is 4 bytes.
const dataColumns = 7

func isDataBlock(raw []byte) bool {
	return len(raw) > 11 && raw[4] == 1 && binary.LittleEndian.Uint16(raw[5:]) == dataColumns
}

// BadBlocks tells report of each block of keys in a table that cannot be read, and of an index that cannot.
func BadBlocks(f vfs.FS, path string, o sstable.ReaderOptions, report func(error)) error {
	t, err := openSalvageTable(f, path, 0, o, report)
	if err != nil {
		return err
	}
	for ok := true; ok; {
		_, ok = t.block()
	}
	return t.close()
}

func (t *salvageTable) close() error { return t.f.Close() }

// cause takes off what this package has put around an error already.
func cause(err error) error {
	var own *CorruptError
	if errors.As(err, &own) {
		return own.Cause
	}
	return err
}
