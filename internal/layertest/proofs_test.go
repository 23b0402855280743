package layertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProofsExist holds the documents to the tests that they name: each of them must be there.
func TestProofsExist(t *testing.T) {
	dir := root(t)
	have := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipDirs[d.Name()]:
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			have[d.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range declared.FindAllSubmatch(b, -1) {
				have[string(m[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`(Test\\w+|[\\w-]+\\.txtar)`")
	named := 0
	for path, text := range documents(t, dir) {
		for _, m := range name.FindAllStringSubmatch(text, -1) {
			if named++; !have[m[1]] {
				t.Errorf("%s names %s, which does not exist", path, m[1])
			}
		}
	}
	if named < 100 {
		t.Errorf("the documents name only %d tests", named)
	}
}

// documents are the project's texts for people, by path.
func documents(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths := []string{"README.md", "DESIGN.md", "bench/README.md"}
	err := filepath.WalkDir(filepath.Join(dir, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(b)
	}
	return texts
}
