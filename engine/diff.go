package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// DiffOptions select what is compared. From "" is the current checkpoint or, against the worktree, the newest that all
// that is saved is in; To "" is the worktree as it is now.
type DiffOptions struct {
	From, To  string
	Paths     []string
	Context   int     // unchanged lines around a change
	NoText    bool    // only which paths differ
	First     int     // the texts of those from this one on
	Most      int     // and of so many; 0: of all. The others are named without
	Back      bool    // what going from To back to From changes; nothing is taken for a rename
	Beside    *Engine // of another worktree of the family, that a side is in, too; nil: of none
	FromThere bool    // From is a name there
	Progress  model.Progress
}

// beside is the log of another worktree, where one is compared with.
func (o *DiffOptions) beside(e *Engine) *oplog.Log {
	if o.Beside == nil || o.Beside == e {
		return nil
	}
	return o.Beside.Log
}

// over gives the objects of another worktree's store, too, where one is compared with.
func (o *DiffOptions) over(e *Engine, get objstore.Getter) objstore.Getter {
	if there := o.beside(e); there != nil {
		return oplog.Beside{Here: get, There: there}
	}
	return get
}

// FileDiff is how one path differs.
type FileDiff struct {
	tree.Change
	RenamedFrom string // the content is exactly that of this removed path
	Secret      bool   // on the secret list: the text is not shown
	Gone        string // purged or lost: one of the contents is not in the store any more; "": both are
	Text        textdiff.Result
}

// DiffSides names what Diff compared; To is nil for the worktree.
type DiffSides struct{ From, To *history.Listed }

// stands names where the project stands: what the worktree is compared with, and another state.
func (e *Engine) stands(to string) (string, error) {
	was, err := e.Log.Head()
	if err != nil {
		return "", err
	}
	if to == "" && !was.Checkpoint.IsZero() {
		return was.Checkpoint.String(), nil // another session's, perhaps
	}
	return "@", nil
}

// Diff compares two states and calls fn for each path that differs, in the order of a walk.
func (e *Engine) Diff(ctx context.Context, o DiffOptions, fn func(FileDiff) error) (sides DiffSides, err error) {
	only, err := model.NewPathSet(o.Paths)
	if err != nil {
		return sides, err
	}
	if o.FromThere { // before the lock of this log is taken: two are never held
		if sides.From, err = o.Beside.lent(o.From); err != nil {
			return sides, o.Beside.Log.AsBeside(err)
		}
	}
	defer e.Log.Hold()()
	if o.From == "" {
		if o.From, err = e.stands(o.To); err != nil {
			return sides, err
		}
	}
	if sides.From == nil {
		if sides.From, err = e.listedByName(o.From); err != nil {
			return sides, err
		}
	}
	from := sides.From
	var get objstore.Getter = e.Log.Objs
	var to objstore.ID
	var skipped []tree.Skip // what the second state has and does not hold
	if o.To != "" {
		if sides.To, err = e.listedByName(o.To); err != nil {
			return sides, err
		}
		to = sides.To.Tree
		if skipped, err = e.Log.Note(sides.To.Checkpoint); err != nil {
			return sides, err
		}
	} else {
		c, err := e.captureToCompare(ctx, o.Progress)
		if err != nil {
			return sides, err
		}
		defer e.Worktree.EndCompare(c)
		get, to, skipped = c.Get, c.Res.Root, c.Res.Skips
	}
	get = o.over(e, get)
	left := e
	if o.FromThere {
		left = o.Beside
	}
	for _, path := range only {
		if err := left.somewhere(from.Checkpoint, get, to, skipped, path); err != nil {
			return sides, err
		}
	}
	return sides, e.diff(get, from.Tree, to, only, o, fn)
}

// somewhere refuses a path that two states neither hold nor left out.
func (e *Engine) somewhere(
	from *model.Checkpoint, get objstore.Getter, to objstore.ID, skipped []tree.Skip, path string,
) error {
	if path == "" {
		return nil
	}
	for _, side := range []struct {
		get  objstore.Getter
		tree objstore.ID
	}{{e.Log.Objs, from.Tree}, {get, to}} {
		if _, err := tree.Lookup(side.get, side.tree, path); !errors.Is(err, tree.ErrNotFound) {
			return nil //nolint:nilerr // what cannot be read is the comparison's to say
		}
	}
	skips, err := e.Log.Note(from)
	if err != nil || model.Covered(skips, path) || model.Covered(skipped, path) {
		return err
	}
	return fmt.Errorf("diff: %w: no path %q in either state", model.ErrNotFound, path)
}

// lent is the checkpoint that a name stands for, for who asks from another worktree.
func (e *Engine) lent(name string) (*history.Listed, error) {
	defer e.Log.Hold()()
	return e.listedByName(name)
}

func (e *Engine) listedByName(name string) (*history.Listed, error) {
	cp, err := e.History.Resolve(name)
	if err != nil {
		return nil, err
	}
	l, err := e.History.Listing(cp)
	return &l, err
}

func (e *Engine) diff(
	get objstore.Getter, from, to objstore.ID, only refs.PathSet, o DiffOptions, fn func(FileDiff) error,
) error {
	var changes []tree.Change
	err := tree.Diff(get, from, to, func(ch tree.Change) error {
		file, both := model.IsFile(ch.Old) || model.IsFile(ch.New), ch.Old != nil && ch.New != nil
		if only.Has(ch.Path) && (file || both) {
			changes = append(changes, ch)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.diffChanges(get, changes, o, fn)
}

// DiffChanges calls fn for what is known to have changed between two states that are in the store, as Diff does.
func (e *Engine) DiffChanges(changes []tree.Change, o DiffOptions, fn func(FileDiff) error) error {
	changes = slices.DeleteFunc(slices.Clone(changes), func(ch tree.Change) bool {
		noFile := !model.IsFile(ch.Old) && !model.IsFile(ch.New)
		return noFile && (ch.Old == nil || ch.New == nil)
	})
	return e.diffChanges(o.over(e, e.Log.Objs), changes, o, fn)
}

func (e *Engine) diffChanges(get objstore.Getter, changes []tree.Change, o DiffOptions, fn func(FileDiff) error) error {
	diffs := diffsOf(changes, o.Back)
	secret, err := e.Leaks.SecretFiles()
	if err != nil {
		return err
	}
	there := o.beside(e)
	if there != nil {
		here := secret
		also, err := o.Beside.Leaks.SecretFiles()
		if err != nil {
			return err
		}
		secret = func(path string) bool { return here(path) || also(path) }
	}
	for i, d := range diffs {
		d.Secret = secret(d.Path) || d.RenamedFrom != "" && secret(d.RenamedFrom)
		if d.Gone, err = e.Log.GoneChange(there, d.Change); err != nil {
			return err
		}
		readable := d.RenamedFrom == "" && o.wantsText(i)
		if readable && !d.Secret && d.Gone == "" {
			if d.Text, err = textOf(get, d.Change, o.Context); err != nil {
				return err
			}
		}
		if err := fn(d); err != nil {
			return err
		}
	}
	return nil
}

// diffsOf are the changes as a comparison tells them, in the order of paths. back says that they are to be taken back,
// where a rename is no help.
func diffsOf(changes []tree.Change, back bool) []FileDiff {
	renames, rest := tree.Renames(changes)
	if back {
		renames, rest = nil, tree.Reverse(changes)
	}
	diffs := make([]FileDiff, 0, len(changes))
	for _, r := range renames {
		diffs = append(diffs, FileDiff{Change: tree.Change{Path: r.To.Path, Old: r.From.Old, New: r.To.New}, RenamedFrom: r.From.Path})
	}
	for _, ch := range rest {
		if ch.Old == nil || ch.New == nil || ch.Old.Type == ch.New.Type {
			diffs = append(diffs, FileDiff{Change: ch})
			continue
		}
		// A change of type is a deletion and an addition, as patches have it; directories come with what is in them.
		if model.IsFile(ch.Old) {
			diffs = append(diffs, FileDiff{Change: tree.Change{Path: ch.Path, Old: ch.Old}})
		}
		if model.IsFile(ch.New) {
			diffs = append(diffs, FileDiff{Change: tree.Change{Path: ch.Path, New: ch.New}})
		}
	}
	slices.SortStableFunc(diffs, func(a, b FileDiff) int { return tree.ComparePaths(a.Path, b.Path) })
	return diffs
}

// wantsText reports whether the text of the path with this number is asked for.
func (o *DiffOptions) wantsText(i int) bool {
	if o.NoText || i < o.First {
		return false
	}
	return o.Most == 0 || i < o.First+o.Most
}

// textOf is capture.TextOf. A comparison keeps only so many changed files.
func textOf(get objstore.Getter, ch tree.Change, context int) (textdiff.Result, error) {
	text, err := capture.TextOf(get, ch, context)
	if _, partly := get.(*capture.Overlay); partly && errors.Is(err, objstore.ErrNotFound) {
		return textdiff.Result{Kind: textdiff.TooLarge}, nil
	}
	return text, err
}
