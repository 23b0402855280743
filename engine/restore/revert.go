package restore

import (
	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/textdiff"
	"rewind/internal/value"
)

// bring brings a change into the worktree.
func (pl *planner) bring(c *capture.Capture, change *merge.Change, o merge.Options) (*merge.Merged, error) {
	return pl.restorer.merger.Into(c, change, o)
}

// revert takes a change out of the worktree. If a path conflicts and only a person changed it since, it becomes what it
// was before. If a session changed it, it stays. The request may settle conflicts otherwise.
func (pl *planner) revert(c *capture.Capture, change *merge.Change, o merge.Options) (*merge.Merged, error) {
	r, g := pl.request, change.Takes()
	others, err := pl.restorer.authors.Others(g, change.Of, c, false)
	if err != nil {
		return nil, err
	}
	o.Reverse, o.Clean = true, !r.options.Merge && o.Prefer == textdiff.Neither
	o.Yields = func(path string) bool {
		by := others.Stay.Of(path)
		return by == model.Manual || by == "" // a restore of the family: the person went there
	}
	m, err := pl.restorer.merger.Into(c, change, o)
	if err != nil {
		return nil, err
	}
	clear(pl.kept)
	pl.plan.Mergeable, r.gaveUp = false, m.Yielded
	if o.Clean {
		pl.keepOthers(m, change, others)
	}
	now := oplog.NewLookups(c.Get, c.Res.Root)
	return m, change.EachShared(now, func(path, by string) {
		if o.Only.Has(path) && !m.Sets(path) {
			pl.kept[path] = value.Kept{Path: value.Text(path), Reason: value.KeptSession, By: by, Shared: true}
		}
	})
}

// keepOthers keeps the paths where what goes could not be taken out of what others did, and takes them out of the list
// of merges. What else could not be merged stays, too, and is in conflict.
func (pl *planner) keepOthers(m *merge.Merged, change *merge.Change, others *authorship.Since) {
	list := m.List
	m.List = nil
	for _, v := range list {
		k := value.Kept{Path: v.Path, Reason: value.KeptSession, By: others.KeptBy(string(v.Path)), Conflict: v.Reason}
		k.Gone = v.Reason == value.ReasonDeleted
		switch collides := v.Verdict == value.MergeConflict && v.Reason.Collides(); {
		case collides && k.By != "" && k.By != value.Person:
			pl.plan.Mergeable = pl.plan.Mergeable || v.Places > 0
		case collides && v.Reason == value.ReasonType && change.Adds(string(v.Path)):
			k = value.Kept{Path: v.Path, Dir: true, Reason: value.KeptHolds}
		case collides && v.Reason == value.ReasonType:
			k = value.Kept{Path: v.Path, Dir: true, Reason: value.KeptOccupied}
		default:
			if v.Verdict == value.MergeConflict {
				v.Places = 0 // nothing is marked
			}
			m.List = append(m.List, v)
			continue
		}
		pl.kept[string(v.Path)] = k
	}
}
