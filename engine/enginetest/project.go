// Package enginetest is an open project with agents that work in it, for the tests of the engine's rooms. The directory
// and the engine are real. The store is in a file system in memory, which can simulate a power cut.
//
//   - Project is the project, and its person: files written by hand, saves, restores; what they give is checked at once.
//   - Agent calls the hooks of a session without a session file. Talker has one of Claude Code's. Scribe is a session of any of the four
//     agents from the outside: payloads and session file as that agent writes them.
//
// One goroutine uses a Project. What goes wrong fails the test.
package enginetest

import (
	"context"
	"crypto/sha256"
	"errors"
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
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/objstore"
	"rewind/tree"
)

// Main runs the tests of one room: rapid as often as the matrix asks for, files with the modes that goldens have, no
// goroutine left behind.
func Main(m *testing.M) {
	torture.Draws(67, 5000)
	syscall.Umask(0o022)
	if os.Getenv(childEnv) != "" {
		os.Exit(m.Run()) // a store that failed for good leaves goroutines; its process ends
	}
	goleak.VerifyTestMain(m)
}

// ADay is a day.
const ADay = 24 * time.Hour

// childEnv marks a process that runs one test whose stores fail for good.
const childEnv = "REWIND_TEST_CHILD"

// InChild runs the calling test in a process of its own, and reports whether this is that process.
func InChild(t *testing.T) bool {
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

// Checks has rapid run as often as a test of the matrix shall, from its seed where one is asked for.
func Checks(t *testing.T, m *torture.Run) {
	t.Helper()
	SetChecks(t, m.Points, m.Seed)
}

// SetChecks has rapid run so often, from seed where REWIND_SEED asks for one, until the test ends.
func SetChecks(t *testing.T, runs int, seed uint64) {
	t.Helper()
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(runs),
		"rapid.seed":   strconv.FormatUint(seed, 10),
	} {
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

// CheckFor has rapid run 200 times, and again with the next seed until as many seconds are over as a test of the matrix
// has points.
func CheckFor(t *testing.T, m *torture.Run, property func(*rapid.T)) {
	t.Helper()
	runs := 67
	if torture.Full() {
		runs = 200
	}
	began, batches := time.Now(), 0
	for batches == 0 || time.Since(began) < time.Duration(m.Points)*time.Second {
		SetChecks(t, runs, m.Seed+uint64(batches))
		rapid.Check(t, property)
		batches++
	}
	for range m.Points {
		m.Point()
	}
	t.Logf("%d runs", batches*runs)
}

// Fataler is what testing.T and rapid.T share.
type Fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Project is a real directory with a real engine; the store's files are in memory, so that syncs cost nothing.
type Project struct {
	T    Fataler
	Root string
	Home project.Home
	FS   *kvtest.CrashFS
	E    *engine.Engine
	Tick time.Time
}

// NewProject is a project in a directory of the test, closed when that ends.
func NewProject(t *testing.T) *Project {
	t.Helper()
	p := OpenProject(t, t.TempDir(), t.TempDir())
	t.Cleanup(p.Close)
	return p
}

// OpenProject is a project of a directory, with a home of its own; the caller closes it.
func OpenProject(t Fataler, root, home string) *Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := &Project{
		T: t, Root: root, Home: project.Home{Dir: home}, FS: kvtest.NewCrashFS(),
		Tick: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
	}
	// The directories above the store are there since before the test, also after a power cut.
	p.Must(p.FS.MkdirAll(p.Home.Storage(), 0o700))
	for dir := p.Home.Storage(); ; dir = filepath.Dir(dir) {
		d, err := p.FS.OpenDir(dir)
		p.Must(err)
		p.Must(d.Sync())
		p.Must(d.Close())
		if dir == filepath.Dir(dir) {
			break
		}
	}
	e, _, err := engine.Init(context.Background(), p.Home, root, project.ModeGlobal, p.Options())
	if err != nil {
		t.Fatalf("init: %v", err)
	}
	p.E = e
	return p
}

// Options are those that the project is opened with: its files, its clock.
func (p *Project) Options() project.Options {
	return project.Options{KV: kv.Options{FS: p.FS}}
}

// Close closes the engine.
func (p *Project) Close() {
	if err := p.E.Close(); err != nil {
		p.T.Fatalf("close: %v", err)
	}
}

// Path is where a file of the project lies.
func (p *Project) Path(name string) string { return filepath.Join(p.Root, filepath.FromSlash(name)) }

// Write writes a file as a person would, with the directories above it.
func (p *Project) Write(name, content string) {
	p.T.Helper()
	p.Must(os.MkdirAll(filepath.Dir(p.Path(name)), 0o755))
	p.Must(os.WriteFile(p.Path(name), []byte(content), 0o644))
}

// Remove removes files or whole directories.
func (p *Project) Remove(names ...string) {
	p.T.Helper()
	for _, n := range names {
		p.Must(os.RemoveAll(p.Path(n)))
	}
}

// Must fails the test if err is one.
func (p *Project) Must(err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatalf("%v", err)
	}
}

// Save is a person's save.
func (p *Project) Save(message string) *model.Checkpoint {
	p.T.Helper()
	r, err := p.E.Worktree.Save(context.Background(), "", message, nil)
	if err != nil {
		p.T.Fatalf("save: %v", err)
	}
	return r.Checkpoint
}

// Checkout goes back, and fails the test if that fails.
func (p *Project) Checkout(name string, o restore.Options) *restore.Result {
	p.T.Helper()
	r, err := p.E.Restorer.Checkout(context.Background(), name, o)
	if err != nil {
		p.T.Fatalf("checkout %s: %v", name, err)
	}
	return r
}

// KeptNames are the paths that a restore kept.
func (p *Project) KeptNames(r *restore.Result) []string {
	out := []string{}
	for _, k := range r.Plan.Kept {
		out = append(out, fmt.Sprintf("%s %s", k.Reason, k.Path))
	}
	return out
}

// Listing is the whole directory as this test sees it, by an implementation of its own: path to type, mode, content.
type Listing map[string]string

// List reads all files below a directory: path to kind, mode and content.
func List(t Fataler, root string) Listing {
	t.Helper()
	l := Listing{}
	walk := func(path string, d fs.DirEntry, err error) error {
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
		for bit, mode := range map[uint32]fs.FileMode{
			0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid,
			0o1000: fs.ModeSticky,
		} {
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
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		err = walk(path, d, err)
		if path != root && errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		return err
	})
	if err != nil {
		t.Fatalf("list %s: %v", root, err)
	}
	return l
}

// Without leaves out paths and all below them.
func (l Listing) Without(drop func(path string) bool) Listing {
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

// Diff tells how a listing differs from another; "": in nothing.
func (l Listing) Diff(want Listing) string {
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

// WantTree holds that the project lists as want does.
func (p *Project) WantTree(want Listing) {
	p.T.Helper()
	if d := List(p.T, p.Root).Diff(want); d != "" {
		p.T.Fatalf("tree differs:\n%s", d)
	}
}

// Cat is the content of a path in a checkpoint.
func (p *Project) Cat(cp *model.Checkpoint, path string) string {
	p.T.Helper()
	f, _, err := p.E.History.Cat(context.Background(), cp.ID.String(), path)
	if err != nil {
		p.T.Fatalf("cat %s: %v", path, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	p.Must(err)
	return string(b)
}

// Equal holds that two lists are the same.
func Equal[T comparable](t Fataler, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// Bg is the context of all that tests ask for.
var Bg = context.Background()

// Reopen closes the engine and opens it again.
func (p *Project) Reopen() {
	p.T.Helper()
	p.Close()
	e, err := engine.Open(Bg, p.Home, p.Root, p.Options())
	p.Must(err)
	p.E = e
}

// ReadAll reads an object that there must be.
func ReadAll(t Fataler, get objstore.Getter, id objstore.ID) []byte {
	t.Helper()
	st, err := conversation.OpenTranscript(get, id)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	b, err := io.ReadAll(io.NewSectionReader(st, 0, st.Size))
	if err != nil || int64(len(b)) != st.Size {
		t.Fatalf("read: %d of %d bytes, %v", len(b), st.Size, err)
	}
	return b
}

// Beside is a worktree of the project: a clone of its store with a directory of its own, which is laid out as the
// project is saved.
func (p *Project) Beside(root string) *Project {
	p.T.Helper()
	of := p.E.Project()
	q := *p
	q.Root = root
	mine := of
	mine.Root, mine.ID, mine.Ino, mine.Dev = root, project.NewStoreID(), 0, 0
	mine.Store = filepath.Join(filepath.Dir(of.Store), mine.ID)
	mine.From = &project.Origin{Store: of.ID, Roots: []string{of.Root}, Since: p.E.Log.DB.LastSeq()}
	p.Must(os.MkdirAll(mine.Store, 0o700)) // whose owner is asked for
	p.Must(p.E.Log.DB.Clone(mine.Store))
	var err error
	if q.E, err = engine.OpenProject(context.Background(), p.Home, &mine, p.Options()); err != nil {
		p.T.Fatalf("open the worktree: %v", err)
	}
	o := restore.Options{CodeOnly: true}
	o.Exact, o.Session = true, model.SessionChoice{Session: model.Manual}
	q.Checkout("@", o)
	return &q
}
