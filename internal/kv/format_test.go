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

// TestT19Promise16Refused: newer, earlier, foreign and damaged stores are refused with nothing touched, not even a lock
// file made.
func TestT19Promise16Refused(t *testing.T) {
	store := func(format string) map[string]string {
		return map[string]string{"format": format, "db/CURRENT": "x", "project.json": "{}"}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  error
	}{
		"newer":                  {store("rewind format 2\n"), kv.ErrNewerFormat},
		"much newer":             {store("rewind format 18446744073709551615\n"), kv.ErrNewerFormat},
		"newer with more":        {store("rewind format 2 lines=2\nmore\n"), kv.ErrNewerFormat},
		"newer, alone":           {map[string]string{"format": "rewind format 2\n"}, kv.ErrNewerFormat},
		"newer, twice":           {store("rewind format 2 2\n"), kv.ErrNewerFormat},
		"earlier, 1":             {store("rewind-store 1\n"), kv.ErrEarlierFormat},
		"earlier, 5":             {store("rewind-store 5 5\n"), kv.ErrEarlierFormat},
		"earlier, alone":         {map[string]string{"format": "rewind-store 3 3\n"}, kv.ErrEarlierFormat},
		"zero":                   {store("rewind format 0\n"), kv.ErrCorrupt},
		"no number":              {store("rewind format \n"), kv.ErrCorrupt},
		"leading zero":           {store("rewind format 01 01\n"), kv.ErrCorrupt},
		"too large a number":     {store("rewind format 99999999999999999999\n"), kv.ErrCorrupt},
		"no newline":             {store("rewind format 1 1"), kv.ErrCorrupt},
		"newer, no newline":      {store("rewind format 2"), kv.ErrCorrupt},
		"more":                   {store("rewind format 1 1\nmore"), kv.ErrCorrupt},
		"carriage return":        {store("rewind format 1 1\r\n"), kv.ErrCorrupt},
		"only once":              {store("rewind format 1\n"), kv.ErrCorrupt},
		"twice and different":    {store("rewind format 1 2\n"), kv.ErrCorrupt},
		"newer and different":    {store("rewind format 3 1\n"), kv.ErrCorrupt},
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
		"only format":            {map[string]string{"format": "rewind format 1 1\n"}, kv.ErrCorrupt},
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
			if errors.Is(err, kv.ErrNewerFormat) &&
				(!errors.As(err, &fe) || fe.Found < 2 || fe.Supported != 1 || !strings.Contains(err.Error(), "up to 1")) {
				t.Errorf("versions: %v", err)
			}
			if name == "only format" {
				return // the format is right, so it was locked
			}
			sameTree(t, name, before, tree(t, dir))
		})
	}
}

// released copies the store of testdata, which a released version has made.
func released(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	must(t, os.CopyFS(dir, os.DirFS(fmt.Sprintf("testdata/v%d", kv.FormatVersion))))
	return dir
}

// TestT19ReleasedStores: everything is there, and it goes on.
func TestT19ReleasedStores(t *testing.T) {
	dir := released(t)
	for range 2 {
		d := open(t, dir, kv.Options{})
		if n, err := checkSteps(d, 100); n < 20 || err != nil {
			t.Errorf("%d steps, %v", n, err)
		}
		must(t, step(d, d.LastSeq()+1, 100, kv.Durable))
		must(t, d.Close())
	}
}

// TestT19OnlyRead: who only reads a store changes nothing, whatever is wrong with it.
func TestT19OnlyRead(t *testing.T) {
	files := func(dir string) map[string]string { // that opening a store does not change
		all := tree(t, dir)
		for name := range all {
			if base := filepath.Base(name); base == "lock" || base == "LOCK" || strings.HasPrefix(all[name], "d") {
				delete(all, name)
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		tide string
		o    kv.Options
		want error
	}{
		"read only":          {"20\n", kv.Options{ReadOnly: true}, nil},
		"salvage":            {"20\n", kv.Options{Salvage: true, ReadOnly: true}, nil},
		"damaged, salvage":   {"21\n", kv.Options{Salvage: true}, nil},
		"damaged, read only": {"21\n", kv.Options{ReadOnly: true}, kv.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			dir := released(t)
			write(t, filepath.Join(dir, "tide"), c.tide)
			before := files(dir)
			d, err := kv.Open(bg, dir, c.o)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err == nil {
				if op, err := get(d, kv.OperationKey(20)); string(op) != "operation 20" {
					t.Errorf("operation 20: %q, %v", op, err)
				}
				if err := step(d, 21, 100, kv.Durable); err == nil {
					t.Error("written to")
				}
				if damaged := c.tide != "20\n"; damaged != (d.Damage() != nil) {
					t.Errorf("damage: %v", d.Damage())
				}
				must(t, d.Close())
			}
			sameTree(t, name, before, files(dir))
		})
	}
}

// TestT19StampDamage: one flipped bit of the file format never makes a store that is read, and the file and the key do
// not differ.
func TestT19StampDamage(t *testing.T) {
	dir := released(t)
	line, err := os.ReadFile(filepath.Join(dir, "format"))
	must(t, err)
	for bit := range 8 * len(line) {
		b := []byte(string(line))
		b[bit/8] ^= 1 << (bit % 8)
		write(t, filepath.Join(dir, "format"), string(b))
		before := tree(t, dir)
		for _, o := range []kv.Options{{}, {Salvage: true}} {
			_, err := kv.Open(bg, dir, o)
			if !errors.Is(err, kv.ErrCorrupt) && !errors.Is(err, kv.ErrForeign) && !errors.Is(err, kv.ErrNewerFormat) {
				t.Fatalf("%q was opened: %v", b, err)
			}
			sameTree(t, fmt.Sprintf("%q", b), before, tree(t, dir))
		}
	}
	for key, ok := range map[string]bool{
		"\x01": true, "": false, "\x00": false, "\x02": false, "\x05": false, "\x81\x00": false, "\x01\x00": false,
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02": false,
	} {
		dir := filepath.Join(t.TempDir(), "store")
		d := open(t, dir, kv.Options{})
		must(t, step(d, 1, 100, kv.Durable))
		must(t, put(d, kv.Durable, "f", key))
		must(t, d.Close())
		if d, err = kv.Open(bg, dir, kv.Options{}); !ok {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("key %x: %v", key, err)
			}
			continue
		}
		must(t, err)
		must(t, d.Clone(dir+"-clone"))
		must(t, d.Close())
		must(t, open(t, dir+"-clone", kv.Options{ReadOnly: true}).Close())
	}
}

// TestMakeReleasedStore writes the store of this format, when asked to: KV_MAKE_TESTDATA=1 go test -run
// MakeReleasedStore. It is in part in tables and in part in the log.
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
		must(t, d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("Oz"), []byte("v") }))
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
