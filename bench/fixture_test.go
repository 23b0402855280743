package bench

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/bench/workload"
	"rewind/engine"
	engineproject "rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
)

// corpora are the trees that benchmarks run on and the projects on them, made once a process below dir.
type corpora struct {
	dir      string
	made     map[string]string
	projects map[string]*project
}

var shared = &corpora{made: map[string]string{}, projects: map[string]*project{}}

func TestMain(m *testing.M) {
	flag.Parse()
	code := func() int {
		dir, err := os.MkdirTemp("", "rewind-bench-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		shared.dir = dir
		code := m.Run()
		for _, p := range shared.projects {
			if p.e != nil {
				_ = p.e.Close()
			}
		}
		return code
	}()
	if code != 0 {
		os.Exit(code)
	}
}

// large is the environment variable that adds the tree of 100,000 files.
const large = "REWIND_BENCH_LARGE"

var generated = map[string]int{"1k": 1_000, "10k": 10_000, "100k": 100_000}

// sizes are the corpora of this run.
func sizes() []string {
	s := []string{"1k", "10k", "gosrc"}
	if os.Getenv(large) != "" {
		s = append(s, "100k")
	}
	return s
}

// get gives the corpus of that name.
func (c *corpora) get(tb testing.TB, name string) string {
	tb.Helper()
	if dir := c.made[name]; dir != "" {
		return dir
	}
	dir := filepath.Join(c.dir, name)
	var err error
	if n := generated[name]; n > 0 {
		err = workload.Generate(tb.Context(), dir, workload.Spec{Files: n, Seed: 1})
	} else {
		var src string
		if src, err = workload.GoSource(tb.Context()); err == nil {
			err = workload.Copy(tb.Context(), dir, src)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	c.made[name] = dir
	return dir
}

// project gives the project on the corpus of that name, with an open engine. Its worktree and its history are what the
// benchmarks before have left, its first checkpoint is the corpus.
func (c *corpora) project(tb testing.TB, name string) *project {
	tb.Helper()
	p := c.projects[name]
	if p == nil {
		p = &project{tb: tb, root: c.get(tb, name), home: engineproject.Home{Dir: filepath.Join(c.dir, name+"-home")}}
		p.init()
		c.projects[name] = p
	}
	p.tb = tb
	if p.e == nil {
		p.open()
	}
	return p
}

// A project is a worktree with an open engine.
type project struct {
	tb   testing.TB
	root string
	home engineproject.Home
	e    *engine.Engine
}

// newProject sets root up with its first checkpoint, in a home that ends with the test.
func newProject(tb testing.TB, root string) *project {
	tb.Helper()
	p := &project{tb: tb, root: root, home: engineproject.Home{Dir: filepath.Join(tb.TempDir(), "home")}}
	tb.Cleanup(p.close)
	p.init()
	return p
}

// init makes the store and the first checkpoint.
func (p *project) init() {
	p.tb.Helper()
	e, _, err := engine.Init(p.tb.Context(), p.home, p.root, engineproject.ModeGlobal, engineproject.Options{})
	if err != nil {
		p.tb.Fatal(err)
	}
	p.e = e
	if _, err := e.Worktree.FirstCheckpoint(p.tb.Context(), nil); err != nil {
		p.tb.Fatal(err)
	}
}

func (p *project) open() {
	p.tb.Helper()
	e, err := engine.Open(context.Background(), p.home, p.root, engineproject.Options{})
	if err != nil {
		p.tb.Fatal(err)
	}
	p.e = e
}

func (p *project) close() {
	if p.e == nil {
		return
	}
	if err := p.e.Close(); err != nil {
		p.tb.Error(err)
	}
	p.e = nil
}

// save takes a checkpoint and gives its id.
func (p *project) save() string {
	p.tb.Helper()
	r, err := p.e.Worktree.Save(p.tb.Context(), "", "", nil)
	if err != nil {
		p.tb.Fatal(err)
	}
	if r.Unchanged {
		p.tb.Fatal("nothing was saved")
	}
	return r.Checkpoint.ID.String()
}

func (p *project) checkout(id string, o restore.Options) *restore.Result {
	p.tb.Helper()
	r, err := p.e.Restorer.Checkout(p.tb.Context(), id, o)
	if err != nil {
		p.tb.Fatal(err)
	}
	if len(r.Conflicts) > 0 {
		p.tb.Fatalf("conflicts: %v", r.Conflicts)
	}
	return r
}

// store is the store's directory.
func (p *project) store() string { return filepath.Join(p.home.Dir, "storage") }

// compacted closes the engine, compacts the store, tells what it holds and opens the engine again.
func (p *project) compacted(each func(*kv.DB)) {
	p.tb.Helper()
	dir := p.e.Project().Store
	p.close()
	db, err := kv.Open(p.tb.Context(), dir, kv.Options{})
	if err != nil {
		p.tb.Fatal(err)
	}
	err = db.Compact(p.tb.Context())
	if err == nil && each != nil {
		each(db)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		p.tb.Fatal(err)
	}
	p.open()
}

// disk measures the store.
func (p *project) disk(each func(path string, size workload.Disk)) workload.Disk {
	p.tb.Helper()
	d, err := workload.DiskOf(p.store(), each)
	if err != nil {
		p.tb.Fatal(err)
	}
	return d
}

// editor edits the project's files.
func (p *project) editor(files []string) *workload.Editor {
	p.tb.Helper()
	if files == nil {
		all, err := workload.Files(p.root)
		if err != nil {
			p.tb.Fatal(err)
		}
		files = workload.Editable(all)
	}
	ed, err := workload.NewEditor(p.root, files, 1)
	if err != nil {
		p.tb.Fatal(err)
	}
	return ed
}

func (p *project) edit(ed *workload.Editor) workload.Edit {
	p.tb.Helper()
	one, err := ed.Next()
	if err != nil {
		p.tb.Fatal(err)
	}
	return one
}

// fileKind names what a file of the store is for.
func fileKind(path string) string {
	base := filepath.Base(path)
	switch {
	case filepath.Base(filepath.Dir(path)) == "archive":
		return "archive"
	case strings.HasPrefix(base, "marker."):
		return "marker"
	case filepath.Ext(base) != "":
		return "*" + filepath.Ext(base)
	case strings.Contains(base, "-"):
		return base[:strings.Index(base, "-")]
	}
	return base
}
