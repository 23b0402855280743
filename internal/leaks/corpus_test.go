package leaks

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/internal/value"
)

// BenchmarkCorpus counts what is found in the files below the directories that REWIND_LEAKS_CORPUS names, separated by
// colons: how many of 1,000 files are flagged, by rule. It names the places of our own rules. The figures stand in
// docs/capture.md.
func BenchmarkCorpus(b *testing.B) {
	dirs := filepath.SplitList(os.Getenv("REWIND_LEAKS_CORPUS"))
	if len(dirs) == 0 {
		b.Skip("REWIND_LEAKS_CORPUS names no directories")
	}
	s, err := New()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, dir := range dirs {
			flaggedIn(b, s, dir)
		}
	}
}

func flaggedIn(b *testing.B, s *Scanner, dir string) {
	files, flagged, ours, size := 0, 0, 0, 0
	rules := map[string]int{}
	var spent time.Duration
	err := filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
		if err != nil || !ent.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		began := time.Now()
		list, err := s.Find(context.Background(), name, data)
		spent += time.Since(began)
		files++
		size += len(data)
		own := false
		for i, f := range list {
			if !slices.ContainsFunc(list[:i], func(o value.Finding) bool { return o.Rule == f.Rule }) {
				rules[f.Rule]++
			}
			if checks[f.Rule] != nil {
				own = true
				fmt.Fprintf(os.Stderr, "%s:%d %s: %.150s\n", name, f.Line, f.Rule, strings.Split(string(data), "\n")[f.Line-1])
			}
		}
		if len(list) > 0 {
			flagged++
		}
		if own {
			ours++
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%s: %d files, %d MB, %.1f s: %d flagged (%.2f of 1,000), by our own rules %d (%.2f)", dir, files, size>>20,
		spent.Seconds(), flagged, 1000*float64(flagged)/float64(files), ours, 1000*float64(ours)/float64(files))
	for _, r := range slices.Sorted(maps.Keys(rules)) {
		b.Logf("  %-28s %d", r, rules[r])
	}
}
