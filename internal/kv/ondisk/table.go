package ondisk

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableTrailer ends each block of a table: how it is compressed(1), then the checksum of all before it(4),
// little-endian.
const tableTrailer = 5

// minCheckedBlock is the size of the smallest block that is checked: pebble's search in a smaller damaged one takes 5
// ms.
const minCheckedBlock = 4 << 10

// Table is a table as pebble reads it: one ReadAt is one block with its trailer, or the footer, which is under 100
// bytes. Blocks of minCheckedBlock and more are checked here first. pebble would answer a wrong checksum with a search
// for the bit that flipped, which sums the whole block up to 327,680 times: half a minute for a block of 1 MiB, at
// every read.
type Table struct {
	vfs.File
	path string
}

// NewTable checks what is read of f, which errors call path.
func NewTable(f vfs.File, path string) *Table { return &Table{f, path} }

// ReadAt gives a block, or a CorruptError.
func (f *Table) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if err != nil || n < minCheckedBlock || n < len(p) {
		return n, err
	}
	body, sum := p[:n-tableTrailer+1], binary.LittleEndian.Uint32(p[n-tableTrailer+1:])
	if got := maskedSum(body); got != sum {
		return 0, &CorruptError{
			File:  f.path,
			Cause: fmt.Errorf("block of %d bytes at offset %d has checksum %08x, not %08x", n-tableTrailer, off, got, sum),
		}
	}
	return n, nil
}
