package worktreefs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// asNobody tells the test binary that it is the half without privileges, and where to work.
const asNobody = "WORKTREEFS_TEST_NOBODY"

// TestMain also serves the half that runs without privileges.
func TestMain(m *testing.M) {
	if os.Getenv(asNobody) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

// open gives a root in a fresh directory.
func open(t testing.TB) (Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, path
}

func put(t testing.TB, d Dir, name, data string) {
	t.Helper()
	f, err := d.CreateFile(name, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, d Dir, name string) string {
	t.Helper()
	f, _, err := d.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writes are all operations that write a name.
func writes(d Dir) map[string]func(name string) error {
	return map[string]func(name string) error{
		"create":        func(n string) error { _, err := d.CreateFile(n, 0o644); return err },
		"mkdir":         func(n string) error { return d.Mkdir(n, 0o755) },
		"symlink":       func(n string) error { return d.Symlink("x", n) },
		"move from":     func(n string) error { return d.Move(n, d, "elsewhere") },
		"move to":       func(n string) error { return d.Move("file", d, n) },
		"exchange from": func(n string) error { return d.Exchange(n, d, "file") },
		"exchange to":   func(n string) error { return d.Exchange("file", d, n) },
		"lock":          func(n string) error { _, err := d.Lock(n); return err },
		"remove":        func(n string) error { return d.Remove(n) },
		"rmdir":         func(n string) error { return d.Rmdir(n) },
		"chmod":         func(n string) error { return d.Chmod(n, 0o600) },
	}
}

// TestT12WritesRefused: no operation writes a spelling of .git, or what is not a name.
func TestT12WritesRefused(t *testing.T) {
	d, path := open(t)
	put(t, d, "file", "x")
	must(t, os.Mkdir(filepath.Join(path, ".git"), 0o755))
	must(t, os.WriteFile(filepath.Join(path, ".git", "config"), []byte("config"), 0o644))
	bad := map[string]error{
		"": ErrBadName, ".": ErrBadName, "..": ErrBadName, "a/b": ErrBadName, "/": ErrBadName, "../x": ErrBadName,
		"a\x00b": ErrBadName, "/etc": ErrBadName, "./a": ErrBadName,
	}
	for _, n := range dotGits {
		bad[n] = errDotGit
	}
	for op, write := range writes(d) {
		for n, want := range bad {
			if err := write(n); !errors.Is(err, want) {
				t.Errorf("%s %q: %v", op, n, err)
			}
		}
	}
	// Reading .git is fine; writing in it is not, at any depth.
	must(t, os.Mkdir(filepath.Join(path, ".git", "sub"), 0o755))
	git, err := d.OpenDir(".git")
	must(t, err)
	defer git.Close()
	sub, err := git.OpenDir("sub")
	must(t, err)
	defer sub.Close()
	if got := get(t, git, "config"); got != "config" {
		t.Errorf("config is %q", got)
	}
	for _, in := range []Dir{git, sub} {
		for op, write := range writes(in) {
			if err := write("config"); !errors.Is(err, errDotGit) {
				t.Errorf("%s in %s: %v", op, in.Name(), err)
			}
		}
		if err := d.Move("file", in, "file"); !errors.Is(err, errDotGit) {
			t.Errorf("move into %s: %v", in.Name(), err)
		}
	}
	inside, err := OpenRoot(filepath.Join(path, ".git"))
	must(t, err)
	defer inside.Close()
	if err := inside.Mkdir("x", 0o755); !errors.Is(err, errDotGit) {
		t.Errorf("mkdir below a root in .git: %v", err)
	}
	if list, _ := d.ReadDir(); len(list) != 2 {
		t.Errorf("the directory holds %v", list)
	}
}

// TestT12Names: every name the file system takes goes through all operations and comes back the same.
func TestT12Names(t *testing.T) {
	d, _ := open(t)
	for i, n := range append([]string{
		"new\nline", "tab\t", "\x01\x02\x7f", "\xff\xfe\xfd", "a\xc3", strings.Repeat("x", 255), strings.Repeat("\xff",
			255), strings.Repeat("é", 127),
		" ", "  lead", "trail ", "-rf", "--", "*", "?", "[a]", "$HOME", "`id`", ";", "|", "&", "\"", "'", "\\", "a\\b", "~", "#", "%00",
		"CON", "nul", "aux.txt",
		"a:b", "...", "....", "a.", "\u202egnp", "\U0001f600", "e\u0301", "\u00e9", ".agent", "node_modules",
	}, honest...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			sub := fmt.Sprintf("case%d", i)
			must(t, d.Mkdir(sub, 0o755))
			d, err := d.OpenDir(sub)
			must(t, err)
			defer d.Close()
			if err := func() error {
				f, err := d.CreateFile(n, 0o600)
				if err == nil {
					f.Close()
				}
				return err
			}(); errors.Is(err, unix.EILSEQ) {
				t.Logf("%q: the file system takes UTF-8 only", n)
				return
			}
			list, err := d.ReadDir()
			must(t, err)
			if len(list) != 1 || list[0].Name != n || list[0].Type != TypeFile && list[0].Type != 0 {
				t.Errorf("%q is listed as %q", n, list)
			}
			must(t, d.Chmod(n, 0o4751))
			if st, err := d.Lstat(n); err != nil || st.Type != TypeFile || st.Perm != 0o4751 {
				t.Errorf("%q: %+v, %v", n, st, err)
			}
			put(t, d, "other", "1")
			must(t, d.Exchange(n, d, "other"))
			if get(t, d, n) != "1" {
				t.Errorf("%q was not exchanged", n)
			}
			if err := d.Move("other", d, n); !errors.Is(err, ErrExist) {
				t.Errorf("move onto %q: %v", n, err)
			}
			must(t, d.Remove(n))
			must(t, d.Mkdir(n, 0o1711))
			if st, err := d.Lstat(n); err != nil || st.Type != TypeDir || st.Perm != 0o1711 {
				t.Errorf("%q: %+v, %v", n, st, err)
			}
			below, err := d.OpenDir(n)
			must(t, err)
			below.Close()
			must(t, d.Rmdir(n))
			must(t, d.Symlink(n, n))
			if target, err := d.Readlink(n); err != nil || target != n {
				t.Errorf("link %q leads to %q, %v", n, target, err)
			}
			if _, err := d.OpenDir(n); !errors.Is(err, ErrNotDir) {
				t.Errorf("open directory, a link %q: %v", n, err)
			}
		})
	}
	if _, err := d.CreateFile(strings.Repeat("x", 256), 0o600); !errors.Is(err, ErrBadName) {
		t.Errorf("256 bytes: %v", err)
	}
	if _, err := d.Lstat(strings.Repeat("x", 256)); !errors.Is(err, ErrBadName) {
		t.Errorf("256 bytes: %v", err)
	}
}

func TestErrors(t *testing.T) {
	d, path := open(t)
	put(t, d, "file", "x")
	must(t, d.Mkdir("dir", 0o755))
	must(t, d.Mkdir("full", 0o755))
	must(t, os.WriteFile(filepath.Join(path, "full", "f"), nil, 0o644))
	must(t, d.Symlink("dir", "todir"))
	must(t, d.Symlink("file", "tofile"))
	must(t, d.Symlink("loop", "loop"))
	must(t, unix.Mkfifo(filepath.Join(path, "pipe"), 0o644))
	l, err := net.Listen("unix", filepath.Join(path, "s"))
	must(t, err)
	defer l.Close()
	opened := func(n string) error {
		f, _, err := d.Open(n)
		if err == nil {
			f.Close()
		}
		return err
	}
	entered := func(n string) error {
		sub, err := d.OpenDir(n)
		if err == nil {
			sub.Close()
		}
		return err
	}
	lstat := func(n string) error { _, err := d.Lstat(n); return err }
	link := func(n string) error { _, err := d.Readlink(n); return err }
	for i, c := range []struct {
		err  error
		want error
		not  error
	}{
		{lstat("none"), ErrNotExist, nil},
		{lstat("none"), fs.ErrNotExist, nil},
		{opened("none"), ErrNotExist, nil},
		{opened("dir"), ErrNotRegular, nil},
		{opened("tofile"), ErrNotRegular, nil},
		{opened("loop"), ErrNotRegular, nil},
		{opened("pipe"), ErrNotRegular, nil},
		{opened("s"), ErrNotRegular, nil},
		{entered("none"), ErrNotExist, nil},
		{entered("file"), ErrNotDir, nil},
		{entered("todir"), ErrNotDir, nil},
		{entered("loop"), ErrNotDir, nil},
		{entered("pipe"), ErrNotDir, nil},
		{entered(".."), ErrBadName, nil},
		{entered("dir/."), ErrBadName, nil},
		{opened("dir/../file"), ErrBadName, nil},
		{lstat("dir/../file"), ErrBadName, nil},
		{link("file"), ErrUnsupported, nil},
		{link("none"), ErrNotExist, nil},
		{link("../x"), ErrBadName, nil},
		{d.Mkdir("file", 0o755), ErrExist, nil},
		{d.Mkdir("dir", 0o755), ErrExist, nil},
		{d.Symlink("x", "file"), ErrExist, nil},
		{d.Symlink("x", "loop"), ErrExist, nil},
		{d.Move("file", d, "dir"), ErrExist, nil},
		{d.Move("dir", d, "full"), ErrExist, nil},
		{d.Move("full", d, "dir"), ErrExist, nil},
		{d.Move("file", d, "loop"), ErrExist, nil},
		{d.Move("file", d, "file"), ErrExist, nil},
		{d.Move("none", d, "new"), ErrNotExist, nil},
		{d.Exchange("file", d, "none"), ErrNotExist, nil},
		{d.Exchange("none", d, "file"), ErrNotExist, nil},
		{d.Rmdir("full"), ErrNotEmpty, ErrExist},
		{d.Rmdir("file"), ErrNotDir, nil},
		{d.Rmdir("todir"), ErrNotDir, nil},
		{d.Rmdir("none"), ErrNotExist, nil},
		{d.Remove("dir"), ErrIsDir, nil},
		{d.Remove("none"), ErrNotExist, nil},
		{d.Chmod("todir", 0o700), ErrUnsupported, nil},
		{d.Chmod("tofile", 0o600), ErrUnsupported, nil},
		{d.Chmod("loop", 0o600), ErrUnsupported, nil},
		{d.Chmod("none", 0o600), ErrNotExist, nil},
	} {
		if !errors.Is(c.err, c.want) || c.not != nil && errors.Is(c.err, c.not) {
			t.Errorf("%d: %v is not %v", i, c.err, c.want)
		}
		if c.err != nil && !strings.Contains(c.err.Error(), " /") { // it names the path
			t.Errorf("%d: %v", i, c.err)
		}
	}
	if st, _ := d.Lstat("file"); st.Perm != 0o644 {
		t.Errorf("chmod went through a link: %04o", st.Perm)
	}
	if got := d.Remove("none\n").Error(); !strings.Contains(got, `none\n": `) {
		t.Errorf("unquoted: %s", got)
	}
	if _, err := OpenRoot(filepath.Join(path, "none")); !errors.Is(err, ErrNotExist) {
		t.Errorf("%v", err)
	}
	for _, p := range []string{"todir/x", "file/x", "dir/none/x", "loop/x", "dir/../x/y", "dir//x"} {
		if _, _, err := OpenParent(d, p); err == nil {
			t.Errorf("%s was opened", p)
		}
	}
}

// TestT13OpenNeverWaits: neither a pipe nor one that is swapped in for a file holds an open up.
func TestT13OpenNeverWaits(t *testing.T) {
	d, path := open(t)
	must(t, unix.Mkfifo(filepath.Join(path, "pipe"), 0o644))
	put(t, d, "file", "x")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 2000 {
			f, st, err := d.Open("file")
			switch {
			case err == nil && st.Type != TypeFile:
				t.Errorf("opened a %v", st.Type)
			case err != nil && !errors.Is(err, ErrNotRegular) && !errors.Is(err, ErrNotExist):
				t.Error(err)
			}
			if err == nil {
				f.Close()
			}
			if i%2 == 0 {
				_ = d.Exchange("file", d, "pipe")
			}
		}
	}()
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = d.Exchange("file", d, "pipe")
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("an open waits")
	}
}

// TestT12Deep: a tree far deeper than PATH_MAX is made, walked, read and removed.
func TestT12Deep(t *testing.T) {
	root, _ := open(t)
	const depth = 600
	name := strings.Repeat("d", 30)
	path := strings.Repeat(name+"/", depth)
	cur, err := OpenPath(root, "")
	must(t, err)
	for range depth {
		must(t, cur.Mkdir(name, 0o755))
		next, err := cur.OpenDir(name)
		must(t, err)
		cur.Close()
		cur = next
	}
	put(t, cur, "leaf", "deep")
	cur.Close()
	d, leaf, err := OpenParent(root, path+"leaf")
	must(t, err)
	if got := get(t, d, leaf); got != "deep" {
		t.Errorf("read %q", got)
	}
	if !strings.HasSuffix(d.Name(), "/"+strings.TrimSuffix(path, "/")) {
		t.Errorf("name of %d bytes", len(d.Name()))
	}
	must(t, d.Remove(leaf))
	d.Close()
	for i := depth; i > 0; i-- {
		d, n, err := OpenParent(root, strings.TrimSuffix(path[:i*(len(name)+1)], "/"))
		must(t, err)
		must(t, d.Rmdir(n))
		d.Close()
	}
}

func TestLongSymlink(t *testing.T) {
	d, _ := open(t)
	for _, n := range []int{1, 255, 256, 257, 1023, 1024, 1025, 4095} {
		target, name := strings.Repeat("t", n), fmt.Sprint(n)
		if err := d.Symlink(target, name); errors.Is(err, ErrBadName) {
			continue // beyond what this system can store
		} else if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Readlink(name); err != nil || got != target {
			t.Errorf("%d bytes: %d bytes, %v", n, len(got), err)
		}
	}
}

func TestReadDirMany(t *testing.T) {
	d, _ := open(t)
	want := map[string]bool{}
	for i := range 3000 {
		n := fmt.Sprintf("%s%d", strings.Repeat("n", i%200), i)
		must(t, d.Symlink("x", n))
		want[n] = true
	}
	for range 2 { // a second listing starts over
		list, err := d.ReadDir()
		must(t, err)
		if len(list) != len(want) || !slices.ContainsFunc(list, func(e Dirent) bool { return want[e.Name] }) {
			t.Errorf("%d entries", len(list))
		}
	}
}

func TestFile(t *testing.T) {
	d, _ := open(t)
	f, err := d.CreateFile("f", 0o600)
	must(t, err)
	data := bytes.Repeat([]byte("0123456789"), 10000)
	n, err := f.Write(data)
	if n != len(data) || err != nil {
		t.Fatal(n, err)
	}
	must(t, f.Chmod(0o6754))
	must(t, f.Sync())
	st, err := f.Stat()
	must(t, err)
	must(t, f.Close())
	if st.Size != int64(len(data)) || st.Perm != 0o6754 || st.Type != TypeFile || st.Nlink != 1 {
		t.Errorf("%+v", st)
	}
	if now := time.Now().UnixNano(); st.Mtime < now-int64(time.Minute) || st.Mtime > now+int64(time.Minute) {
		t.Errorf("mtime %d", st.Mtime)
	}
	if _, err := d.CreateFile("f", 0o600); !errors.Is(err, ErrExist) {
		t.Error(err)
	}
	r, _, err := d.Open("f")
	must(t, err)
	defer r.Close()
	p := make([]byte, 10)
	if n, err := r.ReadAt(p, int64(len(data)-5)); n != 5 || err != io.EOF || string(p[:5]) != "56789" {
		t.Errorf("%d %v %q", n, err, p)
	}
	if n, err := r.ReadAt(p, 15); n != 10 || err != nil || string(p) != "5678901234" {
		t.Errorf("%d %v %q", n, err, p)
	}
	if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, data) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	must(t, d.Sync())
	must(t, SyncFS(d))
}

// TestMoveByLink: the way without a non-replacing rename holds the same.
func TestMoveByLink(t *testing.T) {
	root, _ := open(t)
	d := root.(*dir)
	put(t, d, "a", "a")
	put(t, d, "b", "b")
	must(t, d.Mkdir("e", 0o755))
	must(t, d.Mkdir("full", 0o755))
	must(t, d.Symlink("x", "l"))
	sub, err := d.OpenDir("full")
	must(t, err)
	defer sub.Close()
	put(t, sub, "f", "f")
	for _, c := range [][2]string{{"a", "b"}, {"a", "e"}, {"a", "l"}, {"e", "a"}, {"e", "full"}, {"full", "e"}, {"l", "a"}} {
		if err := d.moveByLink(c[0], d, c[1]); err != unix.EEXIST {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, n := range []string{"a", "e", "full", "l"} {
		if err := d.moveByLink(n, sub.(*dir), "moved"); n == "full" {
			if err != unix.EINVAL {
				t.Errorf("%s into itself: %v", n, err)
			}
			continue
		} else if err != nil {
			t.Errorf("%s: %v", n, err)
		}
		if _, err := d.Lstat(n); !errors.Is(err, ErrNotExist) {
			t.Errorf("%s is still there: %v", n, err)
		}
		must(t, sub.Move("moved", sub, "done "+n))
	}
	if list, _ := sub.ReadDir(); len(list) != 4 {
		t.Errorf("%v", list)
	}
}

// TestConcurrent: methods can be used from many goroutines, listing too.
func TestConcurrent(t *testing.T) {
	d, _ := open(t)
	for i := range 300 {
		must(t, d.Symlink("x", fmt.Sprint("name", i)))
	}
	errs := make(chan error, 8)
	for range 8 {
		go func() {
			for range 50 {
				list, err := d.ReadDir()
				if err == nil && len(list) != 300 {
					err = fmt.Errorf("%d entries", len(list))
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 8 {
		must(t, <-errs)
	}
}
