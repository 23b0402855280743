package ignore

import (
	"strings"
	"testing"
	"time"
)

// TestBounded gives patterns that make a recursive matcher exponential. Here the worst takes some milliseconds; the
// limit leaves room for a loaded machine.
func TestBounded(t *testing.T) {
	deep := strings.Repeat("a/", 1000)
	long := strings.Repeat("a", 255)
	for _, p := range []string{
		strings.Repeat("*a", 100) + "b",
		strings.Repeat("**/", 200) + "b",
		strings.Repeat("**/a/", 200) + "b",
		strings.Repeat("**/*a*/", 100) + "b",
		"**/" + strings.Repeat("*a", 100) + "b/c",
		"**/" + strings.Repeat("*/", 500) + strings.Repeat("*a", 50) + "b",
		strings.Repeat("**\\/", 200) + "b",
		strings.Repeat("[a-z]*", 120) + "[!a-z]",
		strings.Repeat("*", 100_000) + "b",
		"[" + strings.Repeat("a", 100_000),
		strings.Repeat("[a]", 10_000) + "*b",
	} {
		for _, path := range []string{long, deep + "x", deep + long, strings.Repeat(long+"/", 16) + long} {
			for _, kind := range []string{p, "/" + p} {
				start := time.Now()
				r := compile(kind, false)
				if r == nil {
					continue
				}
				i := strings.LastIndexByte(path, '/') + 1
				if r.match(path[:i], strings.Count(path, "/"), path[i:], false) {
					t.Errorf("%.40q matches %.40q", kind, path)
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("%.40q on %.40q took %s", kind, path, took)
				}
			}
		}
	}
}

// FuzzParse asserts no panic and bounded time, and that what Child drops matters to nothing: a directory reached step
// by step decides as the rules do on the whole path.
func FuzzParse(f *testing.F) {
	for _, c := range rulesOfGit {
		for _, p := range append(append([]string{"a"}, c.ignored...), c.not...) {
			f.Add([]byte(c.rules), strings.TrimSuffix(p, "/"), c.fold)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, path string, fold bool) {
		if len(data) > 1<<12 || len(path) > 1<<10 || strings.Contains("/"+path+"/", "//") {
			return
		}
		start := time.Now()
		d := New(Options{FoldCase: fold}).WithFiles(File{Path: "f", Data: data}, File{})
		parts := strings.Split(path, "/")
		for _, p := range parts[:len(parts)-1] {
			d = d.Child(p)
		}
		name := parts[len(parts)-1]
		_, by := d.Match(name, true)
		var want *Rule
		for _, r := range parse(File{Path: "f", Data: data}, fold) {
			if r.match(path[:len(path)-len(name)], len(parts)-1, name, fold) {
				want = &r.Rule
			}
		}
		if (by == nil) != (want == nil) || by != nil && *by != *want {
			t.Errorf("step by step %+v, at once %+v", by, want)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
}
