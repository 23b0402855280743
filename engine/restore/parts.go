package restore

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/naming"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// ErrMeanwhile is returned when a path is not as it was when somebody chose what is to become of it. Nothing was done.
var ErrMeanwhile = errors.New("changed since it was shown; nothing was done")

// Part is what somebody has chosen of the difference between the worktree and a checkpoint at one path.
type Part struct {
	Path  string
	Was   *tree.Entry     // what the worktree had, as it was shown: type, permissions and, of a file, content; nil: nothing
	Whole bool            // the path becomes what the checkpoint has, or goes; else only what follows is taken
	Mode  bool            // the checkpoint's permissions
	Hunks []textdiff.Hunk // from the worktree's content; they need not come from the checkpoint's
}

// CheckoutParts is Checkout of parts of a checkpoint. What they make of the captured worktree becomes a checkpoint that
// only this restore names, and the restore is exact, limited to the parts' paths. An ErrMeanwhile if one of them is not
// as it was.
func (rs *Restorer) CheckoutParts(ctx context.Context, name string, parts []Part, o Options) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	if o.DryRun {
		return nil, model.Usagef("a checkout of parts has no dry run")
	}
	if n, err := history.ParseName(name); err == nil && o.Session.Session == "" {
		o.Session.Session = n.Session
	}
	named, err := rs.history.NamedMoment(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	from := named.Checkpoint
	if from == nil {
		return nil, rs.history.NoCode("checkout", name, named)
	}
	o.CodeOnly, o.Scope = true, refs.Scope{Exact: true}
	paths := make([]string, len(parts))
	for i, p := range parts {
		paths[i] = p.Path
	}
	if o.Paths, err = model.NewPathSet(paths); err != nil {
		return nil, err
	}
	if !slices.Equal(paths, o.Paths) || slices.Contains(paths, "") {
		return nil, model.Usagef("parts: want paths from the project's root")
	}
	session, err := rs.sessions.Mover(from, o.Session)
	if err != nil {
		return nil, err
	}
	r := o.newRequest(refs.KindCheckout, session)
	r.keepCursor, r.partOf = true, from
	r.choose = func(pl *planner, c *capture.Capture) error {
		to, err := pl.putParts(c, from, parts)
		if err == nil {
			r.setTarget(to)
		}
		return err
	}
	if r.Before, err = rs.log.Refs.ID(refs.Cursor(session)); err != nil {
		return nil, err
	}
	return rs.Run(ctx, r, o.Progress)
}

// putParts puts the captured worktree, with the parts set, into the capture's transaction as a checkpoint.
func (pl *planner) putParts(c *capture.Capture, from *model.Checkpoint, parts []Part) (*model.Checkpoint, error) {
	rs := pl.restorer
	steps, err := pl.partSteps(c, from, parts)
	if err != nil {
		return nil, err
	}
	root, err := tree.Edit(c.Get, c.Tx, c.Res.Root, steps)
	if err != nil {
		return nil, err
	}
	return rs.putState(c, from, model.Checkpoint{
		Tree: root, Base: from.Tree, Git: from.Git,
		Counts: model.Counts{Files: c.Res.Files + c.Res.Links, Bytes: c.Res.Bytes},
		Cause:  model.Cause{Message: "parts of " + rs.shortOf(from)},
	})
}

// putState puts a state that no step has into the capture's transaction as a checkpoint: a tree, what is known of it
// (Base), and what it is called. It has no operation of its own: the restore's names it, and with that it stays and
// goes. Its place in the log is of's, and it is older than that, so that a repair which finds both there believes the
// other. For it to need no other checkpoint it has no parents.
func (rs *runner) putState(c *capture.Capture, of *model.Checkpoint, cp model.Checkpoint) (*model.Checkpoint, error) {
	cp.Time, cp.Session, cp.Note, cp.Cause.Event = of.Time.Add(-time.Millisecond), of.Session, of.Note,
		model.EventSafety
	cp.Counts.Skipped = of.Counts.Skipped
	return &cp, rs.log.PutCheckpoint(c.Tx, &cp, of.Seq)
}

// shortOf is what a message calls a checkpoint of which a state was made.
func (rs *runner) shortOf(cp *model.Checkpoint) string {
	of := cp.ID.String()[:8]
	if cp.Cause.Turn > 0 {
		of += " (" + naming.TurnWords(cp.Cause.Turn, rs.sessions.Whose()(cp.Session)) + ")"
	}
	return of
}

// partSteps are what the parts change of the captured worktree, with the directories that they need. The contents that
// they make are put into the capture's transaction.
func (pl *planner) partSteps(c *capture.Capture, from *model.Checkpoint, parts []Part) ([]tree.Change, error) {
	rs := pl.restorer
	now, then := oplog.NewLookups(c.Get, c.Res.Root), oplog.NewLookups(rs.log.Objs, from.Tree)
	set := map[string]*tree.Entry{}
	for _, p := range parts {
		is, err := now.Find(p.Path)
		if err == nil {
			err = rs.unchanged(c, p, is)
		}
		if err != nil {
			return nil, err
		}
		was, err := then.Find(p.Path)
		if err != nil {
			return nil, err
		}
		if set[p.Path], err = p.entry(c, is, was); err != nil {
			return nil, err
		}
	}
	if err := (&databases{pl: pl, capture: c, now: now, then: then}).choose(set); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(set)) {
		if set[path] == nil {
			continue
		}
		for dir, _ := tree.Split(path); dir != ""; dir, _ = tree.Split(dir) {
			is, err := now.Find(dir)
			if err != nil {
				return nil, err
			}
			to, chosen := set[dir]
			if to != nil && to.Type == tree.TypeDir || !chosen && is != nil && is.Type == tree.TypeDir {
				continue
			}
			if is != nil && !chosen || to != nil {
				return nil, partError(path, model.Usagef("%q is no directory: choose that it goes, too", dir))
			}
			if set[dir], err = then.Find(dir); err != nil {
				return nil, err
			}
		}
	}
	steps := make([]tree.Change, 0, len(set))
	for path, to := range set {
		steps = append(steps, tree.Change{Path: path, New: to})
	}
	return steps, nil
}

// unchanged fails unless the captured worktree has at the part's path what it had when the part was chosen.
func (rs *runner) unchanged(c *capture.Capture, p Part, is *tree.Entry) error {
	switch {
	case is == nil && p.Was == nil:
		return rs.refuseUncaptured(c, p.Path)
	case is != nil && is.Type == tree.TypeDir:
		return partError(p.Path, model.Usagef("it is a directory now; without -p all of it is set"))
	case is == nil || p.Was == nil || !tree.Same(is, p.Was):
		return partError(p.Path, ErrMeanwhile)
	}
	return nil
}

// refuseUncaptured fails if something is at a path that no part can be based on, since it is not captured.
func (rs *runner) refuseUncaptured(c *capture.Capture, path string) error {
	if !model.Covered(c.Res.Skips, path) {
		return nil
	}
	root, err := rs.log.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	if _, there, err := capture.OnDisk(root, path); err != nil || !there {
		return err
	}
	return partError(path,
		model.Usagef("a file that is not captured is there; without -p it is stored and replaced, where that may be"))
}

// entry is what the path becomes: is is what the captured worktree has there, was what the checkpoint has.
func (p Part) entry(c *capture.Capture, is, was *tree.Entry) (*tree.Entry, error) {
	if p.Whole {
		return was, nil
	}
	if is == nil || is.Type != tree.TypeFile || was == nil || was.Type != tree.TypeFile {
		return nil, partError(p.Path, model.Usagef("it has no parts"))
	}
	to := *is
	if p.Mode {
		to.Perm = was.Perm
	}
	if len(p.Hunks) == 0 {
		return &to, nil
	}
	if is.Size > textdiff.MaxBytes {
		return nil, partError(p.Path, model.Usagef("it is too large to be compared"))
	}
	old, err := c.Get.Get(objstore.Blob, is.ID)
	if err != nil {
		return nil, err
	}
	content, err := textdiff.Apply(old, p.Hunks)
	if err != nil {
		return nil, partError(p.Path, model.Usagef("%w", err))
	}
	to.ID, to.Size, err = c.Tx.PutReader(bytes.NewReader(content), is.ID)
	return &to, err
}

func partError(path string, err error) error {
	return &value.OpError{Op: "part", Subject: path, Typed: true, Err: err}
}
