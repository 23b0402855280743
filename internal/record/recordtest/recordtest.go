// Package recordtest holds records against docs/format.md.
package recordtest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Documented fails unless the fields of a record in which every field is set are those that a section of docs/format.md
// has, in the first of its tables of tags or, with n, in that many after it.
func Documented(t testing.TB, raw []byte, section string, n int) {
	t.Helper()
	tables := documented(t, section)
	if n >= len(tables) {
		t.Fatalf("docs/format.md, %q: %d tables of tags", section, len(tables))
	}
	if got := tags(raw); !slices.Equal(got, tables[n]) {
		t.Errorf("fields %d, docs/format.md, %q, says %d", got, section, tables[n])
	}
}

// tags are those of a record's fields.
func tags(raw []byte) (list []uint64) {
	for len(raw) > 0 {
		tag, n := binary.Uvarint(raw)
		length, m := binary.Uvarint(raw[n:])
		list = append(list, tag)
		raw = raw[n+m+int(length):]
	}
	return list
}

// documented are the tags of each table of a section whose first column is "tag".
func documented(t testing.TB, section string) (tables [][]uint64) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root(t), "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\n### "+section+"\n")
	text, _, _ = strings.Cut(text, "\n### ")
	for line := range strings.Lines(text) {
		first, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		switch {
		case !ok || !strings.HasPrefix(line, "| "):
		case first == "tag":
			tables = append(tables, nil)
		case len(tables) > 0:
			for s := range strings.SplitSeq(first, ", ") {
				tag, err := strconv.ParseUint(s, 10, 64)
				if err != nil {
					t.Fatalf("docs/format.md, %q: %v", section, err)
				}
				tables[len(tables)-1] = append(tables[len(tables)-1], tag)
			}
		}
	}
	for _, tags := range tables {
		slices.Sort(tags) // rows may be in another order
	}
	return tables
}

// root is the directory of the module, which tests run below.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal(err)
	return ""
}
