package restore

import (
	"cmp"

	"rewind/engine/capture"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// reverted is a restore that is taken back: of what is there, only that is to change which it set.
type reverted struct {
	*refs.Restore
	found, set *oplog.Lookups             // the worktree before it, and as its target has it
	was, is    *oplog.Lookups             // what the log accounted for before it, and with all that it was to set
	left       *oplog.Lookups             // and what it is, where some stayed; nil: all was set
	by         func(path string) []string // whose is what was unsaved before it
	beside     map[string]bool            // paths that it did not set
}

// findReverted reads what is to be taken back.
func (pl *planner) findReverted(c *capture.Capture) error {
	op := pl.request.reverts
	if pl.reverted = nil; op == nil || pl.request.ContextOnly {
		return nil
	}
	before, was, err := pl.restorer.withAccounts(op.Restore.Safety)
	if err != nil {
		return err
	}
	target, is, err := pl.restorer.withAccounts(op.Restore.Target)
	if err != nil {
		return err
	}
	found, _, err := pl.complete(c, before)
	if err != nil {
		return err
	}
	set, _, err := pl.complete(c, target)
	if err != nil {
		return err
	}
	in := func(root objstore.ID) *oplog.Lookups { return oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, root) }
	pl.reverted = &reverted{
		Restore: op.Restore, found: in(found), set: in(set), was: in(was.Tree), is: in(is.Tree),
		by: before.AuthorsOf(), beside: map[string]bool{},
	}
	if !op.Restore.Result.IsZero() {
		pl.reverted.left = in(op.Restore.Result)
	}
	return nil
}

// isBeside reports whether the restore did not set a path that is there otherwise than before it.
func (r *reverted) isBeside(path string) bool { return r != nil && r.beside[path] }

// whyKept is why a path stays; why is what else there is for it, "": nothing. What is as the restore was to leave it is
// taken for what it set.
func (r *reverted) whyKept(ch tree.Change, why value.KeptReason) (value.KeptReason, error) {
	to, err := r.set.Find(ch.Path)
	if err != nil || apply.UpToDate(ch.Old, to) {
		return why, err
	}
	set, err := r.hasSet(ch.Path)
	r.beside[ch.Path] = !set
	return cmp.Or(why, value.KeptSince), err
}

// hasSet reports whether the restore set a path. Where it left some, the log says which, but not of what was unsaved:
// of that it left what nobody's call had done, if it took back a session's work alone.
func (r *reverted) hasSet(path string) (bool, error) {
	if differs, err := differ(r.found, r.set, path); err != nil || !differs {
		return false, err
	}
	if r.Kept == 0 || len(r.Paths) > 0 {
		return true, nil
	}
	told, err := differ(r.was, r.is, path)
	switch {
	case err != nil:
		return false, err
	case !told:
		return !r.TakesBack || len(r.by(path)) > 0, nil
	case r.left == nil:
		return true, nil
	}
	stayed, err := differ(r.left, r.is, path)
	return !stayed, err
}

// differ reports whether two trees have something else at a path; of directories only the permissions count.
func differ(a, b *oplog.Lookups, path string) (bool, error) {
	is, err := a.Find(path)
	if err != nil {
		return false, err
	}
	to, err := b.Find(path)
	if err != nil || is == nil || to == nil {
		return is != to, err
	}
	if is.Type == tree.TypeDir && to.Type == tree.TypeDir {
		return is.Perm != to.Perm, nil
	}
	return !tree.Same(is, to), nil
}

// leaves reports whether the restore set exactly ent at path: its target has it, also where that is a safety
// checkpoint.
func (r *reverted) leaves(path string, ent *tree.Entry) (bool, error) {
	if r == nil {
		return false, nil
	}
	set, err := r.set.Find(path)
	if err != nil || set == nil {
		return false, err
	}
	dirs := set.Type == tree.TypeDir && ent.Type == tree.TypeDir
	return dirs || apply.MatchesRestored(ent, set), nil
}

// hinders reports whether a path that stays keeps another one from what it was to become: a directory that it is in, or
// what lies below it.
func (pl *planner) hinders(path string) bool {
	for p, k := range pl.kept {
		switch {
		case k.Reason == value.KeptBelow && refs.Below(p, path) && !pl.reverted.isBeside(p):
			return true
		case k.Reason == value.KeptHolds || k.Reason == value.KeptOccupied:
			if refs.Below(path, p) && path != p {
				return true
			}
		}
	}
	return false
}
