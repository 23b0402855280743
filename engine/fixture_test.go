package engine

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/tree"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(torture.Points(200, 5000))); err != nil { // the command line still wins
		panic(err)
	}
	if os.Getenv(childEnv) != "" {
		os.Exit(m.Run()) // a store that failed for good leaves goroutines; its process ends
	}
	goleak.VerifyTestMain(m)
}

// childEnv marks a process that runs one test whose stores fail for good.
const aDay = 24 * time.Hour

const childEnv = "REWIND_TEST_CHILD"

// inChild runs the calling test in a process of its own, and reports whether this is that process.
func inChild(t *testing.T) bool {
	t.Helper()
	if os.Getenv(childEnv) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// checks has rapid run as often as a test of the matrix shall, from its seed where one is asked for.
func checks(t *testing.T, m *torture.Run) {
	t.Helper()
	setChecks(t, m.Points, m.Seed)
}

func setChecks(t *testing.T, runs int, seed uint64) {
	t.Helper()
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(runs), "rapid.seed": strconv.FormatUint(seed, 10)} {
		if name == "rapid.seed" && os.Getenv(torture.EnvSeed) == "" {
			continue
		}
		was := flag.Lookup(name).Value.String()
		t.Cleanup(func() { _ = flag.Set(name, was) })
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFor has rapid run 200 times, and again with the next seed until as many seconds are over as a test of the matrix has points.
func checkFor(t *testing.T, m *torture.Run, property func(*rapid.T)) {
	t.Helper()
	const runs = 200
	began, batches := time.Now(), 0
	for batches == 0 || time.Since(began) < time.Duration(m.Points)*time.Second {
		setChecks(t, runs, m.Seed+uint64(batches))
		rapid.Check(t, property)
		batches++
	}
	for range m.Points {
		m.Point()
	}
	t.Logf("%d runs", batches*runs)
}

// fataler is what testing.T and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// fixture is a real directory with a real engine; the store's files are in memory, so that syncs cost nothing.
type fixture struct {
	t    fataler
	root string
	home project.Home
	fs   *kvtest.CrashFS
	e    *Engine
	tick time.Time
}

func newProject(t *testing.T) *fixture {
	t.Helper()
	p := openProject(t, t.TempDir(), t.TempDir())
	t.Cleanup(p.close)
	return p
}

func openProject(t fataler, root, home string) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := &fixture{t: t, root: root, home: project.Home{Dir: home}, fs: kvtest.NewCrashFS(), tick: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	// The directories above the store are there since before the test, also after a power cut.
	p.must(p.fs.MkdirAll(p.home.Storage(), 0o700))
	for dir := p.home.Storage(); ; dir = filepath.Dir(dir) {
		d, err := p.fs.OpenDir(dir)
		p.must(err)
		p.must(d.Sync())
		p.must(d.Close())
		if dir == filepath.Dir(dir) {
			break
		}
	}
	e, _, err := Init(context.Background(), p.home, root, project.ModeGlobal, p.options())
	if err != nil {
		t.Fatalf("init: %v", err)
	}
	p.e = e
	return p
}

func (p *fixture) options() project.Options {
	return project.Options{KV: kv.Options{FS: p.fs}}
}

func (p *fixture) close() {
	if err := p.e.Close(); err != nil {
		p.t.Fatalf("close: %v", err)
	}
}

func (p *fixture) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *fixture) write(name, content string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	p.must(os.WriteFile(p.path(name), []byte(content), 0o644))
}

func (p *fixture) remove(names ...string) {
	p.t.Helper()
	for _, n := range names {
		p.must(os.RemoveAll(p.path(n)))
	}
}

func (p *fixture) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%v", err)
	}
}

func (p *fixture) save(message string) *model.Checkpoint {
	p.t.Helper()
	r, err := p.e.Worktree.Save(context.Background(), "", message, nil)
	if err != nil {
		p.t.Fatalf("save: %v", err)
	}
	return r.Checkpoint
}

func (p *fixture) checkout(name string, o restore.Options) *restore.Result {
	p.t.Helper()
	r, err := p.e.Restorer.Checkout(context.Background(), name, o)
	if err != nil {
		p.t.Fatalf("checkout %s: %v", name, err)
	}
	return r
}

func (p *fixture) keptNames(r *restore.Result) []string {
	out := []string{}
	for _, k := range r.Plan.Kept {
		out = append(out, fmt.Sprintf("%s %s", k.Reason, k.Path))
	}
	return out
}

// listing is the whole directory as this test sees it, by an implementation of its own: path to type, mode, content.
type listing map[string]string

func list(t fataler, root string) listing {
	t.Helper()
	l := listing{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if rel == ".agent" || rel == ".git" {
			return filepath.SkipDir
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		perm := uint32(fi.Mode().Perm())
		for bit, mode := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
			if fi.Mode()&mode != 0 {
				perm |= bit
			}
		}
		switch {
		case fi.IsDir():
			l[rel] = fmt.Sprintf("d %04o", perm)
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			l[rel] = "l " + target
			return err
		default:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			l[rel] = fmt.Sprintf("f %04o %x", perm, sha256.Sum256(b))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("list %s: %v", root, err)
	}
	return l
}

// without leaves out paths and all below them.
func (l listing) without(drop func(path string) bool) listing {
	out := maps.Clone(l)
	for p := range l {
		for q := p; q != ""; q, _ = tree.Split(q) {
			if drop(q) {
				delete(out, p)
			}
		}
	}
	return out
}

func (l listing) diff(want listing) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(l)) {
		if want[p] != l[p] {
			fmt.Fprintf(&b, "  %q is %q, want %q\n", p, l[p], want[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if _, ok := l[p]; !ok {
			fmt.Fprintf(&b, "  %q is missing, want %q\n", p, want[p])
		}
	}
	return b.String()
}

func (p *fixture) wantTree(want listing) {
	p.t.Helper()
	if d := list(p.t, p.root).diff(want); d != "" {
		p.t.Fatalf("tree differs:\n%s", d)
	}
}

func (p *fixture) cat(cp *model.Checkpoint, path string) string {
	p.t.Helper()
	f, _, err := p.e.History.Cat(context.Background(), cp.ID.String(), path)
	if err != nil {
		p.t.Fatalf("cat %s: %v", path, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	p.must(err)
	return string(b)
}

func equal[T comparable](t fataler, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}
