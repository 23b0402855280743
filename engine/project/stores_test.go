package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
)

// record notes a store that is not there for a directory.
func (p *place) record(id, name string) {
	p.Helper()
	r := &project.Record{ID: id, Created: noon, Mode: project.ModeGlobal, Root: p.dir(name)}
	p.must(os.MkdirAll(filepath.Join(p.home.Storage(), id), 0o700))
	p.must(r.Write(p.home))
}

// TestStoresFoundByID: a store is found by the beginning of its id that no other has.
func TestStoresFoundByID(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	one, two := "ab"+strings.Repeat("0", 30), "ac"+strings.Repeat("0", 30)
	p.record(one, "x")
	p.record(two, "a")
	p.write("x-is-no-store", "1")
	p.must(os.Mkdir(filepath.Join(p.home.Storage(), "none"), 0o700))
	p.record(strings.Repeat("ad", 15), "a") // no ids
	p.record("AD"+strings.Repeat("0", 30), "a")
	both := project.Record{ID: one, Root: p.dir("b"), Mode: project.ModeProject} // the store in Home counts
	p.must(both.Write(p.home))
	for id, want := range map[string]string{one: one, "ab": one, "ac": two, "a": "", "": "", "ad": "", one + "0": ""} {
		s, err := p.home.FindStore(id)
		switch {
		case err == nil && s.ID == want:
		case err != nil && want == "":
			usage := id == "a" || id == ""
			if errors.Is(err, model.ErrUsage) != usage || errors.Is(err, project.ErrNoStore) == usage {
				t.Errorf("%q: %v", id, err)
			}
		default:
			t.Errorf("%q: %+v, %v", id, s, err)
		}
	}
	if got := p.stores(); got != "a: the store is missing, x: the directory is gone, or not mounted (orphan)" {
		t.Error(got)
	}
	unknown := &project.Project{ID: strings.Repeat("0", 32), Root: p.dir("a"), Mode: project.ModeProject}
	if r := p.home.RecordOf(unknown); r.ID != unknown.ID || r.Root != unknown.Root || r.Mode != unknown.Mode {
		t.Errorf("of one that is not known: %+v", r)
	}
	if r := p.home.RecordOf(&project.Project{ID: one}); r.Root != p.dir("x") || !r.Created.Equal(noon) {
		t.Errorf("%+v", r)
	}
	if got := p.home.Projects(); len(got) != 2 || got[0] != p.dir("a") || got[1] != p.dir("x") {
		t.Errorf("%v", got)
	}
}

// TestStoresTold: what is told of a store, with what is wrong with it.
func TestStoresTold(t *testing.T) {
	t.Parallel()
	unknown := strings.Repeat("0", 32) + "\n"
	another := func(p *place) {
		p.must(os.Rename(p.dir("a"), p.dir("was")))
		p.write("a/.agent/rewind/id", unknown)
		p.must(os.RemoveAll(p.dir("was")))
	}
	replace := func(p *place) {
		p.must(os.Rename(p.dir("a"), p.dir("was")))
		p.write("a/x", "1")
	}
	for _, tt := range []struct {
		what string
		mode project.Mode
		do   func(p *place)
		want string
		size bool // what it takes is known
	}{
		{"another directory", project.ModeGlobal, replace, "a", true},
		{"a copy of it", project.ModeGlobal, func(p *place) {
			replace(p)
			p.must(os.CopyFS(p.dir("a/.agent"), os.DirFS(p.dir("was/.agent"))))
		}, "a", true},
		{"it was emptied", project.ModeGlobal, func(p *place) {
			p.must(os.RemoveAll(p.dir("a/.agent")))
			p.must(os.Remove(p.dir("a/f")))
		}, "a", true},
		{"as it is", project.ModeGlobal, func(*place) {}, "a", true},
		{"as it is", project.ModeProject, func(*place) {}, "a", true},
		{"its record is damaged", project.ModeGlobal, func(p *place) {
			p.must(os.WriteFile(filepath.Join(p.home.Storage(), p.id, "project.json"), []byte("{"), 0o600))
		}, ": its record cannot be read: no directory is known (orphan)", true},
		{"its store is gone", project.ModeGlobal, func(p *place) {
			for _, name := range []string{"format", "db", "swap"} {
				p.must(os.RemoveAll(filepath.Join(p.home.Storage(), p.id, name)))
			}
		}, "a: the store is missing", true},
		{
			"another directory with another marker", project.ModeGlobal, another,
			"a: the directory is another one now, and its marker names another store (orphan)", true,
		},
		{"another marker", project.ModeGlobal, func(p *place) { p.write("a/.agent/rewind/id", unknown) }, "a", true},
		{"without its seal", project.ModeProject, func(p *place) {
			p.must(os.Remove(p.dir("a/.agent/rewind/store/seal")))
		}, "a: not believed: its store has no seal of this user's", false},
		{"another store", project.ModeGlobal, func(p *place) {
			other := "ff" + strings.Repeat("0", 30)
			p.must(os.MkdirAll(filepath.Join(p.home.Storage(), other), 0o700))
			r := project.Record{ID: other, Created: noon.AddDate(9, 0, 0), Mode: project.ModeGlobal}
			p.must(r.At(p.dir("a")).Write(p.home))
			p.write("a/.agent/rewind/id", other+"\n")
		}, "a: the directory has another store now, ff000000000000000000000000000000 (orphan), " +
			"a: the store is missing", true},
	} {
		t.Run(tt.what+", "+string(tt.mode), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			tt.do(p)
			got := p.stores()
			if one, two, ok := strings.Cut(got, ", a: "); ok && strings.HasPrefix(one, "a: the store is missing") {
				got = "a: " + two + ", " + one // the ids decide of two of one directory
			}
			if got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
			s, err := p.home.FindStore(p.id)
			p.must(err)
			if (s.DiskBytes > 0) != tt.size || (s.Used != nil) != tt.size || s.Mode != string(tt.mode) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStoreMeasured: what a store takes is what its files have, and it was used when the newest of them changed.
func TestStoreMeasured(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	was, err := p.home.FindStore(p.id)
	p.must(err)
	in := func(name string) string { return filepath.Join(p.home.Storage(), p.id, name) }
	at := time.Now().AddDate(1, 0, 0).Truncate(time.Second)
	p.must(os.WriteFile(in("db/new"), []byte("seven.."), 0o600))
	p.must(os.Chtimes(in("db/new"), at, at))
	p.must(os.Symlink("nowhere", in("link")))
	p.must(os.Mkdir(in("later"), 0o700))
	p.must(os.Chtimes(in("later"), at.Add(day), at.Add(day)))
	now, err := p.home.FindStore(p.id)
	if p.must(err); now.DiskBytes != was.DiskBytes+7 || !now.Used.Equal(at) {
		t.Errorf("%+v, was %+v", now, was)
	}
}

// TestStoresJoined: which store a directory can be given, and what becomes of the one that it had.
func TestStoresJoined(t *testing.T) {
	t.Parallel()
	const global, local = project.ModeGlobal, project.ModeProject
	strip := func(p *place) {
		p.must(os.RemoveAll(p.dir("a/.agent")))
		p.must(os.Rename(p.dir("a"), p.dir("b")))
	}
	gone := func(p *place) {
		p.must(os.RemoveAll(p.dir("a")))
		p.write("b/f", "1")
	}
	for _, tt := range []struct {
		what string
		mode project.Mode
		do   func(p *place)
		dir  string
		want string // the error, or what is found in b, and the stores
	}{
		{"moved", global, strip, "b", "b; b"},
		{"moved, of a repository", global, func(p *place) {
			strip(p)
			p.git("b", "init", "-q")
			p.write("b/sub/f", "1")
		}, "b/sub", "b; b"},
		{"to where it is", global, func(p *place) {}, "a", "error: resolve b: lstat b: no such file or directory; a"},
		{"to one that has a store", global, func(p *place) {
			strip(p)
			p.set("b", global)
		}, "b", "b; : it belongs to no directory (orphan), b"},
		{"to one that has a store in it", global, func(p *place) {
			strip(p)
			p.set("b", local)
		}, "b", "join store ID: b has a store in project mode: 'rewind init --remove' there first"},
		{
			"of one that is there", global, func(p *place) { p.write("b/f", "1") }, "b",
			"join store ID: it is the store of a, which is there",
		},
		{"to none", global, gone, "c", "resolve c: lstat c: no such file or directory"},
		{
			"to HOME", global, gone, "HOME",
			"init HOME: this directory cannot be a project: it is rewind's own directory",
		},
		{
			"in project mode", local, gone, "b",
			"join store ID: it is a store in project mode, and is not in b/.agent/rewind",
		},
		{"in project mode, with another seal", local, func(p *place) {
			p.must(os.Rename(p.dir("a"), p.dir("b")))
			p.write("b/.agent/rewind/store/seal", "x")
		}, "b", "join store ID: it is a store in project mode, and is not in b/.agent/rewind"},
		{"of a directory that is not mounted", global, func(p *place) {
			gone(p)
			p.must(os.Mkdir(p.dir("a"), 0o755))
		}, "b", "b; b"},
		{"where no marker can be", global, func(p *place) {
			strip(p)
			p.write("b/.agent", "1")
		}, "b", "b; b"},
		{"to one whose store in it is gone", global, func(p *place) {
			strip(p)
			p.set("b", local)
			p.must(os.RemoveAll(p.dir("b/.agent")))
		}, "b", "b; : it belongs to no directory (orphan), b"},
		{"in project mode, moved", local, func(p *place) { p.must(os.Rename(p.dir("a"), p.dir("b"))) }, "b", "b; b"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.mode)
			tt.do(p)
			dir, left := p.dir(tt.dir), ""
			if tt.dir == "HOME" {
				dir = p.home.Dir
			}
			for _, s := range p.home.Stores() {
				if s.ID != p.id {
					left = s.ID
				}
			}
			got := ""
			if j, err := p.home.JoinStore(enginetest.Bg, dir, p.id[:12], 0); err != nil {
				got = p.short(err.Error())
			} else {
				got = p.found("b") + "; " + p.stores()
				if j.Store.ID != p.id || j.Store.Orphan || j.Store.Wrong != "" || string(j.Was) != p.dir("a") ||
					j.Left != left {
					t.Errorf("%+v", j)
				}
			}
			if got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestStoresRemoved: a store without a directory goes into the trash, or at once, with what is kept of it elsewhere. Of
// one in project mode the record alone goes. What is in use, or is another's by now, stays.
func TestStoresRemoved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode project.Mode
		now  bool
	}{
		{project.ModeGlobal, false},
		{project.ModeGlobal, true},
		{project.ModeProject, false},
		{project.ModeProject, true},
	} {
		p := newPlace(t, tt.mode)
		p.must(os.Rename(p.dir("a"), p.dir("b")))
		s, err := p.home.FindStore(p.id)
		p.must(err)
		p.must(os.MkdirAll(p.home.StageDir(p.id), 0o700))
		p.must(os.MkdirAll(p.home.BisectDir(p.id), 0o700))
		old := project.Trashed{Record: project.Record{ID: p.id}, Removed: noon.Add(-day), NoStore: true}
		_, err = p.home.PutInTrash(old, "")
		p.must(err)
		o := project.Options{Now: func() time.Time { return noon }, LockWait: patient.LockWait}
		lies, err := p.home.RemoveStore(enginetest.Bg, s, tt.now, o)
		p.must(err)
		if names := inTrash(t, p.home); len(names) > 1 || len(names) == 1 && tt.now {
			t.Errorf("%+v: what is due is left: %v", tt, names)
		}
		if got := p.stores(); got != "" || (lies == nil) != tt.now || (len(p.home.Trash(noon)) == 0) != tt.now {
			t.Errorf("%+v: %q, %+v", tt, got, lies)
		}
		going := filepath.Join(p.home.Storage(), project.RemovedName+p.id)
		for _, dir := range []string{p.home.StageDir(p.id), p.home.BisectDir(p.id), going} {
			if _, err := os.Lstat(dir); err == nil {
				t.Errorf("%+v: %s is left", tt, dir)
			}
		}
		if there := project.IsStore(p.dir("b/.agent/rewind/store")); there != (tt.mode == project.ModeProject) {
			t.Errorf("%+v: the store in the project: %v", tt, there)
		}
		if tt.now {
			continue
		}
		info, local := lies.Info(p.home), tt.mode == project.ModeProject
		if (info.DiskBytes > 0) == local || lies.NoStore != local || info.ID != p.id {
			t.Errorf("%+v: %+v", tt, info)
		}
		_, err = p.home.Restore(enginetest.Bg, lies, 0)
		if p.must(err); p.found("b") != "b | the project has moved here from a" {
			t.Errorf("%+v, restored: %s", tt, p.found("b"))
		}
	}
	p := newPlace(t, project.ModeGlobal)
	s, err := p.home.FindStore(p.id)
	p.must(err)
	other := *s
	other.Root = value.Text(p.dir("b"))
	if _, err := p.home.RemoveStore(enginetest.Bg, &other, true, patient); !errors.Is(err, model.ErrUsage) {
		t.Errorf("of another directory by now: %v", err)
	}
	other.ID = strings.Repeat("0", 32)
	if _, err := p.home.RemoveStore(enginetest.Bg, &other, true, patient); err == nil {
		t.Error("one that is not known was removed")
	}
	e, err := engine.Open(enginetest.Bg, p.home, p.dir("a"), patient)
	p.must(err)
	for _, now := range []bool{true, false} {
		if _, err := p.home.RemoveStore(enginetest.Bg, s, now, project.Options{}); !errors.Is(err, kv.ErrBusy) {
			t.Errorf("in use: %v", err)
		}
	}
	p.must(e.Close())
	if p.found("a") != "a" {
		t.Errorf("found %s", p.found("a"))
	}
}

// TestStoresOfOneDirectory: of several records of one directory that counts whose store is there, then whose directory
// it is, then the newest.
func TestStoresOfOneDirectory(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	id := func(n string) string { return strings.Repeat(n, 32) }
	now := project.Record{Created: noon, Mode: project.ModeGlobal}
	note := func(n string, r project.Record) {
		r.ID = id(n)
		p.must(os.MkdirAll(filepath.Join(p.home.Storage(), r.ID), 0o700))
		p.must(r.Write(p.home))
	}
	counts := func(n string) {
		t.Helper()
		if r := p.home.ByRoot()[p.dir("a")]; r == nil || r.ID != id(n) {
			t.Errorf("%+v counts, want %s", r, n)
		}
	}
	at := *now.At(p.dir("a"))
	local := at
	local.Mode, local.Created = project.ModeProject, noon.AddDate(2, 0, 0)
	note("5", local) // its store is not there
	counts("5")
	lost := at
	lost.Inode++
	note("6", lost)
	counts("6")
	moved := at
	moved.Device++
	moved.Created = noon.AddDate(3, 0, 0)
	note("7", moved)
	note("3", at)
	counts("3")
	newer := at
	newer.Created = noon.AddDate(1, 0, 0)
	note("2", newer)
	counts("2")
	older := at
	older.Created = noon.AddDate(-1, 0, 0)
	note("9", older)
	counts("2")
	p.write("a/.agent/rewind/store/format", "")
	counts("5")
	p.must(os.RemoveAll(p.dir("a/.agent")))
	note("2", *now.At("")) // of no directory
	counts("3")
	if len(p.home.Stores()) != 6 || len(p.home.Projects()) != 1 || p.home.ByRoot()[""] != nil {
		t.Errorf("%v, %v", p.home.Stores(), p.home.Projects())
	}
}

// TestStampedStore: a store that was replaced is another.
func TestStampedStore(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	is := &project.Project{Store: p.dir("a")}
	stamp, err := project.StampStore(is)
	p.must(err)
	if !stamp.Same(is) || (project.StoreStamp{}).Same(is) {
		t.Error("it is another, as it is")
	}
	p.must(os.Rename(p.dir("a"), p.dir("b")))
	if _, err := project.StampStore(is); err == nil || stamp.Same(is) {
		t.Error("one that is gone is there")
	}
	p.must(os.Mkdir(p.dir("a"), 0o700))
	if stamp.Same(is) {
		t.Error("another one is the same")
	}
}
