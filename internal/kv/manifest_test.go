package kv

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// TestPromise06EveryBitOfTheManifest: whichever bit of the MANIFEST flips, and wherever it is cut, it is told, and the
// store does not open: else pebble would remove the tables that it has forgotten. One that is as its owner left it
// opens.
func TestPromise06EveryBitOfTheManifest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	d, err := Open(t.Context(), dir, Options{})
	for i := 0; err == nil && i < 3; i++ {
		err = d.Ingest(t.Context(), 2, func(k int) ([]byte, []byte) { return fmt.Appendf(nil, "oz%d%d", i, k), []byte("loaded") })
	}
	if err == nil {
		err = d.Close()
	}
	name, n, ok := ondisk.ReadManifestOffset(vfs.Default, filepath.Join(dir, nameDB))
	path := filepath.Join(dir, nameDB, name)
	whole, rerr := os.ReadFile(path)
	if err != nil || rerr != nil || !ok || int64(len(whole)) != n {
		t.Fatalf("%v, %v; extent: %v, %d of %d bytes", err, rerr, ok, n, len(whole))
	}
	check := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		err := ondisk.CheckManifest(vfs.Default, filepath.Join(dir, nameDB))
		if bytes.Equal(b, whole) != (err == nil) || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tables, _ := filepath.Glob(filepath.Join(dir, nameDB, "*.sst"))
	for bit := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		check(fmt.Sprintf("bit %d of %d", bit, 8*len(whole)), b)
		if bit%97 > 0 {
			continue
		}
		if d, err := Open(t.Context(), dir, Options{}); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d: the store opens: %v, %v", bit, d != nil, err)
		}
		if now, _ := filepath.Glob(filepath.Join(dir, nameDB, "*.sst")); len(tables) == 0 || !slices.Equal(now, tables) {
			t.Fatalf("bit %d: tables %q, were %q", bit, now, tables)
		}
	}
	for n := range whole {
		check(fmt.Sprintf("cut at %d of %d", n, len(whole)), whole[:n])
	}
	check("whole", whole)
	if err := os.WriteFile(path, append(bytes.Clone(whole), "torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ondisk.CheckManifest(vfs.Default, filepath.Join(dir, nameDB)); err != nil {
		t.Errorf("what lies behind the extent was torn: %v", err)
	}
}
