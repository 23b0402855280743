package kv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckedSparesOldOperations: an open looks only at operations that no earlier one has seen, and at the newest of
// those; a hint that is none is as good as an absent one.
func TestCheckedSparesOldOperations(t *testing.T) {
	defer func(n uint64) { checkedStep = n }(checkedStep)
	checkedStep = 8
	bg := context.Background()
	for _, c := range []struct {
		name  string
		lost  uint64 // an operation that goes away
		hint  string // in place of the file, if not ""
		found bool
	}{
		{"before", 5, "", false},
		{"the newest seen", 10, "", true},
		{"after", 15, "", true},
		{"newest", 20, "", true},
		{"no hint", 5, "none", true},
		{"flipped", 5, "11 00000000\n", true},
		{"beyond the end", 5, checkedText(30), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			open := func() (*DB, error) { return Open(bg, dir, Options{}) }
			change := func(fn func(b *Batch) error) {
				t.Helper()
				d, err := open()
				if err != nil {
					t.Fatal(err)
				}
				b := d.NewBatch()
				if err := errors.Join(fn(b), b.Commit(bg, Written), d.Close()); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(dir, nameChecked)
			for from := uint64(1); from < 20; from += 10 {
				change(func(b *Batch) error {
					var err error
					for seq := from; seq < from+10; seq++ {
						err = errors.Join(err, b.Set(OperationKey(seq), []byte("x")))
					}
					return err
				})
			}
			text, err := os.ReadFile(file) // of the second open: it saw 10
			if err != nil || string(text) != checkedText(10) {
				t.Fatalf("%q, %v", text, err)
			}
			change(func(b *Batch) error { return b.Delete(OperationKey(c.lost)) })
			if c.hint != "" {
				text = []byte(c.hint)
			}
			if err := os.WriteFile(file, text, 0o600); err != nil { // the open that lost it saw more
				t.Fatal(err)
			}
			d, err := open()
			if err == nil {
				_ = d.Close()
			}
			if errors.Is(err, ErrCorrupt) != c.found {
				t.Errorf("opened: %v", err)
			}
		})
	}
}
