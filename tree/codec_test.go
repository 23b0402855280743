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

func idOf(b byte) (id objstore.ID) {
	for i := range id {
		id[i] = b
	}
	return id
}

// The bytes of DESIGN.md 5.6, written by hand.
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
	for _, r := range Reasons() {
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
		"name": {Type: TypeFile}, "slash": {Name: "a/b", Type: TypeFile}, "long": {Name: strings.Repeat("a", 256), Type: TypeFile},
		"dots": {Name: "..", Type: TypeDir}, "type": {Name: "b"}, "size": {Name: "b", Type: TypeFile, Size: -1},
		"size of a directory": {Name: "b", Type: TypeDir, Size: 1}, "bits": {Name: "b", Type: TypeDir, Perm: 0o10000},
		"symlink bits": {Name: "b", Type: TypeSymlink, Perm: 1}, "twice": ok,
	} {
		var ee *EntryError
		if _, err := Encode([]Entry{ok, e}); !errors.As(err, &ee) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, s := range map[string]Skip{
		"reason": {Path: "b"}, "path": {Reason: 'i'}, "absolute": {Path: "/a", Reason: 'i'}, "long": {Path: strings.Repeat("a", MaxPath+1), Reason: 'i'},
		"NUL": {Path: "\x00", Reason: 'i'}, "size": {Path: "b", Reason: 'i', Size: -1}, "hash": {Path: "b", Reason: 'i', Hash: idOf(1)},
		"twice": {Path: "a", Reason: 'i'},
	} {
		var ee *EntryError
		if _, err := EncodeNote([]Skip{{Path: "a", Reason: 'i'}, s}); !errors.As(err, &ee) {
			t.Errorf("note, %s: %v", what, err)
		}
	}
}

func TestCodecRoundTrip(t *testing.T) {
	name := rapid.Map(rapid.SliceOfNDistinct(rapid.StringN(1, 100, 255), 0, 20, rapid.ID[string]), func(names []string) (ok []string) {
		for _, n := range names {
			if checkName(n) == "" {
				ok = append(ok, n)
			}
		}
		return ok
	})
	rapid.Check(t, func(t *rapid.T) {
		var entries []Entry
		for _, n := range name.Draw(t, "names") {
			e := Entry{Name: n, Type: rapid.SampledFrom([]byte("fld")).Draw(t, "type"), ID: idOf(rapid.Byte().Draw(t, "id"))}
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
			if i := find(got, e.Name); i < 0 || got[i] != e {
				t.Fatalf("%q: lost or changed", e.Name)
			}
		}
	})
}

func FuzzTreeDecode(f *testing.F) {
	raw, _ := Encode([]Entry{{Name: "a", Type: TypeDir, Perm: 0o755}, {Name: "b", Type: TypeFile, Size: 1 << 40}, {Name: "c", Type: TypeSymlink}})
	f.Add(raw)
	f.Add([]byte{1})
	f.Add(raw[:40])
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := Decode(raw)
		if err != nil {
			var fe *FormatError
			if entries != nil || !errors.As(err, &fe) || fe.Offset > len(raw) {
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
	raw, _ := EncodeNote([]Skip{{Path: "a/b", Reason: 'i'}, {Path: "a/b", Reason: 's', Size: 7}, {Path: "c", Reason: 'z', Size: 1 << 40}})
	f.Add(raw)
	f.Add([]byte{1})
	f.Add(raw[:20])
	f.Fuzz(func(t *testing.T, raw []byte) {
		skips, err := DecodeNote(raw)
		if err != nil {
			var fe *FormatError
			if skips != nil || !errors.As(err, &fe) || fe.Offset > len(raw) {
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

func FuzzCachedDecode(f *testing.F) {
	s := stamp{kind: cachedFile, perm: 0o644, size: 12, mtime: 1e18, ctime: 1e18 + 5, ino: 99}
	f.Add("a/b", appendCached(nil, "a/b", s, idOf(1)))
	f.Add("", appendCached(nil, "", stamp{kind: cachedRoot}, idOf(1)))
	f.Fuzz(func(t *testing.T, path string, raw []byte) {
		s, id, err := decodeCached(path, raw)
		if err == nil {
			if again := appendCached(nil, path, s, id); !bytes.Equal(again, raw) {
				t.Fatalf("malleable: %x gives %x", raw, again)
			}
		}
	})
}

// The bytes of DESIGN.md 5.9, written by hand, and that nothing else is taken for them.
func TestCachedGolden(t *testing.T) {
	s := stamp{kind: cachedFile, perm: 0o644, size: 300, mtime: 0x0102030405060708, ctime: 0x0102030405060708 - 3, ino: 129}
	raw := appendCached(nil, "dir/f", s, idOf(0xee))
	want := "01" + "66" + "a403" + "ac02" + "0102030405060708" + "05" + "8101" + strings.Repeat("ee", 32)
	if got := hex.EncodeToString(raw); got[:len(got)-8] != want || got[len(got)-8:] != "a6032cbb" {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	gotS, gotID, err := decodeCached("dir/f", raw)
	if err != nil || gotS != s || gotID != idOf(0xee) {
		t.Fatalf("%+v, %v, %v", gotS, gotID, err)
	}
	if _, _, err := decodeCached("dir/g", raw); err == nil {
		t.Error("taken under another path")
	}
	for bit := range len(raw) * 8 {
		bad := bytes.Clone(raw)
		bad[bit/8] ^= 1 << (bit % 8)
		var fe *FormatError
		if _, _, err := decodeCached("dir/f", bad); !errors.As(err, &fe) {
			t.Errorf("bit %d flipped: %v", bit, err)
		}
	}
	for n := range len(raw) {
		if _, _, err := decodeCached("dir/f", raw[:n]); err == nil {
			t.Errorf("cut to %d bytes: taken", n)
		}
	}
	extreme := stamp{kind: cachedSecret, perm: 0o7777, size: math.MaxInt64, mtime: math.MinInt64, ctime: math.MaxInt64, ino: math.MaxUint64}
	if got, _, err := decodeCached("x", appendCached(nil, "x", extreme, idOf(0))); err != nil || got != extreme {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSettled(t *testing.T) {
	const now = 1_000_000_000_000_000_000
	for what, c := range map[string]struct {
		s    stamp
		want bool
	}{
		"old":                     {stamp{mtime: now - 1e10 + 1, ctime: now - 1e10}, true},
		"at the guard":            {stamp{mtime: 5, ctime: now - guardFine}, true},
		"inside the guard":        {stamp{mtime: 5, ctime: now - guardFine + 1}, false},
		"mtime inside":            {stamp{mtime: now - guardFine + 1, ctime: 5}, false},
		"whole seconds":           {stamp{mtime: now - 1e9, ctime: now - 1e9}, false},
		"whole seconds, old":      {stamp{mtime: now - 2e9, ctime: now - 2e9}, true},
		"one whole second":        {stamp{mtime: now - 1e9, ctime: now - 1e9 + 1}, true},
		"the future":              {stamp{mtime: now + 1e15 + 1, ctime: now - 1e15}, false},
		"large, recently":         {stamp{size: 1e9, mtime: now - 1e9 - 1, ctime: now - 1e9 - 1}, false},
		"large, a while ago":      {stamp{size: 1e9, mtime: now - 11e9 - 1, ctime: now - 11e9 - 1}, true},
		"before 1970":             {stamp{mtime: -1e18 + 1, ctime: -1e18}, true},
		"sparse and large":        {stamp{size: math.MaxInt64, mtime: now - 1e13 + 1}, false},
		"sparse, large, long ago": {stamp{size: math.MaxInt64, mtime: now - 1e17 + 1}, true},
	} {
		if got := c.s.settled(now); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
