package layertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProofsExist holds DESIGN.md to the tests that it names: each of them must be there.
func TestProofsExist(t *testing.T) {
	dir := root(t)
	design, err := os.ReadFile(filepath.Join(dir, "DESIGN.md"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
	named := regexp.MustCompile("`(Test\\w+|[\\w-]+\\.txtar)`").FindAllSubmatch(design, -1)
	if len(named) < 20 {
		t.Fatalf("DESIGN.md names only %d tests", len(named))
	}
	for _, m := range named {
		if !have[string(m[1])] {
			t.Errorf("DESIGN.md names %s, which does not exist", m[1])
		}
	}
}
