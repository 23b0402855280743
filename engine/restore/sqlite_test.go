package restore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
	"rewind/tree"
)

// liteDB is a database of SQLite in a directory of its own. What a program that ends hard leaves of it is what lies
// there while it is open.
type liteDB struct {
	t    enginetest.Fataler
	path string
	db   *sql.DB
	rows int // rows that were ever put in
}

// openLite opens a database, with a connection that keeps its log.
func openLite(t enginetest.Fataler, path, journal string) *liteDB {
	l := &liteDB{t: t, path: path}
	var err error
	l.db, err = sql.Open("sqlite", path)
	l.must(err)
	l.db.SetMaxOpenConns(1)
	l.exec("pragma journal_mode=" + journal)
	l.exec("pragma wal_autocheckpoint=0")
	l.exec("pragma synchronous=off")
	l.exec("create table if not exists t(a integer primary key, b text)")
	l.exec("create index if not exists tb on t(b)")
	return l
}

func (l *liteDB) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatalf("sqlite: %v", err)
	}
}

func (l *liteDB) exec(q string, args ...any) {
	l.t.Helper()
	_, err := l.db.Exec(q, args...)
	l.must(err)
}

// change is a transaction that touches pages all over the database.
func (l *liteDB) change() {
	l.rows++
	for i := range 60 {
		l.exec("insert into t(b) values(?)", fmt.Sprint(l.rows, "-", i, strings.Repeat("x", 90)))
	}
	l.exec("delete from t where a % 7 = ?", l.rows%7)
	l.exec("update t set b = b || 'y' where a % 5 = ?", l.rows%5)
}

// half begins a transaction that is never committed, and has it written out.
func (l *liteDB) half() {
	l.exec("pragma cache_size=5")
	l.exec("begin")
	l.exec("update t set b = 'half' || b")
	l.exec("delete from t where a % 3 = 0")
}

func (l *liteDB) close() { l.must(l.db.Close()) }

// liteFiles are the files of a database.
func liteFiles(path string) []string { return append(tree.Companions(path), path) }

// copyLite makes the files of a database at another path those at this one.
func copyLite(t enginetest.Fataler, from, to string) {
	t.Helper()
	fromFiles, toFiles := liteFiles(from), liteFiles(to)
	for i := range fromFiles {
		b, err := os.ReadFile(fromFiles[i])
		if errors.Is(err, os.ErrNotExist) {
			err = os.Remove(toFiles[i])
		} else if err == nil {
			err = os.WriteFile(toFiles[i], b, 0o644)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("copy: %v", err)
		}
	}
}

// readLite is what a database says, opened as it lies at a path, in a copy of it. An error where it is damaged.
func readLite(t enginetest.Fataler, path string) (string, error) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "(none)", nil
	}
	dir, err := os.MkdirTemp("", "lite")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of a test
	at := filepath.Join(dir, "x.db")
	copyLite(t, path, at)
	db, err := sql.Open("sqlite", at)
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // of a test
	var ok string
	if err := db.QueryRow("pragma integrity_check").Scan(&ok); err != nil {
		return "", err
	}
	if ok != "ok" {
		return "", errors.New(ok)
	}
	var rows string
	err = db.QueryRow("select count(*) || ' ' || total(length(b)) || ' ' || coalesce(max(b), '') from t").Scan(&rows)
	return rows, err
}

// wantLite fails unless the project's database is whole and says just that.
func wantLite(t *testing.T, p *enginetest.Project, what, want string) {
	t.Helper()
	if got, err := readLite(p.T, p.Path("app.db")); err != nil || got != want {
		t.Errorf("%s: the database says %.40q, %v; want %.40q", what, got, err, want)
	}
}

// litter makes the project's database what a program leaves that ends hard, saves, and returns that with what the
// database says.
func litter(t *testing.T, p *enginetest.Project, l *liteDB, message string) (*model.Checkpoint, string) {
	t.Helper()
	copyLite(p.T, l.path, p.Path("app.db"))
	says, err := readLite(p.T, p.Path("app.db"))
	if err != nil {
		t.Fatalf("what is left is damaged: %v", err)
	}
	return p.Save(message), says
}

// A restore sets a database with its log or journal, whatever the rules say of them, and whichever of them come or go.
func TestCheckoutSetsADatabaseWhole(t *testing.T) {
	for _, journal := range []string{"wal", "delete", "persist", "truncate"} {
		t.Run(journal, func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Write(".gitignore", "*.db-wal\n*.db-shm\n*-journal\n")
			l := openLite(p.T, filepath.Join(t.TempDir(), "l.db"), journal)
			var saved []*model.Checkpoint
			var says []string
			leave := func(message string) {
				cp, it := litter(t, p, l, message)
				saved, says = append(saved, cp), append(says, it)
			}
			l.change()
			leave("s0")
			l.change()
			l.half()
			leave("s1")
			l.exec("rollback")
			l.change()
			leave("s2")
			l.close()
			l = openLite(p.T, l.path, journal)
			leave("s3")
			l.change()
			l.half()
			unsaved := func() string {
				copyLite(p.T, l.path, p.Path("app.db"))
				got, err := readLite(p.T, p.Path("app.db"))
				p.Must(err)
				return got
			}()
			defer l.close()
			done := 0
			for _, i := range []int{0, 2, 1, 3, 0, 1, 3, 2} {
				r := p.Checkout(saved[i].ID.String(), restore.Options{})
				if r.Operation != nil {
					done++
				}
				if len(r.Plan.Kept) > 0 || len(r.Conflicts) > 0 {
					t.Errorf("s%d: kept %v, conflicts %v", i, p.KeptNames(r), r.Conflicts)
				}
				wantLite(t, p, fmt.Sprint("s", i), says[i])
			}
			for range done {
				if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			wantLite(t, p, "undone", unsaved)
			// One path of it stands for all of it.
			for _, path := range []string{"app.db", "app.db-wal", "app.db-journal"} {
				o := restore.Options{}
				o.Paths = refs.PathSet{path}
				r, err := p.E.Restorer.Checkout(enginetest.Bg, saved[0].ID.String(), o)
				if err != nil {
					continue // the checkpoint does not have that path
				}
				if len(r.Plan.Steps) == 0 {
					t.Errorf("%s: nothing was set", path)
				}
				wantLite(t, p, path, says[0])
				if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); err != nil {
					t.Fatal(err)
				}
				wantLite(t, p, path+" undone", unsaved)
			}
		})
	}
}
