package find

import (
	"rewind/objstore"
	"rewind/tree"
)

// maxPairs bounds how many pairs of removed and added files of one checkpoint are compared, as git does by default.
const maxPairs = 1000 * 1000

// origins says of files that appeared between two states which one that disappeared each was: one with the same
// content, else the one that is most like it, at least half. A name that stayed the same is preferred, and each goes to
// one.
func (r *reading) origins(before, after objstore.ID, added []tree.Change) (map[string]tree.Change, error) {
	var changes []tree.Change
	every := &names{}
	if err := r.trees.diff(before, after, every, func(ch tree.Change) { changes = append(changes, ch) }); err != nil {
		return nil, err
	}
	out := map[string]tree.Change{}
	renames, rest := tree.Renames(changes)
	for _, p := range renames {
		out[p.To.Path] = p.From
	}
	var removed, news []tree.Change
	for _, ch := range rest {
		if ch.New == nil && ch.Old.Type == tree.TypeFile && ch.Old.Size > 0 {
			removed = append(removed, ch)
		}
	}
	for _, ch := range added {
		if _, known := out[ch.Path]; !known && ch.New.Type == tree.TypeFile && ch.New.Size > 0 {
			news = append(news, ch)
		}
	}
	if len(removed) == 0 || len(removed)*len(news) > maxPairs {
		return out, nil
	}
	sums := map[objstore.ID]map[uint32]int{}
	piecesOf := func(path string, e *tree.Entry) (map[uint32]int, error) {
		if s, ok := sums[e.ID]; ok {
			return s, nil
		}
		raw, err := r.content(path, e)
		if err == nil {
			sums[e.ID] = pieces(raw)
		}
		return sums[e.ID], err
	}
	taken := map[string]bool{}
	for _, to := range news {
		best, most := -1, 0
		for i, from := range removed {
			if taken[from.Path] || !mayBeAlike(from.Old.Size, to.New.Size) {
				continue
			}
			a, err := piecesOf(from.Path, from.Old)
			if err != nil {
				return nil, err
			}
			b, err := piecesOf(to.Path, to.New)
			if err != nil {
				return nil, err
			}
			common := likeness(a, b)
			if !areAlike(common, from.Old.Size, to.New.Size) {
				continue
			}
			if best < 0 || common > most || common == most && from.Old.Name == to.New.Name && removed[best].Old.Name != to.New.Name {
				best, most = i, common
			}
		}
		if best >= 0 {
			out[to.Path], taken[removed[best].Path] = removed[best], true
		}
	}
	return out, nil
}
