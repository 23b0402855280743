package gitinfo

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's checksum
	"encoding/binary"
	"fmt"
	"testing"
)

// makeIndex writes an index as git does, version 2 or 4.
func makeIndex(version uint32, names ...string) []byte {
	b := []byte("DIRC")
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	last := ""
	for _, n := range names {
		start := len(b)
		b = append(b, make([]byte, modeOffset)...)
		b = binary.BigEndian.AppendUint32(b, 0o100644)
		b = append(b, make([]byte, statLength-modeOffset-4+20)...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(n), flagNameMask)))
		if version == 4 {
			b = append(b, byte(len(last))) // nothing is shared
			last = n
			b = append(append(b, n...), 0)
			continue
		}
		b = append(b, n...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	return sign(b)
}

func sign(b []byte) []byte {
	sum := sha1.Sum(b) //nolint:gosec // see above
	return append(b, sum[:]...)
}

func TestDecodeRefuses(t *testing.T) {
	if err := decodeIndex(makeIndex(2, "a", "b"), func([]byte, uint32) {}); err != nil {
		t.Fatal(err)
	}
	if err := decodeIndex(makeIndex(4, "a", "b"), func([]byte, uint32) {}); err != nil {
		t.Fatal(err)
	}
	unsigned := func(version uint32, names ...string) []byte {
		b := makeIndex(version, names...)
		return b[:len(b)-20]
	}
	dir := unsigned(2, "a/")
	binary.BigEndian.PutUint32(dir[indexHeader+modeOffset:], modeDirectory)
	slash := unsigned(2, "a/")
	plain := unsigned(2, "a")
	binary.BigEndian.PutUint32(plain[indexHeader+modeOffset:], modeDirectory)
	count := unsigned(2, "a")
	count[11] = 2
	long := unsigned(4, "a")
	long[indexHeader+62] = 1
	for name, b := range map[string][]byte{
		"order":              unsigned(2, "b", "a"),
		"empty name":         unsigned(2, ""),
		"version 5":          unsigned(5, "a"),
		"version 1":          unsigned(1, "a"),
		"signature":          append([]byte("DIRX"), unsigned(2, "a")[4:]...),
		"directory, no sdir": dir,
		"file with a slash":  append(slash, "sdir\x00\x00\x00\x00"...),
		"directory without":  append(plain, "sdir\x00\x00\x00\x00"...),
		"count":              count,
		"prefix":             long,
		"split":              append(unsigned(2, "a"), "link\x00\x00\x00\x00"...),
		"extension length":   append(unsigned(2, "a"), "TREE\x00\x00\x00\x01"...),
		"half an extension":  append(unsigned(2, "a"), "TREE"...),
		"trailing":           append(unsigned(2, "a"), 0),
	} {
		if err := decodeIndex(sign(b), func([]byte, uint32) {}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := decodeIndex(sign(append(unsigned(2, "a"), "XTRA\x00\x00\x00\x01x"...)), func([]byte, uint32) {}); err != nil {
		t.Errorf("an unknown optional extension: %v", err)
	}
}

// FuzzDecodeIndex signs the bytes, so that they get past the checksum: no panic, and what is accepted is ascending.
func FuzzDecodeIndex(f *testing.F) {
	for _, b := range [][]byte{
		makeIndex(2, "a", "a/b", "c"), makeIndex(4, "a", "a/b", "c"), makeIndex(2),
		append(makeIndex(2, "a")[:80], "TREE\x00\x00\x00\x00"...),
	} {
		f.Add(b[:len(b)-20])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var last []byte
		_ = decodeIndex(sign(bytes.Clone(b)), func(name []byte, _ uint32) {
			if len(name) == 0 || bytes.Compare(last, name) > 0 {
				t.Errorf("%q after %q", name, last)
			}
			last = append(last[:0], name...)
		})
	})
}

func BenchmarkTracked(b *testing.B) {
	var names []string
	for i := range 100_000 {
		names = append(names, fmt.Sprintf("src/pkg%02d/dir%02d/file_%05d.go", i/1000, i/50%20, i))
	}
	data := makeIndex(2, names...)
	b.ReportAllocs()
	for b.Loop() {
		t := newBuilder(len(data) / (statLength + 40))
		if err := decodeIndex(data, t.add); err != nil {
			b.Fatal(err)
		}
		if tr, err := t.done(); err != nil || tr.Len() != len(names) {
			b.Fatal(err)
		}
	}
}
