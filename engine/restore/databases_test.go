package restore_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// newLitter makes a project with a database, and one outside of it, of which it gets copies.
func newLitter(t *testing.T, ignored string) (*enginetest.Project, *liteDB) {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Write(".gitignore", ignored)
	l := openLite(p.T, filepath.Join(t.TempDir(), "l.db"), "wal")
	t.Cleanup(func() { _ = l.db.Close() })
	l.change()
	return p, l
}

// liteBytes is what lies in the project of a database.
func liteBytes(p *enginetest.Project) string {
	var all []string
	for _, f := range liteFiles("app.db") {
		b, err := os.ReadFile(p.Path(f))
		all = append(all, fmt.Sprint(err == nil, len(b), string(b)))
	}
	return strings.Join(all, "\x00")
}

// A database of which the target, or what is there now, cannot be had whole stays as it is and is named.
func TestDatabaseThatIsNotWholeStays(t *testing.T) {
	p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
	p.Set("limits.file_size", "100kB")
	for range 40 {
		l.change()
	}
	one, _ := litter(t, p, l, "the log is over the limit")
	l.exec("pragma wal_checkpoint(truncate)")
	p.Set("limits.file_size", "100MB")
	two, says := litter(t, p, l, "whole")
	was := liteBytes(p)
	for _, o := range []restore.Options{{}, {Scope: exact}, {Scope: only("app.db")}} {
		r, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !named(r, "app.db") || liteBytes(p) != was {
			t.Errorf("%+v: kept %v, changed %v", o.Scope, p.KeptNames(r), liteBytes(p) != was)
		}
	}
	// What is there now is stored whatever the limit, so it can go, and come back.
	for range 40 {
		l.change()
	}
	p.Set("limits.file_size", "1kB")
	copyLite(p.T, l.path, p.Path("app.db"))
	now, err := readLite(p.T, p.Path("app.db"))
	p.Must(err)
	p.Checkout(two.ID.String(), restore.Options{})
	wantLite(t, p, "over the limit now", says)
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	wantLite(t, p, "undone", now)
}

var exact = refs.Scope{Exact: true}

// only is a restore of one path.
func only(path string) refs.Scope { return refs.Scope{Paths: refs.PathSet{path}} }

// named reports whether a restore left a path and is done only in part for that.
func named(r *restore.Result, path string) bool {
	for _, k := range r.Plan.Kept {
		if string(k.Path) == path && k.Reason.Incomplete() {
			return true
		}
	}
	for _, c := range r.Conflicts {
		if string(c.Path) == path {
			return true
		}
	}
	return false
}

// What lies beside a database that is not captured is not the project's.
func TestCompanionsOfAnIgnoredDatabaseStay(t *testing.T) {
	p, l := newLitter(t, "*.db\n")
	p.Write("f", "1")
	one, _ := litter(t, p, l, "one")
	l.change()
	p.Write("f", "2")
	litter(t, p, l, "two")
	l.change()
	copyLite(p.T, l.path, p.Path("app.db"))
	was := liteBytes(p)
	for _, o := range []restore.Options{{}, {Scope: exact}} {
		if r := p.Checkout(one.ID.String(), o); len(r.Plan.Kept) != 0 || liteBytes(p) != was {
			t.Errorf("kept %v, changed %v", p.KeptNames(r), liteBytes(p) != was)
		}
	}
}

// A log that lies alone does not come to lie beside another database.
func TestDatabaseComesBackBesideALog(t *testing.T) {
	for _, rule := range []string{"*-wal\n*-shm\n", ""} {
		p, l := newLitter(t, rule)
		l.exec("pragma wal_checkpoint(truncate)")
		p.Must(os.RemoveAll(l.path + "-shm"))
		one, says := litter(t, p, l, "one")
		l.change()
		litter(t, p, l, "two")
		p.Remove("app.db")
		r := p.Checkout(one.ID.String(), restore.Options{})
		wantLite(t, p, "beside the log", says)
		if _, err := os.Stat(p.Path("app.db-wal")); err == nil {
			if b, _ := os.ReadFile(p.Path("app.db-wal")); len(b) > 0 {
				t.Errorf("the log is still there: %v", p.KeptNames(r))
			}
		}
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		if b, _ := os.ReadFile(p.Path("app.db-wal")); len(b) == 0 {
			t.Error("the log is lost")
		}
	}
}

// A program that has the database open keeps it, whatever the command, and whichever file it has open.
func TestDatabaseInUseStays(t *testing.T) {
	p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
	one, _ := litter(t, p, l, "one")
	p.Write("f", "f")
	l.change()
	litter(t, p, l, "two")
	was := liteBytes(p)
	for _, held := range []string{"app.db", "app.db-wal"} {
		f, err := os.OpenFile(p.Path(held), os.O_RDWR, 0)
		p.Must(err)
		for does, try := range map[string]func() (*restore.Result, error){
			"checkout": func() (*restore.Result, error) {
				return p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
			},
			"of a path": func() (*restore.Result, error) {
				return p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{Scope: only("app.db")})
			},
			"undo": func() (*restore.Result, error) { return p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}) },
		} {
			r, err := try()
			p.Must(err)
			if !named(r, "app.db") || liteBytes(p) != was {
				t.Errorf("%s, %s open: %v, changed %v", does, held, r.Conflicts, liteBytes(p) != was)
			}
			if r.Operation != nil {
				_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
				p.Must(err)
			}
		}
		p.Must(f.Close())
	}
}

// What is unsaved of a log alone is the first step of undo, as what is unsaved of the database.
func TestUndoOfWhatALogGot(t *testing.T) {
	p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
	l.exec("pragma wal_checkpoint(truncate)")
	_, says := litter(t, p, l, "one")
	p.Remove("app.db-wal", "app.db-shm")
	p.Save("without a log")
	l.change()
	copyLite(p.T, l.path, p.Path("app.db"))
	now, err := readLite(p.T, p.Path("app.db"))
	p.Must(err)
	r, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	if r.Saved == nil || len(r.Plan.Kept) > 0 {
		t.Errorf("saved %v, kept %v", r.Saved, p.KeptNames(r))
	}
	wantLite(t, p, "undo", says)
	_, err = p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	wantLite(t, p, "redo", now)
}

// A merge has a database as one of the states has it, or leaves it and says so.
func TestMergeOfADatabase(t *testing.T) {
	p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	_, before := litter(t, p, l, "one")
	a.Run("1", func() { l.change(); copyLite(p.T, l.path, p.Path("app.db")) })
	a.Stop()
	after, err := readLite(p.T, p.Path("app.db"))
	p.Must(err)
	revert := func() *restore.Result {
		r, err := p.E.Restorer.Revert(enginetest.Bg, restore.PickOptions{Change: "turn:1"})
		p.Must(err)
		return r
	}
	revert()
	wantLite(t, p, "reverted", before)
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	wantLite(t, p, "undone", after)
	// The log has gone into the database since: the change's own files are not all in the way, but the database is
	// another one.
	l.exec("pragma wal_checkpoint(passive)")
	l.change()
	copyLite(p.T, l.path, p.Path("app.db"))
	b, err := os.ReadFile(l.path + "-wal")
	p.Must(err)
	for _, wal := range []string{string(b), p.Cat(p.Listed()[0].Checkpoint, "app.db-wal")} {
		p.Write("app.db-wal", wal)
		p.Save("three")
		was := liteBytes(p)
		r := revert()
		conflicts := 0
		for _, m := range r.Plan.Merges {
			if m.Verdict == value.MergeConflict {
				conflicts++
			}
		}
		if conflicts == 0 || liteBytes(p) != was {
			t.Errorf("merges %+v, changed %v", r.Plan.Merges, liteBytes(p) != was)
		}
	}
}

// A database goes back whole beside a file that is merged, and stays whole where another session has changed it.
func TestDatabaseBesideAMerge(t *testing.T) {
	t.Parallel()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	for _, others := range []bool{false, true} {
		p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
		p.Write("g", text("1", "1"))
		litter(t, p, l, "before")
		a, b := p.Agent("a"), p.Agent("b")
		for _, x := range []*enginetest.Agent{a, b} {
			x.Start()
			x.Prompt("go")
		}
		change := func(x *enginetest.Agent, call string) (*model.Checkpoint, string) {
			h := x.Run(call, func() { l.change(); copyLite(p.T, l.path, p.Path("app.db")) })
			says, err := readLite(p.T, p.Path("app.db"))
			p.Must(err)
			return p.Get(h), says
		}
		one, want := change(a, "1")
		change(a, "2")
		a.Run("3", func() { p.Write("g", text("a's", "1")) })
		b.Run("4", func() { p.Write("g", text("a's", "b's")) })
		if others {
			_, want = change(b, "5")
		}
		r := p.Checkout(one.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: a.Name()}})
		if p.Read("g") != text("1", "b's") || !others && named(r, "app.db") {
			t.Errorf("others %v: g is %q, kept %v", others, p.Read("g"), p.KeptNames(r))
		}
		wantLite(t, p, fmt.Sprint("others ", others), want)
	}
}

// Who chooses one file of a database chooses all of it.
func TestPartsOfADatabase(t *testing.T) {
	p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
	one, says := litter(t, p, l, "one")
	l.exec("pragma wal_checkpoint(passive)")
	l.change()
	two, _ := litter(t, p, l, "two")
	for _, path := range []string{"app.db", "app.db-wal"} {
		part := restore.Part{Path: path, Was: shown(t, p, two, path), Whole: true}
		_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, one.ID.String(), []restore.Part{part}, restore.Options{})
		p.Must(err)
		wantLite(t, p, path, says)
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
	}
}

// A restore that a kill cut short ends at a whole database, either way.
func TestDatabaseAfterAKill(t *testing.T) {
	for _, applied := range []bool{false, true} {
		for _, back := range []bool{false, true} {
			p, l := newLitter(t, "*.db-wal\n*.db-shm\n")
			one, then := litter(t, p, l, "one")
			l.exec("pragma wal_checkpoint(passive)")
			l.change()
			_, now := litter(t, p, l, "two")
			p.Crashed(one.ID.String(), restore.Options{}, applied, 0)
			end, want := p.E.Restorer.Continue, then
			if back {
				end, want = p.E.Restorer.Abort, now
			}
			r, err := end(enginetest.Bg, p.Env())
			p.Must(err)
			if len(r.Conflicts) > 0 {
				t.Errorf("conflicts %v", r.Conflicts)
			}
			wantLite(t, p, fmt.Sprint(applied, back), want)
		}
	}
}

// Locks and swap files of editors that an older version captured do not come back, and those that are there stay.
func TestEditorsLocksDoNotComeBack(t *testing.T) {
	p := enginetest.NewProject(t)
	var older []string
	for _, g := range ignore.Globs(ignore.Exclusions()) {
		if g != ".#*" && g != ".*.sw[g-px]" && g != ".~lock.*#" {
			older = append(older, g)
		}
	}
	p.Set("exclude.defaults", older...)
	p.Write("a", "1")
	p.Must(os.Symlink("somebody@host.1", p.Path(".#a")))
	p.Write("d/.a.swp", "b0VIM then")
	p.Write("keep/.b.swp", "brought back")
	p.Write("keep/.rewindignore", "!*.swp\n")
	p.Write(".~lock.a#", "then")
	one := p.Save("by an older version")
	if _, err := tree.Lookup(p.E.Log.Objs, one.Tree, "d/.a.swp"); err != nil {
		t.Fatal(err)
	}
	p.Set("exclude.defaults", ignore.Globs(ignore.Exclusions())...)
	p.Remove(".#a", "d/.a.swp", "keep/.b.swp")
	p.Write("a", "2")
	p.Write(".~lock.a#", "now")
	two := p.Save("two")
	r := p.Checkout(one.ID.String(), restore.Options{})
	for _, gone := range []string{".#a", "d/.a.swp"} {
		if _, err := os.Lstat(p.Path(gone)); err == nil {
			t.Errorf("%s came back", gone)
		}
	}
	if p.Read("a") != "1" || p.Read(".~lock.a#") != "now" || p.Read("keep/.b.swp") != "brought back" || len(r.Plan.Kept) > 0 {
		t.Errorf("a %q, lock %q, kept %v", p.Read("a"), p.Read(".~lock.a#"), p.KeptNames(r))
	}
	if r := p.Checkout(one.ID.String(), restore.Options{}); len(r.Plan.Steps) > 0 {
		t.Errorf("again: %v", r.Plan.Steps)
	}
	p.Checkout(two.ID.String(), restore.Options{Scope: exact})
	if p.Read(".~lock.a#") != "now" {
		t.Error("a lock was removed")
	}
}

// litePrefix are what the files of a database begin with, by how their names end.
var litePrefix = map[string]string{
	"": "SQLite format 3\x00", "-wal": "\x37\x7f\x06\x82", "-journal": "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
	"-shm": "",
}

// lay makes files what they say: "db" has a text of that what a database's, or companion's, of the name begins with,
// and "" takes a file away.
func lay(p *enginetest.Project, files map[string]string) {
	p.T.Helper()
	for path, text := range files {
		if text == "" {
			p.Remove(path)
			continue
		}
		if rest, ok := strings.CutPrefix(text, "db"); ok {
			suffix := ""
			if of, is := tree.CompanionOf(path); is {
				suffix = path[len(of):]
			}
			text = litePrefix[suffix] + rest
		}
		p.Write(path, text)
	}
}

// laid is what lies at the paths of files, as lay takes it.
func laid(p *enginetest.Project, files map[string]string) map[string]string {
	p.T.Helper()
	is := map[string]string{}
	for path := range files {
		is[path] = ""
		b, err := os.ReadFile(p.Path(path))
		if err != nil {
			continue
		}
		is[path] = string(b)
		for _, begins := range litePrefix {
			if rest, ok := strings.CutPrefix(string(b), begins); ok && begins != "" {
				is[path] = "db" + rest
			}
		}
	}
	return is
}

// A database goes to the target with all that belongs to it, whatever rules say of that, then or now, and what only has
// such a name goes by itself; what cannot be had whole stays whole, and is named.
func TestFilesOfADatabase(t *testing.T) {
	t.Parallel()
	type files = map[string]string
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		then, now files
		unsaved   files     // what is made since
		rules     [2]string // of .gitignore, then and now
		builtin   string    // what is left out now by itself; "": what is by default
		limit     string    // of a file's size, then; "": none
		limitNow  string
		o         restore.Options
		want      files
		kept      []string
	}{
		"an index that was too large then": {
			then: files{"a.db": "db1", "a.db-wal": "db1", "a.db-shm": long}, limit: "100",
			now:  files{"a.db": "db2", "a.db-wal": "db2", "a.db-shm": long + "2"},
			want: files{"a.db": "db1", "a.db-wal": "db1", "a.db-shm": ""},
		},
		"a log that was too large then": {
			then: files{"a.db": "db1", "a.db-wal": "db" + long, "f": "1"}, limit: "100",
			now:  files{"a.db": "db2", "a.db-wal": "db2", "f": "2"},
			want: files{"a.db": "db2", "a.db-wal": "db2", "f": "1"},
			kept: []string{"database a.db", "skipped a.db-wal"},
		},
		"what is beside a text": {
			then: files{"a.txt": "1", "a.txt-wal": "1"},
			now:  files{"a.txt": "2", "a.txt-wal": "2"},
			o:    restore.Options{Scope: only("a.txt")},
			want: files{"a.txt": "1", "a.txt-wal": "2"},
		},
		"the log is asked for": {
			then: files{"a.db": "db1", "a.db-wal": "db1", "f": "1"},
			now:  files{"a.db": "db2", "a.db-wal": "db2", "f": "2"},
			o:    restore.Options{Scope: only("a.db-wal")},
			want: files{"a.db": "db1", "a.db-wal": "db1", "f": "2"},
		},
		"the database is asked for, whose journal is gone": {
			then: files{"a.db": "db1", "a.db-journal": "db1"}, rules: [2]string{"", "*-journal\n"},
			now:  files{"a.db": "db2", "a.db-journal": ""},
			o:    restore.Options{Scope: only("a.db")},
			want: files{"a.db": "db1", "a.db-journal": "db1"},
		},
		"a person's log, which is to stay": {
			then: files{"a.db": "db1", "a.db-wal": ""}, rules: [2]string{"*-wal\n", "*-wal\n"},
			now: files{"a.db": "db2"}, unsaved: files{"a.db-wal": "db2", "new-wal": "a text"},
			o:    restore.Options{KeepMine: true},
			want: files{"a.db": "db2", "a.db-wal": "db2", "new-wal": "a text"},
			kept: []string{"database a.db", "session a.db-wal"},
		},
		"a log of another format beside a text that was a database": {
			then: files{"a.db": "db1", "a.db-wal": ""}, rules: [2]string{"", "*-wal\n"},
			now:  files{"a.db": "a text", "a.db-wal": "a text"},
			want: files{"a.db": "db1", "a.db-wal": ""},
		},
		"the same, where one file is asked for": {
			then: files{"a.db": "db1", "a.db-wal": ""}, rules: [2]string{"", "*-wal\n"},
			now:  files{"a.db": "a text", "a.db-wal": "a text"},
			o:    restore.Options{Scope: only("a.db")},
			want: files{"a.db": "db1", "a.db-wal": ""},
		},
		"an ignored text beside a text that the target does not have": {
			then: files{"a.db": "", "a.db-wal": "", "f": "1"}, rules: [2]string{"*-wal\n", "*-wal\n"},
			now:  files{"a.db": "a text", "a.db-wal": "a text", "f": "2"},
			want: files{"a.db": "", "a.db-wal": "a text", "f": "1"},
		},
		"a log that is too large now": {
			then: files{"a.db": "db1", "a.db-wal": "db1"}, limitNow: "100",
			now:  files{"a.db": "db2", "a.db-wal": "db" + long},
			want: files{"a.db": "db1", "a.db-wal": "db1"},
		},
		"a log that is left out by itself, beside a text": {
			then: files{"a.db": "db1", "a.db-wal": ""}, builtin: "*-wal",
			now:  files{"a.db": "a text", "a.db-wal": "a text"},
			want: files{"a.db": "db1", "a.db-wal": ""},
		},
		"a large text beside a text that was a database": {
			then: files{"a.db": "db1", "a.db-wal": ""}, limitNow: "100",
			now:  files{"a.db": "a text", "a.db-wal": long},
			want: files{"a.db": "db1", "a.db-wal": ""},
		},
		"a text in a directory that is ignored now": {
			then: files{"d/a.db": "db1", "d/a.db-wal": ""}, rules: [2]string{"", "d/\n"},
			now:  files{"d/a.db": "a text", "d/a.db-wal": "a text"},
			want: files{"d/a.db": "db1", "d/a.db-wal": ""},
		},
		"a log of then beside a database that is ignored now": {
			then: files{"a.db": "", "a.db-wal": "db1", "f": "1"}, rules: [2]string{"", "*.db\n"},
			now:  files{"a.db": "db2", "a.db-wal": "", "f": "2"},
			want: files{"a.db": "db2", "a.db-wal": "", "f": "1"},
			kept: []string{"database a.db", "database a.db-wal"},
		},
		"in a directory that is ignored now": {
			then: files{"d/a.db": "db1", "d/a.db-wal": ""}, rules: [2]string{"", "d/\n"},
			now:  files{"d/a.db": "db2", "d/a.db-wal": "db2"},
			want: files{"d/a.db": "db1", "d/a.db-wal": ""},
		},
		"two, and files around them": {
			then: files{"a": "1", "b.db": "db1", "b.db-wal": "db1", "c": "1", "d.db": "db1", "d.db-journal": ""},
			now:  files{"a": "2", "b.db": "db2", "b.db-wal": "", "c": "2", "d.db": "db2", "d.db-journal": "db2"},
			want: files{"a": "1", "b.db": "db1", "b.db-wal": "db1", "c": "1", "d.db": "db1", "d.db-journal": ""},
		},
		"none is left of it": {
			then: files{"a.db": "", "a.db-wal": "", "f": "1"},
			now:  files{"a.db": "db2", "a.db-wal": "db2", "f": "2"},
			want: files{"a.db": "", "a.db-wal": "", "f": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			if c.limit != "" {
				p.Set("limits.file_size", c.limit)
			}
			p.Write(".gitignore", c.rules[0])
			lay(p, c.then)
			one := p.Save("then")
			a := p.Agent("a")
			a.Start()
			a.Prompt("go")
			p.Set("limits.file_size", cmp.Or(c.limitNow, "100MB"))
			if c.builtin != "" {
				p.Set("exclude.defaults", c.builtin)
			}
			a.Run("1", func() { p.Write(".gitignore", c.rules[1]); lay(p, c.now) })
			a.Stop()
			lay(p, c.unsaved)
			c.o.Session.Session = "a"
			before := enginetest.List(t, p.Root)
			r := p.Checkout(one.ID.String(), c.o)
			got := laid(p, c.want)
			for path, want := range c.want {
				if got[path] != want {
					t.Errorf("%s is %.20q, want %.20q", path, got[path], want)
				}
			}
			enginetest.Equal(t, "kept", p.KeptNames(r), append([]string{}, c.kept...))
			for i := 1; i < len(r.Plan.Steps); i++ {
				if r.Plan.Steps[i-1].Path >= r.Plan.Steps[i].Path {
					t.Errorf("%s comes before %s", r.Plan.Steps[i-1].Path, r.Plan.Steps[i].Path)
				}
			}
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
			p.Must(err)
			p.WantTree(before)
		})
	}
}

// A database of which one file changed while it was captured, then, or of which one stays for what it is, stays whole,
// and is named; its index says nothing.
func TestDatabaseThatWasTorn(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.db": "db1", "a.db-wal": "db1", "a.db-shm": "1", "f": "1"}
	for name, c := range map[string]struct {
		note []tree.Skip
		goes bool
	}{
		"nothing":             {nil, true},
		"the database":        {[]tree.Skip{{Path: "a.db", Reason: tree.ReasonTorn}}, false},
		"its log":             {[]tree.Skip{{Path: "a.db-wal", Reason: tree.ReasonTorn}}, false},
		"its index":           {[]tree.Skip{{Path: "a.db-shm", Reason: tree.ReasonTorn}}, true},
		"a journal":           {[]tree.Skip{{Path: "a.db-journal", Reason: tree.ReasonTorn}}, false},
		"a file beside it":    {[]tree.Skip{{Path: "f", Reason: tree.ReasonTorn}}, true},
		"what comes after it": {[]tree.Skip{{Path: "a.dc", Reason: tree.ReasonTorn}}, true},
		"no journal was read": {[]tree.Skip{{Path: "a.db-journal", Reason: tree.ReasonUnreadable}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			lay(p, files)
			one := p.Save("then")
			lay(p, map[string]string{"a.db": "db2", "f": "2"})
			p.Save("now")
			one = stored(p, *one, nil, c.note)
			r := p.Checkout(one.ID.String(), restore.Options{})
			want := map[bool]string{false: "db2", true: "db1"}[c.goes]
			if is := laid(p, files); is["a.db"] != want || is["f"] != "1" || named(r, "a.db") == c.goes {
				t.Errorf("%q, kept %v", is, p.KeptNames(r))
			}
		})
	}
}

// stored is a checkpoint as another one is, but for steps of its tree and for what its note has: older versions, and
// captures of what is written meanwhile, make such ones.
func stored(p *enginetest.Project, cp model.Checkpoint, steps []tree.Change, note []tree.Skip) *model.Checkpoint {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	var err error
	cp.Tree, err = tree.Edit(p.E.Log.Objs, tx, cp.Tree, steps)
	p.Must(err)
	raw, err := tree.EncodeNote(note)
	p.Must(err)
	cp.Note, err = tx.Put(objstore.Note, raw, objstore.ID{})
	p.Must(err)
	cp.Cause.Message = fmt.Sprint("as stored otherwise", note)
	p.Must(p.E.Log.PutCheckpoint(tx, &cp, cp.Seq))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return &cp
}

// A database of which another session changed one file since stays with all its files; so does one beside which a pipe
// lies in the place of its log. What nobody else touched goes.
func TestDatabaseOfAnother(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.db": "db1", "a.db-wal": "db1", "f": "1"}
	for name, c := range map[string]struct {
		by   string // the file that another session changes
		pipe bool
		want map[string]string
		kept []string
	}{
		"its log": {
			"a.db-wal", false,
			map[string]string{"a.db": "db2", "a.db-wal": "dbb's", "f": "1"},
			[]string{"database a.db", "session a.db-wal"},
		},
		"the database": {
			"a.db", false,
			map[string]string{"a.db": "dbb's", "a.db-wal": "db2", "f": "1"},
			[]string{"session a.db", "database a.db-wal"},
		},
		"a file": {
			"f", false, map[string]string{"a.db": "db1", "a.db-wal": "db1", "f": "dbb's"}, []string{"session f"},
		},
		"a pipe": {"a.db-wal", true, map[string]string{"a.db": "db2", "f": "1"}, []string{"database a.db"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			lay(p, files)
			if c.pipe {
				p.Remove("a.db-wal")
			}
			p.Save("before")
			a, b := p.Agent("a"), p.Agent("b")
			for _, x := range []*enginetest.Agent{a, b} {
				x.Start()
				x.Prompt("go")
			}
			one := p.Get(a.Run("1", func() { p.Write("g", "1") }))
			a.Run("2", func() { lay(p, map[string]string{"a.db": "db2", "a.db-wal": "db2", "f": "2"}) })
			b.Run("3", func() { lay(p, map[string]string{c.by: "dbb's"}) })
			if c.pipe {
				p.Remove("a.db-wal")
				p.Must(syscall.Mkfifo(p.Path("a.db-wal"), 0o600))
			}
			r := p.Checkout(one.ID.String(), restore.Options{Session: model.SessionChoice{Session: "a"}})
			is := laid(p, c.want)
			for path, want := range c.want {
				if is[path] != want {
					t.Errorf("%s is %q, want %q", path, is[path], want)
				}
			}
			for _, kept := range c.kept {
				if !slices.Contains(p.KeptNames(r), kept) {
					t.Errorf("kept %v, want %v", p.KeptNames(r), c.kept)
				}
			}
		})
	}
}

// Beside a pipe in the place of its log a database stays, whichever of then and now it is one.
func TestDatabaseBesideAPipe(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"db1", "db2"}, {"a text", "db2"}, {"db1", "a text"}, {"a text", "another"}} {
		p := enginetest.NewProject(t)
		lay(p, map[string]string{"a.db": c[0], "f": "1"})
		one := p.Save("one")
		lay(p, map[string]string{"a.db": c[1], "f": "2"})
		p.Must(syscall.Mkfifo(p.Path("a.db-wal"), 0o600))
		p.Save("two")
		r := p.Checkout(one.ID.String(), restore.Options{})
		stays := c != [2]string{"a text", "another"}
		want := map[bool]string{true: c[1], false: c[0]}[stays]
		is := laid(p, map[string]string{"a.db": "", "f": ""})
		if is["a.db"] != want || is["f"] != "1" || named(r, "a.db") != stays {
			t.Errorf("%q: %q, kept %v", c, is, p.KeptNames(r))
		}
	}
}

// A merge sets a database as the target has it, with a log that came since, and leaves one of which it would make a
// state that was at no time.
func TestMergeOfFilesOfADatabase(t *testing.T) {
	t.Parallel()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	for name, c := range map[string]struct {
		shm  bool // both sessions change the index, which is a text
		want map[string]string
	}{
		"a log that came since": {false, map[string]string{"a.db": "db1", "a.db-wal": "", "g": text("1", "b's")}},
		"half from either": {true, map[string]string{
			"a.db": "db2", "a.db-wal": "db2", "g": text("1", "b's"), "a.db-shm": text("a's", "b's"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			files := map[string]string{"a.db": "db1", "a.db-wal": "", "g": text("1", "1")}
			if c.shm {
				files["a.db-shm"] = text("1", "1")
			}
			lay(p, files)
			p.Save("before")
			a, b := p.Agent("a"), p.Agent("b")
			for _, x := range []*enginetest.Agent{a, b} {
				x.Start()
				x.Prompt("go")
			}
			one := p.Get(a.Run("1", func() { p.Write("f", "1") }))
			change := func(first, last string) func() {
				return func() {
					p.Write("g", text(first, last))
					if c.shm {
						p.Write("a.db-shm", text(first, last))
					}
				}
			}
			a.Run("2", func() { lay(p, map[string]string{"a.db": "db2", "a.db-wal": "db2"}); change("a's", "1")() })
			b.Run("3", change("a's", "b's"))
			r := p.Checkout(one.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
			is := laid(p, c.want)
			for path, want := range c.want {
				if is[path] != want {
					t.Errorf("%s is %q, want %q; kept %v", path, is[path], want, p.KeptNames(r))
				}
			}
		})
	}
}

// Who chooses only the permissions of a database leaves its log.
func TestPartOfADatabaseThatIsItsMode(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	lay(p, map[string]string{"a.db": "db1", "a.db-wal": "db1"})
	p.Must(os.Chmod(p.Path("a.db"), 0o600))
	one := p.Save("one")
	lay(p, map[string]string{"a.db": "db2", "a.db-wal": "db2"})
	p.Must(os.Chmod(p.Path("a.db"), 0o644))
	two := p.Save("two")
	part := restore.Part{Path: "a.db", Was: shown(t, p, two, "a.db"), Mode: true}
	_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, one.ID.String(), []restore.Part{part}, restore.Options{})
	p.Must(err)
	is := laid(p, map[string]string{"a.db": "", "a.db-wal": ""})
	if is["a.db"] != "db2" || is["a.db-wal"] != "db2" || stat(t, p.Path("a.db")).Mode() != 0o600 {
		t.Errorf("%q, mode %v", is, stat(t, p.Path("a.db")).Mode())
	}
}

// Content of a database that is missing from the store is named before anything is done, by a dry run, too: whether a
// file beside it is its log cannot be told. Of a file beside that is asked for alone it says nothing.
func TestDatabaseOfWhichContentIsMissing(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{"a.db", "a.db-wal"} {
		p := enginetest.NewProject(t)
		lay(p, map[string]string{"a.db": "db1", "a.db-wal": "db1", "f": "1"})
		one := p.Save("one")
		ent, err := tree.Lookup(p.E.Log.Objs, one.Tree, gone)
		p.Must(err)
		lay(p, map[string]string{"a.db": "db2", "a.db-wal": "db2", "f": "2"})
		two := p.Save("two")
		batch, key := p.E.Log.DB.NewBatch(), ent.ID.Key()
		p.Must(batch.Delete(append([]byte{kv.PrefixObject, byte(objstore.Blob)}, key[:]...)))
		p.Must(batch.Commit(enginetest.Bg, kv.Durable))
		p.Reopen()
		before := enginetest.List(t, p.Root)
		checkout := func(o restore.Options) func() error {
			return func() error { _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), o); return err }
		}
		parts := []restore.Part{{Path: "a.db", Was: shown(t, p, two, "a.db"), Whole: true}}
		for name, do := range map[string]func() error{
			"all of it, dry":    checkout(restore.Options{DryRun: true}),
			"all of it":         checkout(restore.Options{}),
			"the database, dry": checkout(restore.Options{DryRun: true, Scope: only("a.db")}),
			"the log, dry":      checkout(restore.Options{DryRun: true, Scope: only("a.db-wal")}),
			"a part": func() error {
				_, err := p.E.Restorer.CheckoutParts(enginetest.Bg, one.ID.String(), parts, restore.Options{})
				return err
			},
		} {
			var taken *restore.TakenBackError
			if err := do(); !errors.Is(err, objstore.ErrNotFound) || errors.As(err, &taken) {
				t.Errorf("%s is gone, %s: %v", gone, name, err)
			}
			p.WantTree(before)
		}
		p.Must(checkout(restore.Options{Scope: only("f")})())
		if is := laid(p, map[string]string{"a.db": "", "f": ""}); is["a.db"] != "db2" || is["f"] != "1" {
			t.Errorf("%s is gone, a file beside it: %q", gone, is)
		}
	}
}
