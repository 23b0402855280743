package snapshot

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/tree/ignore"
)

// A named path is captured although a rule leaves it out: the file, not what lies beside it. Limit and secret list hold
// for it, what is no file stays out, and the note says of each that it was looked at.
func TestNamedPathsAreCaptured(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "*.json\ndist/\n")
	write(t, root+"/local.json", "v1")
	write(t, root+"/other.json", "nobody's")
	write(t, root+"/dist/deep/x.js", "x")
	write(t, root+"/dist/deep/y.js", "y")
	write(t, root+"/dist/.env", "KEY=1")
	write(t, root+"/dist/big.js", strings.Repeat("b", 100))
	write(t, root+"/dist/dir/in", "nobody's")
	write(t, root+"/dist/mod/x/.git/config", "git's")
	write(t, root+"/node_modules/m/index.js", "edited")
	check(t, syscall.Mkfifo(root+"/dist/pipe", 0o600))
	check(t, os.Symlink("../local.json", root+"/dist/link"))
	named := NewNamed([]string{
		"local.json", "gone.json", "dist/deep/x.js", "dist/none/there.js", "dist/.env", "dist/big.js", "dist/dir", "dist/pipe", "dist/link",
		"dist/mod/x/.git/config", "node_modules/m/index.js", "plain",
	})
	write(t, root+"/plain", "no rule has it")
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) {
		s.Rules = ignore.New(ignore.Options{}, builtin())
		s.Named, s.SizeLimit, s.Secret, s.SecretKey = named, 99, ignore.Secrets([]string{".env"}), idOf(3)
	})
	wantPaths(t, m, r, ".gitignore", "local.json", "plain", "dist/", "dist/deep/", "dist/deep/x.js", "dist/link",
		"node_modules/", "node_modules/m/", "node_modules/m/index.js")
	want := []string{"i other.json", "i dist", "b node_modules", "s dist/.env", "z dist/big.js", "p dist/pipe"}
	for _, p := range named.Paths() {
		want = append(want, "i "+p)
	}
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(a[2:]+"\x00"+a[:1], b[2:]+"\x00"+b[:1]) })
	wantNoted(t, r, want...)
	for i := range r.Skips {
		s := &r.Skips[i]
		if s.IsNamed() != (s.Reason == 'i' && s.Path != "dist" && s.Path != "other.json") {
			t.Errorf("line of %s: %+v", s.Path, s)
		}
	}
}

func TestNamedSets(t *testing.T) {
	var none *Named
	a := none.With([]string{"b", "a/c"})
	if none.With(nil) != nil || a.With([]string{"b"}) != a || none.has("b") || !a.has("b") || !a.below("a") || a.below("b") {
		t.Error("sets")
	}
	if b := a.With([]string{"d"}); !b.contains(a) || a.contains(b) || !slices.Equal(b.Paths(), []string{"a/c", "b", "d"}) {
		t.Error("growth", b.Paths())
	}
}
