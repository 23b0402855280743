package gitinfo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var oddNames = []string{
	"plain", "a/b/c", "a/b.c", "a-b", "a/b/d", "a.x/y", "new\nline", "tab\t", "quote\"", "back\\slash", " lead",
	"trail ", "é", "日本/語", "*",
	"[x]", "-", ":", "#", "!x",
	strings.Repeat("n", 255), strings.Repeat("d/", 60) + "end", strings.Repeat(strings.Repeat("l", 200)+"/", 5) + "end",
}

// fill puts names into the index without files.
func fill(t *testing.T, dir string, names []string, modes ...string) {
	t.Helper()
	hash := strings.TrimSpace(gitIn(t, dir, "x", "hash-object", "-w", "--stdin"))
	var b strings.Builder
	for i, n := range names {
		mode := "100644"
		if len(modes) > 0 {
			mode = modes[i%len(modes)]
		}
		fmt.Fprintf(&b, "%s %s 0\t%s\x00", mode, hash, n)
	}
	gitIn(t, dir, b.String(), "update-index", "-z", "--index-info")
}

// check compares the set with git ls-files in every way, and with names that are not in it.
func check(t *testing.T, r *Repo, tr *Tracked) {
	t.Helper()
	files, dirs := map[string]bool{}, map[string]bool{}
	for _, rec := range strings.Split(strings.TrimSuffix(git(t, r.root, "ls-files", "-z", "--stage"), "\x00"), "\x00") {
		head, name, ok := strings.Cut(rec, "\t")
		if !ok {
			continue
		}
		if strings.HasPrefix(head, "160000") {
			dirs[name] = true
		} else {
			files[name] = true
		}
		dirs[""] = true
		for i := range name {
			if name[i] == '/' {
				dirs[name[:i]] = true
			}
		}
	}
	if tr.Len() != len(files) || len(tr.dirs) != len(dirs) {
		t.Errorf("%d files and %d directories, git has %d and %d", tr.Len(), len(tr.dirs), len(files), len(dirs))
	}
	for n := range files {
		for _, probe := range []string{n, n + "x", n[:len(n)-1], n + "/x", strings.ToUpper(n)} {
			if tr.File(probe) != files[probe] || tr.Below(probe) != dirs[probe] {
				t.Errorf("%q: file %v, below %v; git says %v, %v", probe, tr.File(probe), tr.Below(probe), files[probe],
					dirs[probe])
			}
		}
	}
	for d := range dirs {
		if !tr.Below(d) || tr.File(d) != files[d] {
			t.Errorf("directory %q: below %v, file %v", d, tr.Below(d), tr.File(d))
		}
	}
}

func TestTracked(t *testing.T) {
	home := sandbox(t)
	names := slices.Clone(oddNames)
	if runtime.GOOS == "linux" {
		names = append(names, "\xff\xfe/bad", "latin\xe9")
	}
	for i := range 3000 {
		names = append(names, fmt.Sprintf("many/d%d/f%d", i%70, i))
	}
	set := func(kv ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for i := 0; i < len(kv); i += 2 {
				git(t, dir, "config", kv[i], kv[i+1])
			}
		}
	}
	for _, c := range []struct {
		name     string
		init     []string
		prepare  func(*testing.T, string) // before the index is filled
		after    func(*testing.T, string)
		needsGit bool
	}{
		{name: "version 2", prepare: set("index.version", "2")},
		{name: "version 3", prepare: set("index.version", "3"), after: func(t *testing.T, d string) {
			put(t, filepath.Join(d, "ita"), "")
			git(t, d, "add", "-N", "ita")
			git(t, d, "update-index", "--skip-worktree", "a/file")
		}},
		{name: "version 4", prepare: set("index.version", "4")},
		{name: "version 4, threads", prepare: set("index.version", "4", "index.threads", "4")},
		{
			name: "offset tables",
			prepare: set("index.threads", "2", "index.recordEndOfIndexEntries", "true", "index.recordOffsetTable",
				"true"),
		},
		{
			name: "tree and untracked cache", prepare: set("core.untrackedCache", "true"),
			after: func(t *testing.T, d string) {
				git(t, d, "update-index", "--force-untracked-cache")
				git(t, d, "status", "--porcelain")
				git(t, d, "write-tree")
			},
		},
		{name: "fsmonitor", after: func(t *testing.T, d string) {
			hook := filepath.Join(home, "hook")
			put(t, hook, "#!/bin/sh\nprintf 'token\\0/\\0'\n")
			if err := os.Chmod(hook, 0o700); err != nil {
				t.Fatal(err)
			}
			git(t, d, "config", "core.fsmonitor", hook)
			git(t, d, "update-index", "--fsmonitor")
			git(t, d, "status", "--porcelain")
		}},
		{name: "no checksum", prepare: set("index.skipHash", "true"), after: zeroChecksum},
		{name: "sha256", init: []string{"--object-format=sha256"}},
		{name: "sha256, version 4", init: []string{"--object-format=sha256"}, prepare: set("index.version", "4")},
		{name: "unmerged", after: func(t *testing.T, d string) {
			git(t, d, "checkout", "-q", "-f", "-b", "side", "HEAD~1")
			put(t, filepath.Join(d, "a/file"), "side\n")
			git(t, d, "commit", "-q", "-a", "-m", "side")
			mayFail(d, "merge", "main")
			if git(t, d, "ls-files", "-u") == "" {
				t.Fatal("nothing is unmerged")
			}
		}},
		{name: "gitlinks", after: func(t *testing.T, d string) {
			git(t, d, "submodule", "-q", "add", newRepo(t), "mods/sub")
			fill(t, d, []string{"zz/link"}, "120000")
		}},
		{name: "split", after: func(t *testing.T, d string) {
			git(t, d, "update-index", "--split-index")
			fill(t, d, []string{"later/x"})
		}, needsGit: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newRepo(t, c.init...)
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			fill(t, dir, names)
			if c.after != nil {
				c.after(t, dir)
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(dir, ".git/index"), old, old); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "version") // before the environment changes: git is there
			r := open(t, dir)
			var tr *Tracked
			t.Run("read", func(t *testing.T) {
				untouched(t, r.CommonDir())
				// Neither does a git directory of somebody else in the environment mislead.
				t.Setenv("GIT_DIR", "/nowhere")
				t.Setenv("GIT_INDEX_FILE", filepath.Join(home, "other-index"))
				if !c.needsGit {
					withoutGit(t)
				}
				var err error
				if tr, err = r.Tracked(); err != nil {
					t.Fatal(err)
				}
				if again, err := r.Tracked(); err != nil || again != tr {
					t.Errorf("unchanged index was read again: %v", err)
				}
			})
			check(t, r, tr)
			if c.needsGit {
				withoutGit(t)
				if _, err := open(t, dir).Tracked(); !errors.Is(err, errNoGit) {
					t.Errorf("without git: %v, want ErrNoGit", err)
				}
			}
		})
	}
}

// A sparse index has directories for what is out of the cone; below them everything counts.
func TestTrackedSparse(t *testing.T) {
	sandbox(t)
	dir := newRepo(t)
	put(t, filepath.Join(dir, "out/of/cone"), "x")
	put(t, filepath.Join(dir, "b/out/x"), "x")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "x")
	git(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "a")
	if !strings.Contains(git(t, dir, "ls-files", "--sparse"), "out/\n") {
		t.Fatal("the index is not sparse")
	}
	r := open(t, dir)
	untouched(t, r.CommonDir())
	withoutGit(t)
	tr, err := r.Tracked()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]bool{
		"": {false, true}, "a": {false, true}, "a/file": {true, false}, "a/other": {}, "out": {false, true}, "out/of": {
			true,
			true,
		}, "out/of/cone": {true, true},
		"b": {false, true}, "b/out/x": {true, true}, "other": {}, "outer/x": {},
	} {
		if got := [2]bool{tr.File(path), tr.Below(path)}; got != want {
			t.Errorf("%q: file, below: %v; want %v", path, got, want)
		}
	}
}

// zeroChecksum makes what git with index.skipHash writes; older ones do not know it.
func zeroChecksum(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, ".git/index")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)-20:], make([]byte, 20))
	put(t, path, string(data))
}

func TestTrackedNone(t *testing.T) {
	sandbox(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	withoutGit(t)
	tr, err := open(t, dir).Tracked()
	if err != nil || tr.Len() != 0 || tr.Below("") || tr.File("") || tr.File("x") {
		t.Errorf("no index: %+v, %v", tr, err)
	}
}

func TestTrackedFollows(t *testing.T) {
	sandbox(t)
	dir := newRepo(t)
	linked := filepath.Join(filepath.Dir(dir), "linked")
	git(t, dir, "worktree", "add", "-q", linked)
	r, l := open(t, dir), open(t, linked)
	for i := range 20 { // within one clock tick or not, each change is seen
		name := fmt.Sprintf("n%d", i)
		fill(t, linked, []string{name})
		tr, err := l.Tracked()
		if err != nil || !tr.File(name) {
			t.Fatalf("%s is not seen: %v", name, err)
		}
		git(t, linked, "rm", "-q", "--cached", name)
		if tr, err = l.Tracked(); err != nil || tr.File(name) {
			t.Fatalf("%s is still seen: %v", name, err)
		}
	}
	if tr, err := r.Tracked(); err != nil || tr.Len() != 1 {
		t.Errorf("the main working tree has its own index: %+v, %v", tr, err)
	}
}

// TestTrackedCorrupt flips and cuts: the result is git's answer or an error, never another set.
func TestTrackedCorrupt(t *testing.T) {
	sandbox(t)
	dir := newRepo(t)
	fill(t, dir, oddNames)
	path := filepath.Join(dir, ".git/index")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range good {
		for _, bad := range [][]byte{good[:i], slices.Concat(good[:i], []byte{good[i] ^ 1<<(i%8)}, good[i+1:])} {
			if err := decodeIndex(bad, func([]byte, uint32) {}); err != nil {
				refused++
			}
		}
	}
	if refused != 2*len(good) {
		t.Errorf("%d of %d damaged files were refused", refused, 2*len(good))
	}
	put(t, path, string(good[:len(good)/2]))
	for range 2 {
		if _, err := open(t, dir).Tracked(); !errors.Is(err, errCorrupt) {
			t.Errorf("half an index: %v, want ErrCorrupt", err)
		}
		withoutGit(t) // which makes up names
	}
}
