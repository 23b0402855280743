package model

import (
	"slices"
)

// AuthorsOf gives the function that says whose a path is that the checkpoint changed.
func (c *Checkpoint) AuthorsOf() func(path string) []string {
	if len(c.Owned) == 0 {
		return func(string) []string { return c.By }
	}
	return OwnersOf(c.By, c.Owned)
}

// OwnersOf gives the function that says whose a path is: the owner by path, and by's sessions for all other paths.
func OwnersOf(by []string, owned []Owned) func(path string) []string {
	of := map[string][]string{}
	for _, o := range owned {
		for _, p := range o.Paths {
			of[p] = o.By
		}
	}
	return func(path string) []string {
		if own, ok := of[path]; ok {
			return own
		}
		return by
	}
}

// PartOf gives the function that says whether a path's change is a session's: not where only other sessions' calls made
// it, and of another session's checkpoint only where its own did.
func (c *Checkpoint) PartOf(session string) func(path string) bool {
	authors := c.AuthorsOf()
	return func(path string) bool {
		by := authors(path)
		return len(by) == 0 && c.Session == session || slices.Contains(by, session)
	}
}

// Authors are all the sessions that the checkpoint says changed something.
func (c *Checkpoint) Authors() []string {
	all := slices.Clone(c.By)
	for _, o := range c.Owned {
		all = append(all, o.By...)
	}
	return Sorted(all)
}

// Sorted are the names in order, each once. It changes the list.
func Sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// BySeparator joins the sessions of a change to one key; no session's name has it.
const BySeparator = "\x00"
