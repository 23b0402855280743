package ignore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/internal/ignoretest"
)

// TestDifferential compares decision and deciding line with git check-ignore over random rule sets.
func TestDifferential(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	seed := uint64(20)
	batches, size, alone := 19, 160, 20
	if n, err := strconv.Atoi(os.Getenv("REWIND_TORTURE")); err == nil && n > 0 {
		seed = uint64(time.Now().UnixNano())
		batches, alone = batches*20*n, alone*20*n
	}
	if s, err := strconv.ParseUint(os.Getenv("REWIND_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("REWIND_SEED=%d", seed)
	version, err := exec.Command("git", "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var sum tally
	for i := range batches + alone {
		r := ignoretest.Random(rand.New(rand.NewPCG(seed, uint64(i))), string(version), size, i >= batches)
		compare(t, r, fmt.Sprintf("seed %d repository %d", seed, i), &sum)
		if t.Failed() {
			break
		}
	}
	t.Logf("%s: %+v", strings.TrimSpace(string(version)), sum)
	if want := (batches*size + alone); sum.Sets < want && !t.Failed() {
		t.Errorf("compared %d rule sets, want %d", sum.Sets, want)
	}
	if sum.Ignored < sum.Paths/10 || sum.Negated < sum.Paths/100 || sum.Parent < sum.Paths/100 {
		t.Errorf("the rule sets do not exercise the rules: %+v", sum)
	}
}

type tally struct{ Sets, Paths, Ignored, Negated, Parent, Over, Under, OtherLine int }

func compare(t *testing.T, r *ignoretest.Repo, label string, sum *tally) {
	got, err := r.Ask()
	if err != nil {
		t.Fatal(err)
	}
	isDir := map[string]bool{}
	for i, s := range r.Sets {
		at := r.At(i)
		for _, d := range s.Dirs {
			isDir[at+d] = true
		}
	}
	base := New(Options{FoldCase: r.Fold}, File{"../excludes", []byte(r.Excludes)}, File{".git/info/exclude", []byte(r.Info)})
	if !r.Alone {
		base = base.WithFiles(File{".gitignore", []byte(r.Root)}, File{})
	}
	n, wrong := 0, 0
	for i, s := range r.Sets {
		sum.Sets++
		for _, p := range s.Paths {
			sum.Paths++
			g := got[n]
			n++
			ignored, by, parent := decide(&s, base, r.At(i), p, isDir[r.At(i)+p])
			mine := ignoretest.Answer{}
			if by != nil {
				mine = ignoretest.Answer{File: by.File, Line: strconv.Itoa(by.Line), Pattern: by.Pattern}
			}
			gitIgnored := g.Ignored()
			switch {
			case gitIgnored:
				sum.Ignored++
			case g.File != "":
				sum.Negated++
			}
			if parent {
				sum.Parent++
			}
			switch {
			case ignored && !gitIgnored:
				sum.Over++
			case !ignored && gitIgnored:
				sum.Under++
			case mine != g:
				sum.OtherLine++
			default:
				continue
			}
			if wrong++; wrong < 5 {
				t.Errorf("%s: fold %v: path %q (directory: %v)\n here %+v\n git  %+v\n files %q\n root %q info %q excludes %q",
					label, r.Fold, r.At(i)+p, isDir[r.At(i)+p], mine, g, s.Files, r.Root, r.Info, r.Excludes)
			}
		}
	}
}

// decide walks from the root to the path as a scan does.
func decide(s *ignoretest.Set, d *Dir, at, path string, isDir bool) (ignored bool, by *Rule, parent bool) {
	full := at + path
	for pos := 0; ; {
		if strings.HasPrefix(full[:pos], at) {
			rel := strings.TrimSuffix(full[len(at):pos], "/")
			if data, ok := s.Files[rel]; ok {
				d = d.WithFiles(File{full[:pos] + ".gitignore", []byte(data)}, File{})
			}
		}
		name, _, more := strings.Cut(full[pos:], "/")
		ignored, by = d.Match(name, more || isDir)
		if ignored || !more {
			return ignored, by, ignored && more
		}
		d = d.Child(name)
		pos += len(name) + 1
	}
}
