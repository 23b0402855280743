package merge

import (
	"slices"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/tree"
)

// Where are the paths of a TakeOut.
type Where struct {
	From func(path string) bool // reports whether a session's changes of a path are taken out
	To   func(path string) bool // reports whether a path may be set: a file can have moved since
}

// TakeOut takes what a session did behind a target out of a captured worktree: what others have changed there since
// stays. List has the paths where something was to be taken, and nothing of those where w.To says no.
func (m *Merger) TakeOut(c *capture.Capture, session string, target *model.Checkpoint, w Where, prefer textdiff.Side) (*Merged, error) {
	ch, err := m.behind(c, session, target, w.From)
	if err != nil {
		return nil, err
	}
	r, err := m.Into(c, ch, Options{Reverse: true, Prefer: prefer, name: "target"})
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

// behind is what a session did behind a target, at the paths that want has.
func (m *Merger) behind(c *capture.Capture, session string, target *model.Checkpoint, want func(path string) bool) (*Change, error) {
	steps, err := m.authors.Behind(session, target, c)
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
