package snapshot

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

func FuzzCachedDecode(f *testing.F) {
	s := stamp{kind: cachedFile, perm: 0o644, size: 12, mtime: 1e18, ctime: 1e18 + 5, ino: 99}
	f.Add("a/b", appendCached(nil, "a/b", s, idOf(1)))
	f.Add("", appendCached(nil, "", stamp{kind: cachedRoot}, idOf(1)))
	f.Fuzz(func(t *testing.T, path string, raw []byte) {
		s, id, ok := decodeCached(path, raw)
		if ok {
			if again := appendCached(nil, path, s, id); !bytes.Equal(again, raw) {
				t.Fatalf("malleable: %x gives %x", raw, again)
			}
		}
	})
}

// The bytes of docs/format.md#stat-cache-entry, written by hand, and that nothing else is taken for them.
func TestCachedGolden(t *testing.T) {
	s := stamp{kind: cachedFile, perm: 0o644, size: 300, mtime: 0x0102030405060708, ctime: 0x0102030405060708 - 3, ino: 129}
	raw := appendCached(nil, "dir/f", s, idOf(0xee))
	want := "01" + "66" + "a403" + "ac02" + "0102030405060708" + "05" + "8101" + strings.Repeat("ee", 32)
	if got := hex.EncodeToString(raw); got[:len(got)-8] != want || got[len(got)-8:] != "a6032cbb" {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	gotS, gotID, ok := decodeCached("dir/f", raw)
	if !ok || gotS != s || gotID != idOf(0xee) {
		t.Fatalf("%+v, %v, %v", gotS, gotID, ok)
	}
	if _, _, ok := decodeCached("dir/g", raw); ok {
		t.Error("taken under another path")
	}
	for bit := range len(raw) * 8 {
		bad := bytes.Clone(raw)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, _, ok := decodeCached("dir/f", bad); ok {
			t.Errorf("bit %d flipped: taken", bit)
		}
	}
	for n := range len(raw) {
		if _, _, ok := decodeCached("dir/f", raw[:n]); ok {
			t.Errorf("cut to %d bytes: taken", n)
		}
	}
	extreme := stamp{kind: cachedSecret, perm: 0o7777, size: math.MaxInt64, mtime: math.MinInt64, ctime: math.MaxInt64, ino: math.MaxUint64}
	if got, _, ok := decodeCached("x", appendCached(nil, "x", extreme, idOf(0))); !ok || got != extreme {
		t.Errorf("%+v, %v", got, ok)
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
		if got := c.s.reliable(now); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
