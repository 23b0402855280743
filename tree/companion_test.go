package tree

import "testing"

func TestCompanionOf(t *testing.T) {
	for name, of := range map[string]string{
		"app.db-wal": "app.db", "app.db-shm": "app.db", "app.db-journal": "app.db", "a/b.sqlite-wal": "a/b.sqlite", "x-journal": "x",
		"app.db-mj12AB0C9F0": "app.db", "stock.duckdb.wal": "stock.duckdb",
		"app.db": "", "-wal": "", "a/-wal": "", "-journal": "", "wal": "", "app.db-WAL": "", "app.db-wal2": "", "app.db-wal-wal": "",
		"app.db-mj12ab0c9f0": "", "app.db-mj12AB0C8F0": "", "notes.journal": "", "": "",
	} {
		got, ok := CompanionOf(name)
		if got != of || ok != (of != "") {
			t.Errorf("CompanionOf(%q) = %q, %v; want %q", name, got, ok, of)
		}
	}
	for _, c := range Companions("d/app.db") {
		if of, ok := CompanionOf(c); !ok || of != "d/app.db" {
			t.Errorf("CompanionOf(%q) = %q, %v", c, of, ok)
		}
	}
}

func TestAccompanies(t *testing.T) {
	const (
		lite    = "SQLite format 3\x00"
		duck    = "\x01\x02\x03\x04\x05\x06\x07\x08DUCK\x40\x00\x00\x00"
		journal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\x00\x00\x00\x02"
		wal     = "\x37\x7f\x06\x82\x00\x2d\xe2\x18"
	)
	for _, c := range []struct {
		name, database, companion string
		is                        bool
	}{
		{"a-wal", lite, "", true},
		{"a-shm", lite, "anything", true},
		{"a-journal", lite, "\x00\x00\x00\x00", true},
		{"a-mj1234569AB", lite, "/home/x/a", true},
		{"a.wal", duck, "", true},
		{"a-wal", "\x8f\x11 encrypted", wal, true},
		{"a-journal", "", journal, true}, // the first transaction of a new database
		{"a.wal", lite, "a sound", false},
		{"a-wal", duck, "", false},
		{"notes-journal", "dear diary, toda", "monday: nothing", false},
		{"a-shm", "text", "text", false},
		{"a-wal", "", "", false},
		{"a-wal", lite[:15], "", false},
	} {
		if got := Accompanies(c.name, []byte(c.database), []byte(c.companion)); got != c.is {
			t.Errorf("Accompanies(%q, %q, %q) = %v", c.name, c.database, c.companion, got)
		}
	}
	if !IsDatabase([]byte(lite)) || !IsDatabase([]byte(duck)) || IsDatabase([]byte("SQLite format 2\x00")) || IsDatabase(nil) {
		t.Error("IsDatabase")
	}
	if !IsRebuilt("a-shm") || IsRebuilt("a-wal") {
		t.Error("IsRebuilt")
	}
}
