package clients

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/internal/value"
	"rewind/transcript"
)

// history makes a database as Codex keeps it, with rows of two threads.
func history(t *testing.T, path string, tables ...string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", strings.Replace(databaseURL(path), "mode=rw&", "mode=rwc&", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	do := func(q string) {
		t.Helper()
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	do("PRAGMA journal_mode = WAL")
	for _, table := range tables {
		do("CREATE TABLE " + table + " (thread_id TEXT NOT NULL, item INTEGER)")
		do("INSERT INTO " + table + " VALUES ('" + session + "', 1), ('" + session + "', 2), ('another', 3)")
	}
	return db
}

// rows counts those of both threads.
func rows(t *testing.T, db *sql.DB, table string) (mine, others int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FILTER (WHERE thread_id = ?), count(*) FILTER (WHERE thread_id <> ?) FROM "+
		table, session, session).Scan(&mine, &others); err != nil {
		t.Fatal(err)
	}
	return mine, others
}

func forget(t *testing.T, env value.AgentEnv, root string) error {
	t.Helper()
	return Forget(context.Background(), transcript.Codex, env, root, session)
}

func TestForget(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a [b] 100%?#'") // none of it may mean something
	db := history(t, filepath.Join(root, "thread_history_1.sqlite"), "thread_turns", "thread_items",
		"thread_history_projection_state", "other")
	later := history(t, filepath.Join(root, "thread_history_2.sqlite"), "thread_items")
	if err := forget(t, value.AgentEnv{}, root); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"thread_turns", "thread_items", "thread_history_projection_state"} {
		if mine, others := rows(t, db, table); mine != 0 || others != 1 {
			t.Errorf("%s: %d and %d rows", table, mine, others)
		}
	}
	if mine, _ := rows(t, db, "other"); mine != 2 {
		t.Errorf("other: %d rows", mine)
	}
	if mine, others := rows(t, later, "thread_items"); mine != 0 || others != 1 {
		t.Errorf("the second database: %d and %d rows", mine, others)
	}
}

func TestForgetElsewhere(t *testing.T) {
	root, byVar, byFile := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "config.toml"), "model = \"m\"\n  sqlite_home = '"+byFile+
		"'\n[other]\nsqlite_home = \"/nowhere\"\n")
	a := history(t, filepath.Join(byVar, "thread_history_1.sqlite"), "thread_items")
	b := history(t, filepath.Join(byFile, "thread_history_1.sqlite"), "thread_items")
	if err := forget(t, value.AgentEnv{Vars: map[string]value.Text{"CODEX_SQLITE_HOME": value.Text(byVar)}}, root); err != nil {
		t.Fatal(err)
	}
	for i, db := range []*sql.DB{a, b} {
		if mine, _ := rows(t, db, "thread_items"); mine != 0 {
			t.Errorf("database %d: %d rows", i, mine)
		}
	}
}

// TestForgetBeside holds that another program that has the database open, and writes, is waited for.
func TestForgetBeside(t *testing.T) {
	root := t.TempDir()
	db := history(t, filepath.Join(root, "thread_history_1.sqlite"), "thread_items")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO thread_items VALUES ('another', 4)"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- Forget(context.Background(), transcript.Codex, value.AgentEnv{}, root, session) }()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if mine, others := rows(t, db, "thread_items"); mine != 0 || others != 2 {
		t.Errorf("%d and %d rows", mine, others)
	}
}

func TestForgetNothing(t *testing.T) {
	root := t.TempDir()
	for _, agent := range append(value.Agents(), "nobody") {
		if err := Forget(context.Background(), agent, value.AgentEnv{}, root, session); err != nil {
			t.Errorf("%s: %v", agent, err)
		}
	}
	if list, _ := os.ReadDir(root); len(list) != 0 {
		t.Errorf("it made %v", list)
	}
}

func TestForgetBroken(t *testing.T) {
	root := t.TempDir()
	text := strings.Repeat("this is no database\n", 100)
	path := put(t, filepath.Join(root, "thread_history_1.sqlite"), text)
	db := history(t, filepath.Join(root, "thread_history_2.sqlite"), "thread_items")
	if err := forget(t, value.AgentEnv{}, root); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if get(t, path) != text {
		t.Error("it was changed")
	}
	if mine, _ := rows(t, db, "thread_items"); mine != 0 {
		t.Errorf("the other database: %d rows", mine)
	}
}
