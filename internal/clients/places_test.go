package clients

import (
	"path/filepath"
	"slices"
	"testing"
)

// However many sessions a look is asked for, it finds the files that filepath.Glob finds.
func TestFilesAreThoseOfGlob(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"p/a/s1.jsonl", "p/a/s2.jsonl", "p/b/s1.jsonl", "p/b/rollout-s2-x.jsonl", "p/b/rollout-s2.jsonl", "p/f"} {
		put(t, filepath.Join(root, filepath.FromSlash(name)), "")
	}
	look := new(Processes)
	for range fewPlaces {
		for _, name := range []string{"s1.jsonl", "s2.jsonl", "s3.jsonl", "rollout-*s2*.jsonl", "s?.json*"} {
			in := filepath.Join(root, "p", "*")
			want, err := filepath.Glob(filepath.Join(in, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := look.files(in, name); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}
