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

// PartOf gives the function that says whether a path's change is a session's: where its calls made it.
func (c *Checkpoint) PartOf(session string) func(path string) bool {
	authors := c.AuthorsOf()
	return func(path string) bool { return slices.Contains(authors(path), session) }
}

// Persons reports whether all that a checkpoint changed is nobody's call: a person's, or a program's that they run.
func (c *Checkpoint) Persons() bool {
	return len(c.By) == 0 && !slices.ContainsFunc(c.Owned, func(o Owned) bool { return len(o.By) > 0 })
}

// HasPersons reports whether something that a checkpoint changed is nobody's call.
func (c *Checkpoint) HasPersons() bool {
	return len(c.By) == 0 || slices.ContainsFunc(c.Owned, func(o Owned) bool { return len(o.By) == 0 })
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
