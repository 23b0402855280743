package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rewind/hooks"
	"rewind/objstore"
	"rewind/tree"
)

// openCalls are the calls that can have changed something since the last capture, by session.
type openCalls map[string][]Call

// openCalls gives the calls that are running; e.mu is held and the sessions are loaded.
func (e *Engine) openCalls() openCalls {
	calls := openCalls{}
	for name, s := range e.sessions {
		if len(s.Calls) > 0 {
			calls[name] = slices.Clone(s.Calls)
		}
	}
	return calls
}

// openCalls are those that run when the batch comes, and those that ended in it without having been announced.
func (in *intake) openCalls() openCalls {
	calls := in.e.openCalls()
	for _, a := range in.events {
		if a.act.Closes && !slices.ContainsFunc(calls[a.name], func(k Call) bool { return k.ID == a.ev.Tool.Call }) {
			paths, _ := inside(in.e.project.Root, a.ev.Cwd, a.ev.Tool.Paths)
			calls[a.name] = append(calls[a.name], Call{Class: a.ev.Tool.Class, Paths: paths})
		}
	}
	return calls
}

// names are the sessions whose calls they are, sorted.
func (k openCalls) names() []string {
	names := make([]string, 0, len(k))
	for name := range k {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// authors gives the function that says whose a change since the last capture is: of the sessions whose calls name the path; else of
// those that ran a call which names none; else, where only calls ran that name other files, of these, for what an agent does to a file
// behind an edit is no call of its own. A directory that a named file lies in is named, too. None: no call ran, it came from outside.
func (k openCalls) authors() func(path string) []string {
	names := k.names()
	if len(names) < 2 {
		return func(string) []string { return names }
	}
	named := map[string][]string{}
	var shells, editing []string
	for _, name := range names {
		for _, call := range k[name] {
			if call.Class != hooks.Editor {
				shells = append(shells, name)
				continue
			}
			for _, p := range call.Paths {
				editing = append(editing, name)
				for ; p != "" && p != "."; p, _ = tree.Split(p) {
					named[p] = append(named[p], name)
				}
			}
		}
	}
	for p, list := range named {
		named[p] = slices.Compact(list) // in the order of names
	}
	rest := slices.Compact(shells)
	if len(rest) == 0 {
		rest = slices.Compact(editing)
	}
	if len(rest) == 0 {
		rest = names // all of them edit elsewhere
	}
	return func(path string) []string {
		if by := named[path]; by != nil {
			return by
		}
		return rest
	}
}

// whose sorts what changed between was and the capture by who did it: the authors of most of it, and the paths that have others. What
// has not changed in the tree, as of a secret, counts as of all.
func (e *Engine) whose(c *capture, was objstore.ID, calls openCalls) (by []string, owned []Owned, err error) {
	names := calls.names()
	if len(names) < 2 {
		return names, nil, nil
	}
	groups, of := map[string]*Owned{}, calls.authors()
	err = c.changes(was, func(ch tree.Change) error {
		by := of(ch.Path)
		key := strings.Join(by, bySeparator)
		if groups[key] == nil {
			groups[key] = &Owned{By: by}
		}
		groups[key].Paths = append(groups[key].Paths, ch.Path)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	by, owned = byMost(groups)
	if by == nil {
		by = names
	}
	return by, owned, e.stampOwners(owned)
}

// byMost gives the authors of most paths, and the others, in the order of their names.
func byMost(groups map[string]*Owned) (by []string, owned []Owned) {
	keys := slices.Sorted(maps.Keys(groups))
	if len(keys) == 0 {
		return nil, nil
	}
	most := slices.MaxFunc(keys, func(a, b string) int { return cmp.Compare(len(groups[a].Paths), len(groups[b].Paths)) })
	for _, k := range keys {
		if k != most {
			slices.Sort(groups[k].Paths)
			owned = append(owned, *groups[k])
		}
	}
	return groups[most].By, owned
}

// stampOwners makes the store one that says whose paths are, before the first such record is written.
func (e *Engine) stampOwners(owned []Owned) error {
	if len(owned) == 0 {
		return nil
	}
	return e.db.RaiseFormat(formatOwners)
}

// authors gives the function that says whose a path is that the checkpoint changed.
func (c *Checkpoint) authors() func(path string) []string {
	if len(c.Owned) == 0 {
		return func(string) []string { return c.By }
	}
	return ownersOf(c.By, c.Owned)
}

func ownersOf(by []string, owned []Owned) func(path string) []string {
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

// Authors are all the sessions that the checkpoint says changed something.
func (c *Checkpoint) Authors() []string {
	all := slices.Clone(c.By)
	for _, o := range c.Owned {
		all = append(all, o.By...)
	}
	return sorted(all)
}
