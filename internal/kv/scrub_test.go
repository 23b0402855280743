package kv_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"rewind/internal/kv"
)

// randomBytes gives bytes that no compression changes.
func randomBytes(n int, seed uint64) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	b := make([]byte, n)
	_, _ = r.Read(b)
	return b
}

// holding names the files below dir in which any piece of the secret is.
func holding(t *testing.T, dir string, secret []byte) (found []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for i := 0; i+16 <= len(secret) && err == nil; i += 16 {
			if bytes.Contains(b, secret[i:i+16]) {
				found = append(found, path)
				break
			}
		}
		return err
	}))
	return found
}

// TestScrub: wherever a value stood when its key was deleted or replaced, no byte of it is in any file afterwards.
func TestScrub(t *testing.T) {
	secret := randomBytes(3000, 1)
	for name, bring := range map[string]func(d *kv.DB) error{
		"log": func(d *kv.DB) error { return put(d, kv.Durable, "Obsecret", string(secret)) },
		"table": func(d *kv.DB) error {
			return errors.Join(put(d, kv.Durable, "Obsecret", string(secret)), d.Compact(bg))
		},
		"ingested": func(d *kv.DB) error {
			return d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("Obsecret"), secret })
		},
		"beneath others": func(d *kv.DB) error {
			err := errors.Join(put(d, kv.Durable, "Obsecret", string(secret)), d.Compact(bg),
				put(d, kv.Durable, "Obsecret", string(randomBytes(3000, 2))))
			return errors.Join(err, d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("Obsecret"), randomBytes(3000, 3) }))
		},
	} {
		for _, replaced := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "store")
			d := open(t, dir, kv.Options{})
			for n := uint64(1); n <= 10; n++ {
				must(t, step(d, n, 2000, kv.Written))
			}
			must(t, bring(d))
			if len(holding(t, dir, secret)) == 0 && name != "beneath others" { // a compaction may have been there
				t.Fatalf("%s: the secret was never on disk", name)
			}
			b := d.NewBatch()
			if replaced {
				must(t, b.Set([]byte("Obsecret"), []byte("nothing")))
			} else {
				must(t, b.Delete([]byte("Obsecret")))
			}
			must(t, b.Commit(bg, kv.Durable))
			must(t, d.Scrub(bg))
			if found := holding(t, dir, secret); found != nil {
				t.Errorf("%s, replaced %v: still in %q", name, replaced, found)
			}
			if n, err := checkSteps(d, 2000); n != 10 || err != nil {
				t.Errorf("%s: %d steps, %v", name, n, err)
			}
			must(t, step(d, 11, 10, kv.Durable))
			must(t, d.Close())
			if found := holding(t, dir, secret); found != nil {
				t.Errorf("%s, closed: still in %q", name, found)
			}
		}
	}
}

// TestScrubWaitsForReaders: a table that is being read is not gone yet.
func TestScrubWaitsForReaders(t *testing.T) {
	secret := randomBytes(3000, 1)
	dir := filepath.Join(t.TempDir(), "store")
	d := open(t, dir, kv.Options{})
	must(t, put(d, kv.Durable, "Obsecret", string(secret)))
	must(t, d.Compact(bg))
	done := make(chan error, 1)
	must(t, d.Scan(kv.Range{}, func(key, _ []byte) error {
		b := d.NewBatch()
		must(t, b.Delete([]byte("Obsecret")))
		must(t, b.Commit(bg, kv.Durable))
		go func() { done <- d.Scrub(bg) }()
		return kv.ErrStop
	}))
	must(t, <-done)
	if found := holding(t, dir, secret); found != nil {
		t.Errorf("still in %q", found)
	}
	must(t, d.Close())
}
