package snapshot

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// Kinds of stat cache entries. The values are the bytes on disk (docs/format.md#stat-cache-entry).
const (
	cachedFile    byte = 'f' // id: the blob of the content
	cachedSymlink byte = 'l' // id: the blob of the target
	cachedSecret  byte = 's' // id: the keyed hash of the content; no blob
	cachedRoot    byte = 'r' // id: the tree that the other entries describe; under the empty path, no other fields
)

// stamp is what the system says about a file. Equal stamps, the first of which was reliable, mean equal content.
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

// reliable reports whether every change to the file after the moment now (ns since 1970) gives another stamp. It does
// not while the last change is so recent that another one could get the same time, nor for a time in the future.
func (s *stamp) reliable(now int64) bool {
	guard := int64(guardFine)
	if s.mtime%1e9 == 0 && s.ctime%1e9 == 0 {
		guard = guardCoarse
	}
	return max(s.mtime, s.ctime) <= now-guard-min(s.size, 1<<40)*guardByte
}

// racy (as git says) reports whether a write that began when the file was stamped may still be going on.
func (s *stamp) racy(now int64) bool {
	return !s.reliable(now) || max(s.mtime, s.ctime) > now-guardCoarse
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cacheVersion begins every entry on disk.
const cacheVersion = 1

// appendCached encodes an entry for its path. The checksum covers the path, so an entry under another key is not taken.
func appendCached(raw []byte, path string, s stamp, id objstore.ID) []byte {
	start := len(raw)
	raw = append(raw, cacheVersion, s.kind)
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

// decodeCached is the reverse of appendCached; ok is false for whatever is not exactly its work.
func decodeCached(path string, raw []byte) (s stamp, id objstore.ID, ok bool) {
	sum := len(raw) - crc32.Size
	end := sum - len(id)
	if end < 2 || raw[0] != cacheVersion || binary.BigEndian.Uint32(raw[sum:]) != cachedSum(path, raw[:sum]) {
		return stamp{}, objstore.ID{}, false
	}
	switch kind := raw[1]; kind {
	case cachedRoot:
		s.kind, ok = kind, path == "" && end == 2
	case cachedFile, cachedSymlink, cachedSecret:
		s, ok = decodeStamp(kind, raw[2:end])
		ok = ok && path != ""
	}
	if !ok {
		return stamp{}, objstore.ID{}, false
	}
	return s, objstore.ID(raw[end:sum]), true
}

// decodeStamp reads the numbers of a stamp, each in its shortest form and nothing behind them.
func decodeStamp(kind byte, raw []byte) (stamp, bool) {
	perm, raw := cutUvarint(raw)
	size, raw := cutUvarint(raw)
	if perm > 0o7777 || size > math.MaxInt64 || len(raw) < 8 {
		return stamp{}, false
	}
	s := stamp{kind: kind, perm: uint16(perm), size: int64(size), mtime: int64(binary.BigEndian.Uint64(raw))}
	zigzag, raw := cutUvarint(raw[8:])
	s.ctime = s.mtime + (int64(zigzag>>1) ^ -int64(zigzag&1))
	s.ino, raw = cutUvarint(raw)
	return s, raw != nil && len(raw) == 0
}

// cutUvarint reads a number from the front of raw; rest is nil when there is none in its shortest form.
func cutUvarint(raw []byte) (v uint64, rest []byte) {
	v, n := binary.Uvarint(raw)
	if n <= 0 || n > 1 && raw[n-1] == 0 {
		return 0, nil
	}
	return v, raw[n:]
}
