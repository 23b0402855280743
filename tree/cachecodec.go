package tree

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// Kinds of stat cache entries. The values are the bytes on disk (DESIGN.md 5.9).
const (
	cachedFile    byte = 'f' // id: the blob of the content
	cachedSymlink byte = 'l' // id: the blob of the target
	cachedSecret  byte = 's' // id: the keyed hash of the content; no blob
	cachedRoot    byte = 'r' // id: the tree that the other entries describe; under the empty path, no other fields
)

// stamp is what the system says about a file. Two equal stamps, the first of them old enough (see settled), mean equal content.
// The device is not in it: its number changes with every mount of some file systems, and ctime tells the same.
type stamp struct {
	kind         byte
	perm         uint16
	size         int64
	mtime, ctime int64 // ns since 1970
	ino          uint64
}

func stampOf(kind byte, st worktreefs.Stat) stamp {
	return stamp{kind: kind, perm: st.Perm, size: st.Size, mtime: st.Mtime, ctime: st.Ctime, ino: st.Ino}
}

const (
	guardFine   = 20 * 1e6   // ns: over the 10 ms of the slowest kernel clock that stamps files
	guardCoarse = 2000 * 1e6 // ns: file systems that count in (two) seconds
	guardByte   = 10         // ns a byte: a file is stamped when a write begins, so a long one (under 100 MB/s) ends later
)

// settled reports whether every change to the file after the moment now (ns since 1970) gives another stamp. It does not
// while the last change is so recent that another one could get the same time, nor for a time in the future.
func (s *stamp) settled(now int64) bool {
	guard := int64(guardFine)
	if s.mtime%1e9 == 0 && s.ctime%1e9 == 0 {
		guard = guardCoarse
	}
	return max(s.mtime, s.ctime) <= now-guard-min(s.size, 1<<40)*guardByte
}

// young reports whether a write that began when the file was stamped may still be going on.
func (s *stamp) young(now int64) bool {
	return !s.settled(now) || max(s.mtime, s.ctime) > now-guardCoarse
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendCached encodes an entry for its path. The checksum covers the path, so an entry under another key is not taken.
func appendCached(raw []byte, path string, s stamp, id objstore.ID) []byte {
	start := len(raw)
	raw = append(raw, formatVersion, s.kind)
	if s.kind != cachedRoot {
		raw = binary.AppendUvarint(raw, uint64(s.perm))
		raw = binary.AppendUvarint(raw, uint64(s.size))
		raw = binary.BigEndian.AppendUint64(raw, uint64(s.mtime))
		raw = binary.AppendVarint(raw, s.ctime-s.mtime) // wraps, and wraps back
		raw = binary.AppendUvarint(raw, s.ino)
	}
	raw = append(raw, id[:]...)
	return binary.BigEndian.AppendUint32(raw, cachedSum(path, raw[start:]))
}

func cachedSum(path string, raw []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, raw), castagnoli, []byte(path))
}

// decodeCached is the reverse of appendCached; whatever is not exactly its work is a *FormatError.
func decodeCached(path string, raw []byte) (s stamp, id objstore.ID, err error) {
	d := decoder{what: "stat cache entry", raw: string(raw)}
	d.version()
	s.kind = d.byte()
	switch s.kind {
	case cachedRoot:
		if path != "" {
			_ = d.failAt(1, "root entry under a path")
		}
	case cachedFile, cachedSymlink, cachedSecret:
		if path == "" {
			_ = d.failAt(1, "no path")
		}
		s.perm = uint16(d.uvarint(permMask))
		s.size = int64(d.uvarint(math.MaxInt64))
		s.mtime = int64(d.uint64())
		zigzag := d.uvarint(math.MaxUint64)
		s.ctime = s.mtime + (int64(zigzag>>1) ^ -int64(zigzag&1))
		s.ino = d.uvarint(math.MaxUint64)
	default:
		_ = d.failAt(1, "unknown kind")
	}
	id = d.id()
	end := d.at
	sum := d.fixed(4)
	switch {
	case d.err != nil:
	case d.at != len(raw):
		_ = d.fail("trailing bytes")
	case binary.BigEndian.Uint32([]byte(sum)) != cachedSum(path, raw[:end]):
		_ = d.failAt(end, "wrong checksum")
	}
	if d.err != nil {
		return stamp{}, objstore.ID{}, d.err
	}
	return s, id, nil
}

func (d *decoder) uint64() uint64 {
	raw := d.fixed(8)
	if d.err != nil {
		return 0
	}
	return binary.BigEndian.Uint64([]byte(raw))
}
