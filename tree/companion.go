package tree

import (
	"bytes"
	"slices"
	"strings"
)

// A database of SQLite or DuckDB is more than one file: what was committed, or is to be rolled back, lies in files
// beside it, its companions. One set back without the others is damaged. So they are captured together and restored
// together, and this file is the one place that knows which files those are.

// databaseKind is one format of databases whose state is in several files.
type databaseKind struct {
	magic    string // of the database
	at       int    // where magic is in it
	suffixes []string
}

// databaseKinds are the formats. The suffixes of no two are the same.
var databaseKinds = []databaseKind{
	{magic: "SQLite format 3\x00", suffixes: []string{"-journal", "-shm", "-wal"}},
	{magic: "DUCK", at: 8, suffixes: []string{".wal"}},
}

// companionEnds has the last byte of every companion's name.
const companionEnds = "lm0123456789ABCDEF"

// indexSuffix ends the name of SQLite's index of a -wal. It is made again when the database is opened, so its bytes are
// no state.
const indexSuffix = "-shm"

// companionMagics begin companions that belong to a database whatever that begins with: one that is encrypted, or still
// empty.
var companionMagics = map[string][]string{
	"-journal": {"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"},
	"-wal":     {"\x37\x7f\x06\x82", "\x37\x7f\x06\x83"},
}

// DatabaseHead is how many bytes a file begins with decide whether it is a database, or a companion.
const DatabaseHead = 16

// IsDatabase reports whether a file that begins with head, of DatabaseHead bytes or all of the file, is a database that
// can have companions.
func IsDatabase(head []byte) bool {
	for _, k := range databaseKinds {
		if k.begins(head) {
			return true
		}
	}
	return false
}

func (k *databaseKind) begins(head []byte) bool {
	return len(head) >= k.at+len(k.magic) && string(head[k.at:k.at+len(k.magic)]) == k.magic
}

// Companions are the names, or paths, of the companions that a file could have.
func Companions(name string) []string {
	var names []string
	for _, k := range databaseKinds {
		for _, suffix := range k.suffixes {
			names = append(names, name+suffix)
		}
	}
	return names
}

// CompanionOf is the name of the file that name would be a companion of; the same for paths. ok is false for any other
// name. Whether it is a companion, the contents say: see Accompanies.
func CompanionOf(name string) (of string, ok bool) {
	if _, of = companionSuffix(name); of == "" || strings.HasSuffix(of, "/") {
		return "", false
	}
	if suffix, _ := companionSuffix(of); suffix != "" {
		return "", false // a companion has none
	}
	return of, true
}

// companionSuffix splits a name into that of a database and what a companion puts to it; both are empty for any other
// name.
func companionSuffix(name string) (suffix, of string) {
	if name == "" || strings.IndexByte(companionEnds, name[len(name)-1]) < 0 {
		return "", "" // nearly every name
	}
	for _, k := range databaseKinds {
		for _, suffix := range k.suffixes {
			if of, ok := strings.CutSuffix(name, suffix); ok && of != "" {
				return suffix, of
			}
		}
	}
	if n := len(name) - len(superJournal); n > 0 && isSuperJournal(name[n:]) {
		return superJournal, name[:n]
	}
	return "", ""
}

// superJournal is the form of what SQLite puts to the name of one database of several that a transaction changes; x is
// a hexadecimal digit. Journals of all of them name that file, and count only as long as it is there. So it is captured
// with the database whose name it has, but nothing removes it with that: an old one does no harm, and the others may
// still need it.
const superJournal = "-mjxxxxxx9xx"

func isSuperJournal(s string) bool {
	for i := range len(superJournal) {
		isHex := s[i] >= '0' && s[i] <= '9' || s[i] >= 'A' && s[i] <= 'F'
		if want := superJournal[i]; want == 'x' && !isHex || want != 'x' && want != s[i] {
			return false
		}
	}
	return true
}

// Accompanies reports whether a name that CompanionOf knows is a companion's. It decides by the beginnings of database
// and companion: DatabaseHead bytes of each, or the whole file. Nothing is said of what either is besides a file.
func Accompanies(name string, database, companion []byte) bool {
	suffix, _ := companionSuffix(name)
	for _, k := range databaseKinds {
		if k.begins(database) && (suffix == superJournal && k.at == 0 || slices.Contains(k.suffixes, suffix)) {
			return true
		}
	}
	for _, magic := range companionMagics[suffix] {
		if bytes.HasPrefix(companion, []byte(magic)) {
			return true
		}
	}
	return false
}

// IsRebuilt reports whether a companion of the name is made again when its database is opened: nothing is lost without
// it.
func IsRebuilt(name string) bool { return strings.HasSuffix(name, indexSuffix) }
