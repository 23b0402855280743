package restore

import (
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// laid is what a restore since H wrote. A safety checkpoint also holds files that no step did; bringing them back does
// not make them known, so of one only that counts which was known before it, too: by all sessions' steps, not the restored one's alone.
type laid struct {
	paths refs.PathSet
	tree  *oplog.Lookups
	step  *oplog.Lookups // what was known before a safety checkpoint; nil: all of tree
}

// baseline finds H and what restores have laid out since: together they are what rewind knows to have been there.
func (pl *planner) baseline() error {
	err := pl.e.log.Refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case op.Kind == refs.KindRepair && op.Restore != nil: // nothing is known any more
			return kv.ErrStop
		case op.Kind.IsRestore() && op.Restore != nil:
			return pl.addLaid(op.Restore)
		case op.Kind == refs.KindCheckpoint:
			cp, err := pl.e.log.Checkpoint(op.Checkpoint)
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
	pl.seen, err = pl.e.log.Note(pl.base)
	return err
}

func (pl *planner) addLaid(r *refs.Restore) error {
	cp, err := pl.e.log.Checkpoint(r.Target)
	if err != nil {
		return err
	}
	l := laid{paths: r.Paths, tree: oplog.NewLookups(pl.e.log.Objs, cp.Tree)}
	if cp.Cause.Event == model.EventSafety {
		was, err := pl.e.log.Before(cp)
		if err != nil {
			return err
		}
		if !was.IsZero() {
			l.step = oplog.NewLookups(pl.e.log.Objs, was)
		}
	}
	pl.since = append(pl.since, l)
	return nil
}

// laidOut reports whether a restore since H left exactly this at path; of a directory, that it left one.
func (pl *planner) laidOut(path string, ent *tree.Entry) (bool, error) {
	for _, l := range pl.since {
		if !l.paths.Has(path) && !(ent.Type == tree.TypeDir && l.paths.HasBelow(path)) {
			continue
		}
		have, err := l.tree.Find(path)
		if err != nil {
			return false, err
		}
		if have == nil || !apply.IsLeft(ent, have) && (have.Type != tree.TypeDir || ent.Type != tree.TypeDir) {
			continue
		}
		if l.step != nil {
			if have, err = l.step.Find(path); err != nil {
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
func (pl *planner) survey(c *capture.Capture) error {
	return c.Changes(capture.TreeOf(pl.base), func(ch tree.Change) error {
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
		if model.IsFile(ch.New) {
			pl.changed[ch.Path] = true
		}
		return nil
	})
}

// dirty reports whether the worktree differs from cp in anything that a restore of cp would change, but for what colleagues changed since.
func (pl *planner) dirty(c *capture.Capture, cp *model.Checkpoint, others authorship.Theirs) (bool, error) {
	dirty := false
	var stays, dirs []string // files that a restore would leave, and directories that cp does not have
	err := tree.Diff(c.Get, cp.Tree, c.Res.Root, func(ch tree.Change) error {
		if ch.New == nil {
			s, skipped := model.Covering(c.Res.Skips, ch.Path)
			if skipped && (s.Reason != tree.ReasonSize || s.Path != ch.Path || s.Size == ch.Old.Size) {
				return nil // still there, only not captured any more; of a large file the size tells whether it changed
			}
			if slices.ContainsFunc(stays, func(p string) bool { return refs.Below(ch.Path, p) }) {
				return nil // nothing can be laid out there
			}
		}
		isDir := ch.New != nil && ch.New.Type == tree.TypeDir
		if ch.Old == nil && pl.unknown[ch.Path] && !pl.isMine(ch.Path) || !pl.r.Exact && pl.isNew(ch.Path, ch.Old != nil) || others.Of(ch.Path) != "" {
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
		dirty = dirty || !slices.ContainsFunc(stays, func(p string) bool { return refs.Below(p, d) }) &&
			!slices.ContainsFunc(c.Res.Skips, func(s tree.Skip) bool { return refs.Below(s.Path, d) })
	}
	return dirty, err
}
