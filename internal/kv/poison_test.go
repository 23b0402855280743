package kv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/internal/kv"
)

// A store that failed three times within five minutes is only read; anything less is forgotten.
func TestStoreThatKeepsFailing(t *testing.T) {
	dir := t.TempDir()
	d, err := kv.Open(bg, dir, kv.Options{})
	must(t, err)
	must(t, step(d, 1, 100, kv.Durable))
	must(t, d.Close())
	at := func(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format(time.RFC3339) }
	long := strings.Repeat("x", 10<<10)
	for name, c := range map[string]struct {
		text string
		only bool // to be read
	}{
		"three":           {at(4*time.Minute) + " a\n" + at(time.Minute) + " b\n" + at(0) + " c d\n", true},
		"two":             {at(time.Minute) + " b\n" + at(0) + " c\n", false},
		"long ago":        {at(6*time.Minute) + " a\n" + at(time.Minute) + " b\n" + at(0) + " c\n", false},
		"in an hour":      {at(-time.Hour) + " a\n" + at(-time.Hour) + " b\n" + at(-time.Hour) + " c\n", false},
		"no times":        {"a\nb\nc\nd\n", false},
		"empty":           {"", false},
		"cut":             {at(0) + " a\n" + at(0) + " b\n" + at(0), true},
		"without an end":  {at(0) + " a\n" + at(0) + " b\n" + long + long, false},
		"damage between":  {at(0) + " a\n\x00\xff\n" + at(0) + " b\n\n" + at(0) + " c\n", true},
		"more than three": {strings.Repeat(at(0)+" a\n", 5), true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "last-fatal"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := kv.Open(bg, dir, kv.Options{})
			must(t, err)
			if got := errors.Is(d.Damage(), kv.ErrReadOnly); got != c.only || !c.only && d.Damage() != nil {
				t.Errorf("damage: %v", d.Damage())
			}
			if _, err := d.Has(kv.OperationKey(1)); err != nil {
				t.Errorf("read: %v", err)
			}
			if err := put(d, kv.Written, "sname", "value"); errors.Is(err, kv.ErrReadOnly) != c.only || !c.only && err != nil {
				t.Errorf("write: %v", err)
			}
			must(t, d.Close())
		})
	}
}
