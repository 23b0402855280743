package restore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
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
