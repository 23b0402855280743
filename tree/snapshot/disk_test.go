package snapshot

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pgregory.net/rapid"

	"rewind/internal/torture"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

func init() { torture.Draws(34, 100) }

// item is one path as a person would describe it.
type item struct {
	Type    byte
	Perm    uint16
	Content string // of a file; target of a symlink
}

// onDisk reads a working tree the plain way.
func onDisk(t tb, root string) map[string]item {
	t.Helper()
	got := map[string]item{}
	var walk func(dir string)
	walk = func(dir string) {
		f, err := os.Open(filepath.Join(root, dir))
		check(t, err)
		names, err := f.Readdirnames(-1)
		f.Close()
		check(t, err)
		for _, name := range names {
			path := tree.Join(dir, name)
			full := root + "/" + path
			var st syscall.Stat_t
			check(t, syscall.Lstat(full, &st))
			perm := uint16(st.Mode & 0o7777)
			switch st.Mode & syscall.S_IFMT {
			case syscall.S_IFREG:
				data, err := os.ReadFile(full)
				check(t, err)
				got[path] = item{tree.TypeFile, perm, string(data)}
			case syscall.S_IFLNK:
				target, err := os.Readlink(full)
				check(t, err)
				got[path] = item{tree.TypeSymlink, 0, target}
			case syscall.S_IFDIR:
				got[path] = item{tree.TypeDir, perm, ""}
				walk(path)
			}
		}
	}
	walk("")
	return got
}

// inStore reads a stored tree.
func inStore(t tb, g objstore.Getter, root objstore.ID) map[string]item {
	t.Helper()
	got := map[string]item{}
	err := tree.Walk(g, root, func(path string, e tree.Entry) error {
		it := item{Type: e.Type, Perm: e.Perm}
		if e.Type != tree.TypeDir {
			raw, err := g.Get(objstore.Blob, e.ID)
			check(t, err)
			it.Content = string(raw)
			if e.Type == tree.TypeFile && e.Size != int64(len(raw)) {
				t.Fatalf("%q: size %d, content has %d", path, e.Size, len(raw))
			}
		}
		got[path] = it
		return nil
	})
	check(t, err)
	return got
}

func sameItems(t tb, got, want map[string]item) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		w := want[path]
		if g, ok := got[path]; !ok {
			t.Errorf("%q: missing", path)
		} else if g != w {
			t.Errorf("%q: got %c %04o %.40q, want %c %04o %.40q", path, g.Type, g.Perm, g.Content, w.Type, w.Perm,
				w.Content)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%q: should not be there", path)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tempTree is a fresh empty working tree. rapid.T has no TempDir.
func tempTree(t tb) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tree")
	check(t, err)
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if e != nil && e.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(dir)
	})
	return dir
}

func openRoot(t tb, path string) worktreefs.Dir {
	t.Helper()
	d, err := worktreefs.OpenRoot(path)
	check(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// shoot takes a snapshot of root into m with the options that mod sets.
func shoot(t tb, root string, m *memStore, mod func(*Source)) *Result {
	t.Helper()
	r, err := Take(context.Background(), sourceOf(t, root, m, mod))
	check(t, err)
	return r
}

func sourceOf(t tb, root string, m *memStore, mod func(*Source)) Source {
	d, err := worktreefs.OpenRoot(root)
	check(t, err)
	t.Cleanup(func() { _ = d.Close() })
	s := Source{Root: d, Get: m, Put: m, RuleFiles: []string{".gitignore", ".rewindignore"}}
	if mod != nil {
		mod(&s)
	}
	return s
}

// age waits until the stamps of all files that exist now can be trusted.
func age() { time.Sleep(30 * time.Millisecond) }

func write(t tb, path, content string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(content), 0o644))
}

// hostile draws a name that a file system takes and programs trip over.
var hostile = rapid.Custom(func(t *rapid.T) string {
	name := rapid.OneOf(
		rapid.StringMatching(`[a-d]{1,2}`),
		rapid.SampledFrom([]string{
			"new\nline", "-rf", "--", " ", "  lead", "trail ", "tab\t", "\x01\x7f", "\xff\xfe", "\xc3\x28", "e\u0301",
			"\u00e9", "日本",
			"👩‍👩‍👧",
			"*", "?", "[a]", "!x", "#x", "\\", "a\\b", "'", "\"", "$(x)", "`x`", "...", ".hidden", "a.", "CON", "nul",
			"%00", "~", "gi",
			"rewind", "a-wal", "b-wal", "a-journal", "b-shm",
			strings.Repeat("n", 255), strings.Repeat("é", 127), "a:b", "|", ";", "&", "\r", "\u202e", "\ufeff",
		}),
		rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 255), func(b []byte) string {
			return strings.ReplaceAll(string(b), "/", "_")
		}),
	).Draw(t, "name")
	if name == "." || name == ".." || worktreefs.IsDotGit(name) {
		return "dots"
	}
	return name
})

// world is a working tree that a test edits at random.
type world struct {
	t    *rapid.T
	root string
}

func (w world) paths(want byte) []string {
	paths := []string{}
	for path, it := range onDisk(w.t, w.root) {
		if want == 0 || it.Type == want {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func (w world) pick(want byte) (string, bool) {
	paths := w.paths(want)
	if len(paths) == 0 {
		return "", false
	}
	return w.root + "/" + rapid.SampledFrom(paths).Draw(w.t, "path"), true
}

// fresh draws a path that does not exist, in a directory that does.
func (w world) fresh() string {
	dir := rapid.SampledFrom(append(w.paths(tree.TypeDir), "")).Draw(w.t, "dir")
	full := w.root + "/" + tree.Join(dir, hostile.Draw(w.t, "name"))
	for {
		if len(full)-len(w.root) > 2000 {
			full = w.root + "/" + hostile.Draw(w.t, "short")
		}
		if _, err := os.Lstat(full); err != nil {
			return full
		}
		if i := strings.LastIndexByte(full, '/'); len(full)-i > 255 {
			full = full[:i+100]
		}
		full += "x"
	}
}

var contents = rapid.OneOf(rapid.StringN(0, 40, 80), rapid.SampledFrom([]string{
	"", "same", "SAME", strings.Repeat("long\n", 70_000), liteHead, walHead,
}))

func (w world) add() {
	full := w.fresh()
	switch rapid.IntRange(0, 3).Draw(w.t, "what") {
	case 0, 1:
		check(w.t, os.WriteFile(full, []byte(contents.Draw(w.t, "content")), 0o600))
	case 2:
		check(w.t, os.Mkdir(full, 0o700))
	case 3:
		target := rapid.OneOf(hostile,
			rapid.SampledFrom([]string{".", "..", "/etc/passwd", "../../x", "a/b/"})).Draw(w.t, "target")
		check(w.t, os.Symlink(target, full))
		return
	}
	w.chmod(full)
}

func (w world) chmod(full string) {
	perm := rapid.SampledFrom([]uint32{0o644, 0o755, 0o600, 0o4755, 0o2755, 0o1777, 0o7777, 0, 0o444}).Draw(w.t, "perm")
	if os.Getuid() != 0 {
		perm |= 0o700
	}
	check(w.t, syscall.Chmod(full, perm))
}

func (w world) edit() {
	switch rapid.SampledFrom([]string{
		"add", "add", "add", "samesize", "keepmtime", "rewrite", "replace", "rename", "delete", "chmod",
		"swap", "recreate",
	}).Draw(w.t, "edit") {
	case "add":
		w.add()
	case "samesize", "keepmtime":
		full, ok := w.pick(tree.TypeFile)
		if !ok {
			return
		}
		st, err := os.Stat(full)
		check(w.t, err)
		data, err := os.ReadFile(full)
		check(w.t, err)
		if len(data) > 0 {
			data[len(data)-1] ^= 1
		}
		check(w.t, os.WriteFile(full, data, 0o600))
		check(w.t, os.Chtimes(full, st.ModTime(), st.ModTime()))
	case "rewrite":
		if full, ok := w.pick(tree.TypeFile); ok {
			check(w.t, os.WriteFile(full, []byte(contents.Draw(w.t, "content")), 0o600))
		}
	case "replace": // as editors save: a new file moved over the old one
		if full, ok := w.pick(tree.TypeFile); ok {
			next := w.fresh()
			check(w.t, os.WriteFile(next, []byte(contents.Draw(w.t, "content")), 0o600))
			check(w.t, os.Rename(next, full))
		}
	case "rename":
		if full, ok := w.pick(0); ok {
			to := w.fresh()
			if !strings.HasPrefix(to, full+"/") {
				check(w.t, os.Rename(full, to))
			}
		}
	case "delete":
		if full, ok := w.pick(0); ok {
			check(w.t, os.RemoveAll(full))
		}
	case "chmod":
		if full, ok := w.pick(rapid.SampledFrom([]byte{tree.TypeFile, tree.TypeDir}).Draw(w.t, "type")); ok {
			w.chmod(full)
		}
	case "swap":
		if full, ok := w.pick(0); ok {
			check(w.t, os.RemoveAll(full))
			switch rapid.IntRange(0, 2).Draw(w.t, "into") {
			case 0:
				check(w.t, os.WriteFile(full, []byte("swapped"), 0o644))
			case 1:
				check(w.t, os.Mkdir(full, 0o755))
				check(w.t, os.WriteFile(full+"/in", []byte("swapped"), 0o644))
			case 2:
				check(w.t, os.Symlink("swapped", full))
			}
		}
	case "recreate":
		if full, ok := w.pick(tree.TypeFile); ok {
			data, err := os.ReadFile(full)
			check(w.t, err)
			check(w.t, os.Remove(full))
			check(w.t, os.WriteFile(full, data, 0o644))
		}
	}
}

// tb is what testing.T and rapid.T have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Failed() bool
	FailNow()
	Cleanup(func())
}
