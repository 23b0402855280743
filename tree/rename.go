package tree

import (
	"slices"

	"rewind/objstore"
)

// Rename is a file that disappeared at one path and appeared, with the same content, at another.
type Rename struct {
	From, To Change // From.New and To.Old are nil
}

// Renames pairs removed and added files of equal content and gives the pairs, in the order of To.Path, and the changes
// that are in none, in their order. A name that stayed the same is preferred, then the order of the changes. Empty
// files never pair, nor do directories and symlinks. The input is not changed.
func Renames(changes []Change) (renames []Rename, rest []Change) {
	type key struct {
		id   objstore.ID
		name string
	}
	paired := make([]bool, len(changes))
	pair := func(keyOf func(*Entry) key) {
		removed := map[key][]int{}
		for i, c := range changes {
			if !paired[i] && c.New == nil && isContent(c.Old) {
				k := keyOf(c.Old)
				removed[k] = append(removed[k], i)
			}
		}
		for i, c := range changes {
			if paired[i] || c.Old != nil || !isContent(c.New) {
				continue
			}
			k := keyOf(c.New)
			if from := removed[k]; len(from) > 0 {
				removed[k] = from[1:]
				renames = append(renames, Rename{From: changes[from[0]], To: c})
				paired[i], paired[from[0]] = true, true
			}
		}
	}
	pair(func(e *Entry) key { return key{e.ID, e.Name} })
	pair(func(e *Entry) key { return key{e.ID, ""} })
	slices.SortFunc(renames, func(a, b Rename) int { return ComparePaths(a.To.Path, b.To.Path) })
	for i, c := range changes {
		if !paired[i] {
			rest = append(rest, c)
		}
	}
	return renames, rest
}

func isContent(e *Entry) bool { return e != nil && e.Type == TypeFile && e.Size > 0 }
