package capture

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// OpenCalls are the calls that can have changed something since the last capture, by session.
type OpenCalls map[string][]model.Call

// OpenCalls are the calls that are running. The log's lock is held and the session records are loaded.
func (wt *Worktree) OpenCalls() OpenCalls {
	return wt.openCalls(func(string, model.Call) bool { return false })
}

// openCalls is OpenCalls where it is known of some that they ran: no file has to be read for those.
func (wt *Worktree) openCalls(ran func(session string, c model.Call) bool) OpenCalls {
	calls := OpenCalls{}
	for name, s := range wt.log.EachSession() {
		list := s.Calls
		if slices.ContainsFunc(list, func(c model.Call) bool { return !ran(name, c) }) {
			list = wt.sessions.OpenCalls(s)
		}
		if len(list) > 0 {
			calls[name] = slices.Clone(list)
		}
	}
	return calls
}

// openCalls are the calls that run when the batch begins, and those that ended in it, by what their ends say: they may
// not have been announced, or name more.
func (in *batch) openCalls() OpenCalls {
	calls := in.wt.openCalls(func(session string, c model.Call) bool {
		return slices.ContainsFunc(in.events, func(a *Pending) bool {
			return a.Act.Closes && a.Name == session && a.Event.Tool.Call == c.ID
		})
	})
	for _, a := range in.events {
		if a.Act.Closes {
			calls[a.Name] = append(calls[a.Name], model.Call{Class: a.class(), Paths: a.inside})
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

// Authors returns a function that gives the sessions that changed a path since the last capture. They are those whose
// calls name the path, or a path below it. If there are none, they are those with a call that may change any path, such
// as a shell. nil: nobody's call did, as what a person writes while an edit of another file is asked about. A disk may
// not tell case apart.
func (k OpenCalls) Authors() func(path string) []string {
	named := map[string][]string{}
	var others []string
	for _, name := range k.names() {
		for _, call := range k[name] {
			if call.Class != hooks.Editor {
				others = append(others, name)
				continue
			}
			for _, p := range call.Paths {
				for p = strings.ToLower(p); p != "" && p != "."; p, _ = tree.Split(p) {
					named[p] = append(named[p], name)
				}
			}
		}
	}
	for p, list := range named {
		named[p] = slices.Compact(list) // sorted, since names are
	}
	others = slices.Compact(others)
	return func(path string) []string {
		path = strings.ToLower(path)
		if by := named[path]; by != nil {
			return by
		}
		if by := named[writtenFor(path)]; by != nil {
			return by
		}
		return others
	}
}

// beingWritten stands in the name of a file that an edit tool writes beside the one that it names, until it takes that
// one's place: Claude Code's a.txt.tmp.<process>.<number>. Another session's event can find it.
const beingWritten = ".tmp."

// writtenFor is the file in whose place an edit tool is about to put the one at path; "": no tool calls one so.
func writtenFor(path string) string {
	at := strings.LastIndex(path, beingWritten)
	if at <= 0 {
		return ""
	}
	number := path[at+len(beingWritten):]
	if named := strings.TrimLeft(number, "0123456789") == number; named || strings.Contains(number, "/") {
		return ""
	}
	return path[:at]
}

// alike reports whether all paths have the same authors: nobody's call runs, or those of one session, of which one may
// change any.
func (k OpenCalls) alike() bool {
	for _, calls := range k {
		return len(k) == 1 && slices.ContainsFunc(calls, func(c model.Call) bool { return c.Class != hooks.Editor })
	}
	return true
}

// Whose returns the function that says which sessions made a change since the last capture: as Authors of the calls.
// What a restore of some paths has set there, and nobody has changed since, is no call's. The log's lock is held.
func (wt *Worktree) Whose(calls OpenCalls) (func(tree.Change) ([]string, error), error) {
	of := calls.Authors()
	laid, err := wt.laid(calls)
	if err != nil {
		return nil, err
	}
	return func(ch tree.Change) ([]string, error) {
		for _, l := range laid {
			if !l.paths.Has(ch.Path) {
				continue
			}
			if is, err := l.target.Find(ch.Path); err != nil || tree.Same(is, ch.New) {
				return nil, err
			}
			break
		}
		return of(ch.Path), nil
	}, nil
}

// laidOut is what a restore of some paths has set.
type laidOut struct {
	paths  refs.PathSet
	target *oplog.Lookups
}

// laid are the restores of some paths that no step has yet, the newest first. Without calls it is of no use to know
// them. What cannot be read any more is passed over.
func (wt *Worktree) laid(calls OpenCalls) (list []laidOut, err error) {
	was, err := wt.log.Head()
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	for _, seq := range was.Laid {
		op, err := wt.log.Refs.Operation(seq)
		if err != nil {
			return nil, err
		}
		target, err := wt.log.Checkpoint(op.Restore.Target)
		if model.IsLost(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, laidOut{op.Restore.Paths, oplog.NewLookups(oplog.Lenient{Store: wt.log.Objs}, target.Tree)})
	}
	return list, nil
}

// attribute says who made the changes between the tree was and the capture: the authors of most paths, and the paths
// with other authors. A change that is in no tree, as of a secret file, is put down to all sessions with calls.
func (wt *Worktree) attribute(
	c *Capture, was objstore.ID, calls OpenCalls,
) (by []string, owned []model.Owned, err error) {
	names := calls.names()
	head, err := wt.log.Head()
	if alike := len(head.Laid) == 0 && calls.alike(); alike || err != nil {
		return names, nil, err
	}
	groups := map[string]*model.Owned{}
	of, err := wt.Whose(calls)
	if err != nil {
		return nil, nil, err
	}
	err = c.Changes(was, func(ch tree.Change) error {
		by, err := of(ch)
		if err != nil {
			return err
		}
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
	if len(groups) == 0 {
		return names, nil, nil
	}
	by, owned = byMost(groups)
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
