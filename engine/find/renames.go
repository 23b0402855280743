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
		if ch.New == nil && hasContent(ch.Old) {
			removed = append(removed, ch)
		}
	}
	for _, ch := range added {
		if _, known := out[ch.Path]; !known && hasContent(ch.New) {
			news = append(news, ch)
		}
	}
	if len(removed) == 0 || len(removed)*len(news) > maxPairs {
		return out, nil
	}
	l := &likest{r: r, removed: removed, sums: map[objstore.ID]map[uint32]int{}, taken: map[string]bool{}}
	for _, to := range news {
		best, err := l.of(to)
		if err != nil {
			return nil, err
		}
		if best >= 0 {
			out[to.Path], l.taken[removed[best].Path] = removed[best], true
		}
	}
	return out, nil
}

func hasContent(e *tree.Entry) bool { return e.Type == tree.TypeFile && e.Size > 0 }

// likest finds the file that disappeared and is most like one that appeared.
type likest struct {
	r       *reading
	removed []tree.Change
	sums    map[objstore.ID]map[uint32]int // the pieces of contents
	taken   map[string]bool                // what one that appeared was
}

// of is the index of the file that is most like to; -1: none is.
func (l *likest) of(to tree.Change) (best int, err error) {
	best, most := -1, 0
	for i, from := range l.removed {
		if l.taken[from.Path] || !areAlike(min(from.Old.Size, to.New.Size), from.Old.Size, to.New.Size) {
			continue
		}
		a, err := l.pieces(from.Path, from.Old)
		if err != nil {
			return -1, err
		}
		b, err := l.pieces(to.Path, to.New)
		if err != nil {
			return -1, err
		}
		common := likeness(a, b)
		if !areAlike(int64(common), from.Old.Size, to.New.Size) {
			continue
		}
		keepsName := best >= 0 && from.Old.Name == to.New.Name && l.removed[best].Old.Name != to.New.Name
		if best < 0 || common > most || common == most && keepsName {
			best, most = i, common
		}
	}
	return best, nil
}

func (l *likest) pieces(path string, e *tree.Entry) (map[uint32]int, error) {
	if s, ok := l.sums[e.ID]; ok {
		return s, nil
	}
	raw, err := l.r.content(path, e)
	if err == nil {
		l.sums[e.ID] = pieces(raw)
	}
	return l.sums[e.ID], err
}
