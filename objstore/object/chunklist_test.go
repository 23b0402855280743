package object

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func chunkListCrashers() map[string][]byte {
	id := bytes.Repeat([]byte{7}, 32)
	with := func(count uint64, sizes ...uint64) []byte {
		b := binary.AppendUvarint(nil, count)
		for _, n := range sizes {
			b = binary.AppendUvarint(append(b, id...), n)
		}
		return b
	}
	return map[string][]byte{
		"nothing":        {},
		"count 0":        with(0),
		"huge count":     with(math.MaxUint64, 1),
		"over the limit": with(MaxChunks+1, 1),
		"too few":        with(3, 1, 1),
		"too many":       with(1, 1, 1),
		"empty chunk":    with(2, 0, 1),
		"large chunk":    with(1, MaxChunk+1),
		"huge chunk":     with(1, math.MaxUint64),
		"id cut off":     append([]byte{1}, id[:31]...),
		"no size":        append([]byte{1}, id...),
		"padded size":    append(append([]byte{1}, id...), 0x81, 0x00),
		"padded count":   append(append([]byte{0x81, 0x00}, id...), 1),
		"trailing byte":  append(with(1, 1), 0),
	}
}

// listLength adds up what the list says, without checks.
func listLength(body []byte) (total int64) {
	_ = ReadChunks(body, -1, func(c Chunk) { total += int64(c.Size) })
	return total
}

func TestChunkListCrashers(t *testing.T) {
	for name, body := range chunkListCrashers() {
		if chunks, err := DecodeChunks(body, listLength(body)); err == nil || chunks != nil {
			t.Errorf("%s decodes", name)
		}
	}
	good := AppendChunks(nil, []Chunk{{ID{1}, 10}, {ID{2}, 20}})
	for length, ok := range map[int64]bool{30: true, 29: false, 31: false, 0: false, -1: false} {
		if _, err := DecodeChunks(good, length); (err == nil) != ok {
			t.Errorf("length %d: %v", length, err)
		}
	}
}

func FuzzChunkList(f *testing.F) {
	f.Add(AppendChunks(nil, []Chunk{{ID{1}, 10}, {ID{2}, MaxChunk}}))
	for _, body := range chunkListCrashers() {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		chunks, err := DecodeChunks(body, listLength(body))
		if err != nil {
			return
		}
		if again := AppendChunks(nil, chunks); !bytes.Equal(again, body) {
			t.Fatalf("malleable: %x and %x", body, again)
		}
	})
}
