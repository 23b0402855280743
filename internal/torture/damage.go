package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A Damage is something that can happen to one file of a store.
type Damage struct {
	Name string
	// Do does it, and says what it did; "": nothing of the kind can happen to this file. older are paths of what the
	// file was before, and of earlier files of its kind that are not there any more.
	Do func(r *rand.Rand, path string, older []string) (did string, err error)
}

// Damages are all of them.
var Damages = []Damage{
	{"flip", func(r *rand.Rand, path string, _ []string) (string, error) {
		return rewrite(path, func(b []byte) ([]byte, string) {
			i, bit := r.IntN(len(b)), r.IntN(8)
			b[i] ^= 1 << bit
			return b, fmt.Sprintf("bit %d of byte %d of %d", bit, i, len(b))
		})
	}},
	{"zero block", func(r *rand.Rand, path string, _ []string) (string, error) {
		return rewrite(path, func(b []byte) ([]byte, string) {
			from := r.IntN(len(b)) / 4096 * 4096
			to := min(from+4096, len(b))
			clear(b[from:to])
			return b, fmt.Sprintf("bytes %d to %d of %d zeroed", from, to, len(b))
		})
	}},
	{"cut", func(r *rand.Rand, path string, _ []string) (string, error) {
		return rewrite(path, func(b []byte) ([]byte, string) {
			n := r.IntN(len(b))
			return b[:n], fmt.Sprintf("cut at %d of %d", n, len(b))
		})
	}},
	{"remove", func(_ *rand.Rand, path string, _ []string) (string, error) { return "removed", os.Remove(path) }},
	{"append", func(r *rand.Rand, path string, _ []string) (string, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		more := make([]byte, 1+r.IntN(5000))
		if r.IntN(2) == 0 {
			for i := range more {
				more[i] = byte(r.Uint32())
			}
		}
		return fmt.Sprintf("%d bytes appended", len(more)), os.WriteFile(path, append(b, more...), 0o600)
	}},
	{"older", func(r *rand.Rand, path string, older []string) (string, error) {
		if len(older) == 0 {
			return "", nil
		}
		from := older[r.IntN(len(older))]
		b, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		// One that has another name takes the place of what came after it, or lies beside that.
		to := filepath.Join(filepath.Dir(path), filepath.Base(from))
		what := "put back from " + from
		if to != path && r.IntN(2) == 0 {
			what += ", " + filepath.Base(path) + " is gone"
			if err := os.Remove(path); err != nil {
				return "", err
			}
		}
		return what, os.WriteFile(to, b, 0o600)
	}},
}

func rewrite(path string, fn func([]byte) ([]byte, string)) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return "", err
	}
	b, what := fn(b)
	return what, os.WriteFile(path, b, 0o600)
}
