package tree

import "testing"

func TestIsGitDir(t *testing.T) {
	const file, dir, link = 'f', 'd', 'l'
	type names map[string]rune
	for _, c := range []struct {
		what, name string
		names      names
		want       bool
	}{
		{"a repository", "x", names{"HEAD": file, "objects": dir, "refs": dir, "config": file}, true},
		{"of the repo tool, with links", "x", names{"HEAD": link, "objects": link, "refs": link}, true},
		{"without refs", "x", names{"HEAD": file, "objects": dir}, false},
		{"HEAD is a directory", "x", names{"HEAD": dir, "objects": dir, "refs": dir}, false},
		{"refs is a file", "x", names{"HEAD": file, "objects": dir, "refs": file}, false},
		{"a place for objects", "x", names{"info": dir, "pack": dir, "0f": dir, "ab": dir}, true},
		{"one that is empty", "x", names{"info": dir, "pack": dir}, false},
		{"commands that are called so", "x", names{"info": dir, "pack": dir, "ab": dir, "add": dir}, false},
		{"with a file", "x", names{"info": dir, "pack": dir, "ab": dir, "main.go": file}, false},
		{"the repo tool's", ".repo", names{"projects": dir, "manifest.xml": file}, true},
		{"called as the repo tool's", ".repo", names{"notes": dir}, false},
		{"projects elsewhere", "repo", names{"projects": dir}, false},
		{"empty", "x", nil, false},
	} {
		got := IsGitDir(c.name, func(yield func(DirName) bool) {
			for n, kind := range c.names {
				if !yield(DirName{Name: n, File: kind == file, Dir: kind == dir}) {
					return
				}
			}
		})
		if got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
