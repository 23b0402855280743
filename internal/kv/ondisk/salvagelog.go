package ondisk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
)

// salvageLog is what can be read of a log, sorted.
type salvageLog struct {
	entries []entry
	dels    []deletedRange
	at      int
}

// chunkKind is the length of a chunk's header, and which part of a batch the chunk is, by its type.
func chunkKind(encoding byte) (header, part int) {
	if encoding < walEncodeMin {
		return LogTrailer, int(encoding - walEncodeOld)
	}
	return walHeader, int(encoding - walEncodeMin)
}

// readSalvageLog reads the batches of a log that are whole. After damage it goes on with the next chunk; the header of
// the damaged one has its place. Otherwise it goes on with the next block, which always begins with a chunk. So bytes
// of the user's that look like a chunk are never taken for one. synced is how far it was on disk, when that is known.
func readSalvageLog(b []byte, path string, num uint64, synced int64, lost func(error)) *salvageLog {
	l := &salvageLog{}
	if int64(len(b)) < synced {
		lost(&CorruptError{File: path, Cause: fmt.Errorf("cut at byte %d, on disk until byte %d", len(b), synced)})
	}
	var batch []byte
	whole := false // batch has its beginning
	for at := 0; at+LogTrailer <= len(b); {
		if left := walBlock - at%walBlock; left < LogTrailer || left < walHeader && validChunk(b, at, uint32(num)) < 0 {
			at += left // padding
			continue
		}
		if isTrailer(b[at:], uint32(num)) {
			break
		}
		end := validChunk(b, at, uint32(num))
		if end < 0 {
			next := nextChunk(b, at, uint32(num))
			if next < len(b) || int64(at) < synced || checkedEnd(b, at, uint32(num)) {
				lost(&CorruptError{File: path, Cause: fmt.Errorf("unreadable from byte %d to byte %d", at, next)})
			}
			at, whole = next, false
			continue
		}
		header, part := chunkKind(b[at+6])
		data := b[at+header : end]
		switch part {
		case 0: // full
			l.add(data, num, path, lost)
			whole = false
		case 1:
			batch, whole = append(batch[:0], data...), true
		default:
			batch = append(batch, data...)
			if part == 3 && whole {
				l.add(batch, num, path, lost)
				whole = false
			}
		}
		at = end
	}
	slices.SortStableFunc(l.entries, byKeyNewestFirst)
	return l
}

func byKeyNewestFirst(x, y entry) int {
	if c := bytes.Compare(x.key, y.key); c != 0 {
		return c
	}
	if x.newer(y) {
		return -1
	}
	return 1
}

// checkedEnd reports whether what is unreadable from at on to the end was on disk: else it is the torn end of a crash.
func checkedEnd(b []byte, at int, num uint32) bool {
	_, _, ok := checkLog(b, num)
	return !ok && at < len(b)
}

// nextChunk is where reading goes on behind a damaged chunk; the length of the log: nowhere.
func nextChunk(b []byte, at int, num uint32) int {
	if at+walHeader <= len(b) {
		if end := at + walHeader + int(binary.LittleEndian.Uint16(b[at+4:])); end+LogTrailer <= len(b) && validChunk(b, end, num) >= 0 {
			return end
		}
	}
	for block := at/walBlock*walBlock + walBlock; block+LogTrailer <= len(b); block += walBlock {
		if validChunk(b, block, num) >= 0 {
			return block
		}
	}
	return len(b)
}

func (l *salvageLog) add(batch []byte, num uint64, path string, lost func(error)) {
	defer func() {
		if r := recover(); r != nil {
			lost(&CorruptError{File: path, Cause: fmt.Errorf("batch: %v", r)})
		}
	}()
	h, ok := batchrepr.ReadHeader(batch)
	if !ok {
		return
	}
	batch = bytes.Clone(batch)
	r := batchrepr.Read(batch)
	for seq := uint64(h.SeqNum); ; seq++ {
		kind, key, val, ok, err := r.Next()
		if err != nil {
			lost(&CorruptError{File: path, Cause: fmt.Errorf("batch: %w", err)})
			return
		}
		if !ok {
			return
		}
		switch kind {
		case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
			l.entries = append(l.entries, entry{key: key, val: val, seq: seq, file: num})
		case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
			l.entries = append(l.entries, entry{key: key, seq: seq, file: num, del: true})
		case pebble.InternalKeyKindRangeDelete:
			l.dels = append(l.dels, deletedRange{string(key), string(val), seq})
		case pebble.InternalKeyKindLogData:
			seq-- // takes no place
		}
	}
}

func (l *salvageLog) next() (entry, bool) {
	if l.at == len(l.entries) {
		return entry{}, false
	}
	l.at++
	return l.entries[l.at-1], true
}
