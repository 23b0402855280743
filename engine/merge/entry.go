package merge

import (
	"bytes"
	"slices"

	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// verdict is what became of one edit.
type verdict struct {
	value.MergeVerdict
	reason value.MergeReason
	places int
}

// rank orders verdicts: that of a path is the highest of its edits'.
func (v verdict) rank() int {
	return slices.Index([]value.MergeVerdict{
		value.MergeAlready, value.MergeApplied, value.MergeMerged, value.MergeSettled, value.MergeConflict,
	}, v.MergeVerdict)
}

// same reports whether two entries are the same; of directories, whether both are ones with the same permissions.
func same(a, b *tree.Entry) bool {
	if isDir(a) && isDir(b) {
		return a.Perm == b.Perm
	}
	return tree.Same(a, b)
}

// entry brings one edit to what is there at a path. What is there becomes a directory without anything in it: what is
// below it has edits of its own. A directory becomes a file only where these have left nothing in it.
func (m *merging) entry(path string, e edit, ours *tree.Entry) (*tree.Entry, verdict, error) {
	unchanged := same(ours, e.from)
	if isDir(ours) && unchanged {
		var err error
		if unchanged, err = m.emptied(path, ours); err != nil {
			return ours, verdict{}, err
		}
	}
	switch {
	case same(ours, e.to):
		return ours, verdict{MergeVerdict: value.MergeAlready}, nil
	case unchanged:
		if why, err := m.gone(e.to); err != nil || why != "" {
			return ours, verdict{value.MergeConflict, value.ReasonGone, 0}, err
		}
		return e.to, verdict{MergeVerdict: value.MergeApplied}, nil
	case isDir(ours), isDir(e.to), isDir(e.from): // what is below would have to go, or come
		return ours, verdict{value.MergeConflict, value.ReasonType, 0}, nil
	case ours == nil:
		return m.decide(ours, e.to, value.ReasonDeleted)
	case e.to == nil:
		return m.decide(ours, nil, value.ReasonModified)
	case ours.Type != e.to.Type || e.from != nil && e.from.Type != ours.Type:
		return m.decide(ours, e.to, value.ReasonType)
	case ours.Type == tree.TypeSymlink:
		return m.decide(ours, e.to, value.ReasonLink)
	}
	return m.file(e, ours)
}

// decide settles what cannot be merged: it stays as it is, unless the change is preferred.
func (m *merging) decide(ours, theirs *tree.Entry, why value.MergeReason) (*tree.Entry, verdict, error) {
	switch m.prefer {
	case textdiff.Neither:
		return ours, verdict{value.MergeConflict, why, 0}, nil
	case textdiff.Ours:
		return ours, verdict{value.MergeSettled, why, 0}, nil
	}
	if gone, err := m.gone(theirs); err != nil || gone != "" {
		return ours, verdict{value.MergeConflict, value.ReasonGone, 0}, err
	}
	return theirs, verdict{value.MergeSettled, why, 0}, nil
}

// file merges permissions and content, each by itself.
func (m *merging) file(e edit, ours *tree.Entry) (*tree.Entry, verdict, error) {
	from := e.from
	if from == nil {
		from = &tree.Entry{Type: tree.TypeFile, Perm: ours.Perm}
	}
	to, v := *ours, verdict{MergeVerdict: value.MergeApplied}
	switch {
	case ours.ID == e.to.ID, e.to.ID == from.ID:
	case ours.ID == from.ID:
		if why, err := m.gone(e.to); err != nil || why != "" {
			return ours, verdict{value.MergeConflict, value.ReasonGone, 0}, err
		}
		to.ID, to.Size = e.to.ID, e.to.Size
	default:
		var err error
		if v, err = m.content(e.from, e.to, &to); err != nil {
			return ours, v, err
		}
	}
	switch {
	case ours.Perm == e.to.Perm, from.Perm == e.to.Perm:
	case ours.Perm == from.Perm:
		to.Perm = e.to.Perm
	case m.prefer == textdiff.Theirs:
		to.Perm = e.to.Perm
		fallthrough
	case m.prefer == textdiff.Ours:
		v = higher(v, verdict{value.MergeSettled, value.ReasonMode, 0})
	default:
		v = higher(v, verdict{value.MergeConflict, value.ReasonMode, 0})
	}
	if same(&to, ours) && v.MergeVerdict == value.MergeApplied {
		v.MergeVerdict = value.MergeAlready
	}
	return &to, v, nil
}

func higher(a, b verdict) verdict {
	if a.rank() >= b.rank() {
		return a
	}
	return b
}

// content merges the contents of three files into the one that to has.
func (m *merging) content(from, theirs, to *tree.Entry) (verdict, error) {
	whole := func(why value.MergeReason) (verdict, error) {
		ent, v, err := m.decide(to, theirs, why)
		to.ID, to.Size = ent.ID, ent.Size
		return v, err
	}
	var texts [3][]byte
	for i, ent := range []*tree.Entry{from, to, theirs} {
		if ent == nil {
			continue
		}
		if why, err := m.gone(ent); err != nil || why != "" {
			return verdict{value.MergeConflict, value.ReasonGone, 0}, err
		}
		if ent.Size > textdiff.MaxBytes {
			return whole(value.ReasonTooLarge)
		}
		var err error
		if texts[i], err = m.get.Get(objstore.Blob, ent.ID); err != nil {
			return verdict{}, err
		}
	}
	merged := textdiff.Merge(texts[0], texts[1], texts[2], textdiff.MergeOptions{Ours: "worktree", Theirs: m.name, Prefer: m.prefer})
	switch merged.Kind {
	case textdiff.Binary:
		return whole(value.ReasonBinary)
	case textdiff.TooLarge:
		return whole(value.ReasonTooLarge)
	}
	v := verdict{MergeVerdict: value.MergeMerged}
	if bytes.Equal(merged.Text, texts[1]) {
		v.MergeVerdict = value.MergeAlready
	}
	if v.places = merged.Conflicts; v.places > 0 {
		v.MergeVerdict, v.reason = value.MergeSettled, value.ReasonText
		if m.prefer == textdiff.Neither {
			v.MergeVerdict = value.MergeConflict
		}
	}
	if from == nil && v.reason == value.ReasonText {
		v.reason = value.ReasonAdded
	}
	var err error
	to.ID, to.Size, err = m.capture.Tx.PutReader(bytes.NewReader(merged.Text), to.ID)
	return v, err
}
