package snapshot

import (
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// dirtyKind is what was reported of a name.
type dirtyKind uint8

const (
	touched dirtyKind = 1 << iota // content or attributes may be others
	moved                         // something else may stand there now
)

// dirtySet holds the names to look at again: directory, name, mark. The root directory itself is the empty name in the empty path.
type dirtySet map[string]map[string]dirtyKind

// add reports whether the name is a new one.
func (d dirtySet) add(dir, name string, m dirtyKind) bool {
	names := d[dir]
	if names == nil {
		names = map[string]dirtyKind{}
		d[dir] = names
	}
	had := names[name]
	names[name] = had | m
	return had == 0
}

func (d dirtySet) addAll(other dirtySet) {
	for dir, names := range other {
		for name, m := range names {
			d.add(dir, name, m)
		}
	}
}

func (d dirtySet) len() int {
	n := 0
	for _, names := range d {
		n += len(names)
	}
	return n
}

// without is a copy without the names that are to be looked at.
func (d dirtySet) without(t *todo) dirtySet {
	out := dirtySet{}
	for dir, names := range d {
		for name, m := range names {
			if at := t.find(dir); at == nil || at.names[name] == 0 {
				out.add(dir, name, m)
			}
		}
	}
	return out
}

// todo is what an incremental snapshot does in one directory.
type todo struct {
	names map[string]dirtyKind // to be looked at
	all   bool                 // every name is: the directory's own attributes may be others
	below map[string]*todo     // directories on the way to others
}

// at gives what is to be done in a directory below, by its path.
func (t *todo) at(path string) *todo {
	for path != "" {
		var name string
		name, path = first(path)
		next := t.below[name]
		if next == nil {
			next = &todo{}
			if t.below == nil {
				t.below = map[string]*todo{}
			}
			t.below[name] = next
		}
		t = next
	}
	return t
}

// find gives what is to be done in a directory below, by its path; nil: nothing.
func (t *todo) find(path string) *todo {
	for path != "" && t != nil {
		var name string
		name, path = first(path)
		t = t.below[name]
	}
	return t
}

// first is the first component of a path and the rest.
func first(path string) (name, rest string) {
	for i := range len(path) {
		if path[i] == '/' {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func (t *todo) empty() bool { return !t.all && len(t.names) == 0 && len(t.below) == 0 }

// todoOf puts reports into the shape of the tree.
func todoOf(reports ...dirtySet) *todo {
	root := &todo{}
	look := func(dir, name string, m dirtyKind) {
		t := root.at(dir)
		if t.names == nil {
			t.names = map[string]dirtyKind{}
		}
		t.names[name] |= m
	}
	for _, d := range reports {
		for dir, names := range d {
			for name, m := range names {
				if name == "" {
					root.all = true
					continue
				}
				look(dir, name, m)
				if above, dir := tree.Split(dir); name == "id" && worktreefs.SameName(dir, "rewind") {
					look(above, dir, moved) // it decides whether that directory is ours
				}
			}
		}
	}
	return root
}
