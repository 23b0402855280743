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

// TestPromise17Adopted: a store that another Home made is shown with what it says of itself, and is this user's, with a
// seal and an id of its own, when it was adopted.
func TestPromise17Adopted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeProject)
	p.write("a/sub/x", "1")
	theirs := p.home
	p.home = project.Home{Dir: t.TempDir()}
	const passed = "error: find project of a: not a rewind project: passed over a/.agent/rewind: " +
		"no store that this user made here lies there"
	if got := p.found("a"); got != passed {
		t.Fatalf("before: %s", got)
	}
	p.must(os.Chmod(p.dir(inStore), 0o755))
	p.must(os.Chmod(p.dir(inStore+"/db"), 0o755))
	a, err := project.PlanAdopt(enginetest.Bg, p.home, p.dir("a/sub"), 0)
	p.must(err)
	var files int
	var bytes int64
	p.must(filepath.WalkDir(p.dir(inStore), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		if files++; err == nil {
			bytes += fi.Size()
			if at := fi.ModTime(); at.After(a.Changed) {
				t.Errorf("%s changed after %v", path, a.Changed)
			}
		}
		return err
	}))
	of := project.Project{ID: p.id}
	if string(a.ID) != p.id || string(a.Root) != p.dir("a") || string(a.Of) != p.dir("a") ||
		string(a.Store) != p.dir(inStore) || !a.Created.Equal(theirs.RecordOf(&of).Created) || a.Created.IsZero() {
		t.Errorf("%+v", a)
	}
	if a.Files != files || a.DiskBytes != bytes || !strings.HasSuffix(passed, ": "+string(a.Why)) {
		t.Errorf("%+v, want %d files, %d bytes", a, files, bytes)
	}
	p.must(project.Adopt(enginetest.Bg, p.home, a, 0))
	for _, name := range []string{inStore, inStore + "/db"} {
		if fi, err := os.Stat(p.dir(name)); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("%s is open to others: %v, %v", name, fi.Mode(), err)
		}
	}
	if got := p.found("a"); got != "a, another" {
		t.Errorf("adopted: %s", got)
	}
	id, err := os.ReadFile(p.dir("a/.agent/rewind/id"))
	is := p.at("a")
	p.must(err)
	if string(id) != is.ID+"\n" || is.Mode != project.ModeProject || !p.home.RecordOf(is).Created.Equal(a.Created) {
		t.Errorf("it is %+v, the marker names %q", is, id)
	}
	if _, err := project.PlanAdopt(enginetest.Bg, p.home, p.dir("a"), 0); !errors.Is(err, project.ErrNothingToAdopt) {
		t.Errorf("adopted once more: %v", err)
	}
	// a damaged seal: it keeps its record
	p.must(os.Remove(p.dir(inStore + "/seal")))
	a, err = project.PlanAdopt(enginetest.Bg, p.home, p.dir("a"), 0)
	p.must(err)
	p.must(project.Adopt(enginetest.Bg, p.home, a, 0))
	if now := p.at("a"); now.ID != is.ID || len(p.home.Stores()) != 1 {
		t.Errorf("it is %+v, was %s", now, is.ID)
	}
	p.home = theirs
	if got := p.found("a"); !strings.Contains(got, "its store has another seal than the one that was made here") {
		t.Errorf("whose it was: %s", got)
	}
}

// TestPromise17NotAdopted: what cannot be taken over as it lies there, when it is planned or when that changed since.
func TestPromise17NotAdopted(t *testing.T) {
	t.Parallel()
	deep := func(n int) func(p *place) {
		return func(p *place) { p.must(os.MkdirAll(p.dir(inStore+strings.Repeat("/d", n)), 0o700)) }
	}
	for _, tt := range []struct {
		what, want string
		do         func(p *place)
	}{
		{"deep", "", deep(17)},
		{"too deep", strings.Repeat("d/", 17) + `d" lies too deep`, deep(18)},
		{"a link", `"db/x" is a symlink`, func(p *place) { p.must(os.Symlink("y", p.dir(inStore+"/db/x"))) }},
		{"a second name", `has several names`, func(p *place) {
			p.must(os.Link(p.dir(inStore+"/format"), p.dir("x")))
		}},
		{"no store", "it is not a store", func(p *place) {
			p.must(os.Rename(p.dir(inStore+"/format"), p.dir(inStore+"/form")))
			p.must(os.Rename(p.dir(inStore+"/db"), p.dir(inStore+"/data")))
		}},
		{"a file", "its store is not a directory", func(p *place) {
			p.must(os.RemoveAll(p.dir(inStore)))
			p.write(inStore, "1")
		}},
		{"open to others", "others may write in it", func(p *place) { p.must(os.Chmod(p.dir(inStore), 0o777)) }},
		{"the marker is open to others", "others may write in it", func(p *place) {
			p.must(os.Chmod(p.dir("a/.agent/rewind"), 0o777))
		}},
		{"tracked", "git tracks it: it came with the repository", func(p *place) {
			p.git("a", "init", "-q")
			p.git("a", "add", "-f", inStore[2:])
		}},
		{"git cannot say", "whether git tracks it is not known", func(p *place) {
			p.git("a", "init", "-q")
			p.write("a/.git/index", "DIRC, not")
			p.must(os.Chtimes(p.dir("a/.git/index"), noon, noon))
		}},
		{"a repository that is none", "whether git tracks it is not known", func(p *place) {
			p.write("a/.git", "gitdir: nowhere\n")
		}},
		{"a marker that cannot be written", "", func(p *place) {
			p.must(os.Remove(p.dir("a/.agent/rewind/id")))
			p.must(os.Mkdir(p.dir("a/.agent/rewind/id"), 0o700))
		}},
		{"no room for its record", "is a directory", func(p *place) {
			p.must(os.Remove(p.dir(inStore + "/project.json")))
			p.must(os.Mkdir(p.dir(inStore+"/project.json"), 0o700))
		}},
		{"no room in Home", "note project", func(p *place) {
			p.must(os.WriteFile(filepath.Join(p.home.Dir, "projects"), nil, 0o600))
		}},
		{"a record that is none", "", func(p *place) { p.write(inStore+"/project.json", "{") }},
		{"gone", "nothing", func(p *place) { p.must(os.RemoveAll(p.dir(inStore))) }},
		{"no marker", "nothing", func(p *place) { p.must(os.RemoveAll(p.dir("a/.agent"))) }},
		{"of a project in Home", "has a store already", func(p *place) {
			id := strings.Repeat("1", 32)
			p.must(os.MkdirAll(filepath.Join(p.home.Storage(), id), 0o700))
			p.must((&project.Record{ID: id, Mode: project.ModeGlobal, Created: noon}).At(p.dir("a")).Write(p.home))
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, project.ModeProject)
			p.home = project.Home{Dir: t.TempDir()}
			shown, err := project.PlanAdopt(enginetest.Bg, p.home, p.dir("a"), 0)
			p.must(err)
			tt.do(p)
			a, planned := project.PlanAdopt(enginetest.Bg, p.home, p.dir("a"), 0)
			if tt.want == "nothing" {
				if err := project.Adopt(enginetest.Bg, p.home, shown, 0); err == nil {
					t.Error("adopted")
				}
				if !errors.Is(planned, project.ErrNothingToAdopt) || !errors.Is(planned, model.ErrNotFound) {
					t.Errorf("planned: %+v, %v", a, planned)
				}
				return
			}
			err = project.Adopt(enginetest.Bg, p.home, shown, 0)
			for when, err := range map[string]error{"planned": planned, "adopted": err} {
				late := tt.what == "of a project in Home" || strings.HasPrefix(tt.what, "no room")
				if late && when == "planned" {
					continue // what lies there is not asked for, or can be adopted
				}
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: %v", when, err)
				}
			}
			got := p.found("a")
			if tt.want == "" && (got != "a, another" || p.home.Stores()[0].Created.IsZero()) {
				t.Errorf("found %s, %+v", got, p.home.Stores())
			}
		})
	}
}
