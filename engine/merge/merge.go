package merge

import (
	"cmp"
	"maps"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Options are how a change is brought in.
type Options struct {
	Only    refs.PathSet // these paths of it
	Reverse bool         // what it did is taken back
	Prefer  textdiff.Side
	Clean   bool // a path with a conflict stays as it is
	// Yields, of Clean, says of a path with a conflict that it becomes what it is after the change; nil: none does
	Yields func(path string) bool
	still  bool   // of Clean: no file is followed to another path, and who goes back decides on what stays
	name   string // of the other side, in the markers of a conflict; "": change
}

// Merged is what a change makes of the captured worktree.
type Merged struct {
	Set  map[string]*tree.Entry // what paths become; nil: nothing
	List []value.Merge          // what became of the change at each file and link, by path
	// Yielded are paths of Set that had a conflict; List has them not
	Yielded map[string]bool
}

// Into brings a change into a captured worktree. What it makes is put into the capture's transaction.
func (m *Merger) Into(c *capture.Capture, ch *Change, o Options) (*Merged, error) {
	in := &merging{
		log: m.log, from: ch.from, capture: c, get: c.Get, prefer: o.Prefer,
		back: o.Reverse, clean: o.Clean, still: o.still, yields: o.Yields, name: cmp.Or(o.name, "change"),
		now: oplog.NewLookups(c.Get, c.Res.Root), trees: lookups{},
		paths: map[string][]edit{}, moved: map[objstore.ID]map[string]string{}, set: map[string]*tree.Entry{},
		yielded: map[string]bool{},
	}
	if ch.from != nil {
		in.get = tree.NewMemo(oplog.Beside{Here: c.Get, There: ch.from})
	}
	for path, edits := range ch.edits {
		if o.Only.Has(path) {
			in.paths[path] = edits
		}
	}
	if o.Reverse {
		in.reverse()
	}
	err := in.merge()
	if err == nil {
		err = in.settleDatabases()
	}
	if err == nil && !o.still {
		err = in.keepMoved()
	}
	if err != nil {
		return nil, err
	}
	return in.merged(), nil
}

// merged is what has become of all paths.
func (m *merging) merged() *Merged {
	out := &Merged{Set: m.set, List: m.list, Yielded: map[string]bool{}}
	for path := range m.yielded {
		_, out.Yielded[path] = m.set[path]
	}
	out.List = slices.DeleteFunc(out.List, func(t value.Merge) bool { return out.Yielded[string(t.Path)] })
	return out
}

// Sets reports whether a path is set; of nil none is.
func (r *Merged) Sets(path string) bool {
	if r == nil {
		return false
	}
	_, is := r.Set[path]
	return is
}

// Touched are the paths that are set.
func (r *Merged) Touched() refs.PathSet {
	return slices.SortedFunc(maps.Keys(r.Set), tree.ComparePaths)
}

// Steps are what is set, by path.
func (r *Merged) Steps() []tree.Change {
	steps := make([]tree.Change, 0, len(r.Set))
	for _, path := range r.Touched() {
		steps = append(steps, tree.Change{Path: path, New: r.Set[path]})
	}
	return steps
}

// merging is one change on its way into a captured worktree, path by path.
type merging struct {
	log     *oplog.Log
	from    *oplog.Log // of the worktree that has lent the change; nil: it is of this one
	capture *capture.Capture
	get     objstore.Getter // what edits name, and what the capture has
	prefer  textdiff.Side
	back    bool // what was done is taken back
	clean   bool // no path that cannot be merged is touched
	still   bool // nor one that is elsewhere now
	yields  func(path string) bool
	yielded map[string]bool
	name    string
	now     *oplog.Lookups
	trees   lookups
	paths   map[string][]edit
	moved   map[objstore.ID]map[string]string // by the tree that they were in: where files are now
	set     map[string]*tree.Entry
	list    []value.Merge
}

// reverse makes of all edits what takes them back, the newest first.
func (m *merging) reverse() {
	for path, list := range m.paths {
		back := make([]edit, 0, len(list))
		for _, e := range slices.Backward(list) {
			back = append(back, e.reverse())
		}
		m.paths[path] = back
	}
}

// merge fills set and list. Directories are made with what is in them, and go, or become files, when nothing is left in
// them.
func (m *merging) merge() error {
	var dirs []string
	for _, path := range slices.SortedFunc(maps.Keys(m.paths), tree.ComparePaths) {
		edits := m.paths[path]
		if only := onlyDirectory(edits[0].from, edits[len(edits)-1].to); only || isDir(edits[0].from) {
			dirs = append(dirs, path)
			continue
		}
		if err := m.path(path, edits); err != nil {
			return err
		}
	}
	for _, path := range slices.Backward(dirs) {
		bring, edits := m.dir, m.paths[path]
		if !onlyDirectory(edits[0].from, edits[len(edits)-1].to) {
			bring = m.path
		}
		if err := bring(path, edits); err != nil {
			return err
		}
	}
	slices.SortStableFunc(m.list, func(a, b value.Merge) int {
		return tree.ComparePaths(string(a.Path), string(b.Path))
	})
	return nil
}

// onlyDirectory reports whether a change makes, removes or changes a directory, and nothing else is in its place.
func onlyDirectory(from, to *tree.Entry) bool {
	if from == nil {
		return isDir(to)
	}
	return isDir(from) && (to == nil || isDir(to))
}

func isDir(e *tree.Entry) bool { return e != nil && e.Type == tree.TypeDir }

// find is what is at a path, with what is set already.
func (m *merging) find(path string) (*tree.Entry, error) {
	if to, ok := m.set[path]; ok {
		return to, nil
	}
	return m.now.Find(path)
}

// path merges the edits of a file or link.
func (m *merging) path(path string, edits []edit) error {
	at, err := m.whereabouts(path, edits)
	if err != nil {
		return err
	}
	was, err := m.find(at)
	if err != nil {
		return err
	}
	told := value.Merge{Path: value.Text(at), Verdict: value.MergeAlready}
	if at != path {
		told.Was = value.Text(path)
	}
	ours := was
	for _, e := range edits {
		var v verdict
		if ours, v, err = m.entry(at, e, ours); err != nil {
			return err
		}
		if v.rank() > (verdict{MergeVerdict: told.Verdict}).rank() {
			told.Verdict, told.Reason = v.MergeVerdict, v.reason
		}
		told.Places += v.places
	}
	if stays := m.clean && told.Verdict == value.MergeConflict; stays {
		if ours, err = m.stuck(&told, was, edits[len(edits)-1].to); err != nil {
			return err
		}
	}
	if !same(ours, was) {
		why, err := m.obstacle(at, was, ours, edits[0].toTree)
		if err != nil {
			return err
		}
		if why == "" {
			if err := m.borrow(ours); err != nil {
				return err
			}
			m.set[at] = ours
		} else {
			told = value.Merge{Path: told.Path, Was: told.Was, Verdict: value.MergeConflict, Reason: why}
		}
	}
	m.list = append(m.list, told)
	return nil
}

// stuck is what becomes of a path with a conflict that is not written: it stays as it was, or yields.
func (m *merging) stuck(told *value.Merge, was, to *tree.Entry) (*tree.Entry, error) {
	path := string(told.Path)
	yields, err := m.isToYield(path, was, to)
	if err != nil || !yields {
		return was, err
	}
	m.yielded[path] = true
	if same(to, was) {
		*told = value.Merge{Path: told.Path, Was: told.Was, Verdict: value.MergeAlready}
	}
	return to, nil
}

// isToYield reports whether a path with a conflict becomes what the change leads to. A directory with something in it
// does not.
func (m *merging) isToYield(path string, was, to *tree.Entry) (bool, error) {
	if m.yields == nil || !m.yields(path) {
		return false, nil
	}
	if isDir(was) {
		if empty, err := m.emptied(path, was); err != nil || !empty {
			return false, err
		}
	}
	why, err := m.gone(to)
	return why == "", err
}

// obstacle is why a path cannot be set; "": it can, and the directories above it are set if they are missing.
func (m *merging) obstacle(path string, was, to *tree.Entry, from objstore.ID) (value.MergeReason, error) {
	if was == nil && to != nil {
		hidden, _, err := m.uncaptured(path)
		if err != nil || hidden {
			return value.ReasonUncaptured, err
		}
	}
	if to == nil {
		return "", nil
	}
	missing := map[string]*tree.Entry{}
	for dir, _ := tree.Split(path); dir != ""; dir, _ = tree.Split(dir) {
		set, why, err := m.missing(dir, from)
		if err != nil || why != "" {
			return why, err
		}
		if set != nil {
			missing[dir] = set
		}
	}
	maps.Copy(m.set, missing)
	return "", nil
}

// missing is what a directory has to be set to so that something can be set below it; nil: it is there. why: it cannot.
func (m *merging) missing(dir string, from objstore.ID) (set *tree.Entry, why value.MergeReason, err error) {
	is, err := m.find(dir)
	switch {
	case err != nil:
		return nil, "", err
	case isDir(is):
		return nil, "", nil
	case is != nil:
		return nil, value.ReasonBlocked, nil
	}
	// in an ignored directory there is room
	if hidden, isDir, err := m.uncaptured(dir); err != nil || hidden && !isDir {
		return nil, value.ReasonUncaptured, err
	}
	if is, err = m.trees.find(m.get, from, dir); err != nil {
		return nil, "", err
	}
	if !isDir(is) {
		return nil, value.ReasonBlocked, nil
	}
	return is, "", nil
}

// uncaptured reports whether something is on disk at a path that the capture has nothing of, and whether it is a
// directory.
func (m *merging) uncaptured(path string) (there, isDir bool, err error) {
	if !model.Covered(m.capture.Res.Skips, path) {
		return false, false, nil
	}
	root, err := m.log.Root()
	if err != nil {
		return false, false, err
	}
	defer root.Close()
	isDir, there, err = capture.OnDisk(root, path)
	return there, isDir, err
}

// dir makes or removes a directory, or sets its permissions. It goes only if nothing is left in it.
func (m *merging) dir(path string, edits []edit) error {
	from, to := edits[0].from, edits[len(edits)-1].to
	is, err := m.find(path)
	switch {
	case err != nil:
		return err
	case from == nil && is == nil:
		why, err := m.obstacle(path, nil, to, edits[len(edits)-1].toTree)
		if err == nil && why == "" {
			m.set[path] = to
		}
		return err
	case to == nil && isDir(is):
		if empty, err := m.emptied(path, is); err != nil || !empty {
			return err
		}
		m.set[path] = nil
	case isDir(from) && isDir(to) && isDir(is):
		if is.Perm == from.Perm && to.Perm != is.Perm {
			perm := *is
			perm.Perm = to.Perm
			m.set[path] = &perm
		}
	}
	return nil
}

// emptied reports whether nothing is left of what the worktree has in a directory.
func (m *merging) emptied(path string, is *tree.Entry) (bool, error) {
	if is.ID.IsZero() {
		return true, nil
	}
	list, err := tree.List(m.capture.Get, is.ID)
	if err != nil {
		return false, err
	}
	for _, ent := range list {
		if to, ok := m.set[tree.Join(path, ent.Name)]; !ok || to != nil {
			return false, nil
		}
	}
	for p, to := range m.set {
		if to != nil && refs.Below(p, path) {
			return false, nil
		}
	}
	return true, nil
}

// whereabouts is where the file of an edit is now: at its path, or if that is not there, where all of it was moved to
// since.
func (m *merging) whereabouts(path string, edits []edit) (string, error) {
	first, last := edits[0], edits[len(edits)-1]
	if m.still || m.back && last.to == nil { // what lies elsewhere now is another one's
		return path, nil
	}
	is, err := m.find(path)
	if err != nil || is != nil || !model.IsFile(first.from) {
		return path, err
	}
	moved, known := m.moved[first.fromTree]
	if !known {
		var changes []tree.Change
		if err := tree.Diff(m.get, first.fromTree, m.capture.Res.Root, func(ch tree.Change) error {
			changes = append(changes, ch)
			return nil
		}); err != nil {
			return path, err
		}
		moved = map[string]string{}
		renames, _ := tree.Renames(changes)
		for _, r := range renames {
			moved[r.From.Path] = r.To.Path
		}
		m.moved[first.fromTree] = moved
	}
	if to, ok := moved[path]; ok {
		return to, nil
	}
	return path, nil
}
