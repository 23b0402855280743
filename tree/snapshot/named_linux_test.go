package snapshot

import (
	"os"
	"testing"
)

// Under a watcher a path that is named from now on costs a look at it, or at the first directory above it that was not
// entered; from then on it is watched, and what else is written beside it is not looked at.
func TestNamedPathIsLookedAtAlone(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/.gitignore", "dist/\n*.json\n")
	write(t, v.root+"/a/b", "1")
	write(t, v.root+"/a/local.json", "1")
	write(t, v.root+"/dist/js/x.js", "1")
	v.commit(v.same(nil))
	for _, path := range []string{"a/local.json", "dist/js/x.js", "dist/js/none.js", "a/none.json"} {
		v.named = v.named.With([]string{path})
		b := v.cache.base
		v.commit(v.same(nil))
		if v.cache.base.inputs.named != v.named || v.cache.base.epoch != b.epoch {
			t.Fatalf("%s: the next snapshot begins anew", path)
		}
	}
	write(t, v.root+"/dist/js/x.js", "22")
	write(t, v.root+"/dist/js/beside.js", "2")
	write(t, v.root+"/dist/js/none.js", "now")
	n := v.incremental
	r, x := v.same(nil)
	v.commit(r, x)
	if v.incremental != n+1 {
		t.Error("the whole tree was looked at")
	}
	check(t, os.RemoveAll(v.root+"/dist"))
	v.commit(v.same(nil))
	write(t, v.root+"/dist/js/x.js", "3")
	v.commit(v.same(nil))
	check(t, os.Remove(v.root+"/dist/js/x.js"))
	check(t, os.Mkdir(v.root+"/dist/js/x.js", 0o755))
	write(t, v.root+"/dist/js/x.js/in", "3")
	v.commit(v.same(nil))
	if n := v.w.Status().Missed; n != 0 {
		t.Errorf("%d changes missed", n)
	}
}

// What a hook asks of each edit costs no look at the disk and no memory.
func TestSeesLinks(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/a/file", "1")
	check(t, os.Symlink("file", v.root+"/a/link"))
	v.commit(v.same(nil))
	for range 2 { // young, and proved
		if _, link := v.cache.Sees("a/link"); !link {
			t.Error("the link is not seen")
		}
		age()
		v.commit(v.same(func(s *Source) { s.Full = true }))
	}
	here := [2]bool{true, false}
	for path, want := range map[string][2]bool{"a/file": here, "a/new": here, "a/link/x": {}, "b/x": {}, "top": here} {
		if entered, link := v.cache.Sees(path); entered != want[0] || link != want[1] {
			t.Errorf("%s: %v %v", path, entered, link)
		}
	}
	if n := testing.AllocsPerRun(100, func() { v.cache.Sees("a/file"); v.cache.Sees("a/new") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
