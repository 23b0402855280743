package kv

import (
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestSyncedIsReadStrictly(t *testing.T) {
	whole := syncedLogs{57, map[uint64]int64{12: 4096, 14: 0}}
	good := whole.text()
	if want := "57 12:4096 14:0 "; len(good) != len(want)+9 || good[:len(want)] != want {
		t.Fatalf("%q", good)
	}
	read := func(text string) (syncedLogs, bool) {
		f := vfs.NewMem()
		h, err := f.Create(nameSynced, vfs.WriteCategoryUnspecified)
		if err == nil {
			_, err = h.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return readSynced(f, "")
	}
	for _, text := range []string{good, good + "4:77 rest of a longer one\n"} {
		if s, ok := read(text); !ok || s.newest != 57 || !maps.Equal(s.logs, whole.logs) {
			t.Errorf("%q: %v, %v", text, s, ok)
		}
	}
	if s, ok := read(syncedLogs{}.text()); !ok || s.newest != 0 || len(s.logs) != 0 {
		t.Errorf("nothing: %v, %v", s, ok)
	}
	for _, text := range []string{
		"", "\n", " ", "x", "7", good[1:], good[:20],
		sealed("57 14:0 12:4096"), sealed("57 12:4096 12:4096"), sealed("57  12:4"), sealed("57 12"), sealed(""),
	} {
		if s, ok := read(text); ok {
			t.Errorf("%q is read as %v", text, s)
		}
	}
	for bit := range 8 * (len(good) - 1) {
		b := []byte(good)
		b[bit/8] ^= 1 << (bit % 8)
		if s, ok := read(string(b)); ok {
			t.Errorf("%q is read as %v", b, s)
		}
	}
}

func TestOldestInEdit(t *testing.T) {
	for text, want := range map[string]uint64{
		"":                                     0,
		"\x01\x03abc\x02\x0c\x09\x00":          12,
		"\x02\x80\x01\x03\x10":                 128,
		"\x01\x03abc\x03\x0d":                  0,
		"\x01\x05abc":                          0,
		"\x01\xff\xff\xff\xff\xff\xff\xff\x7f": 0,
		"\x02":                                 0,
		"\xff":                                 0,
	} {
		if got := oldestInEdit([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
