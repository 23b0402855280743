package restore

import (
	"maps"
	"slices"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// listKept fills the plan's Kept, by path; of a directory that no checkpoint holds only the directory itself.
func (pl *planner) listKept() {
	paths := slices.SortedFunc(maps.Keys(pl.kept), tree.ComparePaths)
	for _, p := range paths {
		k, list := pl.kept[p], pl.plan.Kept
		if n := len(list); n > 0 && covers(list[n-1], k) {
			continue
		}
		pl.plan.Kept = append(list, k)
	}
}

// listTaken fills the plan's Taken: with Exact, the files that would be kept without it, by the session that changed them, and last those
// that no checkpoint holds.
func (pl *planner) listTaken() {
	if !pl.request.Exact {
		return
	}
	by := map[string][]string{}
	for _, s := range pl.plan.Steps {
		who := pl.others.Of(s.Path)
		if who != "" && (model.IsFile(s.Old) || model.IsFile(s.New)) || who == "" && pl.unknown[s.Path] && model.IsFile(s.Old) {
			by[who] = append(by[who], s.Path)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(by)) {
		if who != "" {
			pl.plan.Taken = append(pl.plan.Taken, value.Taken{By: who, Paths: value.Texts(by[who])})
		}
	}
	if paths := by[""]; paths != nil {
		pl.plan.Taken = append(pl.plan.Taken, value.Taken{Paths: value.Texts(paths)})
	}
}

// covers reports whether a directory that stays says all that is to be said of another path that does.
func covers(dir, o value.Kept) bool {
	return dir.Dir && dir.Reason == o.Reason && dir.By == o.By && dir.Shared == o.Shared && refs.Below(string(o.Path), string(dir.Path))
}
