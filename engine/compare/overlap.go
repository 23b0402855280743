package compare

import (
	"bytes"
	"slices"

	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// overlap fills in the paths that both sides changed. Directories do not count: what is in them does, unless one side
// has a file there.
func (res *Result) overlap() error {
	a, b := byPath(res.Sides[0].Changes), byPath(res.Sides[1].Changes)
	moved := [2]map[string]tree.Change{moves(res.Sides[0].Changes), moves(res.Sides[1].Changes)}
	res.apart = map[string]int{}
	for path, ours := range a {
		theirs, both := b[path]
		if !both || !model.IsFile(ours.New) && !model.IsFile(theirs.New) && !model.IsFile(ours.Old) && !modes(ours, theirs) {
			continue
		}
		base, in, out, was := ours.Old, ours.New, theirs.New, ""
		if to, ok := moved[0][path]; ok && out != nil {
			in, was, path = to.New, path, to.Path
		} else if to, ok := moved[1][path]; ok && in != nil {
			out, was, path = to.New, path, to.Path
		}
		o, apart, err := res.verdict(base, in, out)
		if err != nil {
			return err
		}
		if o.Path, o.Was = value.Text(path), value.Text(was); apart >= 0 && was == "" {
			res.apart[path] = apart
		}
		res.Overlaps = append(res.Overlaps, o)
	}
	res.Overlaps = append(res.Overlaps, blocked(a, b)...)
	res.Overlaps = append(res.Overlaps, blocked(b, a)...)
	slices.SortFunc(res.Overlaps, func(x, y value.Overlap) int {
		return tree.ComparePaths(string(x.Path), string(y.Path))
	})
	return nil
}

func byPath(list []tree.Change) map[string]tree.Change {
	m := make(map[string]tree.Change, len(list))
	for _, ch := range list {
		m[ch.Path] = ch
	}
	return m
}

// moves are the files that were moved with their content, by where they were.
func moves(list []tree.Change) map[string]tree.Change {
	m := map[string]tree.Change{}
	renames, _ := tree.Renames(list)
	for _, r := range renames {
		m[r.From.Path] = r.To
	}
	return m
}

func isDir(e *tree.Entry) bool { return e != nil && e.Type == tree.TypeDir }

// modes reports whether both sides changed the permissions of a directory that stayed.
func modes(a, b tree.Change) bool { return isDir(a.Old) && isDir(a.New) && isDir(b.New) }

// blocked are the paths that one side has below what the other has made a file or link of.
func blocked(has, by map[string]tree.Change) (list []value.Overlap) {
	for path, ch := range has {
		if ch.New == nil || isDir(ch.New) {
			continue
		}
		for dir, _ := tree.Split(path); dir != ""; dir, _ = tree.Split(dir) {
			if over, ok := by[dir]; ok && over.New != nil && !isDir(over.New) {
				list = append(list, value.Overlap{Path: value.Text(path), Verdict: value.OverlapCollide, Reason: value.ReasonBlocked})
				break
			}
		}
	}
	return list
}

// same reports whether two sides left the same; of directories, with the same permissions.
func same(a, b *tree.Entry) bool {
	if isDir(a) && isDir(b) {
		return a.Perm == b.Perm
	}
	return tree.Same(a, b)
}

func collide(why value.MergeReason) value.Overlap {
	return value.Overlap{Verdict: value.OverlapCollide, Reason: why}
}

// verdict says whether what A and B made of one path goes together, and in how many lines the two differ; -1: in all of
// them.
func (res *Result) verdict(base, a, b *tree.Entry) (o value.Overlap, apart int, err error) {
	switch {
	case same(a, b):
		return value.Overlap{Verdict: value.OverlapSame}, 0, nil
	case isDir(a) && isDir(b):
		return collide(value.ReasonMode), -1, nil
	case isDir(a), isDir(b), isDir(base):
		return collide(value.ReasonType), -1, nil
	case a == nil:
		return collide(value.ReasonDeleted), -1, nil
	case b == nil:
		return collide(value.ReasonModified), -1, nil
	case a.Type != b.Type || base != nil && base.Type != a.Type:
		return collide(value.ReasonType), -1, nil
	case a.Type == tree.TypeSymlink:
		return collide(value.ReasonLink), -1, nil
	}
	if o, apart, err = res.content(base, a, b); err != nil || o.Verdict == value.OverlapCollide {
		return o, apart, err
	}
	if a.Perm != b.Perm && (base == nil || a.Perm != base.Perm && b.Perm != base.Perm) {
		o = collide(value.ReasonMode)
	}
	return o, apart, nil
}

// gone is why the content of a file is in none of the stores any more; "": it is in one.
func (res *Result) gone(ent *tree.Entry) (value.KeptReason, error) {
	a, b := res.Sides[0].in.log, res.Sides[1].in.log
	if a == b {
		return a.GoneEntry(ent)
	}
	return a.GoneBeside(b, ent)
}

// content is verdict for the contents of files.
func (res *Result) content(base, a, b *tree.Entry) (o value.Overlap, apart int, err error) {
	o.Verdict = value.OverlapClean
	if a.ID == b.ID {
		return o, 1, nil // the permissions
	}
	if base != nil && (a.ID == base.ID || b.ID == base.ID) {
		return o, -1, nil
	}
	var texts [3][]byte
	for i, ent := range []*tree.Entry{base, a, b} {
		if ent == nil {
			continue
		}
		if why, err := res.gone(ent); err != nil || why != "" {
			return collide(value.ReasonGone), -1, err
		}
		if ent.Size > textdiff.MaxBytes {
			return collide(value.ReasonTooLarge), -1, nil
		}
		if texts[i], err = res.get.Get(objstore.Blob, ent.ID); err != nil {
			return o, -1, err
		}
	}
	merged := textdiff.Merge(texts[0], texts[1], texts[2], textdiff.MergeOptions{})
	switch merged.Kind {
	case textdiff.Binary:
		return collide(value.ReasonBinary), -1, nil
	case textdiff.TooLarge:
		return collide(value.ReasonTooLarge), -1, nil
	}
	if merged.Conflicts > 0 {
		o = collide(value.ReasonText)
		if base == nil {
			o.Reason = value.ReasonAdded
		}
		o.Places = merged.Conflicts
	}
	one, other := texts[1], texts[2]
	if bytes.Compare(a.ID[:], b.ID[:]) > 0 { // the same whichever side is named first
		one, other = other, one
	}
	added, removed := textdiff.Stat(textdiff.Diff(one, other, 0).Hunks)
	return o, added + removed, nil
}
