package merge

import (
	"maps"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// TakeOut takes what Behind names out of a captured worktree. What others have changed there since stays. List has the
// paths where something was to be taken, without those that must not be set (may), since a file can have moved. Of o
// only how conflicts are settled counts. With Clean a path with a conflict stays, and no file is followed to another
// path. If part of what is to be taken away is not known any more, all paths are conflicts.
func (m *Merger) TakeOut(c *capture.Capture, ch *Change, may func(path string) bool, o Options) (*Merged, error) {
	if o.Clean && ch.cut {
		return &Merged{List: ch.unknown()}, nil
	}
	o.Reverse, o.still, o.name = true, o.Clean, "target"
	r, err := m.Into(c, ch, o)
	if err != nil {
		return nil, err
	}
	r.List = slices.DeleteFunc(r.List, func(t value.Merge) bool {
		stays := !may(string(t.Path))
		if stays {
			delete(r.Set, string(t.Path))
		}
		return stays || t.Verdict == value.MergeAlready
	})
	return r, nil
}

// unknown are all paths, as what cannot be merged.
func (ch *Change) unknown() (list []value.Merge) {
	for _, path := range slices.SortedFunc(maps.Keys(ch.edits), tree.ComparePaths) {
		list = append(list, value.Merge{Path: value.Text(path), Verdict: value.MergeConflict, Reason: value.ReasonGone})
	}
	return list
}

// Behind is what is taken away by who goes back to a target, at the paths that want has. Where a directory was put in
// the place of one of them, what is in it is taken away, too.
func (m *Merger) Behind(
	c *capture.Capture, g authorship.Going, target *model.Checkpoint, want func(path string) bool,
) (*Change, error) {
	steps, whole, err := m.authors.Behind(g, target, c)
	if err != nil {
		return nil, err
	}
	ch, err := m.edits(c, steps, want)
	if err != nil {
		return nil, err
	}
	if dirs := ch.madeDirs(); len(dirs) > 0 {
		in := func(path string) bool {
			return slices.ContainsFunc(dirs, func(dir string) bool { return refs.Below(path, dir) })
		}
		if ch, err = m.edits(c, steps, func(path string) bool { return want(path) || in(path) }); err != nil {
			return nil, err
		}
	}
	ch.cut = !whole
	return ch, nil
}

// edits are what steps did at the paths that want has.
func (m *Merger) edits(c *capture.Capture, steps []authorship.Step, want func(path string) bool) (*Change, error) {
	ch := &Change{edits: map[string][]edit{}}
	for _, s := range steps {
		if s.From.IsZero() || s.To.IsZero() {
			continue // how the project was found
		}
		var get objstore.Getter = oplog.Lenient{Store: m.log.Objs}
		if s.Unsaved {
			get = c.Get
		}
		err := ch.add(get, s.From, s.To, func(d tree.Change) (bool, error) {
			if !want(d.Path) {
				return false, nil
			}
			return s.Wrote(d)
		})
		if err != nil {
			return nil, err
		}
	}
	return ch, nil
}

// madeDirs are the paths where a directory came in the place of something else.
func (ch *Change) madeDirs() (dirs []string) {
	for path, list := range ch.edits {
		if slices.ContainsFunc(list, func(e edit) bool { return e.from != nil && !isDir(e.from) && isDir(e.to) }) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}
