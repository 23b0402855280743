package merge

import (
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// keepMoved keeps the files that a change moves to a path which stays as it is for a conflict: without them their
// content would be at neither path. What had to be empty for another path then stays, too.
func (m *merging) keepMoved() error {
	unplaced := m.unplaced()
	for i := range m.list {
		t := &m.list[i]
		if to, set := m.set[string(t.Path)]; !set || to != nil {
			continue
		}
		was, err := m.now.Find(string(t.Path))
		if err != nil {
			return err
		}
		if model.IsFile(was) && unplaced[was.ID] {
			m.leave(t, value.ReasonMoved)
		}
	}
	return nil
}

// unplaced are the contents that the change has at paths which stay as they are for a conflict.
func (m *merging) unplaced() map[objstore.ID]bool {
	contents := map[objstore.ID]bool{}
	for _, t := range m.list {
		if _, set := m.set[string(t.Path)]; set || t.Verdict != value.MergeConflict {
			continue
		}
		edits := m.paths[string(t.Path)]
		if t.Was != "" {
			edits = m.paths[string(t.Was)]
		}
		if len(edits) == 0 {
			continue
		}
		if to := edits[len(edits)-1].to; model.IsFile(to) && to.Size > 0 {
			contents[to.ID] = true
		}
	}
	return contents
}

// leave has a path stay as it is, with the directories that it lies in.
func (m *merging) leave(t *value.Merge, why value.MergeReason) {
	delete(m.set, string(t.Path))
	t.Verdict, t.Reason = value.MergeConflict, why
	for dir, _ := tree.Split(string(t.Path)); dir != ""; dir, _ = tree.Split(dir) {
		to, set := m.set[dir]
		if !set || isDir(to) {
			continue
		}
		delete(m.set, dir)
		for i := range m.list {
			if m.list[i].Path == value.Text(dir) {
				m.list[i].Verdict, m.list[i].Reason = value.MergeConflict, value.ReasonType
			}
		}
	}
}
