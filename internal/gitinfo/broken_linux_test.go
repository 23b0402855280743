package gitinfo

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// damages are what a power cut, another program or a stranger makes of a file. nil: not of this one.
var damages = []struct {
	name string
	do   func(path string, was []byte) error
}{
	{"empty", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) }},
	{"zeros", func(path string, was []byte) error { return os.WriteFile(path, make([]byte, len(was)), 0o600) }},
	{"garbage", func(path string, was []byte) error { return os.WriteFile(path, garbage(len(was)), 0o600) }},
	{"much garbage", func(path string, _ []byte) error { return os.WriteFile(path, garbage(1<<20), 0o600) }},
	{"half", func(path string, was []byte) error { return os.WriteFile(path, was[:len(was)/2], 0o600) }},
	{"huge", func(path string, was []byte) error {
		return errors.Join(os.WriteFile(path, was, 0o600), os.Truncate(path, 3<<30))
	}},
	{"removed", func(string, []byte) error { return nil }},
	{"pipe", func(path string, _ []byte) error { return syscall.Mkfifo(path, 0o600) }},
	{"directory", func(path string, _ []byte) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) }},
	{"loop", func(path string, _ []byte) error { return os.Symlink(filepath.Base(path), path) }},
	{"nowhere", func(path string, _ []byte) error { return os.Symlink("/nowhere/at/all", path) }},
	{"unknown extension", func(path string, was []byte) error {
		if !bytes.HasPrefix(was, []byte("DIRC")) {
			return errNotThis
		}
		b := append(slices.Clone(was[:len(was)-20]), "xtra\x00\x00\x00\x01x"...)
		return os.WriteFile(path, sign(b), 0o600)
	}},
	{"own cycle", func(path string, was []byte) error {
		if len(was) != 41 {
			return errNotThis
		}
		return os.WriteFile(path, []byte("ref: refs/heads/main\n"), 0o600)
	}},
	{"name of zeros", func(path string, was []byte) error {
		if len(was) != 41 {
			return errNotThis
		}
		return os.WriteFile(path, []byte(strings.Repeat("0", 40)+"\n"), 0o600)
	}},
}

var errNotThis = errors.New("not of this file")

func garbage(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(1)).Read(b)
	return b
}

// wholeLook looks at a repository in which nothing is broken, again while a git that a busy machine keeps waiting does
// not answer in time.
func wholeLook(root string) (look Facts) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		look = (&Reader{}).Read(root, false)
		if len(look.Faults) == 0 || time.Now().After(end) {
			return look
		}
	}
}

// TestT24Promise18Reader breaks every file of repositories of four kinds in every way. Nothing hangs or fails, nothing
// in the repository changes, what is told is true, and what is missing is among the faults.
func TestT24Promise18Reader(t *testing.T) {
	for _, kind := range []string{"loose", "packed", "linked", "submodule"} {
		t.Run(kind, func(t *testing.T) {
			home := sandbox(t)
			put(t, filepath.Join(home, ".config/git/ignore"), "default\n")
			main := newRepo(t)
			root, git2 := main, filepath.Join(main, ".git")
			switch kind {
			case "packed":
				git(t, main, "pack-refs", "--all")
			case "linked":
				root = filepath.Join(filepath.Dir(main), "linked")
				git(t, main, "worktree", "add", "-q", root)
				git2 = filepath.Join(main, ".git/worktrees/linked")
			case "submodule":
				git(t, main, "submodule", "-q", "add", newRepo(t), "sub")
				root, git2 = filepath.Join(main, "sub"), filepath.Join(main, ".git/modules/sub")
			}
			common := git2
			if kind == "linked" {
				common = filepath.Join(main, ".git")
			}
			put(t, filepath.Join(common, "info/exclude"), "info\n")
			git(t, root, "config", "core.ignoreCase", "true")
			old := time.Now().Add(-time.Hour)
			healthy := wholeLook(root)
			if len(healthy.Faults) > 0 || healthy.Tracked.Len() == 0 || healthy.Head.Commit == "" ||
				!healthy.FoldCase ||
				len(healthy.Files) != 2 {
				t.Fatalf("healthy: %+v", healthy)
			}
			paths := []string{filepath.Join(root, ".git"), filepath.Join(git2, "gitdir")}
			for _, name := range []string{"HEAD", "index", "commondir", "config.worktree", "shallow"} {
				paths = append(paths, filepath.Join(git2, name))
			}
			refs := []string{"packed-refs", "refs", "refs/heads/main", "refs/heads/" + kind, "logs"}
			for _, name := range append(refs, "config", "objects", "info", "info/exclude", "HEAD") {
				paths = append(paths, filepath.Join(common, name))
			}
			slices.Sort(paths)
			for _, path := range slices.Compact(paths) {
				for _, d := range damages {
					was := t.TempDir() + "/was"
					data, _ := os.ReadFile(path)
					there := os.Rename(path, was) == nil
					if !there && d.name == "removed" {
						continue
					}
					err := d.do(path, data)
					if err == nil {
						_ = os.Chtimes(path, old, old)
						checkLook(t, strings.TrimPrefix(path, filepath.Dir(main))+" "+d.name, root, main, healthy)
					} else if !errors.Is(err, errNotThis) {
						t.Fatal(err)
					}
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
					if there {
						if err := os.Rename(was, path); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if again := wholeLook(root); len(again.Faults) > 0 || again.Head != healthy.Head ||
				!again.Tracked.Equal(healthy.Tracked) {
				t.Errorf("put right: %+v", again)
			}
		})
	}
}

func checkLook(t *testing.T, what, root, main string, healthy Facts) {
	t.Helper()
	before := listed(t, filepath.Dir(main))
	var r Reader
	began := time.Now()
	var m1, m2 runtime.MemStats
	runtime.ReadMemStats(&m1)
	f := r.Read(root, false)
	again := r.Read(root, false)
	runtime.ReadMemStats(&m2)
	took := time.Since(began)
	if _, err := r.State(root); err != nil && len(f.Faults) == 0 {
		t.Errorf("%s: state: %v", what, err)
	}
	if took > 3*time.Second {
		t.Errorf("%s: took %v", what, took)
	}
	if n := m2.TotalAlloc - m1.TotalAlloc; n > 48<<20 {
		t.Errorf("%s: %d bytes were allocated", what, n)
	}
	if after := listed(t, filepath.Dir(main)); after != before {
		t.Errorf("%s: the repository has changed", what)
	}
	faults := map[string]bool{}
	var told []string
	for _, x := range f.Faults {
		faults[x.What] = true
		told = append(told, fmt.Sprintf("%s %s: %v", x.What, x.Path, x.Err))
		if x.Err == nil || x.Err.Error() == "" {
			t.Errorf("%s: a fault without a reason: %+v", what, x)
		}
	}
	t.Logf("%s: %s", what, strings.Join(told, "; "))
	if len(again.Faults) != len(f.Faults) {
		t.Errorf("%s: said once: %d faults, then %d", what, len(f.Faults), len(again.Faults))
	}
	if !f.Repo {
		if what == "/r/.git removed" || strings.HasSuffix(what, "linked/.git removed") ||
			strings.HasSuffix(what, "sub/.git removed") {
			return // there is none
		}
		t.Errorf("%s: no repository", what)
	}
	whole := faults[Repository]
	if h := healthy.Head; f.Head != h {
		if !whole && !faults[HEAD] {
			t.Errorf("%s: HEAD is %+v, and nothing is said", what, f.Head)
		}
		if f.Head.Commit != "" && f.Head.Commit != h.Commit || f.Head.Branch != "" && f.Head.Branch != h.Branch {
			t.Errorf("%s: HEAD is %+v, which is not true", what, f.Head)
		}
	}
	if f.Tracked == nil && !whole && !faults[Index] || f.Tracked != nil && !f.Tracked.Equal(healthy.Tracked) {
		t.Errorf("%s: tracked: %v, faults %q", what, f.Tracked, told)
	}
	excludes := strings.Contains(what, "/info ") // that there is none is no damage
	for _, damage := range []string{"removed", "empty", "nowhere"} {
		excludes = excludes || strings.HasSuffix(what, "info/exclude "+damage)
	}
	if len(f.Files) != len(healthy.Files) && !whole && !faults[excludeFile] && !excludes {
		t.Errorf("%s: rules files: %q, and nothing is said", what, f.Files)
	}
}

// listed names everything below a directory, with what a change of it changes.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		sys := st.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%s %v %d %d %d %v\n", p, st.Mode(), st.Size(), st.ModTime().UnixNano(), sys.Ino, sys.Ctim)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestT24Promise18Hangs has git wait for a pipe that its configuration includes: it is waited for once, for a second,
// and ends with what it started; nothing else of the repository is missing; and when the configuration is put right it
// is asked again.
func TestT24Promise18Hangs(t *testing.T) {
	home := sandbox(t)
	real := findGit(t)
	dir := newRepo(t)
	pipe := filepath.Join(home, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(home, ".gitconfig")
	put(t, config, "[include]\n\tpath = "+pipe+"\n")
	put(t, filepath.Join(home, ".config/git/ignore"), "default\n")
	calls := fakeGit(t, real+` "$@"`) // a child of the script's
	silent = silence{}
	began := time.Now()
	for range 3 {
		var r Reader // each as a new process has it
		for range 3 {
			f := r.Read(dir, false)
			if len(f.Faults) != 1 || f.Faults[0].What != configuration || !errors.Is(f.Faults[0].Err, errNoAnswer) {
				t.Fatalf("%+v", f.Faults)
			}
			if f.Tracked.Len() != 1 || f.Head.Commit == "" || len(f.Files) != 2 {
				t.Fatalf("%+v", f)
			}
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("nine looks took %v", took)
	}
	if n := strings.Count(calls(), "\n"); n != 1 {
		t.Errorf("git was started %d times", n)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		fd, err := syscall.Open(pipe, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, syscall.ENXIO) {
			break // nobody reads it
		}
		if err == nil {
			syscall.Close(fd)
		}
		if time.Now().After(end) {
			t.Fatalf("git is still there: %v", err)
		}
	}
	put(t, config, "[core]\n\texcludesFile = ~/mine\n")
	put(t, filepath.Join(home, "mine"), "mine\n")
	var r Reader
	if f := r.Read(dir, false); len(f.Faults) > 0 || string(f.Files[0].Data) != "mine\n" {
		t.Errorf("put right: %+v", f)
	}
}

// A configuration that git refuses is not asked for again before it changes; what it said last is what counts.
func TestT24Promise18Refused(t *testing.T) {
	home := sandbox(t)
	real := findGit(t)
	dir := newRepo(t)
	config := filepath.Join(home, ".gitconfig")
	put(t, filepath.Join(home, "mine"), "mine\n")
	put(t, config, "[core]\n\texcludesFile = ~/mine\n")
	calls := fakeGit(t, "exec "+real+` "$@"`)
	var r Reader
	if f := r.Read(dir, false); len(f.Faults) > 0 || string(f.Files[0].Data) != "mine\n" {
		t.Fatalf("%+v", f)
	}
	old := time.Now().Add(-time.Hour)
	put(t, config, "[core\n\texcludesFile = ~/other\n")
	if err := os.Chtimes(config, old, old); err != nil {
		t.Fatal(err)
	}
	before := strings.Count(calls(), "\n")
	for range 5 {
		f := r.Read(dir, false)
		if len(f.Faults) != 1 || f.Faults[0].What != configuration || string(f.Files[0].Data) != "mine\n" {
			t.Fatalf("%+v", f)
		}
	}
	if n := strings.Count(calls(), "\n") - before; n > 2 { // both values at once, then the first alone
		t.Errorf("git was started %d times", n)
	}
}

// TestGate gives up what does not answer, asks nothing meanwhile, and asks again when it has ended.
func TestGate(t *testing.T) {
	var g gate
	hang := make(chan struct{})
	asked := 0
	ask := func() (int, error) { asked++; <-hang; return 1, nil }
	if v, err := within(&g, time.Millisecond, "x", ask); v != 0 || !errors.Is(err, errNoAnswer) {
		t.Errorf("%d, %v", v, err)
	}
	for range 3 {
		if _, err := within(&g, time.Hour, "x", ask); !errors.Is(err, errNoAnswer) {
			t.Errorf("%v", err)
		}
	}
	close(hang)
	for end := time.Now().Add(10 * time.Second); g.stuck() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if v, err := within(&g, time.Hour, "x", ask); v != 1 || err != nil || asked != 2 {
		t.Errorf("%d, %v, asked %d times", v, err, asked)
	}
}

// TestToplevelBroken finds the project that a broken repository is of, and passes over what never was one.
func TestToplevelBroken(t *testing.T) {
	sandbox(t)
	outer := newRepo(t)
	inner := filepath.Join(outer, "inner")
	git(t, outer, "init", "-q", inner)
	below := filepath.Join(inner, "a")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		if got, ok, err := Toplevel(below); err != nil || !ok || got != want {
			t.Errorf("%q, %v, %v; want %q", got, ok, err, want)
		}
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if err := os.RemoveAll(filepath.Join(inner, ".git", name)); err != nil {
			t.Fatal(err)
		}
		is(inner)
	}
	if err := os.RemoveAll(filepath.Join(inner, ".git")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(inner, ".git"), "gitdir: ../nowhere\n")
	is(inner)
	put(t, filepath.Join(inner, ".git"), "what is this\n")
	is(outer)
	if err := errors.Join(os.Remove(filepath.Join(inner, ".git")), syscall.Mkfifo(filepath.Join(inner, ".git"), 0o600)); err != nil {
		t.Fatal(err)
	}
	is(outer)
}

// TestFindLine finds lines where pieces meet, and holds no more than a piece.
func TestFindLine(t *testing.T) {
	sandbox(t)
	dir := newRepo(t)
	git(t, dir, "pack-refs", "--all")
	want := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	path := filepath.Join(dir, ".git/packed-refs")
	for _, n := range []int{0, 100, 17_000, 17_475, 17_476, 17_477, 40_000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s refs/heads/b%06d\n", strings.Repeat("1", 40), i)
		}
		put(t, path, b.String()+want+" refs/heads/main\n"+strings.Repeat("2", 40)+" refs/heads/mainly\n")
		if h, err := open(t, dir).Head(); err != nil || h.Commit != want {
			t.Errorf("behind %d refs: %+v, %v", n, h, err)
		}
	}
}

// A repository without a commit needs no index, whatever the user's configuration is like.
func TestLookFresh(t *testing.T) {
	home := sandbox(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	put(t, filepath.Join(home, ".gitconfig"), "[core\n")
	var r Reader
	f := r.Read(dir, false)
	if f.Tracked == nil || f.Tracked.Len() != 0 || len(f.Faults) != 1 || f.Faults[0].What != configuration ||
		f.Faults[0].Path != "" {
		t.Errorf("%+v", f)
	}
}

// BenchmarkLook is what every capture pays.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	commit := []string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "x"}
	for _, args := range [][]string{{"init", "-q", dir}, commit} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			b.Fatalf("%s", out)
		}
	}
	time.Sleep(racyWindow + 100*time.Millisecond)
	var r Reader
	b.ReportAllocs()
	for b.Loop() {
		if f := r.Read(dir, true); len(f.Faults) > 0 {
			b.Fatalf("%+v", f.Faults)
		}
	}
}
