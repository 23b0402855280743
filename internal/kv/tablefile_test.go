package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rewind/internal/kv"
)

var (
	ownFinding    = regexp.MustCompile(`block of (\d+) bytes at offset \d+ has checksum`)
	pebbleFinding = regexp.MustCompile(`block \d+/(\d+): .*checksum mismatch`)
)

// finding is the size of the block that err says is damaged, and who found it. pebble searches for the flipped bit: in
// time that grows with the square of the size, so what it finds has to be small.
func finding(t *testing.T, err error) (size int, own bool) {
	t.Helper()
	if !errors.Is(err, kv.ErrCorrupt) || !strings.Contains(err.Error(), ".sst") {
		t.Fatalf("not told as damage to a table: %v", err)
	}
	m := ownFinding.FindStringSubmatch(err.Error())
	if own = m != nil; !own {
		m = pebbleFinding.FindStringSubmatch(err.Error())
	}
	if m == nil {
		return 0, false // the footer
	}
	size, err = strconv.Atoi(m[1])
	must(t, err)
	if !own && size+5 >= 4<<10 {
		t.Errorf("a block of %d bytes was left to pebble: %v", size, err)
	}
	return size, own
}

// noise is n bytes that no compression makes less of.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestPromise06LargeValue: a flipped bit in a value of any size is found by kv, whoever reads it, be the block
// compressed or not.
func TestPromise06LargeValue(t *testing.T) {
	sizes := map[string]int{"4096": 4 << 10, "65536": 64 << 10, "1048576": 1 << 20, "8388608": 8 << 20, "compressed": 64 << 10}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			least := size
			dir := filepath.Join(t.TempDir(), "store")
			key, val := []byte("Ob"), noise(size)
			copy(val[size/2:], "the middle of it")
			if name == "compressed" { // the middle is noise still, between zeros
				clear(val[:size/2-2<<10])
				clear(val[size/2+4<<10:])
				least = 6 << 10
			}
			d := open(t, dir, kv.Options{})
			beside := string(noise(8 << 10)) // keeps keys that are read at open out of the block
			must(t, put(d, kv.Durable, "Oa", beside, string(key), string(val), "oc", beside))
			must(t, d.Compact(bg))
			if got, err := get(d, key); err != nil || !bytes.Equal(got, val) {
				t.Fatal("not what was stored:", err)
			}
			must(t, d.Close())
			flips := 0
			for _, name := range filesOf(t, dir, "table") {
				path := filepath.Join(dir, name)
				b, err := os.ReadFile(path)
				must(t, err)
				if i := bytes.Index(b, []byte("the middle of it")); i >= 0 {
					b[i] ^= 4
					must(t, os.WriteFile(path, b, 0o600))
					flips++
				}
			}
			if flips != 1 {
				t.Fatalf("%d bits flipped", flips)
			}
			d = open(t, dir, kv.Options{})
			_, has := d.Has(key)
			for who, err := range map[string]error{
				"view":    d.View(key, func([]byte) error { t.Error("damaged bytes"); return nil }),
				"has":     has,
				"scan":    d.Scan(kv.Range{}, func([]byte, []byte) error { return nil }),
				"reverse": d.Scan(kv.Range{Reverse: true}, func([]byte, []byte) error { return nil }),
				"verify":  d.CheckTables(bg),
			} {
				if n, own := finding(t, err); !own || n < least || name == "compressed" && n > size/2 {
					t.Errorf("%s: %v", who, err)
				}
			}
			if err := d.View(key, func([]byte) error { return nil }); !strings.Contains(err.Error(), `"O" 62`) {
				t.Errorf("does not name the key: %v", err)
			}
			// What is not in the block is there, and the key can be written again.
			if got, err := get(d, []byte("Oa")); string(got) != beside || err != nil {
				t.Errorf("beside it: %d bytes, %v", len(got), err)
			}
			must(t, put(d, kv.Durable, "Ob", "new"))
			if got, err := get(d, key); string(got) != "new" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if n, own := finding(t, d.Compact(bg)); !own || n < least || name == "compressed" && n > size/2 {
				t.Error("compaction read over it")
			}
		})
	}
}

// TestPromise06EveryBlock flips bits all over a table with blocks of every kind: none that pebble would search for long
// is left to it.
func TestPromise06EveryBlock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	d := open(t, dir, kv.Options{})
	const keys = 30_000 // a filter block of 36 KiB
	must(t, d.Ingest(bg, keys, func(i int) ([]byte, []byte) {
		if i == keys/2 {
			return fmt.Appendf(nil, "o%08d", i), noise(100 << 10)
		}
		return fmt.Appendf(nil, "o%08d", i), []byte("value")
	}))
	must(t, d.CheckTables(bg))
	path, b := "", []byte(nil)
	for _, name := range filesOf(t, dir, "table") {
		got, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if len(got) > len(b) {
			path, b = filepath.Join(dir, name), got
		}
	}
	found := map[string]int{}
	for i := 0; i < len(b); i += len(b)/150 + 1 {
		b[i] ^= 0x10
		must(t, os.WriteFile(path, b, 0o600))
		b[i] ^= 0x10
		switch n, own := finding(t, d.CheckTables(bg)); {
		case !own:
			found["small"]++
		case n > 64<<10:
			found["value"]++
		case n > 32<<10:
			found["filter"]++ // nothing else is that large
		default:
			found["small"]++ // named by verify itself
		}
	}
	must(t, os.WriteFile(path, b, 0o600))
	must(t, d.CheckTables(bg))
	t.Log(found)
	for _, kind := range []string{"small", "value", "filter"} {
		if found[kind] == 0 {
			t.Errorf("no bit was flipped in a block of the kind %q", kind)
		}
	}
}
