package ondisk

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestExtentIsReadStrictly(t *testing.T) {
	good := ManifestOffsetLine("MANIFEST-000010", 179)
	if want := "MANIFEST-000010 0000000000000000179 "; !strings.HasPrefix(good, want) || len(good) != len(want)+9 {
		t.Fatalf("%q", good)
	}
	read := func(text string) (string, int64, bool) {
		f := vfs.NewMem()
		h, err := f.Create(ManifestOffsetFile, vfs.WriteCategoryUnspecified)
		if err == nil {
			_, err = h.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return ReadManifestOffset(f, "")
	}
	for _, text := range []string{good, good + "rest of a longer one\n"} {
		if name, n, ok := read(text); name != "MANIFEST-000010" || n != 179 || !ok {
			t.Errorf("%q: %q, %d, %v", text, name, n, ok)
		}
	}
	for _, text := range []string{
		"", "\n", " ", "x", good[1:], good[:20], Sealed("MANIFEST-000010 179"), Sealed("MANIFEST-000010"), Sealed(""),
	} {
		if name, n, ok := read(text); ok {
			t.Errorf("%q is read as %q, %d", text, name, n)
		}
	}
	for bit := range 8 * (len(good) - 1) {
		b := []byte(good)
		b[bit/8] ^= 1 << (bit % 8)
		if name, n, ok := read(string(b)); ok {
			t.Errorf("%q is read as %q, %d", b, name, n)
		}
	}
}
