package tree

import (
	"fmt"
	"sort"
	"strings"

	"rewind/internal/value"
	"rewind/objstore"
)

// Lookup gives the entry at a path of the tree root. The root itself, path "", is a directory without name and
// permission bits. Nothing there: ErrNotFound, also when a component above is not a directory. The zero root is the
// empty tree.
func Lookup(g objstore.Getter, root objstore.ID, path string) (Entry, error) {
	e := Entry{Type: TypeDir, ID: root}
	for rest, more := path, path != ""; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if e.Type != TypeDir {
			return Entry{}, &value.OpError{Op: "lookup", Subject: path, Typed: true, Err: ErrNotFound}
		}
		entries, err := List(g, e.ID)
		if err != nil {
			return Entry{}, &value.OpError{Op: "lookup", Subject: path, Typed: true, Err: err}
		}
		i := Find(entries, name)
		if i < 0 {
			return Entry{}, &value.OpError{Op: "lookup", Subject: path, Typed: true, Err: ErrNotFound}
		}
		e = entries[i]
	}
	return e, nil
}

// Walk calls fn for every entry of the tree root, a directory before what is in it, in the order of ComparePaths; not
// for the root itself. SkipDir from fn leaves out what is below that entry, SkipAll ends the walk; any other error ends
// it and is returned as it is.
func Walk(g objstore.Getter, root objstore.ID, fn func(path string, e Entry) error) error {
	err := walk(g, root, "", 0, fn)
	if err == SkipAll { //nolint:errorlint // by identity, as in io/fs
		return nil
	}
	return err
}

func walk(g objstore.Getter, id objstore.ID, dir string, depth int, fn func(path string, e Entry) error) error {
	if depth >= MaxDepth || len(dir) > MaxPath {
		return fmt.Errorf("walk %.80q: %w", dir, &LimitError{What: "depth", Limit: MaxDepth})
	}
	entries, err := List(g, id)
	if err != nil {
		return &value.OpError{Op: "walk", Subject: dir, Typed: true, Err: err}
	}
	for _, e := range entries {
		path := Join(dir, e.Name)
		switch err := fn(path, e); {
		case err == SkipDir: //nolint:errorlint // by identity, as in io/fs
			continue
		case err != nil:
			return err
		}
		if e.Type == TypeDir {
			if err := walk(g, e.ID, path, depth+1, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// Find gives the index of a name in sorted entries, or -1.
func Find(entries []Entry, name string) int {
	i := sort.Search(len(entries), func(i int) bool { return entries[i].Name >= name })
	if i < len(entries) && entries[i].Name == name {
		return i
	}
	return -1
}
