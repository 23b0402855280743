package object

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
	prefix := [BasePrefix]byte(baseID[:])
	source := DeltaSource(bytes.Clone(base), baseID)
	delta := buildDelta(nil, source, len(base), target)
	list := AppendChunks(nil, []Chunk{{Sum(Blob, base), len(base)}, {Sum(Blob, target), len(target)}})
	var ids bytes.Buffer
	for _, k := range kinds {
		fmt.Fprintf(&ids, "%s %s\n", k, Sum(k, []byte("rewind")))
	}
	packed := packed(t, bytes.Repeat(base, 2))

	golden(t, "ids", ids.Bytes())
	golden(t, "delta", delta)
	golden(t, "chunk-list", list)
	golden(t, "envelope-raw", Seal(Envelope{Codec: CodecRaw, Length: 6, Body: []byte("rewind")}))
	golden(t, "envelope-delta", Seal(Envelope{Codec: CodecDelta, Prefix: prefix, Index: 300, Body: delta}))
	golden(t, "envelope-chunks", Seal(
		Envelope{Codec: CodecChunks, Length: int64(len(base) + len(target)), Body: list}))

	// Decoded only.
	zstd := goldenFile(t, "envelope-zstd", Seal(
		Envelope{Codec: CodecZstd, Length: int64(2 * len(base)), Body: packed}))
	e, err := Decode(Blob, zstd)
	if err != nil {
		t.Fatalf("envelope-zstd: %v", err)
	}
	if raw, err := e.Whole(nil); err != nil || !bytes.Equal(raw, bytes.Repeat(base, 2)) {
		t.Errorf("envelope-zstd: %q, %v", raw, err)
	}
	far := append(bytes.Clone(target), bytes.Repeat([]byte("and again "), 30)...)
	delta = buildDelta(nil, base, len(base), far)
	frame, at, err := compress(nil, delta, Careful)
	if err != nil {
		t.Fatal(err)
	}
	body := append(binary.AppendUvarint(nil, uint64(len(delta))), frame[at:]...)
	val := goldenFile(t, "envelope-delta-zstd",
		Seal(Envelope{Codec: CodecDeltaZstd, Length: int64(len(far)), Prefix: prefix, Index: 1, Body: body}))
	if e, err = Decode(Blob, val); err != nil {
		t.Fatalf("envelope-delta-zstd: %v", err)
	}
	from := bytes.Clone(base)
	if raw, err := e.Apply(nil, &Base{Blob, &from, Zero}); err != nil || !bytes.Equal(raw, far) {
		t.Errorf("envelope-delta-zstd: %q, %v", raw, err)
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
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if name == "ids" {
		return b
	}
	if b, err = hex.DecodeString(strings.ReplaceAll(string(b), "\n", "")); err != nil {
		t.Fatal(err)
	}
	return b
}
