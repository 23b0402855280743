package snapshot

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/tree/ignore"
)

// A tracked directory (a submodule) inside an ignored one is captured by its own rules, a forced one whole. Empty
// directories in them are captured, too.
func TestTakenDirectoriesInAnIgnoredOne(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "dist/\n*.tmp\n")
	write(t, root+"/dist/other", "ignored")
	write(t, root+"/dist/module/x.tmp", "ignored by the rules above, which are not its own")
	write(t, root+"/dist/module/.gitignore", "*.log\n")
	write(t, root+"/dist/module/f", "captured")
	write(t, root+"/dist/module/sub/g", "captured")
	write(t, root+"/dist/module/x.log", "ignored")
	for _, dir := range []string{"/dist/module/empty", "/dist/forced", "/dist/forced/empty", "/dist/plain"} {
		check(t, syscall.Mkdir(root+dir, 0o755))
	}
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) {
		s.Rules = ignore.New(ignore.Options{}, builtin())
		s.Tracked = paths{"dist/module"}
		s.Force, s.ForceBelow = ForcePaths([]string{"dist/forced"})
	})
	wantPaths(t, m, r, ".gitignore", "dist/", "dist/module/", "dist/module/.gitignore", "dist/module/f",
		"dist/module/x.tmp", "dist/module/sub/",
		"dist/module/sub/g", "dist/module/empty/", "dist/forced/", "dist/forced/empty/")
	wantNoted(t, r, "i dist", "i dist/module/x.log")
}

// What cannot be read in an ignored directory is noted if it would be captured, and else it is not.
func TestUnreadableInAnIgnoredDirectory(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "dist/\n")
	for _, name := range []string{"tracked", "named", "other", "tracked.open", "named.open", "other.open", "above/tracked"} {
		write(t, root+"/dist/"+name, name)
	}
	write(t, root+"/plain", "in no ignored directory")
	fs := &watched{fail: func(op, name string) error {
		if op == "lstat" && slices.Contains([]string{"tracked", "named", "other", "above", "plain"}, name) ||
			op == "open" && strings.HasSuffix(name, ".open") {
			return syscall.EACCES
		}
		return nil
	}}
	m := newMemStore()
	named := NewNamed([]string{"dist/named", "dist/named.open"})
	r := shoot(t, root, m, func(s *Source) {
		s.Rules = ignore.New(ignore.Options{}, builtin())
		s.Root = fs.wrap(s.Root)
		s.Named, s.Tracked = named, paths{"dist/tracked", "dist/tracked.open", "dist/above/tracked"}
	})
	wantPaths(t, m, r, ".gitignore")
	want := []string{"u plain", "i dist", "u dist/tracked", "u dist/tracked.open", "u dist/named", "u dist/named.open"}
	for _, p := range named.Paths() {
		want = append(want, "i "+p)
	}
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(a[2:]+"\x00"+a[:1], b[2:]+"\x00"+b[:1]) })
	wantNoted(t, r, want...)
}
