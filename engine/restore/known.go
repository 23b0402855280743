package restore

import (
	"cmp"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// restoredState is what a restore since the base wrote. If that was a safety checkpoint, it also has files that no step
// had. Bringing them back does not make them known: then only that counts which the steps of any session had before it,
// too.
type restoredState struct {
	paths       refs.PathSet
	tree        *oplog.Lookups
	result      *oplog.Lookups // the head that it left, where that is not what the target accounts for; nil: it is
	knownBefore *oplog.Lookups // of a safety checkpoint: what was known before it; nil: all of tree is known
}

// loadBase finds the base, and what restores have written since: together they are all that is known.
func (pl *planner) loadBase() error {
	err := pl.restorer.log.Refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case op.Kind == refs.KindRepair && op.Restore != nil: // what was known before a repair is not believed
			return kv.ErrStop
		case op.Kind.IsRestore() && op.Restore != nil:
			return pl.addRestored(op.Restore)
		case op.Kind == refs.KindCheckpoint:
			cp, err := pl.restorer.log.Checkpoint(op.Checkpoint)
			if err != nil || cp.Cause.Event == model.EventUndo {
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
	pl.baseSkips, err = pl.restorer.log.Note(pl.base)
	return err
}

// addRestored takes note of what a restore since the base wrote.
func (pl *planner) addRestored(r *refs.Restore) error {
	cp, err := pl.restorer.log.Checkpoint(r.Target)
	if err != nil {
		return err
	}
	l := restoredState{paths: r.Paths, tree: oplog.NewLookups(pl.restorer.log.Objs, cp.Tree)}
	if !r.Result.IsZero() {
		l.result = oplog.NewLookups(pl.restorer.log.Objs, r.Result)
	}
	if cp.Cause.Event == model.EventSafety {
		was, err := pl.restorer.log.Before(cp)
		if err != nil {
			return err
		}
		if !was.IsZero() {
			l.knownBefore = oplog.NewLookups(pl.restorer.log.Objs, was)
		}
	}
	pl.restored = append(pl.restored, l)
	return nil
}

// wasRestored reports whether a restore since the base left exactly ent at path; of a directory, whether it left one.
func (pl *planner) wasRestored(path string, ent *tree.Entry) (bool, error) {
	for _, l := range pl.restored {
		if !l.paths.Has(path) && !(ent.Type == tree.TypeDir && l.paths.HasBelow(path)) {
			continue
		}
		if _, named := slices.BinarySearch(pl.named, path); named {
			if is, err := l.leaves(path, ent); err != nil || is {
				return is, err
			}
		}
		have, err := l.tree.Find(path)
		if err != nil {
			return false, err
		}
		if have == nil || !apply.MatchesRestored(ent, have) && (have.Type != tree.TypeDir || ent.Type != tree.TypeDir) {
			continue
		}
		if l.knownBefore != nil {
			if have, err = l.knownBefore.Find(path); err != nil {
				return false, err
			}
		}
		if have != nil {
			return true, nil
		}
	}
	return false, nil
}

// leaves reports whether the head that the restore left has exactly ent, a file, at path: a named one as it was first
// known behind the target.
func (l *restoredState) leaves(path string, ent *tree.Entry) (bool, error) {
	if l.result == nil || ent.Type == tree.TypeDir {
		return false, nil
	}
	have, err := l.result.Find(path)
	return have != nil && tree.Same(have, ent), err
}

// compareWithBase fills unknown and unsaved: the worktree's paths that neither the base nor a restore since has, and
// its files that differ from what those have.
func (pl *planner) compareWithBase(c *capture.Capture) error {
	pl.named = tree.Named(c.Res.Skips)
	err := c.Changes(capture.TreeOf(pl.base), func(ch tree.Change) error {
		if ch.New == nil {
			return nil
		}
		restored, err := pl.wasRestored(ch.Path, ch.New)
		if known := restored || pl.wasHidden(ch.Path, ch.New); err != nil || known {
			return err
		}
		if model.IsFile(ch.New) {
			pl.unsaved[ch.Path] = true
		}
		if ch.Old != nil {
			return nil
		}
		set, err := pl.reverted.leaves(ch.Path, ch.New)
		if !set {
			pl.unknown[ch.Path] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	return pl.knowCompanions(c)
}

// findOfAgent fills ofAgent: where the newest restore since the base that set an unknown path left a file, a person has
// changed that one, and made no new one.
func (pl *planner) findOfAgent() error {
	for path := range pl.unknown {
		i := slices.IndexFunc(pl.restored, func(l restoredState) bool { return l.paths.Has(path) })
		if i < 0 {
			continue
		}
		have, err := cmp.Or(pl.restored[i].knownBefore, pl.restored[i].tree).Find(path)
		if err != nil {
			return err
		}
		pl.ofAgent[path] = have != nil && have.Type != tree.TypeDir
	}
	return nil
}

// takesUnknown reports whether there is something that no checkpoint knows, and that the restore may take.
func (pl *planner) takesUnknown() bool {
	if !pl.takesNew() {
		return false
	}
	for path := range pl.unknown {
		if !pl.wasSkipped(tree.Change{Path: path}) {
			return true
		}
	}
	return false
}

// stateOf is a state that the worktree is compared with.
type stateOf struct {
	tree objstore.ID
	note []tree.Skip     // what was not captured with it: a restore leaves that
	seen map[string]bool // paths that it was given, see complete
}

// stateOf is the state of a checkpoint, completed.
func (pl *planner) stateOf(c *capture.Capture, cp *model.Checkpoint) (s stateOf, err error) {
	if s.tree, s.seen, err = pl.complete(c, cp); err == nil {
		s.note, err = pl.restorer.log.Note(cp)
	}
	return s, err
}

// leaves reports whether a restore of the state leaves what is at a path that it does not have.
func (s *stateOf) leaves(path string) bool { return !s.seen[path] && model.Covered(s.note, path) }

// dirty reports whether the worktree differs from a state in anything that a restore of it would change, the changes of
// others aside.
func (pl *planner) dirty(c *capture.Capture, from stateOf, others authorship.Theirs) (bool, error) {
	dirty := false
	var stays, dirs []string // files that a restore would leave, and directories that the tree does not have
	err := tree.Diff(c.Get, from.tree, c.Res.Root, func(ch tree.Change) error {
		if ch.New == nil {
			s, skipped := model.Covering(c.Res.Skips, ch.Path)
			if skipped && (s.Reason != tree.ReasonSize || s.Path != ch.Path || s.Size == ch.Old.Size) {
				return nil // still on disk, but not captured any more; a file over the size limit is judged by its size
			}
			if slices.ContainsFunc(stays, func(p string) bool { return refs.Below(ch.Path, p) }) {
				return nil // a kept file is in the way: nothing can be made below it
			}
			if editors, err := pl.isEditors(tree.Change{Path: ch.Path, New: ch.Old}); err != nil || editors {
				return err
			}
		}
		isDir := ch.New != nil && ch.New.Type == tree.TypeDir
		if ch.Old == nil && pl.unknown[ch.Path] && !pl.isInCall(ch.Path) || !pl.request.Exact && pl.isNew(ch.Path, ch.Old != nil) ||
			others.Of(ch.Path) != "" || ch.Old == nil && from.leaves(ch.Path) {
			if ch.New != nil && !isDir {
				stays = append(stays, ch.Path)
			}
			return nil
		}
		if ch.Path == agentDir || ch.Old != nil && apply.UpToDate(ch.New, ch.Old) {
			return nil
		}
		if ch.Old == nil && isDir {
			dirs = append(dirs, ch.Path)
			return nil
		}
		dirty = true
		return tree.SkipAll
	})
	for _, d := range dirs { // a directory that keeps something is not removed
		dirty = dirty || !slices.ContainsFunc(stays, func(p string) bool { return refs.Below(p, d) }) &&
			!slices.ContainsFunc(c.Res.Skips, func(s tree.Skip) bool { return refs.Below(s.Path, d) })
	}
	return dirty, err
}
