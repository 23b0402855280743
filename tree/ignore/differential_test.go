package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ruleSet is a directory with rules files in it and below, and paths to ask about.
type ruleSet struct {
	files map[string]string // directory ("" or "a/b") to content of its .gitignore
	dirs  []string
	paths []string // below the set's directory; those in dirs are directories
}

// repo is one git repository with rule sets in its directories s0, s1, ...; with alone the one set lies at the root.
type repo struct {
	excludes, info, root string
	fold                 bool
	alone                bool
	sets                 []ruleSet
}

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
		g := gen{rand.New(rand.NewPCG(seed, uint64(i))), string(version)}
		r := g.repo(size, i >= batches)
		r.compare(t, fmt.Sprintf("seed %d repository %d", seed, i), &sum)
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

func (r *repo) compare(t *testing.T, label string, sum *tally) {
	dir := scratch(t)
	defer os.RemoveAll(dir)
	r.write(t, dir)
	var asked []string
	isDir := map[string]bool{}
	for i, s := range r.sets {
		at := r.at(i)
		for _, d := range s.dirs {
			isDir[at+d] = true
		}
		for _, p := range s.paths {
			asked = append(asked, at+p)
		}
	}
	got := checkIgnore(t, dir, asked)
	base := New(Options{FoldCase: r.fold}, File{"../excludes", []byte(r.excludes)}, File{".git/info/exclude", []byte(r.info)})
	if !r.alone {
		base = base.WithFiles(File{".gitignore", []byte(r.root)}, File{})
	}
	n, wrong := 0, 0
	for i, s := range r.sets {
		sum.Sets++
		for _, p := range s.paths {
			sum.Paths++
			g := got[n]
			n++
			ignored, by, parent := s.decide(base, r.at(i), p, isDir[r.at(i)+p])
			mine := answer{}
			if by != nil {
				mine = answer{by.File, strconv.Itoa(by.Line), by.Pattern}
			}
			gitIgnored := g.file != "" && !strings.HasPrefix(g.pattern, "!")
			switch {
			case gitIgnored:
				sum.Ignored++
			case g.file != "":
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
					label, r.fold, r.at(i)+p, isDir[r.at(i)+p], mine, g, s.files, r.root, r.info, r.excludes)
			}
		}
	}
}

// scratch makes a directory in memory where there is such a place: the test makes 20,000 files, which takes a busy disk a minute and memory 2 s.
func scratch(t *testing.T) string {
	t.Helper()
	for _, parent := range []string{"/dev/shm", os.TempDir()} {
		if dir, err := os.MkdirTemp(parent, "rewind-ignore-"); err == nil {
			return dir
		}
	}
	t.Fatal("no place for a directory")
	return ""
}

// decide walks from the root to the path as a scan does.
func (s *ruleSet) decide(d *Dir, at, path string, isDir bool) (ignored bool, by *Rule, parent bool) {
	full := at + path
	for pos := 0; ; {
		if strings.HasPrefix(full[:pos], at) {
			rel := strings.TrimSuffix(full[len(at):pos], "/")
			if data, ok := s.files[rel]; ok {
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

func (r *repo) at(i int) string {
	if r.alone {
		return ""
	}
	return fmt.Sprintf("s%d/", i)
}

func (r *repo) write(t *testing.T, parent string) {
	t.Helper()
	put := func(path, data string) {
		if err := os.WriteFile(filepath.Join(parent, path), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mk := func(path string) {
		if err := os.MkdirAll(filepath.Join(parent, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"r/.git/info", "r/.git/objects", "r/.git/refs"} {
		mk(d)
	}
	put("r/.git/HEAD", "ref: refs/heads/main\n")
	put("r/.git/config", fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignorecase = %v\n\texcludesFile = ../excludes\n", r.fold))
	put("r/.git/info/exclude", r.info)
	put("excludes", r.excludes)
	if !r.alone {
		put("r/.gitignore", r.root)
	}
	for i, s := range r.sets {
		mk("r/" + r.at(i))
		for _, d := range s.dirs {
			mk("r/" + r.at(i) + d)
		}
		for d, data := range s.files {
			put("r/"+r.at(i)+d+"/.gitignore", data)
		}
	}
}

// answer is what git check-ignore -v says: all empty where no rule matches.
type answer struct{ file, line, pattern string }

func checkIgnore(t *testing.T, parent string, paths []string) []answer {
	t.Helper()
	cmd := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	cmd.Dir = filepath.Join(parent, "r")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + parent, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	cmd.Stdin = strings.NewReader("./" + strings.Join(paths, "\x00./") + "\x00") // ./ : a name may begin with a colon, which is magic
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ee, ok := err.(*exec.ExitError); err != nil && (!ok || ee.ExitCode() != 1) {
		t.Fatalf("git check-ignore: %v: %s", err, stderr.String())
	}
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(paths)+1 {
		t.Fatalf("git check-ignore answered %d fields for %d paths: %s", len(fields), len(paths), stderr.String())
	}
	got := make([]answer, len(paths))
	for i := range paths {
		f := fields[4*i:]
		if f[3] != "./"+paths[i] {
			t.Fatalf("answer %d is about %q, asked about %q", i, f[3], paths[i])
		}
		got[i] = answer{f[0], f[1], f[2]}
	}
	return got
}
