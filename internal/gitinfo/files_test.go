package gitinfo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles: a commit's files are told with kind and size, under any name, and a content is known by git's name of it.
func TestFiles(t *testing.T) {
	dir := newRepo(t)
	const odd = "an odd\n\"näme\""
	for name, text := range map[string]string{"b": "one\n", "empty": "", odd: "two\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
	r := open(t, dir)
	h, err := r.Head()
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Files(h.Commit)
	if err != nil || len(list) != 5 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, f := range list {
		text := map[string]string{"b": "one\n", "empty": "", odd: "two\n", "link": "b", "a/file": "1\n"}[f.Path]
		if f.Size != int64(len(text)) || f.Link != (f.Path == "link") || f.Executable != (f.Path == "b") {
			t.Errorf("%+v", f)
		}
		for _, holds := range []bool{true, false} {
			has := text
			if !holds {
				has = strings.ToUpper(text) + "\n"
			}
			if ok, err := f.Holds(strings.NewReader(has)); ok != holds || err != nil {
				t.Errorf("%q holds %q: %v, %v", f.Path, has, ok, err)
			}
		}
	}
	if _, err := r.Files("main"); err == nil {
		t.Error("a name was taken for a commit")
	}
}
