package project_test

import (
	"encoding/json"
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
	"rewind/internal/value"
)

// removed is a project on a disk, whose store was put into the trash at a time.
type removed struct {
	t    *testing.T
	Home project.Home
	Root string
}

func (r *removed) Must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func newRemoved(t *testing.T, at time.Time) (p *removed, lies *project.Trashed) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	p = &removed{t, project.Home{Dir: t.TempDir()}, root}
	p.Must(err)
	e, _, err := engine.Init(enginetest.Bg, p.Home, root, project.ModeGlobal, patient)
	p.Must(err)
	of := e.Project()
	p.Must(e.Close())
	lies, err = p.Home.PutInTrash(project.Trashed{Record: p.Home.RecordOf(&of), Mode: of.Mode, Removed: at}, of.Store)
	p.Must(err)
	return p, lies
}

const day = 24 * time.Hour

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// TestTrashKeepsADay: what was removed can be brought back for a day, and is then taken away by whoever sweeps first.
func TestTrashKeepsADay(t *testing.T) {
	p, lies := newRemoved(t, noon)
	id := lies.Record.ID
	almost := noon.Add(day - time.Second)
	if p.Home.TrashDue(almost) {
		t.Error("it is due before its time")
	}
	p.Home.SweepTrash(almost)
	if list := p.Home.Trash(almost); len(list) != 1 || list[0].Record.ID != id || list[0].Info(p.Home).DiskBytes == 0 {
		t.Fatalf("the trash has %+v", list)
	}
	end := noon.Add(day)
	if list := p.Home.Trash(end); len(list) != 0 || !p.Home.TrashDue(end) {
		t.Errorf("after its time the trash has %+v, due: %v", list, p.Home.TrashDue(end))
	}
	if _, err := p.Home.FindTrashed(id, end); !errors.Is(err, project.ErrNoStore) {
		t.Errorf("after its time it is found: %v", err)
	}
	p.Must(p.Home.EmptyTrash(enginetest.Bg, end, 0))
	if left := inTrash(t, p.Home); len(left) != 0 {
		t.Errorf("the trash has %v", left)
	}
}

func inTrash(t *testing.T, home project.Home) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(home.Dir, "trash"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestTrashOfOneStoreTwice: a store that was removed, came back from a backup, and was removed again lies there twice;
// the last comes back, and not over one that is there.
func TestTrashOfOneStoreTwice(t *testing.T) {
	p, first := newRemoved(t, noon)
	id, store := first.Record.ID, filepath.Join(p.Home.Storage(), first.Record.ID)
	p.Must(os.CopyFS(store, os.DirFS(filepath.Join(p.Home.Dir, "trash", inTrash(t, p.Home)[0], "store"))))
	for range 2 { // in the same second
		_, err := p.Home.PutInTrash(project.Trashed{Record: first.Record, Mode: first.Mode, Removed: noon}, store)
		p.Must(err)
		if !project.IsStore(store) {
			p.Must(os.CopyFS(store, os.DirFS(filepath.Join(p.Home.Dir, "trash", inTrash(t, p.Home)[0], "store"))))
		}
	}
	if names := inTrash(t, p.Home); len(names) != 3 {
		t.Fatalf("the trash has %v", names)
	}
	lies, err := p.Home.FindTrashed(id[:8], noon)
	p.Must(err)
	if _, err := p.Home.Restore(enginetest.Bg, lies, 0); err == nil ||
		!strings.Contains(err.Error(), "there is a store of that id") {
		t.Errorf("it came back over one that is there: %v", err)
	}
	p.Must(os.RemoveAll(store))
	s, err := p.Home.Restore(enginetest.Bg, lies, 0)
	p.Must(err)
	if s.ID != id || string(s.Root) != p.Root || s.Wrong != "" {
		t.Errorf("it came back as %+v", s)
	}
	if names := inTrash(t, p.Home); len(names) != 2 {
		t.Errorf("the trash has %v", names)
	}
}

// TestTrashAfterAKill: what a kill leaves is no store that can be brought back, and goes with the next sweep.
func TestTrashAfterAKill(t *testing.T) {
	p, lies := newRemoved(t, noon)
	name := inTrash(t, p.Home)[0]
	dir := filepath.Join(p.Home.Dir, "trash", name)
	for _, c := range []struct {
		when string
		do   func() error
	}{
		{"a note without a store", func() error { return os.RemoveAll(filepath.Join(dir, "store")) }},
		{
			"a store that was going",
			func() error { return os.Rename(filepath.Join(dir, "removed.json"), filepath.Join(dir, "going.json")) },
		},
		{"a store without a note", func() error { return os.Remove(filepath.Join(dir, "removed.json")) }},
		{
			"a note that is none",
			func() error { return os.WriteFile(filepath.Join(dir, "removed.json"), []byte("{"), 0o600) },
		},
		{
			"a note that names another place", func() error {
				return os.WriteFile(filepath.Join(dir, "removed.json"), []byte(`{"record":{"id":"`+lies.Record.ID+`"},"beside":"`+p.Root+`"}`), 0o600)
			},
		},
		{
			"a note of no store", func() error {
				return os.WriteFile(filepath.Join(dir, "removed.json"),
					[]byte(`{"record":{"id":"../x"},"mode":"global","removed":"2026-11-26T12:00:00Z"}`), 0o600)
			},
		},
	} {
		p.Must(os.MkdirAll(filepath.Join(dir, "store"), 0o700))
		p.Must(os.WriteFile(filepath.Join(dir, "removed.json"), []byte(
			`{"record":{"id":"`+lies.Record.ID+`"},"mode":"global","removed":"2026-11-26T12:00:00Z"}`), 0o600))
		if list := p.Home.Trash(noon); len(list) != 1 {
			t.Fatalf("%s: the trash has %v", c.when, list)
		}
		p.Must(c.do())
		if list := p.Home.Trash(noon); len(list) != 0 || !p.Home.TrashDue(noon) {
			t.Errorf("%s: the trash has %v", c.when, list)
		}
		p.Home.SweepTrash(noon)
		if left := inTrash(t, p.Home); len(left) != 0 {
			t.Errorf("%s: %v are left", c.when, left)
		}
	}
	if _, err := os.Stat(p.Root); err != nil {
		t.Error(err)
	}
}

// TestProtects: each setting that decides what is captured, kept or guarded is known as one, and so is one that nobody
// has heard of.
func TestProtects(t *testing.T) {
	free := map[string]bool{
		"agents.commands": true, "agents.mcp": true, "forks.detect": true, "forks.max_number": true,
		"forks.max_size":    true,
		"forks.warn_number": true, "forks.warn_size": true, "init.auto": true, "picker.keys": true,
	}
	for _, s := range value.Settings() {
		if project.Protects(s.Key) == free[s.Key] {
			t.Errorf("%s: protects is %v", s.Key, project.Protects(s.Key))
		}
	}
	if !project.Protects("tiers.claude") || !project.Protects("new.one") || project.Protects("alias.x") {
		t.Error("what is no key of the table is taken for what it is not")
	}
}

// TestTrashOnAnotherDisk: a store that lies where it lay, under another name, comes back from there, and goes from
// there: of a project in project mode with the marker that was left for it.
func TestTrashOnAnotherDisk(t *testing.T) {
	for _, mode := range []project.Mode{project.ModeGlobal, project.ModeProject} {
		for _, end := range []string{"back", "discarded", "swept", "its disk is gone", "anew"} {
			p := newPlace(t, mode)
			p.must(project.SetConfig(p.home, p.dir("a"), "gc.grace", []string{"9d"}))
			is := p.at("a")
			lies := &project.Trashed{Record: p.home.RecordOf(is), Mode: mode, Removed: noon}
			name := p.id + "-1"
			lies.Beside = filepath.Join(filepath.Dir(is.Store), ".trash-"+name)
			note, err := json.Marshal(lies)
			p.must(err)
			dir := filepath.Join(p.home.Dir, "trash", name)
			p.must(os.MkdirAll(dir, 0o700))
			p.must(os.WriteFile(filepath.Join(dir, "removed.json"), note, 0o600))
			p.must(os.Rename(is.Store, lies.Beside))
			p.must(project.RemoveMarker(is))
			if mode == project.ModeProject {
				p.must(os.Remove(filepath.Join(p.home.Dir, "projects", p.id)))
			}
			if end == "its disk is gone" {
				p.must(os.Rename(lies.Beside, p.dir("away")))
				if p.home.TrashDue(noon) || len(p.home.Trash(noon)) > 0 || !p.home.TrashDue(noon.Add(day)) {
					t.Errorf("%s, %s: %v", mode, end, p.home.Trash(noon))
				}
				continue
			}
			found, err := p.home.FindTrashed(p.id, noon)
			p.must(err)
			want := "error: find project of a: not a rewind project"
			switch end {
			case "back":
				s, err := p.home.Restore(enginetest.Bg, found, 0)
				p.must(err)
				want = "a"
				if s.Wrong != "" || string(s.Root) != p.dir("a") || string(s.Store) != is.Store {
					t.Errorf("%s: back as %+v", mode, s)
				}
			case "anew":
				p.set("a", project.ModeGlobal)
				p.must(p.home.Discard(enginetest.Bg, found, 0))
				want = "a, another"
			case "discarded":
				p.must(p.home.Discard(enginetest.Bg, found, 0))
			case "swept":
				p.must(p.home.EmptyTrash(enginetest.Bg, noon.Add(day), 0))
			}
			if _, err := os.Lstat(lies.Beside); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s, %s: it still lies there: %v", mode, end, err)
			}
			if left := inTrash(t, p.home); len(left) != 0 || p.found("a") != want {
				t.Errorf("%s, %s: the trash has %v, found %s", mode, end, left, p.found("a"))
			}
			if end != "back" && end != "anew" && p.list("a") != "f" {
				t.Errorf("%s, %s: left %s", mode, end, p.list("a"))
			}
		}
	}
}

// TestTrashRefused: a store that cannot be moved is where it was, and nothing of it is in the trash.
func TestTrashRefused(t *testing.T) {
	p := newPlace(t, project.ModeGlobal)
	is := p.at("a")
	lies := project.Trashed{Record: p.home.RecordOf(is), Mode: is.Mode, Removed: noon}
	if _, err := p.home.PutInTrash(lies, p.dir("nowhere")); !errors.Is(err, project.ErrTrash) {
		t.Errorf("%v", err)
	}
	if left := inTrash(t, p.home); len(left) != 0 || p.found("a") != "a" {
		t.Errorf("the trash has %v, found %s", left, p.found("a"))
	}
	t1, err := p.home.PutInTrash(lies, is.Store)
	p.must(err)
	p.must(p.home.Discard(enginetest.Bg, t1, 0))
	if t1.Info(p.home).DiskBytes != 0 {
		t.Errorf("what was discarded takes room: %+v", t1.Info(p.home))
	}
	p.must(p.home.Discard(enginetest.Bg, t1, 0)) // also where another has done it
	for _, id := range []string{"ab", "ac"} {
		id += strings.Repeat("0", 30)
		other := project.Trashed{Record: project.Record{ID: id}, Removed: noon, NoStore: true}
		_, err := p.home.PutInTrash(other, "")
		p.must(err)
	}
	if t1, err := p.home.FindTrashed("a", noon); !errors.Is(err, model.ErrUsage) {
		t.Errorf("of two that begin so: %+v, %v", t1, err)
	}
	if _, err := p.home.Restore(enginetest.Bg, t1, 0); !errors.Is(err, project.ErrNoStore) {
		t.Errorf("what was discarded came back: %v", err)
	}
}

// TestTrashSettings: what comes back does not take the place of newer settings, nor come where git tracks them.
func TestTrashSettings(t *testing.T) {
	for what, want := range map[string]string{
		"": "9d", "newer": "2d", "tracked": "1h", "theirs": "1h", "no marker": "1h",
	} {
		p := newPlace(t, project.ModeGlobal)
		p.must(project.SetConfig(p.home, p.dir("a"), "gc.grace", []string{"9d"}))
		is := p.at("a")
		lies := project.Trashed{Record: p.home.RecordOf(is), Mode: is.Mode, Removed: noon}
		if what == "theirs" {
			p.git("a", "init", "-q")
			p.git("a", "add", "-f", ".agent/rewind/config.json")
		}
		t1, err := p.home.PutInTrash(lies, is.Store)
		p.must(err)
		p.must(project.RemoveMarker(is))
		p.must(p.home.NoteRemoved(p.dir("a")))
		switch what {
		case "theirs":
			p.must(os.RemoveAll(p.dir("a/.agent")))
			p.must(os.RemoveAll(p.dir("a/.git")))
		case "no marker":
			p.write("a/.agent", "1")
		case "newer":
			p.must(project.SetConfig(p.home, p.dir("a"), "gc.grace", []string{"2d"}))
		case "tracked":
			p.git("a", "init", "-q")
			p.write("a/.agent/rewind/x", "1")
			p.git("a", "add", "-f", ".agent/rewind/x")
		}
		_, err = p.home.Restore(enginetest.Bg, t1, 0)
		if p.must(err); p.config("a").Get("gc.grace") != want {
			t.Errorf("%s: %v, want %s", what, p.config("a").Get("gc.grace"), want)
		}
		if _, err := os.Lstat(p.dir("a/.agent/rewind/config.json")); (err == nil) != (want != "1h") {
			t.Errorf("%s: %v", what, err)
		}
		if list, err := os.ReadDir(filepath.Join(p.home.Dir, "removed")); err != nil || len(list) != 0 {
			t.Errorf("%s: it counts as removed: %v, %v", what, list, err)
		}
	}
	p := noProject(t)
	p.must(os.MkdirAll(p.home.Dir, 0o700))
	p.must(os.WriteFile(filepath.Join(p.home.Dir, "removed"), nil, 0o600))
	if p.home.NoteRemoved(p.dir("a")) == nil || p.home.ForgetRemoved(p.dir("a")) == nil {
		t.Error("where nothing can be noted it was")
	}
}

// TestTrashBehindARecord: of a store in project mode a record alone is brought back, but not over one that is in use,
// or of another store.
func TestTrashBehindARecord(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeProject)
	is := p.at("a")
	r := p.home.RecordOf(is)
	lies, err := p.home.PutInTrash(project.Trashed{Record: r, Mode: is.Mode, Removed: noon, NoStore: true}, "")
	p.must(err)
	refuse := func(what string) {
		t.Helper()
		if _, err := p.home.Restore(enginetest.Bg, lies, 0); !errors.Is(err, model.ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refuse("its store is there")
	p.must(os.Rename(is.Store, p.dir("away")))
	r.Seal = project.NewSeal()
	p.must(r.Write(p.home))
	refuse("of another store")
	r.Seal = lies.Record.Seal
	p.must(r.Write(p.home))
	_, err = p.home.Restore(enginetest.Bg, lies, 0)
	p.must(err)
	p.must(os.Rename(p.dir("away"), is.Store))
	if got := p.found("a"); got != "a" {
		t.Errorf("found %s", got)
	}
}
