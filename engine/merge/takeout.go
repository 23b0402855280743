package merge

import (
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/tree"
)

// Where are the paths of a TakeOut.
type Where struct {
	From func(path string) bool // reports whether a session's changes of a path are taken out
	To   func(path string) bool // reports whether a path may be set: a file can have moved since
}

// TakeOut takes what is taken away by who goes back to a target out of a captured worktree: what others have changed
// there since stays. List has the paths where something was to be taken, and nothing of those where w.To says no. Of o
// how conflicts are settled counts.
func (m *Merger) TakeOut(
	c *capture.Capture, g authorship.Going, target *model.Checkpoint, w Where, o Options,
) (*Merged, error) {
	ch, err := m.behind(c, g, target, w.From)
	if err != nil {
		return nil, err
	}
	o.Reverse, o.name, o.takeOut = true, "target", true
	r, err := m.Into(c, ch, o)
	if err != nil {
		return nil, err
	}
	r.List = slices.DeleteFunc(r.List, func(t value.Merge) bool {
		stays := !w.To(string(t.Path))
		if stays {
			delete(r.Set, string(t.Path))
		}
		return stays || t.Verdict == value.MergeAlready
	})
	return r, nil
}

// behind is what is taken away by who goes back to a target, at the paths that want has.
func (m *Merger) behind(
	c *capture.Capture, g authorship.Going, target *model.Checkpoint, want func(path string) bool,
) (*Change, error) {
	steps, err := m.authors.Behind(g, target, c)
	if err != nil {
		return nil, err
	}
	ch := &Change{edits: map[string][]edit{}}
	for _, s := range steps {
		if s.From.IsZero() || s.To.IsZero() {
			continue // how the project was found
		}
		err := ch.add(oplog.Lenient{Store: m.log.Objs}, s.From, s.To, func(c tree.Change) (bool, error) {
			if !want(c.Path) {
				return false, nil
			}
			return s.Wrote(c)
		})
		if err != nil {
			return nil, err
		}
	}
	return ch, nil
}
