package gitinfo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Holds says of every kind of index what git ls-files says.
func TestHolds(t *testing.T) {
	sandbox(t)
	below := func(path []byte) bool { return string(path) == "d" || strings.HasPrefix(string(path), "d/") }
	for _, c := range []struct {
		name  string
		names []string
		modes []string
		holds bool
	}{
		{"nothing", nil, nil, false},
		{"other names", []string{"a", "dd/x", "c/d/x"}, nil, false},
		{"a file below", []string{"a", "d/x/y", "e"}, nil, true},
		{"a link", []string{"a", "d"}, []string{"100644", "120000"}, true},
		{"a submodule", []string{"a", "d"}, []string{"100644", "160000"}, true},
	} {
		for _, how := range []string{"2", "4", "split"} {
			dir := newRepo(t)
			if c.names != nil {
				fill(t, dir, c.names, c.modes...)
				if how == "split" {
					git(t, dir, "update-index", "--split-index")
				} else {
					git(t, dir, "update-index", "--index-version", how)
				}
			}
			if got, err := open(t, dir).Holds(below); err != nil || got != c.holds {
				t.Errorf("%s, %s: %v, %v", c.name, how, got, err)
			}
		}
	}
	dir := newRepo(t)
	fill(t, dir, []string{"a"})
	if err := os.WriteFile(filepath.Join(dir, ".git", "index"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).Holds(below); err == nil {
		t.Error("an index of zeros is read")
	}
}
