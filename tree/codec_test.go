package tree

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/objstore"
)

// reasons are all reasons of a note, in the order in which documents list them.
const reasons = "ibzpkvustmg"

func idOf(b byte) (id objstore.ID) {
	for i := range id {
		id[i] = b
	}
	return id
}

// The bytes of docs/format.md#tree-and-note, written by hand.
func TestTreeGolden(t *testing.T) {
	entries := []Entry{
		{Name: "z\n", Type: TypeFile, Perm: 0o4755, ID: idOf(0xaa), Size: 300},
		{Name: "link", Type: TypeSymlink, ID: idOf(0xbb)},
		{Name: "dir", Type: TypeDir, Perm: 0o755, ID: idOf(0xcc)},
	}
	want := "01" +
		"64" + "ed03" + "03" + hex.EncodeToString([]byte("dir")) + strings.Repeat("cc", 32) +
		"6c" + "00" + "04" + hex.EncodeToString([]byte("link")) + strings.Repeat("bb", 32) +
		"66" + "ed13" + "02" + "7a0a" + strings.Repeat("aa", 32) + "ac02"
	raw, err := Encode(entries)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(raw); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if entries[0].Name != "z\n" {
		t.Fatal("Encode sorted the caller's slice")
	}
	got, err := Decode(raw)
	if err != nil || len(got) != 3 || got[2] != entries[0] {
		t.Fatalf("%v, %v", got, err)
	}
	if raw, _ := Encode(nil); !bytes.Equal(raw, []byte{1}) {
		t.Fatalf("empty tree: %x", raw)
	}
}

func TestNoteGolden(t *testing.T) {
	skips := []Skip{
		{Path: "b/.env", Reason: ReasonSecret, Size: 5, Hash: idOf(0xdd)},
		{Path: "big", Reason: ReasonSize, Size: 300},
		{Path: "b", Reason: ReasonIgnored},
		{Path: "big", Reason: ReasonTorn},
	}
	want := "01" +
		"69" + "01" + "62" + "00" +
		"73" + "06" + hex.EncodeToString([]byte("b/.env")) + "05" + strings.Repeat("dd", 32) +
		"74" + "03" + hex.EncodeToString([]byte("big")) + "00" +
		"7a" + "03" + hex.EncodeToString([]byte("big")) + "ac02"
	raw, err := EncodeNote(skips)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(raw); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestReasonsHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range []byte(reasons) {
		if w := ReasonWord(r); w == "" || seen[w] {
			t.Errorf("reason %q: word %q", r, w)
		} else {
			seen[w] = true
		}
	}
	if ReasonWord('x') != "" {
		t.Error("an unknown reason has a word")
	}
}

func TestDecodeRefusesHostileTrees(t *testing.T) {
	entry := func(typ byte, perm, name string, rest string) string {
		return string(typ) + perm + string(rune(len(name))) + name + strings.Repeat("i", 32) + rest
	}
	file := func(name string) string { return entry('f', "\x00", name, "\x00") }
	for what, raw := range map[string]string{
		"empty":               "",
		"version":             "\x02",
		"version only":        "\x00",
		"dot":                 "\x01" + file("."),
		"dot dot":             "\x01" + file(".."),
		"slash":               "\x01" + file("a/b"),
		"leading slash":       "\x01" + file("/a"),
		"NUL":                 "\x01" + file("a\x00"),
		"no name":             "\x01" + file(""),
		"256 bytes":           "\x01f\x00\x80\x02" + strings.Repeat("n", 256) + strings.Repeat("i", 32) + "\x00",
		"twice":               "\x01" + file("a") + file("a"),
		"order":               "\x01" + file("b") + file("a"),
		"type":                "\x01" + entry('p', "\x00", "a", ""),
		"permission":          "\x01" + entry('f', "\x80\x20", "a", "\x00"),
		"long permission":     "\x01" + entry('f', "\x80\x00", "a", "\x00"),
		"symlink permission":  "\x01" + entry('l', "\x01", "a", ""),
		"cut":                 "\x01" + file("a")[:20],
		"trailing":            "\x01" + file("a") + "\x00",
		"size not minimal":    "\x01" + entry('f', "\x00", "a", "\x80\x00"),
		"size over 63 bits":   "\x01" + entry('f', "\x00", "a", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		"size over 64 bits":   "\x01" + entry('f', "\x00", "a", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
		"endless size":        "\x01" + entry('f', "\x00", "a", strings.Repeat("\xff", 40)),
		"name beyond the end": "\x01f\x00\x7fa",
	} {
		entries, err := Decode([]byte(raw))
		var fe *FormatError
		if !errors.As(err, &fe) || entries != nil {
			t.Errorf("%s: %v, %v", what, entries, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	ok := Entry{Name: "a", Type: TypeFile}
	for what, e := range map[string]Entry{
		"name": {Type: TypeFile}, "slash": {Name: "a/b", Type: TypeFile},
		"long": {Name: strings.Repeat("a", 256), Type: TypeFile},
		"dots": {Name: "..", Type: TypeDir}, "type": {Name: "b"}, "size": {Name: "b", Type: TypeFile, Size: -1},
		"size of a directory": {Name: "b", Type: TypeDir, Size: 1}, "bits": {Name: "b", Type: TypeDir, Perm: 0o10000},
		"symlink bits": {Name: "b", Type: TypeSymlink, Perm: 1}, "twice": ok,
	} {
		var ee *entryError
		if _, err := Encode([]Entry{ok, e}); !errors.As(err, &ee) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, s := range map[string]Skip{
		"reason": {Path: "b"}, "path": {Reason: 'i'}, "absolute": {Path: "/a", Reason: 'i'}, "long": {
			Path:   strings.Repeat("a", MaxPath+1),
			Reason: 'i',
		},
		"NUL": {Path: "\x00", Reason: 'i'}, "size": {Path: "b", Reason: 'i', Size: -1},
		"hash":  {Path: "b", Reason: 'i', Hash: idOf(1)},
		"twice": {Path: "a", Reason: 'i'},
	} {
		var ee *entryError
		if _, err := EncodeNote([]Skip{{Path: "a", Reason: 'i'}, s}); !errors.As(err, &ee) {
			t.Errorf("note, %s: %v", what, err)
		}
	}
}

func TestCodecRoundTrip(t *testing.T) {
	name := rapid.Map(rapid.SliceOfNDistinct(rapid.StringN(1, 100, 255), 0, 20, rapid.ID[string]),
		func(names []string) (ok []string) {
			for _, n := range names {
				if CheckName(n) == "" {
					ok = append(ok, n)
				}
			}
			return ok
		})
	rapid.Check(t, func(t *rapid.T) {
		var entries []Entry
		for _, n := range name.Draw(t, "names") {
			e := Entry{
				Name: n, Type: rapid.SampledFrom([]byte("fld")).Draw(t, "type"),
				ID: idOf(rapid.Byte().Draw(t, "id")),
			}
			if e.Type != TypeSymlink {
				e.Perm = rapid.Uint16Max(0o7777).Draw(t, "perm")
			}
			if e.Type == TypeFile {
				e.Size = rapid.Int64Range(0, math.MaxInt64).Draw(t, "size")
			}
			entries = append(entries, e)
		}
		raw, err := Encode(entries)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(raw)
		if err != nil || len(got) != len(entries) {
			t.Fatalf("%d entries, %v", len(got), err)
		}
		for _, e := range entries {
			if i := Find(got, e.Name); i < 0 || got[i] != e {
				t.Fatalf("%q: lost or changed", e.Name)
			}
		}
	})
}

func FuzzTreeDecode(f *testing.F) {
	raw, _ := Encode([]Entry{
		{Name: "a", Type: TypeDir, Perm: 0o755},
		{Name: "b", Type: TypeFile, Size: 1 << 40},
		{Name: "c", Type: TypeSymlink},
	})
	f.Add(raw)
	f.Add([]byte{1})
	f.Add(raw[:40])
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := Decode(raw)
		if err != nil {
			var fe *FormatError
			if entries != nil || !errors.As(err, &fe) || fe.offset > len(raw) {
				t.Fatalf("%v, %v", entries, err)
			}
			return
		}
		again, err := Encode(entries)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("malleable: %x gives %x, %v", raw, again, err)
		}
	})
}

func FuzzNoteDecode(f *testing.F) {
	raw, _ := EncodeNote([]Skip{
		{Path: "a/b", Reason: 'i'},
		{Path: "a/b", Reason: 's', Size: 7},
		{Path: "c", Reason: 'z', Size: 1 << 40},
	})
	f.Add(raw)
	f.Add([]byte{1})
	f.Add(raw[:20])
	f.Fuzz(func(t *testing.T, raw []byte) {
		skips, err := DecodeNote(raw)
		if err != nil {
			var fe *FormatError
			if skips != nil || !errors.As(err, &fe) || fe.offset > len(raw) {
				t.Fatalf("%v, %v", skips, err)
			}
			return
		}
		again, err := EncodeNote(skips)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("malleable: %x gives %x, %v", raw, again, err)
		}
	})
}
