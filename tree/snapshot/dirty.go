package snapshot

import (
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// dirtyKind is what was reported of a name, as bits.
type dirtyKind uint8

const (
	touched dirtyKind = 1 << iota // content or attributes may have changed
	moved                         // another entry may have the name now
)

// dirtySet has the names to look at again, by directory. The root itself is the empty name in the empty path.
type dirtySet map[string]map[string]dirtyKind

// add adds a name, and reports whether it is new.
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

// without is a copy without the names that t has.
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

// todo is what an incremental snapshot looks at in one directory.
type todo struct {
	names map[string]dirtyKind // names to look at
	all   bool                 // look at every name: the directory itself may have changed
	below map[string]*todo     // directories with something to look at below
}

// at is the todo of a directory below, by its path; it is made if there is none.
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

// find is the todo of a directory below, by its path; nil: nothing is to be looked at.
func (t *todo) find(path string) *todo {
	for path != "" && t != nil {
		var name string
		name, path = first(path)
		t = t.below[name]
	}
	return t
}

// first is the first component of a path, and the rest.
func first(path string) (name, rest string) {
	for i := range len(path) {
		if path[i] == '/' {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func (t *todo) empty() bool { return !t.all && len(t.names) == 0 && len(t.below) == 0 }

// todoOf arranges reports by directory.
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
					look(above, dir, moved) // the name decides whether the directory above is a marker
				}
			}
		}
	}
	return root
}
