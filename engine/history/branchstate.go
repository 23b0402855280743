package history

import (
	"slices"
	"sync"

	"rewind/engine/model"
	"rewind/internal/cache"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
)

// Work is what a branch did to the code since some state of it: what its own steps changed, taken together.
type Work struct {
	Steps          int           // checkpoints
	Files          int           // files and links that they changed
	Added, Removed int           // lines of them
	Uncounted      int           // files whose lines are not counted: large, binary, gone, or one of very many
	paths          []string      // of the files, sorted; the first maxWorkPaths
	git            model.GitHead // of the tip
}

const (
	maxWorkPaths = 4096    // paths that a Work names
	maxWorkFiles = 256     // files of a Work whose lines are counted
	maxLineBytes = 1 << 18 // of a file whose lines are counted
	maxWorks     = 2 << 20 // about what the works that are remembered take in memory, in bytes
)

// works are those that were asked for last: what lies between two checkpoints stays what it is. Safe for concurrent
// use.
type works struct {
	mu   sync.Mutex
	kept *cache.Cache[workOf, *Work]
}

// workOf is a session's steps from its tip back to, and without, a checkpoint; the zero id: all.
type workOf struct {
	session  string
	way      int // of a branch within it its last turn
	tip, end objstore.ID
	rewrites uint64 // of the log by gc
}

func (k *works) get(of workOf) *Work {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return nil
	}
	w, _ := k.kept.Get(of)
	return w
}

func (k *works) put(of workOf, w *Work) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = cache.New[workOf](maxWorks, func(w *Work) int {
			weight := 256
			for _, p := range w.paths {
				weight += 16 + len(p)
			}
			return weight
		})
	}
	k.kept.Put(of, w)
}

// work is what a session's line did from its tip back to a checkpoint (the zero id: from its beginning), in these turns
// alone (nil: in all). Steps of other sessions that lie on the line are not its own. It is shared: nobody changes it.
// What is remembered is told without a checkpoint being read.
func (h *History) work(
	of workOf, began uint64, turns []int, read func(objstore.ID) (*model.Checkpoint, error),
) (*Work, error) {
	of.rewrites = h.log.Rewrites()
	if w := h.works.get(of); w != nil {
		return w, nil
	}
	tip, err := read(of.tip)
	if err != nil {
		return nil, err
	}
	until := began
	if !of.end.IsZero() {
		end, err := read(of.end)
		if err != nil {
			return nil, err
		}
		until = max(until, end.Seq+1)
	}
	var steps []*model.Checkpoint
	for cp := tip; cp.ID != of.end && cp.Seq >= until; {
		its := turns == nil || slices.Contains(turns, int(cp.Cause.Turn))
		if its && cp.Session == of.session && (cp.ChangedBy(of.session) || len(cp.Authors()) == 0) { // else it found what another one did
			steps = append(steps, cp)
		}
		if len(cp.Parents) == 0 {
			break
		}
		if cp, err = read(cp.Parents[0]); err != nil {
			return nil, err
		}
	}
	slices.Reverse(steps)
	w, err := h.workOfSteps(steps, read)
	if err == nil {
		w.git = tip.Git
		h.works.put(of, w)
	}
	return w, err
}

// workOfSteps is what steps did, the oldest first.
func (h *History) workOfSteps(
	steps []*model.Checkpoint, read func(objstore.ID) (*model.Checkpoint, error),
) (*Work, error) {
	w := &Work{Steps: len(steps)}
	if len(steps) == 0 {
		return w, nil
	}
	sums := summing{trees: newMemo(h.log.Objs, objstore.Tree), read: func(id objstore.ID) (*model.Checkpoint, error) { return read(id) }}
	parts, err := sums.stretches(&Row{Of: steps[0].Session, Turn: steps[0].Cause.Turn, Steps: steps})
	if err != nil {
		return nil, err
	}
	got, err := sums.compare(parts, nil)
	if err != nil {
		return nil, err
	}
	for _, ch := range got.changes {
		if !model.IsFile(ch.Old) && !model.IsFile(ch.New) {
			continue
		}
		w.Files++
		if len(w.paths) < maxWorkPaths {
			w.paths = append(w.paths, ch.Path)
		}
		counted := false
		if w.Files <= maxWorkFiles {
			if counted, err = h.countLines(w, ch); err != nil {
				return nil, err
			}
		}
		if !counted {
			w.Uncounted++
		}
	}
	slices.Sort(w.paths)
	return w, nil
}

// countLines adds the lines of one changed file; false: they are not told.
func (h *History) countLines(w *Work, ch tree.Change) (bool, error) {
	var sides [2][]byte
	for i, ent := range []*tree.Entry{ch.Old, ch.New} {
		if !model.IsFile(ent) {
			continue
		}
		if ent.Size > maxLineBytes {
			return false, nil
		}
		var err error
		if sides[i], err = h.log.Objs.Get(objstore.Blob, ent.ID); model.MayPass(err) {
			return false, err
		}
		if err != nil {
			return false, nil // lost, or purged
		}
	}
	d := textdiff.Diff(sides[0], sides[1], 0)
	if d.Kind != textdiff.Text {
		return false, nil
	}
	added, removed := textdiff.Stat(d.Hunks)
	w.Added, w.Removed = w.Added+added, w.Removed+removed
	return true, nil
}

// A Clash is another branch that has changed files which one has changed too, each since its own fork point.
type Clash struct {
	With  string
	Paths []string // the first maxClashPaths
	Files int
}

const (
	maxClashes    = 8
	maxClashPaths = 8
)

// clashes finds which branches have changed the same files as others that were forked from the same session, or as that
// one since. A branch within a session collides with nothing: its code and what came after it are one line.
func (t *treeMaker) clashes() {
	at := map[string]int{}
	for i := range t.out {
		at[t.out[i].Branch] = i
	}
	groups := map[string][]int{}
	t.met = make([]int, len(t.out)+1)
	for i := range t.out {
		if p := t.out[i].Parent; p != "" && t.out[i].Way == nil {
			groups[p] = append(groups[p], i)
		}
	}
	for parent, group := range groups {
		byPath := map[string][]int{}
		for _, i := range group {
			for _, p := range t.out[i].Work.paths {
				byPath[p] = append(byPath[p], i)
			}
		}
		for _, i := range group {
			t.clash(i, t.sinceFork(at[parent], i), byPath)
		}
	}
}

// sinceFork is what a session did since the fork point of branch i, which was made of it; nil: nothing that is known.
func (t *treeMaker) sinceFork(parent, i int) *Branch {
	p, point := t.out[parent], t.out[i].point
	if point.IsZero() || p.Way != nil || p.Tip.IsZero() || p.Tip == point {
		return nil
	}
	in, read := t.h, t.read
	if p.in != nil {
		in, read = p.in, p.in.log.CheckpointsOnce()
	}
	w, err := in.work(workOf{session: p.Name, tip: p.Tip, end: point}, p.Began, nil, read)
	if err != nil {
		return nil // a hint is missing, and the tree is told
	}
	p.Work = *w
	return &p
}

// clash tells with whom branch i clashes: with its original (nil: that has not gone on), and with its siblings.
func (t *treeMaker) clash(i int, original *Branch, byPath map[string][]int) {
	b := &t.out[i]
	add := func(with int, name, path string) {
		if t.met[with] != i+1 {
			t.met[with] = i + 1
			if b.Clashes++; b.Clashes > maxClashes {
				return
			}
			b.Conflicts = append(b.Conflicts, Clash{With: name})
		}
		for k := range b.Conflicts {
			if c := &b.Conflicts[k]; c.With == name {
				if c.Files++; len(c.Paths) < maxClashPaths {
					c.Paths = append(c.Paths, path)
				}
			}
		}
	}
	if original != nil {
		for _, p := range original.Work.paths {
			if _, mine := slices.BinarySearch(b.Work.paths, p); mine {
				add(len(t.out), original.Name, p)
			}
		}
	}
	for _, p := range b.Work.paths {
		for _, k := range byPath[p] {
			if k != i {
				add(k, t.out[k].Name, p)
			}
		}
	}
}
