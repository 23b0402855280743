package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/zeebo/blake3"
	"go.uber.org/goleak"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("TREE_TEST_UNPRIVILEGED"); dir != "" {
		unprivileged(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// noted gives the note as "reason path" lines.
func noted(r *Result) []string {
	lines := []string{}
	for _, s := range r.Skips {
		lines = append(lines, string(s.Reason)+" "+s.Path)
	}
	return lines
}

func wantNoted(t *testing.T, r *Result, want ...string) {
	t.Helper()
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	if got := noted(r); !slices.Equal(got, want) {
		t.Errorf("noted\n%q, want\n%q", got, want)
	}
	raw, err := r.Note()
	check(t, err)
	if len(want) == 0 {
		if raw != nil {
			t.Error("a note of nothing")
		}
		return
	}
	if back, err := tree.DecodeNote(raw); err != nil || !slices.Equal(back, r.Skips) {
		t.Errorf("the note does not come back: %v", err)
	}
}

func wantPaths(t *testing.T, m *memStore, r *Result, want ...string) {
	t.Helper()
	got := []string{}
	check(t, tree.Walk(m, r.Root, func(path string, e tree.Entry) error {
		if e.Type == tree.TypeDir {
			path += "/"
		}
		got = append(got, path)
		return nil
	}))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("captured\n%q, want\n%q", got, want)
	}
}

// Promise 10: git's directory and ours are neither entered nor stored, wherever they are.
func TestOwnDirectoriesAreNotCaptured(t *testing.T) {
	root := tempTree(t)
	spellings := []string{
		".git", ".GIT", ".Git", "git~1", "GIT~1", ".git.", ".git ", ".git...", ".git::$INDEX_ALLOCATION", ".g\u200cit",
		"\u200e.git", ".gi\ufefft",
	}
	var want []string
	for _, s := range spellings {
		write(t, root+"/"+s+"/HEAD", "ref: refs/heads/main\n")
		want = append(want, "b "+s)
	}
	write(t, root+"/sub/.git", "gitdir: ../.git/modules/sub\n")
	write(t, root+"/sub/.git2", "an honest file")
	write(t, root+"/sub/code", "nested")
	write(t, root+"/.agent/rewind/store", "id\n")
	write(t, root+"/.agent/notes", "user's")
	write(t, root+"/nested/.agent/rewind/id", "id\n")
	write(t, root+"/honest/.agent/rewind/readme", "no store here")
	write(t, root+"/.rewind-stage-x/f", "left over")
	write(t, root+"/rewind/f", "not ours")
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) { s.Force = func(string) bool { return true } })
	wantNoted(t, r, append(want, "b sub/.git", "b .agent/rewind", "b nested/.agent/rewind", "b .rewind-stage-x")...)
	wantPaths(t, m, r, "sub/", "sub/.git2", "sub/code", ".agent/", ".agent/notes", "nested/", "nested/.agent/",
		"honest/", "honest/.agent/", "honest/.agent/rewind/", "honest/.agent/rewind/readme", "rewind/", "rewind/f")
}

// paths is a git index of a test.
type paths []string

func (p paths) File(path string) bool { return slices.Contains(p, path) }

func (p paths) Below(dir string) bool {
	return slices.ContainsFunc(p, func(path string) bool { return strings.HasPrefix(path, dir+"/") })
}

func TestRulesTrackedAndForced(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "*.log\ndist/\n")
	write(t, root+"/sub/.gitignore", "!keep.log\n")
	write(t, root+"/sub/.rewindignore", "private\n")
	write(t, root+"/sub/keep.log", "kept")
	write(t, root+"/sub/x.log", "ignored")
	write(t, root+"/sub/private", "ours")
	write(t, root+"/dist/tracked.js", "tracked")
	write(t, root+"/dist/other.js", "ignored")
	write(t, root+"/dist/deep/forced", "forced")
	write(t, root+"/dist/deep/not", "ignored")
	write(t, root+"/dist/whole/a/b", "forced")
	write(t, root+"/dist/whole/c.log", "forced")
	write(t, root+"/dist/never/x", "ignored")
	check(t, os.Mkdir(root+"/dist/whole/empty", 0o755))
	write(t, root+"/node_modules/m/index.js", "built in")
	write(t, root+"/big", strings.Repeat("b", 100))
	write(t, root+"/bigtracked", strings.Repeat("b", 100))
	write(t, root+"/.env", "KEY=1")
	write(t, root+"/tracked.env", "KEY=2")
	rules := func(s *Source) {
		s.Rules = ignore.New(ignore.Options{}, builtin())
		s.Tracked = paths{"dist/tracked.js", "bigtracked", "tracked.env"}
		s.SizeLimit = 99
		s.Secret = ignore.Secrets([]string{"*.env"})
		s.SecretKey = idOf(3)
	}
	m := newMemStore()
	r := shoot(t, root, m, rules)
	plain := []string{
		".gitignore", "sub/", "sub/.gitignore", "sub/.rewindignore", "sub/keep.log", "bigtracked", "tracked.env",
		"dist/",
		"dist/tracked.js",
	}
	wantPaths(t, m, r, plain...)
	wantNoted(t, r, "i sub/x.log", "i sub/private", "i dist", "b node_modules", "z big", "s .env")

	for _, s := range r.Skips {
		switch s.Path {
		case "big":
			if s.Size != 100 {
				t.Errorf("size of the large file: %d", s.Size)
			}
		case ".env":
			h, _ := blake3.NewKeyed(slices.Repeat([]byte{3}, 32))
			_, _ = h.WriteString("KEY=1")
			if s.Size != 5 || !slices.Equal(s.Hash[:], h.Sum(nil)) {
				t.Errorf("secret: %+v", s)
			}
		}
	}
	for _, raw := range m.objects[objstore.Blob] {
		if string(raw) == "KEY=1" {
			t.Error("a secret is in the store")
		}
	}

	forced := []string{"dist/deep/forced", "dist/whole", "big", ".env", "sub/x.log", "not/there"}
	exact := func(s *Source) {
		rules(s)
		s.Force, s.ForceBelow = ForcePaths(forced)
	}
	r = shoot(t, root, m, exact)
	wantPaths(t, m, r, append(plain, "dist/deep/", "dist/deep/forced", "dist/whole/", "dist/whole/a/", "dist/whole/a/b",
		"dist/whole/c.log", "dist/whole/empty/", "big", ".env", "sub/x.log")...)
	wantNoted(t, r, "i sub/private", "i dist", "b node_modules")
	slow := shoot(t, root, m, func(s *Source) { exact(s); s.ForceBelow = nil })
	if slow.Root != r.Root {
		t.Error("another tree without ForceBelow")
	}

	r = shoot(t, root, m, func(s *Source) { rules(s); s.StoreSecrets = true })
	if _, err := tree.Lookup(m, r.Root, ".env"); err != nil {
		t.Error(err)
	}
}

// Secrets are not read again, ignore files neither; a changed rule holds at once, and what it lets go leaves the cache.
func TestCacheOfSecretsAndRules(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.env", "KEY=1")
	write(t, root+"/dir/.gitignore", "x\n")
	write(t, root+"/dir/x", "x")
	write(t, root+"/dir/y", "y")
	age()
	m, cache := newMemStore(), newCache()
	fs := &watched{}
	mod := func(s *Source) {
		s.Cache, s.Secret = cache, func(p string) bool { return p == ".env" }
		s.Root = fs.wrap(s.Root)
	}
	first := shoot(t, root, m, mod)
	cache.Committed()
	if cache.len() != 3 { // the secret, the rules and y
		t.Errorf("%d files in the cache", cache.len())
	}
	fs.opens.Store(0)
	again := shoot(t, root, m, mod)
	cache.Committed()
	if again.Root != first.Root || !slices.Equal(again.Skips, first.Skips) || fs.opens.Load() != 0 {
		t.Errorf("again: %+v, %d opened", again, fs.opens.Load())
	}
	shown := shoot(t, root, m, func(s *Source) { mod(s); s.StoreSecrets = true })
	if _, err := tree.Lookup(m, shown.Root, ".env"); err != nil {
		t.Error("the hash of a secret was taken for its blob")
	}
	write(t, root+"/dir/.gitignore", "y\n")
	r := shoot(t, root, m, mod)
	cache.Committed()
	wantPaths(t, m, r, "dir/", "dir/.gitignore", "dir/x")
	wantNoted(t, r, "s .env", "i dir/y")
	check(t, os.RemoveAll(root+"/dir"))
	shoot(t, root, m, mod)
	cache.Committed()
	if cache.len() != 1 || len(cache.dirs) != 1 || len(cache.rules) != 0 {
		t.Errorf("left in the cache: %d files, %d directories, %d rules", cache.len(), len(cache.dirs),
			len(cache.rules))
	}
}

// Promise 13, T13: pipes, sockets and devices are never opened, links never followed, nothing is changed.
func TestT13Promise13NothingChanges(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	outside := tempTree(t)
	write(t, outside+"/secret", "outside")
	check(t, syscall.Mkfifo(root+"/fifo", 0o666))
	l, err := net.Listen("unix", root+"/sock")
	check(t, err)
	defer l.Close()
	want := []string{"p fifo", "k sock"}
	if os.Getuid() == 0 {
		check(t, syscall.Mknod(root+"/device", syscall.S_IFCHR|0o666, 1<<8|3)) // null
		want = append(want, "v device")
	}
	for name, target := range map[string]string{
		"out": outside, "self": ".", "loop": "loop", "file": outside + "/secret",
		"dangling": "nowhere", "tofifo": "fifo", "a2": "../../../../../etc",
	} {
		check(t, os.Symlink(target, root+"/"+name))
	}
	before := stats(t, root)
	m := newMemStore()
	done := make(chan *Result)
	go func() { done <- shoot(t, root, m, nil) }()
	select {
	case r := <-done:
		wantNoted(t, r, want...)
		got := inStore(t, m, r.Root)
		if got["out"] != (item{tree.TypeSymlink, 0, outside}) {
			t.Errorf("link: %+v", got["out"])
		}
		sameItems(t, got, onDisk(t, root))
	case <-time.After(20 * time.Second):
		t.Fatal("hangs: it opened a pipe")
	}
	if after := stats(t, root); !slices.Equal(before, after) {
		t.Errorf("changed:\n%v\n%v", before, after)
	}
}

// stats is everything lstat says about every path, times of access aside.
func stats(t *testing.T, root string) (lines []string) {
	t.Helper()
	check(t, filepath.Walk(root, func(path string, _ os.FileInfo, err error) error {
		check(t, err)
		var st syscall.Stat_t
		check(t, syscall.Lstat(path, &st))
		lines = append(lines,
			fmt.Sprint(path, st.Ino, st.Mode, st.Nlink, st.Uid, st.Gid, st.Rdev, st.Size, mtimeOf(&st), ctimeOf(&st)))
		return nil
	}))
	return lines
}

// T13: what cannot be read is noted. The check runs in a process without privileges.
func TestUnreadableIsNoted(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	write(t, root+"/no", "unreadable")
	write(t, root+"/nodir/f", "x")
	write(t, root+"/nolist/f", "x")
	write(t, root+"/noenter/f", "x")
	check(t, os.Chmod(root+"/no", 0))
	check(t, os.Chmod(root+"/nodir", 0))
	check(t, os.Chmod(root+"/nolist", 0o311))
	check(t, os.Chmod(root+"/noenter", 0o644))
	if os.Getuid() != 0 {
		unreadable(t, root)
		return
	}
	check(t, os.Chmod(root, 0o755))
	bin := filepath.Join(tempTree(t), "test") // the test binary's own directory may be closed to others
	data, err := os.ReadFile(must(os.Executable()))
	check(t, err)
	check(t, os.WriteFile(bin, data, 0o755))
	check(t, os.Chmod(filepath.Dir(bin), 0o755))
	cmd := exec.Command(bin)
	cmd.Env = []string{"TREE_TEST_UNPRIVILEGED=" + root}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// unprivileged is TestUnreadableIsNoted in the other process.
func unprivileged(root string) {
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "unprivileged", F: func(t *testing.T) {
			if os.Getuid() == 0 {
				t.Fatal("privileged")
			}
			unreadable(t, root)
		}}})
	if ok {
		fmt.Println("PASS")
	}
}

func unreadable(t *testing.T, root string) {
	m := newMemStore()
	r := shoot(t, root, m, nil)
	wantNoted(t, r, "u no", "u nodir", "u nolist", "u noenter/f")
	wantPaths(t, m, r, "a.txt", "dir/", "dir/b.txt", "dir/sub/", "dir/sub/c.txt", "dir/sub/d.txt", "other/",
		"other/e.txt", "empty/", "link", "noenter/")
}

// T13: a sparse file over the limit costs nothing; below it, it streams.
func TestSparseFile(t *testing.T) {
	root := tempTree(t)
	f, err := os.Create(root + "/sparse")
	check(t, err)
	defer f.Close()
	check(t, f.Truncate(10_000_000_000))
	fs := &watched{}
	r := shoot(t, root, newMemStore(), func(s *Source) { s.SizeLimit = 1 << 30; s.Root = fs.wrap(s.Root) })
	wantNoted(t, r, "z sparse")
	if r.Skips[0].Size != 10_000_000_000 || fs.opens.Load() != 0 {
		t.Errorf("%+v, opened %d times", r.Skips, fs.opens.Load())
	}

	const size = 300 << 20
	check(t, f.Truncate(size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := &sink{memStore: newMemStore()}
	r, err = Take(context.Background(), sourceOf(t, root, m.memStore, func(s *Source) { s.Put = m }))
	check(t, err)
	runtime.ReadMemStats(&after)
	if r.Bytes != size || m.read.Load() != size || r.torn != 0 {
		t.Errorf("%+v, %d bytes read", r, m.read.Load())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// sink is a store that forgets blobs.
type sink struct {
	*memStore
	read atomic.Int64
}

func (s *sink) PutReader(r io.Reader, _ objstore.ID) (id objstore.ID, n int64, err error) {
	h := blake3.New()
	n, err = io.CopyBuffer(h, r, make([]byte, 256<<10))
	s.read.Add(n)
	h.Sum(id[:0])
	return id, n, err
}

// T13, small: one directory of many files, and directories deeper than any path can be.
func TestWideAndDeep(t *testing.T) {
	root := tempTree(t)
	const wide = 20_000
	check(t, os.Mkdir(root+"/wide", 0o755))
	for i := range wide {
		check(t, syscall.Mknod(fmt.Sprintf("%s/wide/%05d", root, i), syscall.S_IFREG|0o644, 0))
	}
	const deep = tree.MaxDepth + 3
	name := strings.Repeat("d", 10) // 45 KB of path
	fd, err := syscall.Open(root, syscall.O_RDONLY, 0)
	check(t, err)
	for range deep {
		check(t, mkdirat(fd, name))
		next, err := openat(fd, name)
		check(t, err)
		syscall.Close(fd)
		fd = next
	}
	syscall.Close(fd)
	age()
	m, cache := newMemStore(), newCache()
	r := shoot(t, root, m, func(s *Source) { s.Cache = cache })
	cache.Committed()
	if r.Files != wide || r.dirs != tree.MaxDepth {
		t.Errorf("%d files, %d directories", r.Files, r.dirs)
	}
	path := strings.Repeat("/"+name, tree.MaxDepth)[1:]
	wantNoted(t, r, "u "+path)
	n := 0
	check(t, tree.Walk(m, r.Root, func(string, tree.Entry) error { n++; return nil }))
	if n != wide+tree.MaxDepth {
		t.Errorf("%d entries", n)
	}
	again := shoot(t, root, m, func(s *Source) { s.Cache, s.Prev = cache, r.Root })
	if again.Root != r.Root || again.hashed != 0 || again.puts != 0 {
		t.Errorf("again: %+v", again)
	}
	check(t, exec.Command("rm", "-rf", root).Run()) // os.RemoveAll is slow at this depth
}

func TestSnapshotEnds(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	ctx, cancel := context.WithCancel(context.Background())
	fs := &watched{onRead: func(string, int64) { cancel() }}
	cache := newCache()
	_, err := Take(ctx, sourceOf(t, root, newMemStore(), func(s *Source) { s.Root, s.Cache = fs.wrap(s.Root), cache }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	cache.Committed()
	if cache.len() != 0 {
		t.Error("the cache learnt from a snapshot that failed")
	}

	for n := range 9 {
		full := &failing{memStore: newMemStore(), at: int64(n)}
		_, err = Take(context.Background(), sourceOf(t, root, full.memStore, func(s *Source) { s.Put = full }))
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("store fails at put %d: %v", n, err)
		}
	}
	if _, err := Take(context.Background(), Source{Root: openRoot(t, root), Put: newMemStore(), Prev: idOf(1)}); err == nil {
		t.Error("a previous tree without a way to read it")
	}
	r, err := Take(context.Background(), Source{Root: openRoot(t, root), Put: newMemStore()})
	if err != nil || r.Files != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	// A previous tree that is not in the store is a missing hint.
	if r2 := shoot(t, root, newMemStore(), func(s *Source) { s.Prev = idOf(1) }); r2.Root != r.Root {
		t.Error("another root")
	}
}

// failing is a store whose nth put fails.
type failing struct {
	*memStore
	n  atomic.Int64
	at int64
}

func (f *failing) Put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	if f.n.Add(1)-1 == f.at {
		return objstore.ID{}, fmt.Errorf("full: %w", syscall.ENOSPC)
	}
	return f.memStore.Put(k, raw, prev)
}

func TestProgress(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	calls, files, bytes := 0, 0, int64(0)
	r := shoot(t, root, newMemStore(), func(s *Source) {
		s.Progress = func(f int, b int64) { calls, files, bytes = calls+1, f, b }
	})
	if calls == 0 || files != r.Files || bytes != r.Bytes {
		t.Errorf("%d calls, last %d files, %d bytes", calls, files, bytes)
	}
}

// An error of the disk or of a network file system concerns one path; a process at its limits says nothing about any
// path.
func TestErrorsOfTheFileSystem(t *testing.T) {
	for op, name := range map[string]string{
		"opendir": "dir", "lstat": "a.txt", "open": "a.txt", "read": "a.txt",
		"readlink": "link",
	} {
		for errno, fatal := range map[syscall.Errno]bool{
			syscall.EIO: false, syscall.EPERM: false, syscall.ESTALE: false,
			syscall.EMFILE: true, syscall.ENFILE: true, syscall.ENOMEM: true,
		} {
			root := tempTree(t)
			populate(t, root)
			fs := &watched{}
			var fired atomic.Bool
			fs.fail = func(o, n string) error {
				if o != op || n != name {
					return nil
				}
				fired.Store(true)
				return fmt.Errorf("%s: %w", op, errno)
			}
			m := newMemStore()
			r, err := Take(context.Background(), sourceOf(t, root, m, func(s *Source) { s.Root = fs.wrap(s.Root) }))
			if !fired.Load() {
				t.Fatalf("%s: did not fire", op)
			}
			if fatal {
				if !errors.Is(err, errno) {
					t.Errorf("%s, %v: %v", op, errno, err)
				}
				continue
			}
			check(t, err)
			wantNoted(t, r, "u "+name)
			if _, err := tree.Lookup(m, r.Root, name); !errors.Is(err, tree.ErrNotFound) {
				t.Errorf("%s, %v: captured nonetheless: %v", op, errno, err)
			}
		}
	}
	fs := &watched{fail: func(op, _ string) error {
		if op == "readdir" {
			return syscall.EIO
		}
		return nil
	}}
	if _, err := Take(context.Background(), sourceOf(t, tempTree(t), newMemStore(),
		func(s *Source) { s.Root = fs.wrap(s.Root) })); !errors.Is(err, syscall.EIO) {
		t.Errorf("the root cannot be listed: %v", err)
	}
}

// Another file system below is captured and noted.
func TestMountIsNoted(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	fs := &watched{stat: func(d worktreefs.Dir) (worktreefs.Stat, error) {
		st, err := d.Stat()
		if filepath.Base(d.Name()) == "other" {
			st.Dev++
		}
		return st, err
	}}
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) { s.Root = fs.wrap(s.Root) })
	wantNoted(t, r, "m other")
	sameItems(t, inStore(t, m, r.Root), onDisk(t, root))
}

// crowd is a directory, "crowd" in the root, of more than a tree can hold.
type crowd struct {
	worktreefs.Dir
	names []worktreefs.Dirent
}

func (c crowd) OpenDir(name string) (worktreefs.Dir, error) {
	d, err := c.Dir.OpenDir(name)
	if err == nil && name == "crowd" {
		d = crowd{d, make([]worktreefs.Dirent, objstore.MaxObject/(36+251)+1)}
	}
	return d, err
}

func (c crowd) ReadDir() ([]worktreefs.Dirent, error) {
	for i := range c.names {
		c.names[i] = worktreefs.Dirent{Name: fmt.Sprintf("%0251d", i)}
	}
	if c.names == nil {
		return c.Dir.ReadDir()
	}
	return c.names, nil
}

func (c crowd) Lstat(name string) (worktreefs.Stat, error) {
	if c.names == nil {
		return c.Dir.Lstat(name)
	}
	return worktreefs.Stat{Type: worktreefs.TypeSymlink, Mtime: 1, Ctime: 1}, nil
}

func (c crowd) Readlink(string) (string, error) { return "target", nil }

func TestDirectoryLargerThanATree(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/crowd/f", "f")
	write(t, root+"/honest/f", "f")
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) { s.Root = crowd{s.Root, nil} })
	wantNoted(t, r, "z crowd")
	wantPaths(t, m, r, "honest/", "honest/f")
}
