package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
)

// TestRemovalFound: a project to remove is found also where its store is gone; whether it is the last.
func TestRemovalFound(t *testing.T) {
	t.Parallel()
	unknown := strings.Repeat("0", 32)
	for _, tt := range []struct {
		what string
		mode project.Mode
		do   func(p *place)
		at   string
		want string // the id, the mode, whether it is the last
	}{
		{"as it is", project.ModeGlobal, func(*place) {}, "a", "ID global true"},
		{"one of two", project.ModeGlobal, func(p *place) {
			p.write("b/f", "1")
			p.set("b", project.ModeGlobal)
		}, "a", "ID global false"},
		{"its store is gone", project.ModeProject, func(p *place) {
			p.must(os.RemoveAll(p.dir("a/.agent")))
		}, "a", "ID project true"},
		{"a marker of another machine", project.ModeGlobal, func(p *place) {
			p.write("b/.agent/rewind/id", unknown)
		}, "b", unknown + " global false"},
		{"a marker of nothing", project.ModeGlobal, func(p *place) {
			p.write("b/.agent/rewind/id", "\n")
		}, "b", "store gone"},
		{"none", project.ModeGlobal, func(p *place) { p.write("b/f", "1") }, "b", "no project"},
	} {
		p := newPlace(t, tt.mode)
		tt.do(p)
		r, err := project.FindRemoval(enginetest.Bg, p.home, p.dir(tt.at), patient)
		got := ""
		switch {
		case errors.Is(err, model.ErrStoreGone):
			got = "store gone"
		case errors.Is(err, model.ErrNoProject):
			got = "no project"
		case err == nil:
			got = p.short(r.Project.ID) + " " + string(r.Project.Mode) + " false"
			if r.Last {
				got = strings.TrimSuffix(got, "false") + "true"
			}
			store := filepath.Base(r.Project.Store)
			if r.Project.Root != p.dir(tt.at) || store != r.Project.ID && r.Project.Mode == project.ModeGlobal {
				t.Errorf("%s: %+v", tt.what, r.Project)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.what, got, err, tt.want)
		}
		is := &project.Project{Root: p.dir("a")}
		err = project.RemovalError(is, os.ErrExist)
		if !errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), is.Root) {
			t.Errorf("%v", err)
		}
	}
}

// TestMarkerRemoved: what of a marker goes with its project. What names other stores, what somebody else put there, and
// what another user or git may have brought stays.
func TestMarkerRemoved(t *testing.T) {
	t.Parallel()
	is, other := strings.Repeat("1", 32), strings.Repeat("2", 32)
	const m = ".agent/rewind"
	const whole = ".agent " + m + " " + m + "/.gitignore " + m + "/id " + m + "/stage " + m + "/stage/x"
	for _, tt := range []struct {
		what, want string
		do         func(p *place)
	}{
		{"all", "", func(*place) {}},
		{"no marker", "", func(p *place) { p.must(os.RemoveAll(p.dir("a/.agent"))) }},
		{"without an id", "", func(p *place) { p.must(os.Remove(p.dir("a/.agent/rewind/id"))) }},
		{"other things of the agent", ".agent .agent/x", func(p *place) { p.write("a/.agent/x", "1") }},
		{"a store", ".agent " + m + " " + m + "/store", func(p *place) {
			p.must(os.Mkdir(p.dir("a/.agent/rewind/store"), 0o700))
		}},
		{
			"a store in the trash", ".agent " + m + " " + m + "/.gitignore " + m + "/.trash-x",
			func(p *place) { p.must(os.Mkdir(p.dir("a/.agent/rewind/.trash-x"), 0o700)) },
		},
		{"another's, too", whole, func(p *place) { p.write("a/.agent/rewind/id", is+"\n"+other+"\n") }},
		{"another's", whole, func(p *place) { p.write("a/.agent/rewind/id", other+"\n") }},
		{"open to others", whole, func(p *place) { p.must(os.Chmod(p.dir("a/.agent/rewind"), 0o777)) }},
		{"a link", ".agent .agent/rewind", func(p *place) {
			p.must(os.Rename(p.dir("a/.agent/rewind"), p.dir("kept")))
			p.must(os.Symlink(p.dir("kept"), p.dir("a/.agent/rewind")))
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			p := noProject(t)
			p.must(project.WriteMarker(p.dir("a"), is, ""))
			p.write("a/.agent/rewind/stage/x", "1")
			tt.do(p)
			p.must(project.RemoveMarker(&project.Project{Root: p.dir("a"), ID: is}))
			if got := p.list("a"); got != tt.want {
				t.Errorf("left: %s, want %s", got, tt.want)
			}
			if _, err := os.Lstat(p.dir("kept")); err == nil && p.list("kept") != ".gitignore id stage stage/x" {
				t.Errorf("behind the link: %s", p.list("kept"))
			}
			raw, err := os.ReadFile(p.dir("a/.agent/rewind/id"))
			if strings.HasPrefix(tt.what, "another's") && (err != nil || string(raw) != other+"\n") {
				t.Errorf("it names %q", raw)
			}
		})
	}
	p := noProject(t)
	p.must(project.WriteMarker(p.dir("a"), is, ""))
	p.git("a", "init", "-q")
	p.git("a", "add", "-f", ".agent/rewind/id")
	before := p.list("a/.agent")
	p.must(project.RemoveMarker(&project.Project{Root: p.dir("a"), ID: is}))
	if got := p.list("a/.agent"); got != before {
		t.Errorf("tracked, left: %s", got)
	}
	if err := project.RemoveMarker(&project.Project{Root: p.dir("none"), ID: is}); err == nil {
		t.Error("of no directory")
	}
}

// TestMarkerWritten: a marker names its store first, and keeps what names others; it is not written where git or
// somebody else has it, nor without need.
func TestMarkerWritten(t *testing.T) {
	t.Parallel()
	one, two, three := strings.Repeat("1", 32), strings.Repeat("2", 32), strings.Repeat("3", 32)
	p := noProject(t)
	path := p.dir("a/.agent/rewind/id")
	look := func() os.FileInfo {
		t.Helper()
		fi, err := os.Lstat(path)
		p.must(err)
		return fi
	}
	write := func(id, drop, want string) {
		t.Helper()
		p.must(project.WriteMarker(p.dir("a"), id, drop))
		if raw, err := os.ReadFile(path); err != nil || string(raw) != want {
			t.Fatalf("%q, %v, want %q", raw, err, want)
		}
		if raw, err := os.ReadFile(p.dir("a/.agent/rewind/.gitignore")); err != nil || string(raw) != "*\n" {
			t.Fatalf("%q, %v", raw, err)
		}
	}
	write(one, "", one+"\n")
	write(two, "", two+"\n"+one+"\n")
	was := look()
	write(two, "", two+"\n"+one+"\n")
	write(one, three, two+"\n"+one+"\n")
	if !os.SameFile(was, look()) {
		t.Error("it was written without need")
	}
	write(three, one, three+"\n"+two+"\n")
	if got := p.list("a/.agent/rewind"); got != ".gitignore id" {
		t.Errorf("beside what it should have: %s", got)
	}
	for _, text := range []string{"", "*.x\n"} {
		p.write("a/.agent/rewind/.gitignore", text)
		write(three, "", three+"\n"+two+"\n")
	}
	if fi, err := os.Lstat(p.dir("a/.agent/rewind")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	cannot := func(root, why string) {
		t.Helper()
		err := project.WriteMarker(p.dir(root), one, "")
		if err == nil || !strings.Contains(err.Error(), "the marker cannot be written: "+why) {
			t.Errorf("%s: %v", root, err)
		}
	}
	cannot("none", "")
	p.must(os.Chmod(p.dir("a/.agent/rewind"), 0o777))
	cannot("a", "others may write in it")
	p.must(os.Chmod(p.dir("a/.agent/rewind"), 0o700))
	var many strings.Builder
	for range 124 {
		many.WriteString(project.NewStoreID() + "\n")
	}
	p.write("a/.agent/rewind/id", many.String())
	cannot("a", "it names too many stores")
	p.write("a/.agent/rewind/id", many.String()+many.String()[33:66])
	cannot("a", "")
	p.write("a/.agent/rewind/id", two)
	p.git("a", "init", "-q")
	p.git("a", "add", "-f", ".agent/rewind/id")
	cannot("a", "git tracks it")
	p.write("b/.agent/rewind", "")
	cannot("b", "it is not a directory")
	p.write("c/.agent", "")
	cannot("c", "")
	p.must(os.MkdirAll(p.dir("d/.agent/rewind/id"), 0o700))
	cannot("d", "id is not a regular file")
	p.must(os.MkdirAll(p.dir("e/.agent"), 0o755))
	p.must(os.Chmod(p.dir("e/.agent"), 0o777))
	cannot("e", p.dir("e/.agent")+": others may write in it")
	p.must(os.MkdirAll(p.dir("f/.agent/rewind/.gitignore"), 0o700))
	cannot("f", ".gitignore: is a directory")
	if got := p.list("f"); got != ".agent .agent/rewind .agent/rewind/.gitignore" {
		t.Errorf("left: %s", got)
	}
}

// TestLeftoversSwept: what interrupted removals left goes, and nothing of another name, nor what a link leads to.
func TestLeftoversSwept(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("1", 32)
	for _, tracked := range []bool{false, true} {
		p := noProject(t)
		for _, name := range []string{project.RemovedName + id, project.RemovedName + "x", id} {
			p.must(os.MkdirAll(filepath.Join(p.home.Storage(), name, "db"), 0o700))
		}
		p.must(project.WriteMarker(p.dir("a"), id, ""))
		p.write("a/.agent/rewind/.removed-x/db/1", "1")
		p.write("kept/x", "1")
		p.must(os.Symlink(p.dir("kept"), p.dir("a/.agent/rewind/.removed-link")))
		want := ".gitignore id"
		if tracked {
			p.git("a", "init", "-q")
			p.git("a", "add", "-f", ".agent/rewind/id")
			want = p.list("a/.agent/rewind")
		}
		p.home.SweepRemoved(p.dir("a"))
		if got := p.list("a/.agent/rewind"); got != want {
			t.Errorf("tracked %v: the marker has %s", tracked, got)
		}
		list, err := os.ReadDir(p.home.Storage())
		p.must(err)
		if len(list) != 2 || list[0].Name() != project.RemovedName+"x" || list[1].Name() != id ||
			p.list("kept") != "x" {
			t.Errorf("left: %v, %s", list, p.list("kept"))
		}
		p.home.SweepRemoved(p.dir("none"))
	}
}
