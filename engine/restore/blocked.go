package restore

import (
	"sort"
	"strings"

	"rewind/engine/capture"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/tree"
)

// blockedParents adds to blocking what is no directory and lies, outside of the request, above a path that a step
// makes.
func (pl *planner) blockedParents(c *capture.Capture, steps []tree.Change) error {
	now := oplog.NewLookups(c.Get, c.Res.Root)
	changed := map[string]bool{}
	for _, s := range steps {
		changed[s.Path] = true
	}
	for _, s := range steps {
		for dir, _ := tree.Split(s.Path); dir != "" && !changed[dir]; dir, _ = tree.Split(dir) {
			ent, err := now.Find(dir)
			if err != nil {
				return err
			}
			if ent != nil && ent.Type != tree.TypeDir {
				pl.blocking[dir] = true
			}
		}
	}
	return nil
}

// dropBlocked fills the plan's steps with those that kept and skipped paths allow: a directory that still holds one
// cannot be removed, and nothing can be made below a kept file. The others are kept.
func (pl *planner) dropBlocked(steps []tree.Change, skips []tree.Skip) {
	var stay []string
	for p := range pl.kept {
		stay = append(stay, p)
	}
	for _, s := range skips {
		if s.Leaves() {
			stay = append(stay, s.Path)
		}
	}
	sort.Strings(stay)
	holds := func(dir string) bool {
		i := sort.SearchStrings(stay, dir+"/")
		return i < len(stay) && strings.HasPrefix(stay[i], dir+"/")
	}
	for _, s := range steps {
		switch {
		case pl.kept[s.Path].Reason != "":
		case pl.belowKept(s.Path):
			pl.keep(s.Path, value.KeptBelow, false)
		case s.Old != nil && s.Old.Type == tree.TypeDir && (s.New == nil || s.New.Type != tree.TypeDir) && holds(s.Path):
			why := value.KeptHolds
			if s.New != nil {
				why = value.KeptOccupied
			}
			pl.keep(s.Path, why, true)
		default:
			pl.plan.Steps = append(pl.plan.Steps, s)
		}
	}
}

// belowKept reports whether p lies below a path that is kept and is no directory.
func (pl *planner) belowKept(p string) bool {
	for {
		if p, _ = tree.Split(p); p == "" {
			return false
		}
		if pl.blocking[p] {
			return true
		}
	}
}
