package restore

import (
	"maps"
	"slices"

	"rewind/engine/model"
	"rewind/tree"
)

// listKept fills the plan's Kept, by path; of a directory that no checkpoint holds only the directory itself.
func (pl *planner) listKept() {
	paths := slices.SortedFunc(maps.Keys(pl.kept), tree.ComparePaths)
	for _, p := range paths {
		k, list := pl.kept[p], pl.plan.Kept
		if n := len(list); n > 0 && list[n-1].Covers(k) {
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
		if who != "" && (model.IsFile(s.From) || model.IsFile(s.To)) || who == "" && pl.unknown[s.Path] && model.IsFile(s.From) {
			by[who] = append(by[who], s.Path)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(by)) {
		if who != "" {
			pl.plan.Taken = append(pl.plan.Taken, model.Taken{By: who, Paths: by[who]})
		}
	}
	if paths := by[""]; paths != nil {
		pl.plan.Taken = append(pl.plan.Taken, model.Taken{Paths: paths})
	}
}
