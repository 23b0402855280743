package capture

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/tree"
)

// OpenCalls are the calls that can have changed something since the last capture, by session.
type OpenCalls map[string][]model.Call

// OpenCalls are the calls that are running. The log's lock is held and the session records are loaded.
func (wt *Worktree) OpenCalls() OpenCalls {
	calls := OpenCalls{}
	for name, s := range wt.log.EachSession() {
		if len(s.Calls) > 0 {
			calls[name] = slices.Clone(s.Calls)
		}
	}
	return calls
}

// openCalls are the calls that run when the batch begins, and those that ended in it without having been announced.
func (in *batch) openCalls() OpenCalls {
	calls := in.wt.OpenCalls()
	for _, a := range in.events {
		if a.Act.Closes && !slices.ContainsFunc(calls[a.Name], func(k model.Call) bool { return k.ID == a.Event.Tool.Call }) {
			calls[a.Name] = append(calls[a.Name], model.Call{Class: a.Event.Tool.Class, Paths: a.inside})
		}
	}
	return calls
}

// during is the call of a session in which something was found, as far as it can be told: the one that runs, or of
// several the one that names no path. "": it cannot.
func during(calls []model.Call) (tool, id string) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c model.Call) bool { return c.Tool == "" })
	if len(calls) > 1 {
		calls = slices.DeleteFunc(calls, func(c model.Call) bool { return c.Class == hooks.Editor })
	}
	if len(calls) != 1 {
		return "", ""
	}
	return calls[0].Tool, calls[0].ID
}

// names are the sessions that have calls, sorted.
func (k OpenCalls) names() []string {
	names := make([]string, 0, len(k))
	for name := range k {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Authors returns the function that says which sessions made the change of a path since the last capture: those whose
// calls name the path, or a path below it; else those with a call that names none, such as a shell; else all that edit.
// Without calls nil: the change came from outside.
func (k OpenCalls) Authors() func(path string) []string {
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
		named[p] = slices.Compact(list) // sorted, since names are
	}
	rest := slices.Compact(shells)
	if len(rest) == 0 {
		rest = slices.Compact(editing)
	}
	if len(rest) == 0 {
		rest = names // no call names a path in the project
	}
	return func(path string) []string {
		if by := named[path]; by != nil {
			return by
		}
		return rest
	}
}

// attribute says who made the changes between the tree was and the capture: the authors of most paths, and the paths
// with other authors. A change that is in no tree, as of a secret file, is put down to all sessions with calls.
func (wt *Worktree) attribute(
	c *Capture, was objstore.ID, calls OpenCalls,
) (by []string, owned []model.Owned, err error) {
	names := calls.names()
	if len(names) < 2 {
		return names, nil, nil
	}
	groups, of := map[string]*model.Owned{}, calls.Authors()
	err = c.Changes(was, func(ch tree.Change) error {
		by := of(ch.Path)
		key := strings.Join(by, model.BySeparator)
		if groups[key] == nil {
			groups[key] = &model.Owned{By: by}
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
	return by, owned, nil
}

// byMost takes from groups the authors of most paths, and returns the other groups sorted by authors.
func byMost(groups map[string]*model.Owned) (by []string, owned []model.Owned) {
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
