package layertest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// local are texts that say more about where a file was written than about the
// program. They are put together here so that this file does not hold them.
var local = []*regexp.Regexp{
	regexp.MustCompile(`(?m)(^|[\s"'=(:` + "`" + `])/(work|root/go|tmp/bash_jobs)/`),
	regexp.MustCompile(`\b(proxy|sum)\.golang\.` + `org\b|\bregistry\.npmjs\.` + `org\b|\bpypi\.` + `org\b|\bdeb\.debian\.` + `org\b`),
}

// hints are words of which each such text has one: to look for an expression takes fifty times as long.
var hints = []string{"work/", "root/go/", "bash_jobs/", "golang." + "org", "npmjs.", "pypi.", "debian."}

// skipDirs are not part of the sources: made by tools, or not ours.
var skipDirs = map[string]bool{".git": true, ".bin": true, ".agent": true, "node_modules": true}

// maxFile is the size in bytes above which a file is a product or test data, not
// text that somebody wrote.
const maxFile = 1 << 20

func TestFiles(t *testing.T) {
	dir := root(t)
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDirs[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() > maxFile || skipDirs[d.Name()] { // .git of a worktree is a file
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		seen++
		report(t, checkFile(filepath.ToSlash(rel), b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Errorf("only %d files seen", seen)
	}
}

func checkFile(name string, b []byte) []string {
	hinted := func(word string) bool { return bytes.Contains(b, []byte(word)) }
	if bytes.IndexByte(b, 0) >= 0 || !slices.ContainsFunc(hints, hinted) {
		return nil
	}
	var bad []string
	for _, re := range local {
		if m := re.Find(b); m != nil && name != "go.sum" {
			bad = append(bad, name+": mentions "+strings.TrimSpace(string(m))+": a place of one machine is no part of the program")
		}
	}
	return bad
}

func TestCheckFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"a.go", "package p\n", 0},
		{"README.md", "see /wo" + "rk/main", 1},
		{"README.md", "exec $WORK/bin in net/work/x", 0},
		{"Makefile", "GOPROXY=https://proxy.golang." + "org", 1},
		{"picture", "\x00/wo" + "rk/", 0},
	} {
		if got := checkFile(c.name, []byte(c.text)); len(got) != c.want {
			t.Errorf("%s %.40q: %q, want %d", c.name, c.text, got, c.want)
		}
	}
}
