package engine

import (
	"cmp"
	"slices"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// laid is what a restore since H wrote. A safety checkpoint also holds files that no step did; bringing them back does
// not make them known, so of one only that counts which was known before it, too: by all sessions' steps, not the restored one's alone.
type laid struct {
	paths pathSet
	tree  *lookups
	step  *lookups // what was known before a safety checkpoint; nil: all of tree
}

// baseline finds H and what restores have laid out since: together they are what rewind knows to have been there.
func (pl *planner) baseline() error {
	err := pl.e.refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case op.Kind == refs.KindRepair && op.Restore != nil: // nothing is known any more
			return kv.ErrStop
		case op.Kind.IsRestore() && op.Restore != nil:
			return pl.addLaid(op.Restore)
		case op.Kind == refs.KindCheckpoint:
			cp, err := pl.e.checkpoint(op.Checkpoint)
			if err != nil || cp.Cause.Event == EventUndo {
				return err
			}
			pl.base = cp
			return kv.ErrStop
		}
		return nil
	})
	if err != nil || pl.base == nil {
		return err
	}
	pl.seen, err = pl.e.note(pl.base)
	return err
}

func (pl *planner) addLaid(r *refs.Restore) error {
	cp, err := pl.e.checkpoint(r.Target)
	if err != nil {
		return err
	}
	l := laid{paths: r.Paths, tree: newLookups(pl.e.objs, cp.Tree)}
	if cp.Cause.Event == EventSafety {
		was, err := pl.e.before(cp)
		if err != nil {
			return err
		}
		if !was.IsZero() {
			l.step = newLookups(pl.e.objs, was)
		}
	}
	pl.since = append(pl.since, l)
	return nil
}

// laidOut reports whether a restore since H left exactly this at path; of a directory, that it left one.
func (pl *planner) laidOut(path string, ent *tree.Entry) (bool, error) {
	for _, l := range pl.since {
		if !l.paths.has(path) && !(ent.Type == tree.TypeDir && l.paths.hasBelow(path)) {
			continue
		}
		have, err := l.tree.find(path)
		if err != nil {
			return false, err
		}
		if have == nil || !apply.IsLeft(ent, have) && (have.Type != tree.TypeDir || ent.Type != tree.TypeDir) {
			continue
		}
		if l.step != nil {
			if have, err = l.step.find(path); err != nil {
				return false, err
			}
		}
		if have != nil {
			return true, nil
		}
	}
	return false, nil
}

// survey compares the worktree with H: which paths are not known, and which files have bytes that no step holds.
func (pl *planner) survey(c *capture) error {
	return c.changes(treeOf(pl.base), func(ch tree.Change) error {
		if ch.New == nil {
			return nil
		}
		laid, err := pl.laidOut(ch.Path, ch.New)
		if err != nil || laid {
			return err
		}
		if ch.Old == nil {
			pl.unknown[ch.Path] = true
		}
		if isFile(ch.New) {
			pl.changed[ch.Path] = true
		}
		return nil
	})
}

// dirty reports whether the worktree differs from cp in anything that a restore of cp would change, but for what colleagues changed since.
func (pl *planner) dirty(c *capture, cp *Checkpoint, others theirs) (bool, error) {
	dirty := false
	var stays, dirs []string // files that a restore would leave, and directories that cp does not have
	err := tree.Diff(c.get, cp.Tree, c.res.Root, func(ch tree.Change) error {
		if ch.New == nil {
			s, skipped := covering(c.res.Skips, ch.Path)
			if skipped && (s.Reason != tree.ReasonSize || s.Path != ch.Path || s.Size == ch.Old.Size) {
				return nil // still there, only not captured any more; of a large file the size tells whether it changed
			}
			if slices.ContainsFunc(stays, func(p string) bool { return below(ch.Path, p) }) {
				return nil // nothing can be laid out there
			}
		}
		isDir := ch.New != nil && ch.New.Type == tree.TypeDir
		if ch.Old == nil && pl.unknown[ch.Path] && !pl.isMine(ch.Path) || !pl.opt.exact && pl.isNew(ch.Path, ch.Old != nil) || others.of(ch.Path) != "" {
			if ch.New != nil && !isDir {
				stays = append(stays, ch.Path)
			}
			return nil
		}
		if ch.Path == agentDir || ch.Old != nil && apply.Rests(ch.New, ch.Old) {
			return nil
		}
		if ch.Old == nil && isDir {
			dirs = append(dirs, ch.Path)
			return nil
		}
		dirty = true
		return tree.SkipAll
	})
	for _, d := range dirs { // one that something stays in does not go
		dirty = dirty || !slices.ContainsFunc(stays, func(p string) bool { return below(p, d) }) &&
			!slices.ContainsFunc(c.res.Skips, func(s tree.Skip) bool { return below(s.Path, d) })
	}
	return dirty, err
}

// covering finds the skip that stands for path: its own, or that of a directory above it.
func covering(skips []tree.Skip, path string) (tree.Skip, bool) {
	for p := path; ; {
		i, ok := slices.BinarySearchFunc(skips, p, func(s tree.Skip, p string) int { return cmp.Compare(s.Path, p) })
		if ok && skips[i].Reason != tree.ReasonTorn && skips[i].Reason != tree.ReasonMount { // these are captured
			return skips[i], true
		}
		if p, _ = tree.Split(p); p == "" {
			return tree.Skip{}, false
		}
	}
}

// Covered reports whether a note lists a path as not captured.
func Covered(note []tree.Skip, path string) bool {
	_, ok := covering(note, path)
	return ok
}

// lookups finds many paths in one tree; each directory is decoded once.
type lookups struct {
	get  objstore.Getter
	root objstore.ID
	dirs map[string][]tree.Entry
}

func newLookups(get objstore.Getter, root objstore.ID) *lookups {
	return &lookups{get: get, root: root, dirs: map[string][]tree.Entry{}}
}

// find returns the entry at path, nil when there is none.
func (l *lookups) find(path string) (*tree.Entry, error) {
	dir, name := tree.Split(path)
	ents, err := l.dir(dir)
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(ents, name, func(e tree.Entry, n string) int { return cmp.Compare(e.Name, n) })
	if !ok {
		return nil, nil
	}
	return &ents[i], nil
}

// dir returns the entries of a directory; none when it is not there.
func (l *lookups) dir(path string) ([]tree.Entry, error) {
	if ents, ok := l.dirs[path]; ok {
		return ents, nil
	}
	id := l.root
	if path != "" {
		ent, err := l.find(path)
		if err != nil {
			return nil, err
		}
		if ent == nil || ent.Type != tree.TypeDir {
			l.dirs[path] = nil
			return nil, nil
		}
		id = ent.ID
	}
	ents, err := tree.List(l.get, id)
	if err == nil {
		l.dirs[path] = ents
	}
	return ents, err
}
