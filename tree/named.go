package tree

import (
	"slices"
	"strings"
)

// namedMark is the size of a note's line for a named path: what else is ignored has none.
const namedMark = 1

// NamedSkip is the line of a note that says of a path: a call of an agent named it, so that it is captured although it
// is ignored. A tree without it says that it was not there.
func NamedSkip(path string) Skip { return Skip{Path: path, Reason: ReasonIgnored, Size: namedMark} }

// IsNamed reports whether the line is one of NamedSkip. A program that does not know them takes the path for an ignored
// one.
func (s *Skip) IsNamed() bool { return s.Reason == ReasonIgnored && s.Size == namedMark }

// Leaves reports whether the line says that something at its path is not captured.
func (s *Skip) Leaves() bool {
	return s.Reason != ReasonTorn && s.Reason != ReasonMount && !s.IsNamed()
}

// Named lists the named paths of a note, ascending.
func Named(note []Skip) []string {
	var paths []string
	for i := range note {
		if note[i].IsNamed() {
			paths = append(paths, note[i].Path)
		}
	}
	return paths
}

// LinesAt are the lines of a sorted note about one path.
func LinesAt(note []Skip, path string) []Skip {
	from, _ := slices.BinarySearchFunc(note, path, func(s Skip, p string) int { return strings.Compare(s.Path, p) })
	to := from
	for to < len(note) && note[to].Path == path {
		to++
	}
	return note[from:to]
}
