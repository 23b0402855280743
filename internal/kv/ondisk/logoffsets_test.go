package ondisk

import (
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestSyncedIsReadStrictly(t *testing.T) {
	whole := LogOffsets{57, map[uint64]int64{12: 4096, 14: 0}}
	good := whole.Line()
	if want := "57 12:4096 14:0 "; len(good) != len(want)+9 || good[:len(want)] != want {
		t.Fatalf("%q", good)
	}
	read := func(text string) (LogOffsets, bool) {
		f := vfs.NewMem()
		h, err := f.Create(LogOffsetsFile, vfs.WriteCategoryUnspecified)
		if err == nil {
			_, err = h.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return ReadLogOffsets(f, "")
	}
	for _, text := range []string{good, good + "4:77 rest of a longer one\n"} {
		if s, ok := read(text); !ok || s.Newest != 57 || !maps.Equal(s.Logs, whole.Logs) {
			t.Errorf("%q: %v, %v", text, s, ok)
		}
	}
	if s, ok := read(LogOffsets{}.Line()); !ok || s.Newest != 0 || len(s.Logs) != 0 {
		t.Errorf("nothing: %v, %v", s, ok)
	}
	for _, text := range []string{
		"", "\n", " ", "x", "7", good[1:], good[:20],
		Sealed("57 14:0 12:4096"), Sealed("57 12:4096 12:4096"), Sealed("57  12:4"), Sealed("57 12"), Sealed(""),
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
