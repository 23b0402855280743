package refs

import "slices"

// PathSet is a set of paths, each standing for itself and all below it, "" for the root. The empty set stands for
// everything, without being a restriction.
type PathSet []string

// Valid reports whether each path is the root or one inside the project (IsPath).
func (s PathSet) Valid() bool {
	return !slices.ContainsFunc(s, func(p string) bool { return p != "" && !IsPath(p) })
}

// Has reports whether a path, or a directory above it, is in the set.
func (s PathSet) Has(p string) bool {
	if len(s) == 0 {
		return true
	}
	for _, q := range s {
		if Below(p, q) {
			return true
		}
	}
	return false
}

// HasBelow reports whether some path of the set lies below dir.
func (s PathSet) HasBelow(dir string) bool {
	for _, q := range s {
		if q != dir && Below(q, dir) {
			return true
		}
	}
	return false
}

// Below reports whether p is dir or lies in it.
func Below(p, dir string) bool {
	return p == dir || dir == "" || (len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir)
}
