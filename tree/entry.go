package tree

import (
	"strings"

	"rewind/objstore"
)

// Type says what an entry is. The values are the bytes on disk (docs/format.md#tree-and-note).
type Type = byte

// The three types an entry can have. Anything else on disk is skipped and noted, never captured.
const (
	TypeFile    Type = 'f'
	TypeSymlink Type = 'l'
	TypeDir     Type = 'd'
)

// Entry is one name in a directory.
//
// ID names a blob (a file's content, a symlink's target) or a tree (a directory). Size is the content's length in
// bytes, files only. Perm holds the permission bits 07777 (setuid, setgid and sticky included); it is 0 for a symlink.
// Name is bytes as the file system gave them: not necessarily UTF-8, possibly with newlines.
type Entry struct {
	Name string
	Type Type
	Perm uint16
	ID   objstore.ID
	Size int64
}

// StagePrefix begins the names of the hidden directories that a restore makes on other file systems than its stage's.
// They are never captured.
const StagePrefix = ".rewind-stage-"

// Same reports whether two entries, either of them possibly nil, stand for the same thing: type, permission bits and
// content. Names are not compared.
func Same(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type == b.Type && a.Perm == b.Perm && a.ID == b.ID
}

// Join gives the path of a name in the directory dir; the root is "".
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Split is the reverse of Join: the directory of a path ("" when it lies in the root) and its last component.
func Split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// ComparePaths orders paths as a walk meets them: component by component, a directory before what is in it.
// It differs from comparing strings: "a/b" comes before "a.c", because the component "a" comes before "a.c".
func ComparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		switch { // '/' ends a component, so it sorts before every other byte
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		case a[i] < b[i]:
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
