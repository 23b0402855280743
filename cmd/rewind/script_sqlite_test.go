package main

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// cmdSQLite: sqlite file journal-mode statement... runs statements on a database as a program does that ends hard
// behind them: its log, or its journal, is left beside it. With "!" the statements are one query and the row that it
// must give, and nothing is left of asking.
func cmdSQLite(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, false, len(args) >= 3, "sqlite file journal-mode statement..., ! sqlite file query row")
	dir, err := os.MkdirTemp("", "sqlite")
	ts.Check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // of a test
	path, at := ts.MkAbs(args[0]), filepath.Join(dir, "x")
	copyDatabase(ts, path, at)
	db, err := sql.Open("sqlite", at)
	ts.Check(err)
	defer db.Close() //nolint:errcheck // of a test
	db.SetMaxOpenConns(1)
	if neg {
		var whole, got string
		ts.Check(db.QueryRow("pragma integrity_check").Scan(&whole))
		ts.Check(db.QueryRow(args[1]).Scan(&got))
		if whole != "ok" || got != args[2] {
			ts.Fatalf("%s: integrity %q, %s gives %q, want %q", args[0], whole, args[1], got, args[2])
		}
		return
	}
	for _, q := range append([]string{"pragma journal_mode=" + args[1], "pragma wal_autocheckpoint=0"}, args[2:]...) {
		_, err := db.Exec(q)
		ts.Check(err)
	}
	copyDatabase(ts, at, path)
}

// copyDatabase makes the files of a database at another path those of this one.
func copyDatabase(ts *testscript.TestScript, from, to string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		b, err := os.ReadFile(from + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(to + suffix)
		} else if err == nil {
			err = os.WriteFile(to+suffix, b, 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			ts.Fatalf("copy %s: %v", from+suffix, err)
		}
	}
}

// cmdHoldFile: holdfile file opens a file for writing until the script ends.
func cmdHoldFile(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "holdfile file")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
}
