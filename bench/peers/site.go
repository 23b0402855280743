package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/bench/workload"
)

// A site is a tree of one size with everything that works on it, for all stages.
type site struct {
	*bench
	n     int                                         // files
	dir   string                                      // scratch of this site
	tree  string                                      // gets every edit first; so do the trees of worlds
	lay   func(ctx context.Context, dir string) error // makes a copy of the tree
	stats workload.Stats

	editor *workload.Editor
	files  []string // to edit, one after the other
	edited int

	rewind, scan *world  // the daemon watches, or looks at every file; scan may be nil
	git          *shadow // as fast as settings make it; nil: there is no git
	floor        command // of the client with a daemon that does nothing
	echo         *echo
	calls        int            // that came to it
	said         map[string]int // by hooks, which should be silent
	started      bool
}

const (
	editDepth = 3  // folders above a file that is edited
	fewFiles  = 10 // too few to edit
	noWatcher = "REWIND_WATCH=off"
)

// generated is a site whose files come from a seed; kind tells it from others of that size.
func (b *bench) generated(kind string, n int) *site {
	s := &site{bench: b, n: n, dir: filepath.Join(b.dir, fmt.Sprintf("%s-%d", kind, n)), said: map[string]int{}}
	s.lay = func(ctx context.Context, dir string) error {
		return workload.Generate(ctx, dir, workload.Spec{Files: n, Seed: 1})
	}
	s.tree = filepath.Join(s.dir, "tree")
	s.rewind = b.newWorld(filepath.Join(s.dir, "rewind"), filepath.Join(s.dir, "rewind", "tree"))
	s.floor = command{ctx: b.ctx, dir: s.tree, out: filepath.Join(s.dir, "floor.out"), env: b.env}
	s.floor = s.floor.with("REWIND_HOME=" + filepath.Join(s.dir, "floor"))
	return s
}

// shadow is a repository of the site's tree.
func (s *site) shadow(name string, conf []string) *shadow {
	c := command{ctx: s.ctx, dir: s.tree, env: s.env, out: filepath.Join(s.dir, "output")}
	return &shadow{c: c, tree: s.tree, dir: filepath.Join(s.dir, name), conf: conf}
}

// at is the size as rows name it.
func (s *site) at() string { return thousands(s.stats.Files) + " files" }

// begin lays the tree out and starts everything, once.
func (s *site) begin() {
	if s.started {
		return
	}
	s.started = true
	s.say("a tree of %s files", thousands(s.n))
	s.prepare()
	home := filepath.Join(s.dir, "floor")
	must(os.MkdirAll(home, 0o700))
	s.echo = startEcho(s.ctx, s.echoing, home)
	for _, w := range s.worlds() {
		must(s.lay(s.ctx, w.tree))
		w.first()
		w.pid()
	}
	if s.git != nil {
		s.git.first()
	}
}

// prepare lays the tree out, and chooses the files that are edited.
func (s *site) prepare() {
	must(s.lay(s.ctx, s.tree))
	s.stats = get(workload.Measure(s.ctx, s.tree))
	all := workload.Editable(get(workload.Files(s.tree)))
	s.files = slices.DeleteFunc(slices.Clone(all), func(path string) bool { return strings.Count(path, "/") != editDepth })
	if len(s.files) < fewFiles {
		s.files = all // a flat tree
	}
	r := rand.New(rand.NewPCG(1, 'h'))
	r.Shuffle(len(s.files), func(i, j int) { s.files[i], s.files[j] = s.files[j], s.files[i] })
	s.editor = get(workload.NewEditor(s.tree, s.files, 1))
}

// worlds are those that there are.
func (s *site) worlds() []*world {
	if s.scan != nil {
		return []*world{s.rewind, s.scan}
	}
	return []*world{s.rewind}
}

// stop ends what runs, and removes what is left.
func (s *site) stop() error {
	var errs []error
	for _, w := range s.worlds() {
		errs = append(errs, w.stop())
	}
	if s.echo != nil {
		errs = append(errs, s.echo.stop())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// edit changes a line of a file that was not edited for as long as possible.
func (s *site) edit() workload.Edit {
	path := s.files[s.edited%len(s.files)]
	s.edited++
	return get(s.editor.In(path))
}

// both makes an edit in the two trees that all stages work on.
func (s *site) both() workload.Edit {
	ed := s.edit()
	must(workload.Write(s.rewind.tree, ed))
	return ed
}

// saved has both keep the trees as they are.
func (s *site) saved() (id, inGit string) {
	if s.git != nil {
		inGit, _ = s.git.save()
	}
	id, _ = s.rewind.save()
	return id, inGit
}

// gitPart is a part of git's, if it is there.
func (s *site) gitPart(do func(round int) float64) part {
	if s.git == nil {
		return part{}
	}
	return part{"git", do}
}

// changedFiles is what two states differ in that a checkout goes between.
const changedFiles = 10

// A swing is two states of a site's trees that are gone to and fro between, each by its id and its files that differ.
type swing struct {
	ids, inGit [2]string
	states     [2][]workload.Edit
}

// newSwing edits files, and has the states before and after kept.
func (s *site) newSwing() *swing {
	sw := &swing{}
	s.settle()
	sw.ids[0], sw.inGit[0] = s.saved()
	for range min(changedFiles, len(s.files)) {
		before := get(os.ReadFile(filepath.Join(s.rewind.tree, filepath.FromSlash(s.files[s.edited%len(s.files)]))))
		ed := s.both()
		sw.states[0], sw.states[1] = append(sw.states[0], workload.Edit{Path: ed.Path, Data: before}), append(sw.states[1], ed)
	}
	s.settle()
	sw.ids[1], sw.inGit[1] = s.saved()
	return sw
}

// goes goes to one of the two, and compares the files that differ.
func (sw *swing) goes(w *world, to int, more ...string) float64 {
	took := w.checkout(sw.ids[to], more...)
	sw.check(w.tree, to)
	return took
}

func (sw *swing) check(tree string, at int) {
	for _, ed := range sw.states[at] {
		want(string(get(os.ReadFile(filepath.Join(tree, filepath.FromSlash(ed.Path))))) == string(ed.Data), "%s is not as it was", ed.Path)
	}
}

// align makes sure that both trees of a site are the same to the byte, and the same as the state at which they should
// be.
func (s *site) align(sw *swing, at int) {
	for _, ed := range sw.states[at] {
		if s.git == nil {
			must(workload.Write(s.tree, ed))
		}
	}
	must(workload.SameTree(s.ctx, s.rewind.tree, get(workload.HashTree(s.ctx, s.tree))))
}

// empty removes what is in a tree, but for rewind's own.
func empty(tree string) {
	for _, e := range get(os.ReadDir(tree)) {
		if e.Name() != ".agent" {
			must(os.RemoveAll(filepath.Join(tree, e.Name())))
		}
	}
}

// echo is the program that does nothing in the daemon's place (bench/floor/echo), as it runs: a process of its own, so
// that the floor has the same way to go and the same threads to wake.
type echo struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startEcho starts it for clients of a home, and waits until it listens.
func startEcho(ctx context.Context, program, home string) *echo {
	cmd := exec.CommandContext(ctx, program, home)
	e := &echo{cmd: cmd, in: get(cmd.StdinPipe()), out: bufio.NewReader(get(cmd.StdoutPipe()))}
	cmd.Cancel, cmd.WaitDelay = e.in.Close, time.Second // it has something to clear away
	must(cmd.Start())
	if err := caught(func() { e.said() }); err != nil {
		must(errors.Join(err, e.stop()))
	}
	return e
}

// calls is how many came to it whole.
func (e *echo) calls() int {
	get(fmt.Fprintln(e.in))
	return e.said()
}

func (e *echo) said() (n int) {
	_, err := fmt.Fscanln(e.out, &n)
	want(err == nil, "echo: what it says: %v", err)
	return n
}

func (e *echo) stop() error { return errors.Join(e.in.Close(), e.cmd.Wait()) }
