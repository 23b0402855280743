package kv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
)

// tree is every file below dir with its content and mode, and every directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + info.ModTime().String()
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = info.Mode().String() + "\n" + string(b)
		}
		all[strings.TrimPrefix(path, dir)] = text
		return nil
	}))
	return all
}

func sameTree(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s: %s was changed or removed", what, name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s: %s was made", what, name)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestT19Promise16Refused: newer, foreign and damaged stores are refused with nothing touched, not even a lock file made.
func TestT19Promise16Refused(t *testing.T) {
	store := func(format string) map[string]string {
		return map[string]string{"format": format, "db/CURRENT": "x", "project.json": "{}"}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  error
	}{
		"newer":                  {store("rewind-store 6\n"), kv.ErrNewerFormat},
		"much newer":             {store("rewind-store 18446744073709551615\n"), kv.ErrNewerFormat},
		"newer with more":        {store("rewind-store 6 lines=2\nmore\n"), kv.ErrNewerFormat},
		"newer, alone":           {map[string]string{"format": "rewind-store 6\n"}, kv.ErrNewerFormat},
		"zero":                   {store("rewind-store 0\n"), kv.ErrCorrupt},
		"no number":              {store("rewind-store \n"), kv.ErrCorrupt},
		"leading zero":           {store("rewind-store 03 03\n"), kv.ErrCorrupt},
		"too large a number":     {store("rewind-store 99999999999999999999\n"), kv.ErrCorrupt},
		"no newline":             {store("rewind-store 3 3"), kv.ErrCorrupt},
		"newer, no newline":      {store("rewind-store 6"), kv.ErrCorrupt},
		"older, no newline":      {store("rewind-store 2"), kv.ErrCorrupt},
		"more":                   {store("rewind-store 3 3\nmore"), kv.ErrCorrupt},
		"older with more":        {store("rewind-store 1\nmore"), kv.ErrCorrupt},
		"carriage return":        {store("rewind-store 3 3\r\n"), kv.ErrCorrupt},
		"empty format":           {store(""), kv.ErrForeign},
		"other format":           {store("restic 1\n"), kv.ErrForeign},
		"binary format":          {store("\x00\xff\x00"), kv.ErrForeign},
		"a file":                 {map[string]string{"notes.txt": "mine"}, kv.ErrForeign},
		"a hidden file":          {map[string]string{".x": ""}, kv.ErrForeign},
		"a directory":            {map[string]string{"src/main.go": "package main"}, kv.ErrForeign},
		"a pebble database":      {map[string]string{"db/MANIFEST-000001": "x"}, kv.ErrForeign},
		"a lock":                 {map[string]string{"lock": ""}, kv.ErrForeign},
		"making and more":        {map[string]string{"making": "", "thesis.tex": "x"}, kv.ErrForeign},
		"format gone":            {map[string]string{"tide": "9\n", "db/MANIFEST-000001": "x"}, kv.ErrCorrupt},
		"format gone and making": {map[string]string{"making": "", "tide": "9\n", "db/x": "x"}, kv.ErrCorrupt},
		"only once":              {store("rewind-store 3\n"), kv.ErrCorrupt},
		"twice and different":    {store("rewind-store 3 2\n"), kv.ErrCorrupt},
		"older, twice":           {store("rewind-store 2 2\n"), kv.ErrCorrupt},
		"newer, twice":           {store("rewind-store 6 6\n"), kv.ErrNewerFormat},
		"only format":            {map[string]string{"format": "rewind-store 3 3\n"}, kv.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			for file, text := range c.files {
				write(t, filepath.Join(dir, file), text)
			}
			before := tree(t, dir)
			_, err := kv.Open(bg, dir, kv.Options{})
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("does not name the store: %v", err)
			}
			var fe *kv.FormatError
			if errors.As(err, &fe) && (fe.Found < 6 || fe.Supported != 5 || !strings.Contains(err.Error(), "up to 5")) {
				t.Errorf("versions: %v", err)
			}
			if name == "only format" {
				return // the format is right, so it was locked
			}
			sameTree(t, name, before, tree(t, dir))
		})
	}
}

// TestT19ReleasedStores opens a copy of the store of every released format: everything is there, and it has the format of
// docs/format.md#key-space from then on.
func TestT19ReleasedStores(t *testing.T) {
	stores, err := filepath.Glob("testdata/v*")
	must(t, err)
	if len(stores) != kv.FormatVersion {
		t.Fatalf("%d stores for %d formats", len(stores), kv.FormatVersion)
	}
	for i, s := range stores {
		want := max(uint64(i+1), kv.FormatAtOpen)
		dir := filepath.Join(t.TempDir(), "store")
		must(t, os.CopyFS(dir, os.DirFS(s)))
		for range 2 {
			d := open(t, dir, kv.Options{})
			if n, err := checkSteps(d, 100); n < 20 || err != nil {
				t.Errorf("%s: %d steps, %v", s, n, err)
			}
			if file, key := stamps(t, vfs.Default, dir, d); file != want || key != want {
				t.Errorf("%s: the file has %d, the key %d", s, file, key)
			}
			must(t, step(d, d.LastSeq()+1, 100, kv.Durable))
			must(t, d.Close())
		}
	}
}

// TestMakeReleasedStore writes the store of this format, when asked to: KV_MAKE_TESTDATA=1 go test -run MakeReleasedStore. It is in
// part in tables and in part in the log.
func TestMakeReleasedStore(t *testing.T) {
	dir := fmt.Sprintf("testdata/v%d", kv.FormatVersion)
	if os.Getenv("KV_MAKE_TESTDATA") == "" {
		if _, err := os.Stat(dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	d := open(t, dir, kv.Options{})
	for n := uint64(1); n <= 20; n++ {
		must(t, step(d, n, 100, kv.Durable))
		if n == 10 {
			must(t, d.Compact(bg))
		}
	}
	must(t, d.RaiseFormat(kv.FormatVersion))
	must(t, d.Close())
	for _, name := range []string{"ballast", "lock", "db/LOCK"} {
		must(t, os.Remove(filepath.Join(dir, name)))
	}
}

// TestPromise15Private: directories 0700 and files 0600, whatever the umask.
func TestPromise15Private(t *testing.T) {
	if dir := os.Getenv("KV_TEST_PRIVATE"); dir != "" {
		d := open(t, dir, kv.Options{})
		for n := uint64(1); n < 20; n++ {
			must(t, step(d, n, 5000, kv.Durable))
		}
		must(t, d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("oz"), []byte("v") }))
		must(t, d.Compact(bg))
		must(t, d.Clone(dir+"-clone"))
		must(t, d.Close())
		return
	}
	exe, err := os.Executable()
	must(t, err)
	for _, umask := range []string{"000", "022", "077"} {
		base := filepath.Join(t.TempDir(), "base")
		cmd := exec.Command("sh", "-c", "umask "+umask+`; exec "$0" -test.run='^TestPromise15Private$'`, exe)
		cmd.Env = append(os.Environ(), "KV_TEST_PRIVATE="+filepath.Join(base, "store"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		n := 0
		must(t, filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if e.IsDir() {
				want = 0o700
			}
			if n++; info.Mode().Perm() != want && path != base {
				t.Errorf("umask %s: %s is %v", umask, path, info.Mode())
			}
			return nil
		}))
		if n < 20 {
			t.Errorf("only %d files", n)
		}
	}
}
