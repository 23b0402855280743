package engine

import (
	"maps"
	"slices"

	"rewind/tree"
)

// Taken is what a restore would keep without Exact.
type Taken struct {
	By    string // the other session that changed the paths; "": no checkpoint holds them
	Paths []string
}

// Kept is a path that a restore leaves as it is although the target has it otherwise or not at all.
type Kept struct {
	Path   string
	Dir    bool // with all below it
	Reason KeptReason
	By     string // of KeptSession: the other session
	Shared bool   // of KeptSession: the restoring session may have written it, too
}

// KeptReason says why; the value is the word in the API.
type KeptReason string

// The reasons for keeping a path.
const (
	KeptNew      KeptReason = "new"      // no checkpoint holds it: first seen by this command
	KeptSkipped  KeptReason = "skipped"  // the target did not capture it: ignored then, or over the size limit
	KeptHolds    KeptReason = "holds"    // a directory with kept, ignored or skipped files in it is in the way
	KeptOccupied KeptReason = "occupied" // as holds, and the target has a file there
	KeptBelow    KeptReason = "below"    // it would lie below a kept path
	KeptSession  KeptReason = "session"  // another session changed it after the target
	KeptPurged   KeptReason = "purged"   // the target's content was purged from the store
	KeptLost     KeptReason = "lost"     // the target's content is damaged beyond repair
)

// covers reports whether a directory that stays says all that is to be said of another path that does.
func (k Kept) covers(o Kept) bool {
	return k.Dir && k.Reason == o.Reason && k.By == o.By && k.Shared == o.Shared && below(o.Path, k.Path)
}

// collapse lists the kept paths, a wholly new directory once.
func (pl *planner) collapse() {
	paths := slices.SortedFunc(maps.Keys(pl.kept), tree.ComparePaths)
	for _, p := range paths {
		k, list := pl.kept[p], pl.plan.Kept
		if n := len(list); n > 0 && list[n-1].covers(k) {
			continue
		}
		pl.plan.Kept = append(list, k)
	}
}

// take lists what the steps take although without Exact it would be kept: by whose change it is, what no checkpoint holds last.
func (pl *planner) take() {
	if !pl.opt.exact {
		return
	}
	by := map[string][]string{}
	for _, s := range pl.plan.Steps {
		who := pl.others.of(s.Path)
		if who != "" && (isFile(s.From) || isFile(s.To)) || who == "" && pl.unknown[s.Path] && isFile(s.From) {
			by[who] = append(by[who], s.Path)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(by)) {
		if who != "" {
			pl.plan.Taken = append(pl.plan.Taken, Taken{who, by[who]})
		}
	}
	if paths := by[""]; paths != nil {
		pl.plan.Taken = append(pl.plan.Taken, Taken{Paths: paths})
	}
}
