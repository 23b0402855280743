package project_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rewind/engine/enginetest"
	"rewind/engine/project"
)

// bound calls fn as a user whom permissions bind, also where the tests run as the superuser.
func bound(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // never unlocked: the thread goes with the goroutine
			none := [2]unix.CapUserData{}
			err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
			if err != nil {
				t.Error(err)
				return
			}
		}
		fn()
	}()
	<-done
}

// readable and closed are what is left of the rights to a directory.
const (
	readable = 0o500
	closed   = 0
)

// denied is an operation during which the rights to something are cut.
type denied struct {
	what, path string
	rights     os.FileMode
	ask        func(p *place) string
	want, then string // a part of what it says, and what it says when it is asked again; "-": it is not
}

// asked holds what is said while the rights are cut, and what is said then.
func (p *place) asked(d denied) {
	p.Helper()
	path := p.path(d.path)
	fi, err := os.Lstat(path)
	p.must(err)
	p.must(os.Chmod(path, d.rights))
	got := ""
	bound(p.T, func() { got = d.ask(p) })
	if err := os.Chmod(path, fi.Mode().Perm()); err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	if d.want == "" && got != "" || !strings.Contains(got, d.want) {
		p.Errorf("%s: %q, want %q", d.what, got, d.want)
	}
	if d.then == "-" {
		return
	}
	if got := d.ask(p); got != d.then {
		p.Errorf("%s, then: %q, want %q", d.what, got, d.then)
	}
}

const refused = "permission denied"

// TestRefusedFinding: a project whose files cannot be read or written is found all the same, or it is said what cannot
// be; then it is found as it should be.
func TestRefusedFinding(t *testing.T) {
	t.Parallel()
	const global, local = project.ModeGlobal, project.ModeProject
	const moved = "b | the project has moved here from a"
	const copied = "b, another, copied | this is a copy of a: " +
		"it has a store of its own now, with the history up to here"
	const again = " | the marker .agent/rewind did not name this project's store and has been written again"
	at := func(name string) func(p *place) string { return func(p *place) string { return p.found(name) } }
	rename := func(p *place) { p.must(os.Rename(p.dir("a"), p.dir("b"))) }
	clone := func(p *place) { p.must(os.CopyFS(p.dir("b"), os.DirFS(p.dir("a")))) }
	damage := func(p *place) {
		p.must(os.WriteFile(p.path("HOME/storage/ID/project.json"), []byte("{"), 0o600))
	}
	for _, tt := range []struct {
		mode project.Mode
		do   func(p *place)
		denied
	}{
		{global, nil, denied{"the record", "HOME/storage/ID/project.json", closed, at("a"), refused, "a"}},
		{global, nil, denied{"the ids", "a/.agent/rewind/id", closed, at("a"), "a", "a"}},
		{global, nil, denied{"the marker", "a/.agent/rewind", closed, at("a"), "a", "a"}},
		{local, nil, denied{"the marker", "a/.agent/rewind", closed, at("a"), "rewind: it cannot be read", "a"}},
		{local, nil, denied{
			"the marker, and it is open", "a/.agent/rewind", 0o002, at("a"), "rewind: others may write in it", "a",
		}},
		{local, nil, denied{"the store", "a/.agent/rewind/store", closed, at("a"), refused, "a"}},
		{local, nil, denied{"the seal", "a/.agent/rewind/store/seal", closed, at("a"), refused, "a"}},
		{local, rename, denied{"the seal elsewhere", "b/.agent/rewind/store/seal", closed, at("b"), refused, moved}},
		{local, func(p *place) {
			rename(p)
			p.must(os.Remove(p.dir("b/.agent/rewind/id")))
		}, denied{"the seal, without ids", "b/.agent/rewind/store/seal", closed, at("b"), refused, moved}},
		{global, rename, denied{"to note the move", "HOME/storage/ID", readable, at("b"), refused, moved}},
		{global, damage, denied{
			"to write the record again", "HOME/storage/ID", readable, at("a"), refused,
			"a | project.json of the store could not be read and has been written again",
		}},
		{global, clone, denied{
			"to copy the store", "HOME/storage/ID/db", closed, at("b"), "error: copy store ", copied,
		}},
		{global, clone, denied{
			"to mark the copy", "b/.agent/rewind", readable, at("b"), copied, "b, another" + again,
		}},
		{local, clone, denied{"to note the copy", "HOME/projects", readable, at("b"), refused, copied}},
		{local, clone, denied{
			"to seal the copy", "b/.agent/rewind/store/project.json", closed, at("b"), copied, "b, another",
		}},
	} {
		t.Run(tt.what+", "+string(tt.mode), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			if tt.do != nil {
				tt.do(p)
			}
			p.asked(tt.denied)
		})
	}
}

// TestRefusedRemoving: what cannot be taken away wholly is said, and a second time does the rest.
func TestRefusedRemoving(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("1", 32)
	unmark := func(p *place) string {
		return p.said(project.RemoveMarker(&project.Project{Root: p.dir("a"), ID: id}))
	}
	undir := func(p *place) string { return p.said(project.RemoveWorktreeDir(p.dir("b"))) }
	for _, tt := range []struct {
		do func(p *place)
		denied
	}{
		{nil, denied{"the way", "a/.agent", closed, unmark, refused, ""}},
		{nil, denied{"what is in it", "a/.agent/rewind/stage", readable, unmark, refused, ""}},
		{nil, denied{"a look into it", "a/.agent/rewind/stage", closed, unmark, refused, ""}},
		{func(p *place) {
			p.must(os.RemoveAll(p.dir("a/.agent/rewind/stage")))
			p.must(os.Remove(p.dir("a/.agent/rewind/.gitignore")))
		}, denied{"the id", "a/.agent/rewind", readable, unmark, refused, ""}},
		{nil, denied{"the marker", "a/.agent", readable, unmark, refused, ""}},
		{nil, denied{"what is above it", "a", readable, unmark, refused, ""}},
		{func(p *place) { p.write(".rewind.removed-b/d/x", "1") }, denied{
			"what was left of a worktree", ".rewind.removed-b/d", readable, undir, refused, "",
		}},
		{nil, denied{"a worktree", ".", readable, undir, refused, ""}},
	} {
		p := noProject(t)
		p.must(project.WriteMarker(p.dir("a"), id, ""))
		p.write("a/.agent/rewind/stage/x", "1")
		p.write("b/x", "1")
		if tt.do != nil {
			tt.do(p)
		}
		p.asked(tt.denied)
		if _, err := os.Lstat(p.dir("a/.agent/rewind")); err == nil && !strings.Contains(tt.what, "worktree") {
			t.Errorf("%s: left %s", tt.what, p.list("a"))
		}
	}
	p := noProject(t)
	p.must(project.WriteMarker(p.dir("a"), id, ""))
	p.asked(denied{"another id", "a/.agent/rewind", readable, func(p *place) string {
		return p.said(project.WriteMarker(p.dir("a"), strings.Repeat("2", 32), ""))
	}, "the marker cannot be written", ""})
}

// TestRefusedStores: a store that cannot be moved, written or taken away is where it was, and the second time does it.
func TestRefusedStores(t *testing.T) {
	t.Parallel()
	const global, local = project.ModeGlobal, project.ModeProject
	remove := func(now bool) func(p *place) string {
		return func(p *place) string {
			s, err := p.home.FindStore(p.id)
			if err == nil {
				_, err = p.home.RemoveStore(enginetest.Bg, s, now, patient)
			}
			return p.said(err)
		}
	}
	join := func(p *place) string {
		_, err := p.home.JoinStore(enginetest.Bg, p.dir("b"), p.id, 0)
		return p.said(err) + p.stores()
	}
	adopt := func(p *place) string {
		in := *p
		in.home = project.Home{Dir: p.dir("other")}
		_, err := project.PlanAdopt(enginetest.Bg, in.home, p.dir("a"), 0)
		return p.said(err)
	}
	strip := func(p *place) {
		p.must(os.RemoveAll(p.dir("a/.agent")))
		p.must(os.Rename(p.dir("a"), p.dir("b")))
	}
	aside := func(p *place) {
		p.must(os.MkdirAll(filepath.Join(p.home.StageDir(p.id), "x"), 0o700))
		p.must(os.MkdirAll(filepath.Join(p.home.BisectDir(p.id), "x"), 0o700))
	}
	const there = "a: the directory is gone, or not mounted (orphan)"
	for _, tt := range []struct {
		mode project.Mode
		do   func(p *place)
		denied
		stores string
	}{
		{global, nil, denied{"to trash it", "HOME/storage", readable, remove(false), "into the trash: ", ""}, ""},
		{global, nil, denied{"to take it away", "HOME/storage", readable, remove(true), refused, ""}, ""},
		{local, nil, denied{"to forget it", "HOME/projects", readable, remove(true), refused, ""}, ""},
		{global, aside, denied{"the stages", "HOME/stage", readable, remove(true), refused, "-"}, ""},
		{global, aside, denied{"the bisections", "HOME/bisect", readable, remove(true), refused, "-"}, ""},
		{global, strip, denied{"to note the directory", "HOME/storage/ID", readable, join, refused + there, "b"}, "b"},
		{local, nil, denied{"to look into the store", "a/.agent/rewind/store/db", closed, adopt, refused, ""}, "a"},
		{local, nil, denied{"to look at it", "a/.agent/rewind/store/db", 0o400, adopt, refused, ""}, "a"},
	} {
		t.Run(tt.what+", "+string(tt.mode), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			if tt.do != nil {
				tt.do(p)
			}
			p.asked(tt.denied)
			if got := p.stores(); got != tt.stores {
				t.Errorf("stores: %s, want %s", got, tt.stores)
			}
		})
	}
	// the store that a directory loses cannot be told so: nothing is joined
	p := newPlace(t, global)
	strip(p)
	left := p.set("b", global)
	p.asked(denied{"to leave the other", "HOME/storage/" + left, readable, func(p *place) string {
		_, err := p.home.JoinStore(enginetest.Bg, p.dir("b"), p.id, 0)
		return p.said(err) + p.found("b")
	}, "b, another", "b"})
}

// TestRefusedTrash: a store whose way out of the trash is barred stays there with its settings, and the second time
// brings it back, or takes it away.
func TestRefusedTrash(t *testing.T) {
	t.Parallel()
	const global, local = project.ModeGlobal, project.ModeProject
	back := func(p *place) string {
		lies, err := p.home.FindTrashed(p.id, noon)
		if err == nil {
			_, err = p.home.Restore(enginetest.Bg, lies, 0)
		}
		if err != nil {
			return p.short(err.Error())
		}
		c, err := project.LoadConfig(p.home, p.dir("a"))
		p.must(err)
		return p.found("a") + ", " + c.Get("gc.grace").(string)
	}
	discard := func(p *place) string {
		lies, err := p.home.FindTrashed(p.id, noon)
		if err == nil {
			err = p.home.Discard(enginetest.Bg, lies, 0)
		}
		if err == nil && len(inTrash(p.T, p.home)) > 0 {
			return "it is left"
		}
		return p.said(err)
	}
	marker := func(p *place) { p.must(os.MkdirAll(p.dir("a/.agent/rewind"), 0o700)) }
	const marked = "a, another | the marker .agent/rewind was gone and has been written again"
	const in = "HOME/trash/ID-1795694400"
	for _, tt := range []struct {
		mode project.Mode
		do   func(p *place)
		denied
	}{
		{global, nil, denied{"back into Home", "HOME/storage", readable, back, refused, "a, 9d"}},
		{local, nil, denied{"its record", "HOME/projects", readable, back, refused, "a, 9d"}},
		{global, nil, denied{"its settings", in + "/config.json", closed, back, refused, "a, 9d"}},
		{global, marker, denied{"settings in the project", "a/.agent/rewind", readable, back, refused, "a, 9d"}},
		{local, marker, denied{"back into the project", "a/.agent/rewind", readable, back, refused, "a, 9d"}},
		{global, nil, denied{"to be rid of it", "HOME/trash", readable, back, refused, "-"}},
		{global, func(p *place) {
			other := project.Record{ID: strings.Repeat("1", 32), Mode: global}
			p.must(os.MkdirAll(filepath.Join(p.home.Storage(), other.ID, "db"), 0o700))
			p.must(other.At(p.dir("a")).Write(p.home))
		}, denied{
			"to say that it has no directory", in + "/store", readable, back, refused, marked + ", 1h",
		}},
		{global, nil, denied{"to discard it", in, readable, discard, refused, ""}},
	} {
		t.Run(tt.what+", "+string(tt.mode), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			p.must(project.SetConfig(p.home, p.dir("a"), "gc.grace", []string{"9d"}))
			is := p.at("a")
			lies := project.Trashed{Record: p.home.RecordOf(is), Mode: tt.mode, Removed: noon}
			_, err := p.home.PutInTrash(lies, is.Store)
			p.must(err)
			p.must(project.RemoveMarker(is))
			if tt.do != nil {
				tt.do(p)
			}
			p.asked(tt.denied)
		})
	}
}
