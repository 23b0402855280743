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
	Steps          int      // checkpoints
	Files          int      // files and links that they changed
	Added, Removed int      // lines of them
	Uncounted      int      // files whose lines are not counted: large, binary, gone, or one of very many
	paths          []string // of the files, sorted; the first maxWorkPaths
}

const (
	maxWorkPaths = 4096    // paths that a Work names
	maxWorkFiles = 256     // files of a Work whose lines are counted
	maxLineBytes = 1 << 18 // of a file whose lines are counted
	maxWorks     = 2 << 20 // about what the works that are remembered take in memory, in bytes
)

// works are those that were asked for last: what lies between two checkpoints stays what it is. Safe for concurrent use.
type works struct {
	mu   sync.Mutex
	kept *cache.Cache[workOf, *Work]
}

// workOf is a session's steps from its tip back to, and without, a checkpoint; the zero id: all.
type workOf struct {
	session  string
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

// work is what a session's line did from its tip back to a checkpoint (nil: from its beginning). Steps of other sessions that lie on the
// line are not its own. It is shared: nobody changes it.
func (h *History) work(session string, tip objstore.ID, end *model.Checkpoint, began uint64,
	read func(objstore.ID) (*model.Checkpoint, error),
) (*Work, error) {
	of := workOf{session: session, tip: tip, rewrites: h.log.Rewrites()}
	if end != nil {
		of.end = end.ID
	}
	if w := h.works.get(of); w != nil {
		return w, nil
	}
	var steps []*model.Checkpoint
	for id := tip; !id.IsZero() && id != of.end; {
		cp, err := read(id)
		if err != nil {
			return nil, err
		}
		if cp.Seq < began || end != nil && cp.Seq <= end.Seq {
			break
		}
		if cp.Session == session && (cp.ChangedBy(session) || len(cp.Authors()) == 0) { // else it found what another one did
			steps = append(steps, cp)
		}
		if len(cp.Parents) == 0 {
			break
		}
		id = cp.Parents[0]
	}
	slices.Reverse(steps)
	w, err := h.workOfSteps(steps, read)
	if err == nil {
		h.works.put(of, w)
	}
	return w, err
}

// workOfSteps is what steps did, the oldest first.
func (h *History) workOfSteps(steps []*model.Checkpoint, read func(objstore.ID) (*model.Checkpoint, error)) (*Work, error) {
	w := &Work{Steps: len(steps)}
	if len(steps) == 0 {
		return w, nil
	}
	sums := summing{trees: newMemo(h.log.Objs, objstore.Tree), read: func(id objstore.ID) (*model.Checkpoint, error) { return read(id) }}
	parts, err := sums.stretches(steps)
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
		if w.Files > maxWorkFiles || !h.countLines(w, ch) {
			w.Uncounted++
		}
	}
	slices.Sort(w.paths)
	return w, nil
}

// countLines adds the lines of one changed file; false: they are not told.
func (h *History) countLines(w *Work, ch tree.Change) bool {
	var sides [2][]byte
	for i, ent := range []*tree.Entry{ch.Old, ch.New} {
		if !model.IsFile(ent) {
			continue
		}
		if ent.Size > maxLineBytes {
			return false
		}
		var err error
		if sides[i], err = h.log.Objs.Get(objstore.Blob, ent.ID); err != nil {
			return false
		}
	}
	d := textdiff.Diff(sides[0], sides[1], 0)
	if d.Kind != textdiff.Text {
		return false
	}
	added, removed := textdiff.Stat(d.Hunks)
	w.Added, w.Removed = w.Added+added, w.Removed+removed
	return true
}
