package merge

import (
	"maps"
	"slices"

	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// A database and its companions (tree.CompanionOf) are one content, which is no text: what a merge makes of them must
// be what one of the states that it merges has of all of them.

// settleDatabases makes a conflict of every database of which some files would be of one state and some of another.
func (m *merging) settleDatabases() error {
	found := map[string]bool{}
	for path := range m.set {
		of, ok := tree.CompanionOf(path)
		if !ok {
			of = path
		}
		found[of] = true
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if err := m.settleDatabase(path); err != nil {
			return err
		}
	}
	return nil
}

func (m *merging) settleDatabase(path string) error {
	states := m.statesOf(path)
	members, err := m.databaseAt(path, states)
	if err != nil || len(members) == 0 {
		return err
	}
	for _, state := range states {
		if is, err := m.becomes(members, state); err != nil || is {
			return err
		}
	}
	if m.prefer == textdiff.Theirs && len(states) > 1 {
		return m.setDatabase(members, states[len(states)-1])
	}
	for _, p := range members {
		if _, ok := m.set[p]; ok {
			delete(m.set, p)
			m.verdictOf(p, value.MergeConflict)
		}
	}
	return nil
}

// statesOf are the states that a database could come to have: the worktree's, and those that the edits of its files
// lead to.
func (m *merging) statesOf(path string) []objstore.ID {
	states := []objstore.ID{m.capture.Res.Root}
	for _, p := range append(tree.Companions(path), path) {
		for _, e := range m.paths[p] {
			if !slices.Contains(states, e.toTree) {
				states = append(states, e.toTree)
			}
		}
	}
	return states
}

// databaseAt are the paths of a database and of its companions in some states; none where there is no database, or it
// has no companion.
func (m *merging) databaseAt(path string, states []objstore.ID) ([]string, error) {
	var members []string
	for _, state := range states {
		head, err := m.head(state, path)
		if err != nil {
			return nil, err
		}
		for _, p := range tree.Companions(path) {
			own, err := m.head(state, p)
			if err != nil {
				return nil, err
			}
			if own != nil && tree.Accompanies(p, head, own) && !slices.Contains(members, p) {
				members = append(members, p)
			}
		}
	}
	if len(members) > 0 {
		members = append(members, path)
	}
	return members, nil
}

// head is what the file of a path begins with in a state; nil if there is none.
func (m *merging) head(state objstore.ID, path string) ([]byte, error) {
	ent, err := m.trees.find(m.get, state, path)
	if err != nil || !model.IsFile(ent) || ent.Type != tree.TypeFile {
		return nil, err
	}
	head, err := m.log.HeadOf(m.get, ent.ID)
	return append([]byte{}, head...), err
}

// becomes reports whether the merge makes of a database what a state has of it.
func (m *merging) becomes(members []string, state objstore.ID) (bool, error) {
	for _, p := range members {
		ours, err := m.find(p)
		if err != nil {
			return false, err
		}
		theirs, err := m.trees.find(m.get, state, p)
		if err != nil || !same(ours, theirs) {
			return false, err
		}
	}
	return true, nil
}

// setDatabase sets a database to what a state has of it, because that is preferred.
func (m *merging) setDatabase(members []string, state objstore.ID) error {
	for _, p := range members {
		theirs, err := m.trees.find(m.get, state, p)
		if err == nil {
			err = m.borrow(theirs)
		}
		if err != nil {
			return err
		}
		m.set[p] = theirs
		m.verdictOf(p, value.MergeSettled)
	}
	return nil
}

// verdictOf says of a file of a database what became of it.
func (m *merging) verdictOf(path string, v value.MergeVerdict) {
	is := value.Merge{Path: value.Text(path), Verdict: v, Reason: value.ReasonBinary}
	for i := range m.list {
		if string(m.list[i].Path) == path {
			m.list[i] = is
			return
		}
	}
	m.list = append(m.list, is)
}
