package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"rewind/tree"
)

// gitDir is a directory as git makes one.
func gitDir(at string) map[string]string {
	return map[string]string{
		at + "/HEAD": "ref: refs/heads/main\n", at + "/objects/info/packs": "", at + "/objects/pack/p": "", at +
			"/objects/ab/cd": "o",
		at + "/refs/heads/main": "1\n", at + "/index": "i",
	}
}

// What is git's is not captured, by whatever name, tracked and forced neither; what only resembles it is.
func TestPromise10ForeignDirectories(t *testing.T) {
	root := tempTree(t)
	files := map[string]string{
		"a": "1", "sub/f": "1", "cmd/pack/main.go": "1", "cmd/info/main.go": "1", "like/HEAD": "1",
		"like/objects/o": "1",
		"linked/.git":    "linked", "linked/f": "1", "module/.git": "module", "module/f": "1", "shared/info/a": "",
		"shared/pack/b": "",
		"shared/ab/c":   "", ".repo/manifests.git/HEAD": "", ".repo/project-objects/a.git/objects/x": "", "named/f": "1",
		"empty/HEAD": "", "empty/objects/x": "", "empty/refs/x": "",
	}
	for _, more := range []map[string]string{
		gitDir(".bare"), gitDir("deep/down/server.git"),
		gitDir("build/fixture.git"),
	} {
		for path, data := range more {
			files[path] = data
		}
	}
	for path, data := range files {
		check(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		check(t, os.WriteFile(filepath.Join(root, path), []byte(data), 0o644))
	}
	check(t, os.Symlink("objects", filepath.Join(root, "like", "refs.old")))
	s := sourceOf(t, root, newMemStore(), func(s *Source) {
		s.Tracked = paths{".bare/HEAD", "build/fixture.git/HEAD", "linked/f"}
		s.GitDirs = []string{"named"}
		s.Linked = func(_ string, dotGit []byte) bool { return string(dotGit) == "linked" }
		s.Force, s.ForceBelow = ForcePaths([]string{"deep/down/server.git"})
	})
	defer s.Root.Close()
	r, err := Take(t.Context(), s)
	check(t, err)
	want := map[string]int64{
		".bare": tree.BuiltinGit, "deep/down/server.git": tree.BuiltinGit, "build/fixture.git": tree.BuiltinGit,
		".repo":  tree.BuiltinGit,
		"shared": tree.BuiltinGit, "named": tree.BuiltinGit, "empty": tree.BuiltinGit, "linked": tree.BuiltinWorktree,
	}
	for _, k := range r.Skips {
		if k.Foreign() && want[k.Path] != k.Size {
			t.Errorf("%q is listed as %d, want %d", k.Path, k.Size, want[k.Path])
		}
		if k.Foreign() {
			delete(want, k.Path)
		}
	}
	for path := range want {
		t.Errorf("%q is not listed", path)
	}
	for _, path := range []string{
		".bare", "deep/down/server.git", ".repo", "linked", "shared", "named",
		"build/fixture.git", "empty",
	} {
		if _, err := tree.Lookup(s.Get, r.Root, path); err == nil {
			t.Errorf("%q is in the tree", path)
		}
	}
	for _, path := range []string{"a", "cmd/pack/main.go", "like/HEAD", "module/f", "deep/down"} {
		if _, err := tree.Lookup(s.Get, r.Root, path); err != nil {
			t.Errorf("%q is not in the tree: %v", path, err)
		}
	}
}
