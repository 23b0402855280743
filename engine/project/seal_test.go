package project_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
)

const (
	inMarker = "a/.agent/rewind"
	inStore  = inMarker + "/store"
)

// TestPromise17Believed: what a store in a project and its marker must be, so that they are believed.
func TestPromise17Believed(t *testing.T) {
	t.Parallel()
	const not = "error: find project of a: not a rewind project: passed over a/.agent/rewind: "
	const others = not + "others may write in it; 'chmod go-w' closes it, if what lies there is yours"
	const again = "a | the marker .agent/rewind did not name this project's store and has been written again"
	const lost = "a | project.json of the store could not be read and has been written again"
	const global, local = project.ModeGlobal, project.ModeProject
	for _, tt := range []struct {
		what string
		mode project.Mode
		do   func(p *place)
		want string
	}{
		{
			"no seal", local, func(p *place) { p.must(os.Remove(p.dir(inStore + "/seal"))) },
			not + "its store has no seal of this user's",
		},
		{
			"another seal", local, func(p *place) { p.write(inStore+"/seal", project.NewSeal()) },
			not + "its store has another seal than the one that was made here",
		},
		{
			"a long seal", local, func(p *place) { p.write(inStore+"/seal", strings.Repeat(" ", 257)) },
			not + "seal has more than 256 bytes",
		},
		{"a seal with room", local, func(p *place) {
			raw, err := os.ReadFile(p.dir(inStore + "/seal"))
			p.must(err)
			p.write(inStore+"/seal", string(raw)+strings.Repeat("\n", 256-len(raw)))
		}, "a"},
		{
			"a seal of two names", local, func(p *place) { p.must(os.Link(p.dir(inStore+"/seal"), p.dir("x"))) },
			not + "seal has several names",
		},
		{"no seal in the record", local, func(p *place) {
			r := p.home.RecordOf(p.at("a"))
			r.Seal = ""
			p.must(r.Write(p.home))
		}, not + "its record has no seal"},
		{"a link", local, func(p *place) {
			p.must(os.Rename(p.dir(inStore), p.dir("x")))
			p.must(os.Symlink(p.dir("x"), p.dir(inStore)))
		}, not + "its store is not a directory"},
		{"open to others", local, func(p *place) { p.must(os.Chmod(p.dir(inStore), 0o702)) }, others},
		{"the marker is open to others", local, func(p *place) { p.must(os.Chmod(p.dir(inMarker), 0o702)) }, others},
		{"open to the group", local, func(p *place) { p.must(os.Chmod(p.dir(inStore), 0o770)) }, "a"},
		{"tracked", local, func(p *place) {
			p.git("a", "init", "-q")
			p.git("a", "add", "-f", ".agent/rewind/store/seal")
		}, not + "git tracks its store"},
		{"tracked from above", local, func(p *place) {
			p.git("", "init", "-q")
			p.git("", "add", "-f", inStore+"/seal")
		}, not + "git tracks its store"},
		{"in git", local, func(p *place) {
			p.git("a", "init", "-q")
			p.git("a", "add", "f")
		}, "a"},
		{"in git that cannot be read", local, func(p *place) {
			p.git("a", "init", "-q")
			p.write("a/.git/index", "DIRC, not")
		}, "a"},
		{
			"a repository of its own", local, func(p *place) { p.git(inMarker, "init", "-q") },
			not + "git tracks its store",
		},
		{"the ids are lost", local, func(p *place) { p.must(os.Remove(p.dir(inMarker + "/id"))) }, again},
		{"its copy of the record is lost", local, func(p *place) {
			p.must(os.Remove(p.dir(inStore + "/project.json")))
		}, "a"},
		{"its record is damaged", global, func(p *place) {
			p.must(os.WriteFile(filepath.Join(p.home.Storage(), p.id, "project.json"), []byte("{"), 0o600))
		}, lost},
		{"its record is another's", global, func(p *place) {
			p.must(os.WriteFile(filepath.Join(p.home.Storage(), p.id, "project.json"), []byte("{}"), 0o600))
		}, lost},
		{"its record is damaged", local, func(p *place) {
			p.must(os.WriteFile(filepath.Join(p.home.Dir, "projects", p.id), []byte("{"), 0o600))
		}, not + "no store that this user made here lies there"},
		{"its record is long", global, func(p *place) {
			path := filepath.Join(p.home.Storage(), p.id, "project.json")
			raw, err := os.ReadFile(path)
			p.must(err)
			p.must(os.WriteFile(path, append(raw, strings.Repeat(" ", 64<<10-len(raw))...), 0o600))
		}, "a"},
		{"its record is another's", local, func(p *place) {
			p.must(os.WriteFile(filepath.Join(p.home.Dir, "projects", p.id), []byte("{}"), 0o600))
		}, not + "no store that this user made here lies there"},
		{"it is empty, and its record does not know which it was", global, func(p *place) {
			r := p.home.RecordOf(p.at("a"))
			r.Device, r.Inode = 0, 0
			p.must(r.Write(p.home))
			p.must(os.RemoveAll(p.dir("a/.agent")))
			p.must(os.Remove(p.dir("a/f")))
		}, "a | the marker .agent/rewind was gone and has been written again"},
		{"it is empty, and of another disk", global, func(p *place) {
			r := p.home.RecordOf(p.at("a"))
			r.Device++
			p.must(r.Write(p.home))
			p.must(os.RemoveAll(p.dir("a/.agent")))
			p.must(os.Remove(p.dir("a/f")))
		}, "error: open project a: the directory is not the one that was set up: it is empty; " +
			"a disk that is not mounted looks like that"},
		{"no marker can be there", global, func(p *place) {
			p.must(os.RemoveAll(p.dir("a/.agent")))
			p.write("a/.agent", "1")
		}, "a"},
		{"the marker is tracked", global, func(p *place) {
			p.git("a", "init", "-q")
			p.git("a", "add", "-f", ".agent/rewind/id")
		}, "a"},
		{"the marker is open to others", global, func(p *place) { p.must(os.Chmod(p.dir(inMarker), 0o702)) }, "a"},
		{"the marker is long", global, func(p *place) { p.write(inMarker+"/id", strings.Repeat("\n", 4097)) }, "a"},
		{"the marker names it, and many more", global, func(p *place) {
			p.write(inMarker+"/id", strings.Repeat("\n", 4096-33)+p.id+"\n")
		}, "a"},
		{"the marker is a file", global, func(p *place) {
			p.must(os.RemoveAll(p.dir(inMarker)))
			p.write(inMarker, "1")
		}, "a"},
	} {
		t.Run(tt.what+", "+string(tt.mode), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			tt.do(p)
			if got := p.found("a"); got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
			if got := p.found("a"); got != "a" && strings.HasPrefix(tt.want, "a") {
				t.Errorf("then: %s", got)
			}
		})
	}
}

// TestPromise17Elsewhere: whose project a directory is whose marker or store names one that is elsewhere, at first and
// then.
func TestPromise17Elsewhere(t *testing.T) {
	t.Parallel()
	const not = "error: find project of b: not a rewind project: passed over b/.agent/rewind: "
	const moved = "b | the project has moved here from a"
	const copied = "b, another, copied | this is a copy of a: " +
		"it has a store of its own now, with the history up to here"
	const again = " | the marker .agent/rewind did not name this project's store and has been written again"
	const none = "error: find project of b: not a rewind project"
	const global, local = project.ModeGlobal, project.ModeProject
	mark := func(p *place) { p.write("b/.agent/rewind/id", p.id) }
	rename := func(p *place) { p.must(os.Rename(p.dir("a"), p.dir("b"))) }
	clone := func(p *place) { p.must(os.CopyFS(p.dir("b"), os.DirFS(p.dir("a")))) }
	for _, tt := range []struct {
		what      string
		mode      project.Mode
		do        func(p *place)
		want, now string
	}{
		{"a marker that git brought", global, func(p *place) {
			mark(p)
			p.git("b", "init", "-q")
			p.git("b", "add", "-f", ".agent/rewind/id")
		}, not + "git tracks it", ""},
		{"a marker alone", global, mark, copied, "b, another"},
		{"a marker alone, of one in project mode", local, mark, not + "it names a store that lies in a", ""},
		{"of a store of no directory", global, func(p *place) {
			mark(p)
			p.must(os.RemoveAll(p.dir("a")))
			p.must(p.home.OrphanWorktree(t.Context(), p.id, 0))
		}, not + "it names a store that belongs to no directory: 'rewind stores join ID'", ""},
		{"a marker in the directory of another", global, func(p *place) {
			p.write("b/f", "1")
			p.set("b", global)
			mark(p)
		}, "b, another" + again, "b, another"},
		{"copied without its ids", local, func(p *place) {
			clone(p)
			p.must(os.Remove(p.dir("b/.agent/rewind/id")))
		}, copied, "b, another"},
		{"moved without its ids", local, func(p *place) {
			rename(p)
			p.must(os.Remove(p.dir("b/.agent/rewind/id")))
		}, moved, "b" + again},
		{"moved, another seal", local, func(p *place) {
			rename(p)
			p.write("b/.agent/rewind/store/seal", "x")
		}, not + "its store has another seal than the one that was made here", ""},
		{"moved without its ids, another seal", local, func(p *place) {
			rename(p)
			p.must(os.Remove(p.dir("b/.agent/rewind/id")))
			p.write("b/.agent/rewind/store/seal", "x")
		}, not + "its store has another seal than the one that was made here", ""},
		{"moved without ids and record", local, func(p *place) {
			rename(p)
			p.must(os.Remove(p.dir("b/.agent/rewind/id")))
			p.must(os.Remove(p.dir("b/.agent/rewind/store/project.json")))
		}, not + "no store that this user made here lies there", ""},
		{"copied, and the original lost its marker", global, func(p *place) {
			clone(p)
			p.must(os.RemoveAll(p.dir("a/.agent")))
		}, copied, "b, another"},
		{"copied, and the original came back from a backup", global, func(p *place) {
			clone(p)
			p.must(os.CopyFS(p.dir("c"), os.DirFS(p.dir("a"))))
			p.must(os.RemoveAll(p.dir("a")))
			p.must(os.Rename(p.dir("c"), p.dir("a")))
		}, copied, "b, another"},
		{"moved, and another is where it was", global, func(p *place) {
			rename(p)
			p.write("a/x", "1")
		}, moved, "b"},
		{"moved, and a link is where it was", global, func(p *place) {
			rename(p)
			p.must(os.Symlink(p.dir("b"), p.dir("a")))
		}, "b", ""},
		{"moved, with a damaged record", global, func(p *place) {
			rename(p)
			p.must(os.WriteFile(filepath.Join(p.home.Storage(), p.id, "project.json"), []byte("{"), 0o600))
		}, "b | project.json of the store could not be read and has been written again", "b"},
		{"moved, and a copy is where it was", global, func(p *place) {
			rename(p)
			p.must(os.CopyFS(p.dir("a"), os.DirFS(p.dir("b"))))
		}, moved, "b"},
		{"moved to where another was", global, func(p *place) {
			p.write("b/f", "1")
			p.set("b", global)
			p.must(os.RemoveAll(p.dir("b")))
			rename(p)
		}, moved, "b"},
		{"a store that names no store's id", local, func(p *place) {
			rename(p)
			p.must(os.Remove(p.dir("b/.agent/rewind/id")))
			r := p.home.RecordOf(&project.Project{ID: p.id})
			r.ID = "x"
			p.must(r.Write(p.home))
			p.must(r.SealIn(p.dir("b"), "store"))
		}, not + "no store that this user made here lies there", ""},
		{"moved below another", global, func(p *place) {
			p.write("b/c/f", "1")
			p.must(os.Rename(p.dir("a"), p.dir("b/c/a")))
		}, none, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			tt.do(p)
			if tt.now == "" {
				tt.now = tt.want
			}
			if got := [2]string{p.found("b"), p.found("b")}; got != [2]string{tt.want, tt.now} {
				t.Errorf("%s\nthen\n%s\nwant\n%s\n%s", got[0], got[1], tt.want, tt.now)
			}
		})
	}
	// A file is no directory, and is looked above.
	p := newPlace(t, global)
	if got := p.found("a/f"); got != "a" {
		t.Errorf("of a file: %s", got)
	}
	p.must(os.RemoveAll(p.dir("a")))
	p.write("a", "1")
	if _, err := project.Find(t.Context(), p.home, p.dir("a"), 0); !errors.Is(err, project.ErrNotMounted) {
		t.Errorf("a file where it was: %v", err)
	}
	if got := p.stores(); got != "a: the directory is gone, or not mounted (orphan)" {
		t.Errorf("a file where it was: %s", got)
	}
	is, err := project.FindWith(t.Context(), &project.Finder{Home: p.home, Accept: true}, p.dir("a"))
	if p.must(err); is.ID != p.id || is.Ino != 0 {
		t.Errorf("accepted all the same: %+v", is)
	}
	// Another directory that stays where the project was is taken for it.
	p.must(os.Remove(p.dir("a")))
	p.write("a/x", "1")
	const gone = "a | the marker .agent/rewind was gone and has been written again"
	if got := p.found("a"); got != gone || p.found("a") != "a" {
		t.Errorf("another one: %s", got)
	}
	if is := p.at("a"); is.Ino == 0 || p.home.RecordOf(is).Inode != is.Ino || p.home.RecordOf(is).Device != is.Dev {
		t.Errorf("another one is %+v, noted %+v", is, p.home.RecordOf(is))
	}
}

// TestPromise17StoreIsClosed: a store in a project whose directories a backup opened to others is closed again, to its
// last directory, also where the project was moved or copied.
func TestPromise17StoreIsClosed(t *testing.T) {
	t.Parallel()
	const copied = "b, another, copied | this is a copy of a: " +
		"it has a store of its own now, with the history up to here"
	for want, do := range map[string]func(p *place){
		"a":                                     func(*place) {},
		"b | the project has moved here from a": func(p *place) { p.must(os.Rename(p.dir("a"), p.dir("b"))) },
		copied:                                  func(p *place) { p.must(os.CopyFS(p.dir("b"), os.DirFS(p.dir("a")))) },
	} {
		p := newPlace(t, project.ModeProject)
		p.must(os.MkdirAll(p.dir(inStore+"/quarantine/1/db/archive/none"), 0o755))
		p.write(inStore+"/db/x", "1")
		p.must(filepath.WalkDir(p.dir(inStore), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			return os.Chmod(path, 0o755)
		}))
		do(p)
		if got := p.found(want[:1]); got != want {
			t.Fatal(got)
		}
		store := want[:1] + inStore[1:]
		p.must(filepath.WalkDir(p.dir(store), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			fi, err := e.Info()
			if open := filepath.Base(path) == "none"; err == nil && (fi.Mode().Perm() != 0o700) != open {
				t.Errorf("%s: %v", path, fi.Mode())
			}
			return err
		}))
		if fi, err := os.Stat(p.dir(store + "/db/x")); err != nil || fi.Mode().Perm() != 0o644 {
			t.Errorf("%v, %v", fi.Mode(), err)
		}
	}
}

// TestPromise17OtherUsers: what another user has is not believed, written or taken over, and is left to a person. Only
// root can make it.
func TestPromise17OtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return
	}
	const global, local = project.ModeGlobal, project.ModeProject
	for _, tt := range []struct {
		mode project.Mode
		path string
		want string // of what is found
	}{
		{local, inStore, "it belongs to"},
		{local, inMarker, "it belongs to"},
		{local, "a/.agent", "it belongs to"},
		{local, inStore + "/seal", "seal belongs to"},
		{global, inMarker, ""},
		{global, inMarker + "/id", ""},
		{global, "a", ""},
	} {
		p := newPlace(t, tt.mode)
		p.must(os.Lchown(p.dir(tt.path), 65534, 65534))
		got := p.found("a")
		if tt.want == "" && got != "a" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.path, got)
		}
		if tt.mode == global && tt.path != "a" {
			before := p.list("a")
			is := p.at("a")
			p.must(project.RemoveMarker(is))
			if got := p.list("a"); got != before {
				t.Errorf("%s: left %s", tt.path, got)
			}
		}
	}
	p := newPlace(t, local)
	p.must(os.Lchown(p.dir(inStore), -1, 65534))
	for perm, want := range map[os.FileMode]string{0o750: "a", 0o770: "others may write in it"} {
		p.must(os.Chmod(p.dir(inStore), perm))
		if got := p.found("a"); !strings.Contains(got, want) {
			t.Errorf("of another group, %v: %s", perm, got)
		}
	}
	p = newPlace(t, global)
	p.must(os.Rename(p.dir("a"), p.dir("b")))
	p.write("a/x", "1")
	p.must(os.Lchown(p.dir("a"), 65534, 65534))
	const other = "error: open project a: the directory is not the one that was set up: it belongs to another user"
	if got := p.found("a"); got != other {
		t.Errorf("another's in its place: %s", got)
	}
	p = newPlace(t, local)
	p.home = project.Home{Dir: t.TempDir()}
	p.must(os.Lchown(p.dir(inStore+"/format"), 65534, 65534))
	if a, err := project.PlanAdopt(t.Context(), p.home, p.dir("a"), 0); err == nil ||
		!strings.Contains(err.Error(), `"format" belongs to `) {
		t.Errorf("adopted: %+v, %v", a, err)
	}
	p = newPlace(t, global)
	p.git("a", "init", "-q")
	p.git("a", "commit", "-q", "--allow-empty", "-m", "x")
	p.git("a", "worktree", "add", "-q", p.dir("tree"))
	p.must(os.Lchown(p.dir("tree"), 65534, 65534))
	if of, _, err := project.PlanLinked(t.Context(), p.home, p.dir("tree"), 0); err == nil ||
		!strings.Contains(err.Error(), "it is another user's") {
		t.Errorf("linked: %v, %v", of, err)
	}
}

// TestPromise17IndexAskedAgain: what git's index said is asked again when it has changed, however old it is.
func TestPromise17IndexAskedAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeProject)
	p.git("a", "init", "-q")
	p.git("a", "add", "f")
	old := time.Now().Add(-time.Hour)
	for n, step := range []struct {
		args []string
		ok   bool
	}{
		{[]string{"add", "f"}, true},
		{[]string{"add", "-f", ".agent/rewind/store/seal"}, false},
		{[]string{"rm", "-q", "--cached", ".agent/rewind/store/seal"}, true},
	} {
		p.git("a", step.args...)
		at := old.Add(time.Duration(n) * time.Minute)
		p.must(os.Chtimes(p.dir("a/.git/index"), at, at))
		for range 2 {
			if got := p.found("a"); (got == "a") != step.ok {
				t.Errorf("after %q: %s", step.args, got)
			}
		}
	}
}

// TestSealIn: only a store that is this user's gets a seal, with a copy of the record that does not have it.
func TestSealIn(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	r := (&project.Record{ID: project.NewStoreID(), Mode: project.ModeProject, Seal: project.NewSeal()}).At(p.dir("a"))
	if err := r.SealIn(p.dir("a"), "store"); err == nil {
		t.Error("without a store")
	}
	p.must(project.MakeOwn(p.dir("a"), "store"))
	if got := p.list(inMarker); got != ".gitignore store" {
		t.Errorf("made: %s", got)
	}
	p.must(project.MakeOwn(p.dir("a"), "store"))
	p.must(r.SealIn(p.dir("a"), "store"))
	if why, err := r.Sealed(p.dir("a")); why != "" || err != nil {
		t.Errorf("%s, %v", why, err)
	}
	raw, err := os.ReadFile(p.dir(inStore + "/project.json"))
	if p.must(err); strings.Contains(string(raw), r.Seal) || !strings.Contains(string(raw), r.ID) {
		t.Errorf("its copy of the record: %s", raw)
	}
	p.must(os.Chmod(p.dir(inStore), 0o777))
	if err := r.SealIn(p.dir("a"), "store"); err == nil || !strings.Contains(err.Error(), "others may write in it") {
		t.Errorf("open to others: %v", err)
	}
	p.write("b/.agent", "1")
	p.must(os.MkdirAll(p.dir("c/.agent/rewind/.gitignore"), 0o700))
	for _, name := range []string{"b", "c", "none"} {
		if err := project.MakeOwn(p.dir(name), "store"); err == nil {
			t.Errorf("made in %s", name)
		}
	}
	if got := p.list("c/.agent/rewind"); got != ".gitignore" {
		t.Errorf("git can see %s", got)
	}
	err = project.MakeOwn(p.dir("a"), "store")
	if err == nil || !strings.Contains(err.Error(), "others may write in it") {
		t.Errorf("made once more: %v", err)
	}
}

// TestHomeInUse: while another process changes which project is where, or the caller gives up, nothing is changed.
func TestHomeInUse(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	p.must(os.Rename(p.dir("a"), p.dir("b")))
	unlock, err := p.home.Lock(t.Context(), 0)
	p.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := p.home.FindStore(p.id)
	p.must(err)
	is := &project.Project{ID: p.id, Root: p.dir("a")}
	lies := &project.Trashed{Record: p.home.RecordOf(is)}
	for what, do := range map[string]func() error{
		"find":    func() error { _, err := project.Find(ctx, p.home, p.dir("b"), 0); return err },
		"plan":    func() error { _, err := project.PlanInit(ctx, p.home, p.dir("b"), "", 0); return err },
		"adopt":   func() error { return project.Adopt(ctx, p.home, &value.Adoption{}, 0) },
		"plan it": func() error { _, err := project.PlanAdopt(ctx, p.home, p.dir("b"), 0); return err },
		"join":    func() error { _, err := p.home.JoinStore(ctx, p.dir("b"), p.id, 0); return err },
		"remove":  func() error { _, err := p.home.RemoveStore(ctx, s, true, project.Options{}); return err },
		"restore": func() error { _, err := p.home.Restore(ctx, lies, 0); return err },
		"discard": func() error { return p.home.Discard(ctx, lies, 0) },
		"orphan":  func() error { return p.home.OrphanWorktree(ctx, p.id, 0) },
		"drop":    func() error { return p.home.DropWorktree(ctx, p.id, 0) },
		"make":    func() error { _, err := p.home.MakeWorktree(ctx, is, p.dir("b"), cloner{}, true, 0); return err },
	} {
		if err := do(); !errors.Is(err, kv.ErrBusy) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.must(p.home.EmptyTrash(ctx, noon, 0)) // there is nothing to be done
	p.must(os.MkdirAll(filepath.Join(p.home.Dir, "trash/x"), 0o700))
	if err := p.home.EmptyTrash(ctx, noon, 0); !errors.Is(err, kv.ErrBusy) {
		t.Errorf("empty the trash: %v", err)
	}
	p.write("file", "1")
	if _, err := (project.Home{Dir: p.dir("file/x")}).Lock(ctx, 0); err == nil || errors.Is(err, kv.ErrBusy) {
		t.Errorf("where no home can be: %v", err)
	}
	unlock()
	if got := p.stores(); got != "a: the directory is gone, or not mounted (orphan)" {
		t.Error(got)
	}
	if got := p.found("b"); got != "b | the project has moved here from a" {
		t.Error(got)
	}
}

// meanwhile is a context whose user is overtaken: when it asks how long it may take, something has been done.
type meanwhile struct {
	context.Context

	do func()
}

func (m *meanwhile) Deadline() (time.Time, bool) {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Context.Deadline()
}

// TestSettledMeanwhile: what another process has done with a project that was moved or copied, until Home is locked, is
// seen: nothing is settled twice.
func TestSettledMeanwhile(t *testing.T) {
	t.Parallel()
	find := func(p *place) { p.found("b") }
	rename := func(p *place) { p.must(os.Rename(p.dir("a"), p.dir("b"))) }
	for _, tt := range []struct {
		what         string
		do, settle   func(p *place)
		want, stores string
	}{
		{"moved", rename, find, "b", "b"},
		{"copied", func(p *place) { p.must(os.CopyFS(p.dir("b"), os.DirFS(p.dir("a")))) }, find, "b, another", "a, b"},
		{
			"no marker any more", rename, func(p *place) { p.must(os.RemoveAll(p.dir("b/.agent"))) },
			"error: open project b: the store is missing: the marker names none",
			"a: the directory is gone, or not mounted (orphan)",
		},
		{
			"no store any more", rename, func(p *place) { p.must(os.RemoveAll(p.path("HOME/storage/ID"))) },
			"error: open project b: the store is missing: the marker names none", "",
		},
	} {
		p := newPlace(t, project.ModeGlobal)
		tt.do(p)
		ctx := &meanwhile{t.Context(), func() { tt.settle(p) }}
		got := ""
		if is, err := project.Find(ctx, p.home, p.dir("b"), time.Minute); err != nil {
			got = "error: " + p.short(err.Error())
		} else if got = p.short(is.Root); is.ID != p.id {
			got += ", another"
		} else if len(is.Notices) > 0 {
			got += " | " + is.Notices[0]
		}
		if got != tt.want || ctx.do != nil || p.stores() != tt.stores {
			t.Errorf("%s: %s; %s", tt.what, got, p.stores())
		}
	}
}
