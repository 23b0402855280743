package history

import (
	"errors"
	"slices"
	"sync"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/cache"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// summing says of rows what their steps changed, taken together.
type summing struct {
	known *sums
	trees objstore.Getter
	most  int // changes of a row; 0: all
	read  func(objstore.ID) (*model.Checkpoint, error)
	// restored reports whether a restore of some paths made a change that a step found, which is nobody's call
	restored func(step *model.Checkpoint, ch tree.Change) bool
}

// A stretch is steps that follow each other: one comparison of two trees.
type stretch struct {
	from, to objstore.ID
	of       string // the session whose turn the row is, where others' changes are among them; "": all of them are the row's
	mine     func(path string) bool
	persons  func(path string) bool // nobody's call changed it; nil: none such is among them
	step     *model.Checkpoint      // that found persons' changes
}

// sum is what some stretches changed.
type sum struct {
	counts  model.Counts
	changes []tree.Change
	cut     bool
	yours   []string // paths that nobody's call changed between the row's steps; at most as many as changes
	set     []string // paths that restores of some paths set there; at most as many as changes
}

// fill completes a row. Where others came between its steps, what each changed is put together path by path.
func (s *summing) fill(r *Row) error {
	parts, err := s.stretches(r)
	if err != nil {
		return err
	}
	got, known := sum{}, false
	if s.most > 0 {
		got, known = s.known.get(parts, s.most)
	}
	if !known {
		var counted *model.Counts
		if s.most > 0 && len(parts) == 1 && parts[0].mine == nil && len(r.Steps) == 1 {
			counted = &r.Steps[0].Counts
		}
		if got, err = s.compare(parts, counted); err != nil {
			return err
		}
		if s.most > 0 {
			s.known.put(parts, s.most, got)
		}
	}
	r.Counts, r.Changes, r.Cut, r.Yours = got.counts, got.changes, got.cut, got.yours
	r.Restored = got.set
	return nil
}

func (s *summing) stretches(r *Row) (parts []stretch, err error) {
	var last *model.Checkpoint // most steps stand on the one before
	read := func(id objstore.ID) (*model.Checkpoint, error) {
		if last != nil && last.ID == id {
			return last, nil
		}
		return s.read(id)
	}
	ends := r.Count > len(r.Steps)
	for i, cp := range slices.Concat(r.Steps, r.Found) {
		before, err := oplog.Before(cp, read)
		if err != nil {
			return nil, err
		}
		last = cp
		mixed := len(cp.Owned) > 0 || len(cp.By) == 0
		switch n := len(parts); {
		case r.Turn > 0 && (mixed || i >= len(r.Steps)):
			p := stretch{from: before, to: cp.Tree, of: r.Of, mine: cp.PartOf(r.Of)}
			if authors := cp.AuthorsOf(); cp.HasPersons() {
				p.persons, p.step = func(path string) bool { return len(authors(path)) == 0 }, cp
			}
			parts = append(parts, p)
		case ends && i > 0: // all steps between are the row's alone
			parts[0].to = cp.Tree
		case n > 0 && parts[n-1].to == before && parts[n-1].mine == nil:
			parts[n-1].to = cp.Tree
		default:
			parts = append(parts, stretch{from: before, to: cp.Tree})
		}
	}
	return parts, nil
}

// compare reads trees. counted is what a checkpoint that is all of it says of itself: the rest needs not be read then.
// nil: there is none.
func (s *summing) compare(parts []stretch, counted *model.Counts) (got sum, err error) {
	paths := map[string]int{}
	for _, p := range parts {
		err := tree.Diff(s.trees, p.from, p.to, func(ch tree.Change) error {
			if counted != nil && len(got.changes) == s.most {
				got.cut = true
				return tree.SkipAll
			}
			if p.mine != nil && !p.mine(ch.Path) {
				s.beside(&got, p, ch)
				return nil
			}
			if i, again := paths[ch.Path]; again {
				got.changes[i].New = ch.New
				return nil
			}
			if len(parts) > 1 {
				paths[ch.Path] = len(got.changes)
			}
			got.changes = append(got.changes, ch)
			return nil
		})
		if err != nil {
			return got, err
		}
	}
	if len(parts) > 1 {
		got.changes = slices.DeleteFunc(got.changes, func(ch tree.Change) bool { return tree.Same(ch.Old, ch.New) })
		slices.SortFunc(got.changes, func(a, b tree.Change) int { return tree.ComparePaths(a.Path, b.Path) })
	}
	if got.cut {
		got.counts.Added, got.counts.Modified, got.counts.Deleted = counted.Added, counted.Modified, counted.Deleted
		return got, nil
	}
	for _, ch := range got.changes {
		got.counts.Add(ch)
	}
	if s.most > 0 && len(got.changes) > s.most {
		got.changes, got.cut = slices.Clone(got.changes[:s.most]), true
	}
	return got, nil
}

// beside takes in a change that is not the row's.
func (s *summing) beside(got *sum, p stretch, ch tree.Change) {
	file := model.IsFile(ch.Old) || model.IsFile(ch.New)
	if !file || p.persons == nil || !p.persons(ch.Path) {
		return
	}
	list := &got.yours
	if s.restored != nil && s.restored(p.step, ch) {
		list = &got.set
	}
	if room := s.most == 0 || len(*list) < s.most; room && !slices.Contains(*list, ch.Path) {
		*list = append(*list, ch.Path)
	}
}

// restoredBy reports whether the newest restore of some paths between a step and the one before it left a path as the
// step has it. Such a restore moves no cursor, and the next step finds what it set; nobody's call did it.
func (h *History) restoredBy(step *model.Checkpoint, ch tree.Change) (is bool) {
	parent, err := h.log.Checkpoint(step.Parent())
	if err != nil {
		return false
	}
	_ = h.ledger.Restores(step.Seq, func(op *refs.Operation) error { // where they cannot be read, it is a person's
		if op.Seq <= parent.Seq {
			return kv.ErrStop
		}
		if r := op.Restore; r == nil || len(r.Paths) == 0 || !r.Paths.Has(ch.Path) {
			return nil
		}
		is = h.targetHas(op.Restore.Target, ch)
		return kv.ErrStop
	})
	return is
}

// targetHas reports whether a checkpoint has a path as it is after a change.
func (h *History) targetHas(target objstore.ID, ch tree.Change) bool {
	cp, err := h.log.Checkpoint(target)
	if err != nil {
		return false
	}
	ent, err := tree.Lookup(h.log.Objs, cp.Tree, ch.Path)
	if errors.Is(err, tree.ErrNotFound) {
		return ch.New == nil
	}
	return err == nil && tree.Same(&ent, ch.New)
}

// sums are what rows that were listed lately have changed: what lies between two trees stays what it is. Safe for
// concurrent use.
type sums struct {
	mu   sync.Mutex
	kept *cache.Cache[sumOf, sum]
}

type sumOf struct {
	stretches string // their ids, one behind the other
	most      int
}

const (
	maxSums     = 12 << 20 // bytes, about, in memory while lists are asked for: twice 1,000 turns of 15 files
	sumsAtRest  = 256      // that are kept when nothing is asked for: more are of a list of all turns
	changeBytes = 320      // about what a change takes
)

// trim gives them up where they are more than those of a list of the newest rows.
func (k *sums) trim() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept != nil {
		k.kept.Trim(sumsAtRest)
	}
}

func keyOf(parts []stretch, most int) sumOf {
	ids := make([]byte, 0, 2*len(parts)*len(objstore.ID{}))
	for _, p := range parts {
		ids = append(append(append(ids, p.from[:]...), p.to[:]...), p.of...)
		if p.step != nil {
			ids = append(ids, p.step.ID[:]...)
		}
	}
	return sumOf{string(ids), most}
}

func (k *sums) get(parts []stretch, most int) (sum, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return sum{}, false
	}
	got, ok := k.kept.Get(keyOf(parts, most))
	got.changes = slices.Clone(got.changes) // the row is the caller's
	return got, ok
}

func (k *sums) put(parts []stretch, most int, got sum) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = cache.New[sumOf](maxSums, func(s sum) int { return changeBytes * (1 + len(s.changes)) })
	}
	got.changes = slices.Clone(got.changes)
	k.kept.Put(keyOf(parts, most), got)
}
