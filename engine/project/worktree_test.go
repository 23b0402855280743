package project_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
)

// A cloner makes what looks like a store.
type cloner struct {
	seq uint64
	in  string // a directory in it
	err error
}

func (c cloner) LastSeq() uint64 { return c.seq }

func (c cloner) Clone(dst string) error {
	err := os.MkdirAll(filepath.Join(dst, c.in), 0o700)
	return errors.Join(err, os.WriteFile(filepath.Join(dst, "format"), nil, 0o600), c.err)
}

func (p *place) at(name string) *project.Project {
	p.Helper()
	is, err := project.Find(enginetest.Bg, p.home, p.dir(name), 0)
	p.must(err)
	return is
}

// worktree makes a directory a worktree of another project, as if it was the nth.
func (p *place) worktree(of, name string, n int) (id string) {
	p.Helper()
	p.write(name+"/f", "1")
	id, err := p.home.MakeWorktree(enginetest.Bg, p.at(of), p.dir(name), cloner{seq: uint64(n)}, true, 0)
	p.must(err)
	r := p.home.RecordOf(p.at(name))
	r.Created = noon.Add(time.Duration(n) * time.Minute)
	p.must(r.Write(p.home))
	return id
}

// family tells of a family: the directories, what each was made of, and what is wrong with it.
func (p *place) family(id string, names map[string]string) string {
	var out []string
	for _, w := range p.home.Family(id) {
		one := fmt.Sprintf("%s of %q", p.short(string(w.Root)), names[w.Of])
		if w.Unfinished {
			one += ", unfinished"
		}
		if w.Here {
			one += ", here"
		}
		if w.Wrong != "" {
			one += ", " + string(w.Wrong)
		}
		out = append(out, one)
	}
	return strings.Join(out, "; ")
}

// TestWorktreeFamily: worktrees of worktrees are one family, the first project first, then by time; each knows what it
// was made of. They are found by their directories, also in front of a name. One that loses its directory stays in the
// family, and is none that can be named.
func TestWorktreeFamily(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	p.write("d/f", "1")
	other := p.set("d", project.ModeGlobal)
	b := p.worktree("a", "b", 9)
	c := p.worktree("b", "c", 8)
	colon := p.worktree("a", "b:x", 7)
	names := map[string]string{p.id: "a", b: "b", c: "c", colon: "b:x", other: "d"}
	if is := p.at("b"); is.ID != b || is.Mode != project.ModeGlobal || is.From.Since != 9 || is.From.Store != p.id ||
		len(is.Notices) > 0 {
		t.Errorf("%+v", is)
	}
	if from := p.at("c").From; !slices.Equal(from.Roots, []string{p.dir("b"), p.dir("a")}) || from.Store != b {
		t.Errorf("%+v", from)
	}
	p.must(p.home.FinishWorktree(b, []string{"x"}))
	if from := p.at("b").From; from.Unfinished || !slices.Equal(from.Brought, []string{"x"}) {
		t.Errorf("finished: %+v", from)
	}
	if err := p.home.FinishWorktree(p.id, nil); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("one that is no worktree: %v", err)
	}
	if err := p.home.FinishWorktree(strings.Repeat("0", 32), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is not known: %v", err)
	}
	const want = `a of ""; b:x of "a", unfinished; c of "b", unfinished, here; b of "a"`
	if got := p.family(c, names); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	// what all were made of is gone, and records name each other
	in := *p
	in.home = project.Home{Dir: t.TempDir()}
	for n, from := range map[string]string{"1": "2", "2": "1", "3": "4"} {
		r := project.Record{ID: strings.Repeat(n, 32), Mode: project.ModeGlobal, Created: noon}
		r.From = &project.Origin{Store: strings.Repeat(from, 32)}
		p.must(os.MkdirAll(filepath.Join(in.home.Storage(), r.ID), 0o700))
		p.must(r.Write(in.home))
	}
	if got := in.home.Family(strings.Repeat("3", 32)); len(got) != 1 || !got[0].Here {
		t.Errorf("of what is gone: %+v", got)
	}
	if got := p.family(other, names); got != `d of "", here` {
		t.Errorf("of another: %s", got)
	}
	p.must(os.Symlink(p.dir("b"), p.dir("link")))
	for name, want := range map[string]string{
		"b": "b+", "b:y": "b+y", "b:x": "b:x+", "b:x:y": "b:x+y", "link:y:z": "b+y:z", "d": "none", "e:y": "none",
		"b/sub": "none",
	} {
		w, rest, err := p.home.SplitWorktree(c, p.dir(name))
		if errors.Is(err, project.ErrNoWorktree) && w == nil {
			if want != "none" {
				t.Errorf("%s: %v", name, err)
			}
		} else if got := p.short(string(w.Root)) + "+" + rest; err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, _, err := p.home.SplitWorktree(c, ":"); !errors.Is(err, project.ErrNoWorktree) {
		t.Errorf("a colon: %v", err)
	}
	p.must(os.RemoveAll(p.dir("c")))
	if w, err := p.home.FindWorktree(p.id, p.dir("c")); err != nil || w.ID != c || w.Wrong == "" {
		t.Errorf("one whose directory is gone: %+v, %v", w, err)
	}
	p.must(p.home.OrphanWorktree(enginetest.Bg, c, 0))
	_, err := p.home.FindWorktree(p.id, p.dir("c"))
	if !errors.Is(err, project.ErrNoWorktree) || len(p.home.Worktrees(b)) != 3 {
		t.Errorf("one of no directory: %v, %v", err, p.home.Worktrees(b))
	}
	const orphaned = `a of "", here; b:x of "a", unfinished;  of "b", unfinished, it belongs to no directory; b of "a"`
	if got := p.family(p.id, names); got != orphaned {
		t.Errorf("%s\nwant\n%s", got, orphaned)
	}
	if err := p.home.OrphanWorktree(enginetest.Bg, strings.Repeat("0", 32), 0); err == nil {
		t.Error("one that is not known has become an orphan")
	}
}

// TestWorktreeDropped: only a worktree that is being made can be dropped, and one that cannot be made leaves nothing.
func TestWorktreeDropped(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	b := p.worktree("a", "b", 1)
	c := p.worktree("a", "c", 2)
	p.must(p.home.FinishWorktree(c, nil))
	p.must(os.MkdirAll(p.home.StageDir(b), 0o700))
	p.must(os.MkdirAll(filepath.Join(p.home.Storage(), project.RemovedName+b, "left"), 0o700))
	for _, id := range []string{p.id, b, c} {
		p.must(p.home.DropWorktree(enginetest.Bg, id, 0))
	}
	if err := p.home.DropWorktree(enginetest.Bg, b, 0); err == nil {
		t.Error("it went twice")
	}
	want := []string{p.id, c}
	slices.Sort(want)
	stored := func() (names []string) {
		list, err := os.ReadDir(p.home.Storage())
		p.must(err)
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	if got := stored(); !slices.Equal(got, want) {
		t.Errorf("stores: %v, want %v", got, want)
	}
	if _, err := os.Lstat(p.home.StageDir(b)); err == nil {
		t.Error("its stages are left")
	}
	full := errors.New("the disk is full")
	p.write("e/f", "1")
	id, err := p.home.MakeWorktree(enginetest.Bg, p.at("a"), p.dir("e"), cloner{err: full}, true, 0)
	if id != "" || !errors.Is(err, full) {
		t.Errorf("%q, %v", id, err)
	}
	if got := stored(); !slices.Equal(got, want) || p.found("e") != "error: find project of e: not a rewind project" {
		t.Errorf("stores: %v, found %s", got, p.found("e"))
	}
	id, err = p.home.MakeWorktree(enginetest.Bg, p.at("a"), p.dir("e"), cloner{in: "project.json"}, true, 0)
	if id != "" || err == nil || !slices.Equal(stored(), want) {
		t.Errorf("without room for a record: %q, %v, stores %v", id, err, stored())
	}
	if err := os.Remove(p.dir("e/f")); err != nil {
		t.Error(err)
	}
	p.write("e/.agent", "1") // where no marker can be
	id, err = p.home.MakeWorktree(enginetest.Bg, p.at("a"), p.dir("e"), cloner{}, true, 0)
	if p.must(err); p.at("e").ID != id {
		t.Errorf("made %s, found %s", id, p.found("e"))
	}
}

// TestWorktreePlanned: where a worktree can be made.
func TestWorktreePlanned(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	p.must(os.MkdirAll(p.dir("real/a"), 0o755))
	p.must(os.Symlink(p.dir("real"), p.dir("link")))
	p.must(os.Symlink(p.dir("nowhere"), p.dir("dangling")))
	p.must(os.Symlink("loop", p.dir("loop")))
	const there = `: it exists already; name a new directory`
	for name, want := range map[string]string{
		"b":         "b",
		"link/b":    "real/b",
		"a-b":       "a-b",
		"no/b":      ": the directory above it does not exist",
		"real/a":    there,
		"dangling":  there,
		"a/b":       ": it lies in the project a, which would capture it, too; name a directory beside that",
		"a/f/b":     ": lstat a/f/b: not a directory",
		"loop/b":    ": resolve loop: EvalSymlinks: too many links",
		"HOME/b":    ": this directory cannot be a project: it is rewind's own directory",
		"real/../b": "b",
	} {
		dir := p.dir(name)
		if name == "HOME/b" {
			dir = filepath.Join(p.home.Dir, "b")
		}
		got, err := p.home.PlanWorktree(dir)
		got = p.short(got)
		if err != nil {
			_, got, _ = strings.Cut(p.short(err.Error()), `"`)
			_, got, _ = strings.Cut(got, `"`)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestWorktreeDirRemoved: a worktree's directory goes with all in it and what an earlier removal left, but not where it
// leads to a repository of git.
func TestWorktreeDirRemoved(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	p.write("b/c/d/x", "1")
	p.write("b/y", "1")
	p.must(os.Symlink(p.dir("a"), p.dir("b/link")))
	p.write(".rewind.removed-b/left", "1")
	p.write("g/.git", "gitdir: /x\n")
	p.write("file", "1")
	p.write("a/x", "1")
	for name, ok := range map[string]bool{"b": true, "none": true, "g": false, "file": false, "none/b": false} {
		err := project.RemoveWorktreeDir(p.dir(name))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := p.list(""); got != "a a/x file g g/.git" {
		t.Errorf("left: %s", got)
	}
}

// list names all that is below a directory.
func (p *place) list(name string) string {
	p.Helper()
	var out []string
	p.must(filepath.WalkDir(p.dir(name), func(path string, _ os.DirEntry, err error) error {
		if rel, rerr := filepath.Rel(p.dir(name), path); rerr == nil && rel != "." {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	}))
	return strings.Join(out, " ")
}
