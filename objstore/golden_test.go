package objstore

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/golden anew")

// TestGoldenKeys holds the keys of objects to the bytes of testdata/golden.
func TestGoldenKeys(t *testing.T) {
	base := []byte("the quick brown fox jumps over the lazy dog, and the dog does not mind it at all\n")
	id := Sum(Blob, append(base, base...))
	golden(t, "key", appendKey(nil, Blob, id.Key()))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if want := goldenFile(t, name, got); !bytes.Equal(got, want) {
		t.Errorf("%s: %x, want %x", name, got, want)
	}
}

// goldenFile reads a golden file: hex in lines of 64 digits.
func goldenFile(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		text := ""
		for digits := hex.EncodeToString(got); digits != ""; {
			n := min(64, len(digits))
			text += digits[:n] + "\n"
			digits = digits[n:]
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := mustRead(t, path)
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
	n, err := nodeOf(tx, Blob, nameOf(id))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "cut", n.env)
}
