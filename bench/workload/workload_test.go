package workload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func generate(t *testing.T, s Spec) (string, map[string]Digest) {
	t.Helper()
	dir := t.TempDir()
	if err := Generate(t.Context(), dir, s); err != nil {
		t.Fatal(err)
	}
	sums, err := HashTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, sums
}

// total identifies a whole tree.
func total(sums map[string]Digest) string {
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(h, "%s %x\n", p, sums[p])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

func TestGenerateIsDeterministic(t *testing.T) {
	// Numbers of other runs and machines can only be compared while this stays.
	const golden = "b81affd9f94e3ab6"
	_, a := generate(t, Spec{Files: 300, Seed: 1})
	if got := total(a); got != golden {
		t.Errorf("tree of seed 1 is %s, was %s", got, golden)
	}
	_, b := generate(t, Spec{Files: 300, Seed: 2})
	if total(b) == total(a) {
		t.Error("another seed gives the same tree")
	}
}

func TestGeneratedTreeIsLikeSource(t *testing.T) {
	const n = 3000
	dir, sums := generate(t, Spec{Files: n, Seed: 1})
	s, err := Measure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s)
	if s.Files != n || len(sums) != n {
		t.Errorf("%d files, want %d", s.Files, n)
	}
	if mean := s.Bytes / n; mean < 3500 || mean > 4700 {
		t.Errorf("mean size %d, want about 4 KiB", mean)
	}
	if share := float64(s.Duplicate) / float64(s.Bytes); share < 0.01 || share > 0.06 {
		t.Errorf("share of duplicate bytes %.3f", share)
	}
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var logs []float64
	for _, f := range files {
		if d := strings.Count(f.Path, "/"); d < 3 || d > 5 {
			t.Errorf("%s lies in %d folders", f.Path, d)
		}
		logs = append(logs, math.Log(float64(f.Size)))
	}
	slices.Sort(logs)
	if spread := logs[len(logs)*84/100] - logs[len(logs)/2]; spread < 0.8 || spread > 1.2 {
		t.Errorf("sizes spread by %.2f in the logarithm, want %.1f", spread, sigma)
	}
}

func TestEditsChangeOneLine(t *testing.T) {
	dir, before := generate(t, Spec{Files: 200, Seed: 3})
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEditor(dir, Editable(files), 7)
	if err != nil {
		t.Fatal(err)
	}
	old := map[string][]byte{}
	for range 300 {
		prev := map[string][]byte{}
		for _, f := range e.few {
			prev[f.path] = bytes.Join(f.lines, nil)
		}
		ed, err := e.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ed.Path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, ed.Data) {
			t.Fatalf("%s: the edit is not on disk", ed.Path)
		}
		if was, ok := prev[ed.Path]; ok {
			if d := linesApart(was, got); d != 1 {
				t.Fatalf("%s: %d lines differ", ed.Path, d)
			}
		}
		old[ed.Path] = ed.Data
	}
	if len(old) < workingSet || len(old) > 60 {
		t.Errorf("%d files were edited", len(old))
	}
	after, err := HashTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for p, sum := range after {
		if _, edited := old[p]; !edited && sum != before[p] {
			t.Errorf("%s changed without an edit", p)
		}
	}
}

// linesApart is how many lines are left of the longer text without what both begin and end with.
func linesApart(a, b []byte) int {
	x, y := bytes.SplitAfter(a, []byte{'\n'}), bytes.SplitAfter(b, []byte{'\n'})
	for len(x) > 0 && len(y) > 0 && bytes.Equal(x[0], y[0]) {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && bytes.Equal(x[len(x)-1], y[len(y)-1]) {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return max(len(x), len(y))
}

func TestCopyLeavesRepositoriesOut(t *testing.T) {
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for _, p := range []string{"a/b.txt", ".git/HEAD", "a/.git/HEAD", ".agent/rewind/id"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(src, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(src, p), []byte(p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Copy(t.Context(), dst, src); err != nil {
		t.Fatal(err)
	}
	got, err := HashTree(t.Context(), dst)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["a/b.txt"] != Hash(File{}, []byte("a/b.txt")) {
		t.Errorf("copied: %v", slices.Collect(maps.Keys(got)))
	}
	if _, err := os.Lstat(filepath.Join(dst, ".git")); err == nil {
		t.Error(".git was copied")
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Copy(stopped, filepath.Join(t.TempDir(), "x"), src); err == nil {
		t.Error("no error when stopped")
	}
}
