package workload

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// put writes a file and its folders.
func put(t *testing.T, root, name, text string, mode os.FileMode) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// No content comes twice, whichever root it is in; the share of what was skipped is told; a tree has the first files of
// the corpus, with their bytes and modes.
func TestAssemble(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "lib"), filepath.Join(t.TempDir(), "lib")
	put(t, a, "a/one.go", "one", 0o644)
	put(t, a, "a/run.sh", "run", 0o755)
	put(t, a, "b/copy.go", "one", 0o644)
	put(t, a, ".gitignore", "*.go", 0o644)
	put(t, a, "b/.gitattributes", "* text", 0o644)
	put(t, a, "keys/tls.pem", "secret", 0o644)
	put(t, a, "node_modules/x/index.js", "x", 0o644)
	put(t, b, "a/one.go", "one", 0o644)
	put(t, b, "two.go", "two", 0o644)
	c, err := Assemble(t.Context(), []string{a, b}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 3 || c.Seen != 5 || c.Copies != 2 || c.SeenBytes != 15 || c.CopiedBytes != 6 || c.LeftOut != 4 {
		t.Errorf("%+v", c)
	}
	if s := c.String(); !strings.Contains(s, "skipped 2 copies of them (40.0 % of the files, 40.0 % of the bytes)") {
		t.Error(s)
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if err := c.Lay(t.Context(), dir, 3); err != nil {
		t.Fatal(err)
	}
	want := map[string]Digest{
		"lib/a/one.go": Hash(File{}, []byte("one")),
		"lib/a/run.sh": Hash(File{Exec: runtime.GOOS != "windows"}, []byte("run")), "lib-2/two.go": Hash(File{}, []byte("two")),
	}
	if err := SameTree(t.Context(), dir, want); err != nil {
		t.Error(err)
	}
	if err := c.Lay(t.Context(), t.TempDir(), 4); err == nil {
		t.Error("a tree of more files than there are was laid out")
	}
	small, err := Assemble(t.Context(), []string{a}, 1)
	if err != nil || small.Len() != 1 || small.files[0].to != "a/one.go" {
		t.Errorf("one file of one root: %+v, %v", small, err)
	}
}

// Names are bytes.
func TestAssembleOddNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: a file system that takes any name")
	}
	root := t.TempDir()
	names := []string{"a b/c\td.go", "new\nline/x", "\xff\xfe/raw", "-n", "'q\"/$HOME", "cafe\u0301/é", "dir/..."}
	want := map[string]Digest{}
	for _, name := range names {
		put(t, root, name, name, 0o600)
		want[name] = Hash(File{}, []byte(name))
	}
	c, err := Assemble(t.Context(), []string{root}, len(names))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if err := c.Lay(t.Context(), dir, len(names)); err != nil {
		t.Fatal(err)
	}
	if err := SameTree(t.Context(), dir, want); err != nil {
		t.Error(err)
	}
	delete(want, "-n")
	if err := SameTree(t.Context(), dir, want); err == nil {
		t.Error("a file too many was not seen")
	}
	want["-n"] = Digest{}
	if err := SameTree(t.Context(), dir, want); err == nil {
		t.Error("another file was not seen")
	}
	want["gone"] = Digest{}
	put(t, dir, "-n", "-n", 0o600)
	want["-n"] = Hash(File{}, []byte("-n"))
	if err := SameTree(t.Context(), dir, want); err == nil {
		t.Error("a missing file was not seen")
	}
}
