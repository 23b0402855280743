package objstore

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/golden anew")

// TestGolden holds the formats to the bytes of testdata/golden. The content of a zstd frame depends on the version of
// its library: a frame of today's golden must decode for ever, but need not be made again.
func TestGolden(t *testing.T) {
	base := []byte("the quick brown fox jumps over the lazy dog, and the dog does not mind it at all\n")
	base = append(base, base...)
	target := append([]byte("again: "), bytes.Replace(base, []byte("lazy"), []byte("sleeping"), 1)...)
	baseID := Sum(Blob, base)
	target = append(append(target, "parent "...), baseID[:]...)
	prefix := [oldBasePrefix]byte(baseID[:])
	source := deltaSource(bytes.Clone(base), baseID)
	delta := encodeDelta(nil, source, len(base), target)
	old, err := oldDelta(delta)
	if err != nil {
		t.Fatal(err)
	}
	list := appendChunks(nil, []chunk{{Sum(Blob, base), len(base)}, {Sum(Blob, target), len(target)}})
	var ids bytes.Buffer
	for _, k := range Kinds() {
		fmt.Fprintf(&ids, "%s %s\n", k, Sum(k, []byte("rewind")))
	}
	packed := packed(t, bytes.Repeat(base, 2))

	golden(t, "ids", ids.Bytes())
	golden(t, "delta", old)
	golden(t, "delta-5", delta)
	golden(t, "chunk-list", list)
	golden(t, "envelope-raw", appendEnvelope(nil, envelope{codec: CodecRaw, length: 6, body: []byte("rewind")}))
	golden(t, "envelope-delta", appendEnvelope(nil,
		envelope{codec: CodecOldDelta, length: int64(len(target)), base: prefix, index: 300, body: old}))
	golden(t, "envelope-delta-5", appendEnvelope(nil, envelope{codec: CodecDelta, base: prefix, index: 300, body: delta}))
	golden(t, "key", appendKey(nil, Blob, baseID.Key()))
	golden(t, "key-long", appendLongKey(nil, Blob, baseID))
	golden(t, "envelope-chunks", appendEnvelope(nil,
		envelope{codec: CodecChunks, length: int64(len(base) + len(target)), body: list}))

	// Decoded only.
	zstd := goldenFile(t, "envelope-zstd", appendEnvelope(nil,
		envelope{codec: CodecZstd, length: int64(2 * len(base)), body: packed}))
	e, err := decodeEnvelope(Blob, zstd)
	if err != nil {
		t.Fatalf("envelope-zstd: %v", err)
	}
	if raw, err := e.whole(nil); err != nil || !bytes.Equal(raw, bytes.Repeat(base, 2)) {
		t.Errorf("envelope-zstd: %q, %v", raw, err)
	}
	far := append(bytes.Clone(target), bytes.Repeat([]byte("and again "), 30)...)
	for name, form := range map[string]deltaForm{"envelope-delta-zstd": formOld, "envelope-delta-zstd-6": formKept} {
		delta, err := recode(encodeDelta(nil, base, len(base), far), formKept, form, len(base))
		if err != nil {
			t.Fatal(err)
		}
		frame, at, err := compress(nil, delta, careful)
		if err != nil {
			t.Fatal(err)
		}
		body := append(binary.AppendUvarint(nil, uint64(len(delta))), frame[at:]...)
		e := envelope{codec: CodecOldDeltaZstd, length: int64(len(far)), base: prefix, index: 1, body: body}
		if form == formKept {
			e.codec = CodecDeltaZstd
		}
		val := goldenFile(t, name, appendEnvelope(nil, e))
		if e, err = decodeEnvelope(Blob, val); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		from := bytes.Clone(base)
		if raw, err := e.apply(nil, &deltaBase{Blob, &from, Zero}); err != nil || !bytes.Equal(raw, far) {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if want := goldenFile(t, name, got); !bytes.Equal(got, want) {
		t.Errorf("%s: %x, want %x", name, got, want)
	}
}

// goldenFile reads a golden file: text for ids, otherwise hex in lines of 64 digits.
func goldenFile(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		text := string(got)
		if name != "ids" {
			text = ""
			for digits := hex.EncodeToString(got); digits != ""; {
				n := min(64, len(digits))
				text += digits[:n] + "\n"
				digits = digits[n:]
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := mustRead(t, path)
	if name == "ids" {
		return b
	}
	return unhex(t, strings.ReplaceAll(string(b), "\n", ""))
}

// A blob is cut as every version of this package cuts.
func TestGoldenCut(t *testing.T) {
	s := newStore(t)
	tx := s.Begin()
	defer tx.Discard()
	id, err := tx.Put(Blob, noise(1, ChunkThreshold+1), Zero)
	if err != nil {
		t.Fatal(err)
	}
	n, err := nodeOf(tx, Blob, id.name())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "cut", n.env)
}
