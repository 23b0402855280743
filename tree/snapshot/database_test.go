package snapshot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/internal/worktreefs"
	"rewind/tree"
	"rewind/tree/ignore"
)

const (
	liteHead = "SQLite format 3\x00"
	walHead  = "\x37\x7f\x06\x82"
)

// Companions are captured if and only if their database is.
func TestCompanionsGoWithTheirDatabase(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "*-wal\n*-shm\n*-journal\n*.wal\n/mine.db\n/out\n")
	for _, db := range []string{
		"app.db", "deep/er/x.sqlite3", "noext", "mine.db", "my.env", "huge.db",
		"out/tracked.db", "out/other.db",
	} {
		write(t, root+"/"+db, liteHead+"content")
		write(t, root+"/"+db+"-wal", walHead+"log")
		write(t, root+"/"+db+"-shm", "index")
		write(t, root+"/"+db+"-journal", "")
	}
	write(t, root+"/huge.db", liteHead+strings.Repeat("x", 400))
	write(t, root+"/log.db", liteHead)
	write(t, root+"/log.db-wal", walHead+strings.Repeat("x", 400))
	write(t, root+"/app.db-mj0A1B2C9D3", "/x/app.db-journal\x00")
	write(t, root+"/cipher.db", "\x8f\x01no header")
	write(t, root+"/cipher.db-wal", walHead)
	write(t, root+"/cipher.db-shm", "index") // which alone cannot be told
	write(t, root+"/notes", "dear diary")
	write(t, root+"/notes-journal", "monday")
	write(t, root+"/alone.db-wal", walHead)
	write(t, root+"/stock", "12345678DUCK")
	write(t, root+"/stock.wal", "log")
	check(t, os.MkdirAll(root+"/dir.db-wal", 0o755))
	write(t, root+"/dir.db", liteHead)
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) {
		s.RuleFiles, s.SizeLimit = []string{".gitignore"}, 300
		s.Rules = ignore.New(ignore.Options{})
		s.Tracked = paths{"out/tracked.db"}
		s.Secret = func(path string) bool { return strings.HasSuffix(path, ".env") }
	})
	of := func(db string) []string { return []string{db, db + "-wal", db + "-shm", db + "-journal"} }
	want := []string{
		".gitignore", "log.db", "app.db-mj0A1B2C9D3", "cipher.db", "cipher.db-wal", "notes", "stock",
		"stock.wal", "dir.db",
	}
	want = append(want, "deep/", "deep/er/", "out/")
	for _, db := range []string{"app.db", "deep/er/x.sqlite3", "noext", "out/tracked.db"} {
		want = append(want, of(db)...)
	}
	wantPaths(t, m, r, want...)
	wantNoted(t, r, "i mine.db", "i mine.db-wal", "i mine.db-shm", "i mine.db-journal", "i out", "s my.env",
		"i my.env-journal", "i my.env-shm", "i my.env-wal", "z huge.db", "i huge.db-wal", "i huge.db-shm",
		"i huge.db-journal", "z log.db-wal",
		"i cipher.db-shm", "i notes-journal", "i alone.db-wal", "i dir.db-wal")
}

// What goes with a secret database is as secret; what goes with an ignored one is not captured, although no rule speaks
// of it.
func TestCompanionsOfWhatIsNotCaptured(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "*.db\n")
	write(t, root+"/keys.env", liteHead)
	write(t, root+"/keys.env-wal", walHead)
	write(t, root+"/app.db", liteHead)
	write(t, root+"/app.db-wal", walHead)
	m := newMemStore()
	r := shoot(t, root, m, func(s *Source) {
		s.RuleFiles = []string{".gitignore"}
		s.Secret = func(path string) bool { return strings.HasSuffix(path, ".env") }
	})
	wantPaths(t, m, r, ".gitignore")
	wantNoted(t, r, "s keys.env", "s keys.env-wal", "i app.db", "i app.db-wal")
	r = shoot(t, root, m, func(s *Source) {
		s.RuleFiles = []string{".gitignore"}
		s.Force, s.ForceBelow = ForcePaths([]string{"app.db"})
	})
	wantPaths(t, m, r, ".gitignore", "keys.env", "keys.env-wal", "app.db", "app.db-wal")
}

// A database whose members are written while they are read is captured as it was at one moment, or flagged.
func TestPromise14DatabaseWrittenBetweenItsFiles(t *testing.T) {
	for _, times := range []int{1, 2, 100} {
		root := tempTree(t)
		write(t, root+"/.gitignore", "*-wal\n")
		write(t, root+"/app.db", liteHead+"0")
		write(t, root+"/app.db-wal", walHead+"0")
		age()
		m, n := newMemStore(), 0
		r := shoot(t, root, m, func(s *Source) {
			s.RuleFiles = []string{".gitignore"}
			s.Root = openHook{s.Root, func(name string) {
				// the database was read; a checkpoint writes it now, and another transaction the log
				if name == "app.db-wal" && n < times {
					n++
					age()
					write(t, root+"/app.db", fmt.Sprint(liteHead, n))
					write(t, root+"/app.db-wal", fmt.Sprint(walHead, n))
				}
			}}
		})
		db, log := content(t, m, r, "app.db"), content(t, m, r, "app.db-wal")
		agree := strings.TrimPrefix(db, liteHead) == strings.TrimPrefix(log, walHead)
		if torn := len(r.Skips) > 0; torn == agree {
			t.Errorf("%d writes: stored %q and %q, noted %q", times, db, log, noted(r))
		}
		if times == 100 {
			wantNoted(t, r, "t app.db")
		}
	}
}

// A journal that comes after the listing makes what was read of its database half a transaction.
func TestPromise14JournalComesAfterTheListing(t *testing.T) {
	root := tempTree(t)
	write(t, root+"/.gitignore", "*-journal\n")
	write(t, root+"/app.db", liteHead+"old")
	m, once := newMemStore(), false
	r := shoot(t, root, m, func(s *Source) {
		s.RuleFiles = []string{".gitignore"}
		s.Root = openHook{s.Root, func(name string) {
			if name == "app.db" && !once {
				once = true
				write(t, root+"/app.db-journal", "before")
				write(t, root+"/app.db", liteHead+"half")
			}
		}}
	})
	wantNoted(t, r)
	if db, log := content(t, m, r, "app.db"), content(t, m, r, "app.db-journal"); db != liteHead+"half" ||
		log != "before" {
		t.Errorf("stored %q and %q", db, log)
	}
}

// openHook calls a function before a file of the root directory is opened.
type openHook struct {
	worktreefs.Dir
	before func(name string)
}

func (d openHook) Open(name string) (worktreefs.File, worktreefs.Stat, error) {
	d.before(name)
	return d.Dir.Open(name)
}

func content(t *testing.T, m *memStore, r *Result, path string) string {
	t.Helper()
	e, err := tree.Lookup(m, r.Root, path)
	check(t, err)
	raw, err := m.Get('b', e.ID)
	check(t, err)
	return string(raw)
}
