package ondisk

import (
	"encoding/binary"
	"hash/crc32"
)

// The layout of a log, as record/log_writer.go of pebble has it: blocks of 32 KiB filled with chunks
// crc(4) length(2) encoding(1) log number(4) synced offset(8) payload, all little-endian.
const (
	walBlock     = 32 << 10
	walHeader    = 19
	walEncodeMin = 9 // full, first, middle, last chunk with a synced offset
	walEncodeMax = 12
	walEncodeOld = 5  // and up to 8: a chunk without a synced offset
	LogTrailer   = 11 // end of a log that was closed: crc 0, length 0, encoding 5, log number + 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedSum is the checksum of logs and tables: CRC-32C, rotated and shifted.
func maskedSum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// SetSyncedOffset writes the truth into chunks about to be written at offset off of a log: that its first synced bytes
// are on disk. pebble believes that every Sync was one and would claim more; after a power cut it would then take a
// torn tail for damage, and refuse to open. It returns where the trailer begins, or the length of p.
func SetSyncedOffset(p []byte, off, synced int64) (trailer int) {
	for i := 0; i < len(p); {
		if len(p)-i == LogTrailer && p[i+6] == walEncodeOld && string(p[i:i+6]) == "\x00\x00\x00\x00\x00\x00" {
			return i
		}
		left := walBlock - int((off+int64(i))%walBlock)
		if left < walHeader {
			i += left // padding
			continue
		}
		if i+walHeader > len(p) || p[i+6] < walEncodeMin || p[i+6] > walEncodeMax {
			return len(p)
		}
		end := i + walHeader + int(binary.LittleEndian.Uint16(p[i+4:]))
		if end > len(p) || end-i > left {
			return len(p)
		}
		binary.LittleEndian.PutUint64(p[i+11:], uint64(synced))
		binary.LittleEndian.PutUint32(p[i:], maskedSum(p[i+6:end]))
		i = end
	}
	return len(p)
}

// checkLog reads a log. Not ok: the chunk at offset at cannot be read although the log was on disk at least until
// durable; ok: at is where what can be read ends.
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
	if good < len(b) && isTrailer(b[good:], num) {
		return int64(good) + LogTrailer, 0, true
	}
	if good == len(b) {
		return int64(good), 0, true
	}
	if n := len(b) - LogTrailer; n > good && isTrailer(b[n:], num) {
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

// validChunk returns the end of the chunk at offset i, or -1. The first log of a new database has chunks without a
// synced offset.
func validChunk(b []byte, i int, num uint32) int {
	header := walHeader
	if i+LogTrailer > len(b) || binary.LittleEndian.Uint32(b[i+7:]) != num {
		return -1
	}
	switch e := b[i+6]; {
	case e >= walEncodeOld && e < walEncodeMin:
		header = LogTrailer
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
	if len(b) < LogTrailer || string(b[:6]) != "\x00\x00\x00\x00\x00\x00" {
		return false
	}
	return b[6] == walEncodeOld && binary.LittleEndian.Uint32(b[7:]) == num+1
}
