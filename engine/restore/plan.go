package restore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// Plan is what a restore would do. Preview and act share it: nothing is decided later.
type Plan struct {
	Target *model.Checkpoint
	refs.Scope
	Steps    []tree.Step  // by path
	Kept     []value.Kept // differ from the target and stay as they are
	Replaced []string     // changed since the newest checkpoint: afterwards only the safety checkpoint has their bytes
	Git      GitThenNow
	without  []value.Without // are as the target has them, but for bits that a restore gives to nothing; no step
	Missing  []tree.Skip     // the target's note lists them as never captured, and they are not there
	Taken    []value.Taken   // what the steps take because it was asked for with Exact

	theirs authorship.Theirs // what colleagues changed after the target
}

// leaves reports whether what is at a path is a colleague's change, and stays that: also where the target happens to have the same.
func (p *Plan) leaves(path string) bool { return p != nil && !p.Exact && p.theirs.Of(path) != "" }

// GitThenNow is where the user's repository stood at the target and stands now; a restore moves none of it.
type GitThenNow struct {
	Then, Now model.GitHead
	State     string // merge, rebase, ... under way; empty: none
}

// planner holds what the decisions of one plan are made from.
type planner struct {
	e       *Restorer
	r       *restore
	target  *model.Checkpoint
	base    *model.Checkpoint // H: the newest step, no undo's own; nil: none
	since   []laid            // by restores since base
	seen    []tree.Skip       // of base's note, by path
	skipped []tree.Skip       // of the target's note, by path
	unknown map[string]bool
	mine    func(path string) bool // what is unknown and the work of the session's own open call all the same; nil: nothing
	changed map[string]bool
	others  authorship.Theirs    // what colleagues changed after the target
	both    map[string]bool      // of others, what this session may have written, too
	changes []tree.Change        // from the worktree to the target
	lost    map[objstore.ID]bool // trees of the target, of which nothing was asked for
	plan    *Plan
	kept    map[string]value.Kept
	// blocking are the paths that stay and are no directories: nothing can be laid out below them
	blocking map[string]bool
}

// Plan captures the worktree and decides. choose names the target once the worktree is known. On success the capture
// holds every byte that the steps replace or remove, ignored files included. *UnsavedError when there are bytes in the
// way that must not or cannot be stored.
func (rs *Restorer) Plan(ctx context.Context, root worktreefs.Dir, r *restore, p model.Progress) (*Plan, *capture.Capture, error) {
	pl := &planner{
		e: rs, r: r, unknown: map[string]bool{}, changed: map[string]bool{}, kept: map[string]value.Kept{}, blocking: map[string]bool{},
		plan: &Plan{Scope: r.Scope},
	}
	if err := pl.baseline(); err != nil {
		return nil, nil, err
	}
	o := capture.Options{Compare: r.wish.DryRun, Progress: p}
	c, err := pl.look(ctx, root, r, o)
	if err != nil {
		return nil, nil, err
	}
	o.Force, err = pl.inTheWay(root, c)
	if err == nil && len(o.Force) > 0 {
		c.Discard()
		if c, err = rs.worktree.Capture(ctx, root, o); err != nil {
			return nil, nil, err
		}
		if err = pl.refuseSecrets(c, o.Force); err == nil {
			err = pl.differ(c)
		}
	}
	if err == nil {
		err = pl.decide(c)
	}
	if err == nil {
		pl.plan.Git.Then, pl.plan.Git.Now = pl.target.Git, c.Git
		pl.plan.Git.State = rs.worktree.GitState()
	}
	if err == nil {
		pl.plan.Missing, err = capture.Missing(root, pl.skipped, c.Res.Skips, pl.r.Paths)
	}
	if err != nil {
		c.Discard()
		return nil, nil, err
	}
	return pl.plan, c, nil
}

// look captures the worktree, settles the target, and finds what differs. A capture relies on the watcher; at the paths that
// the restore is to set, nothing is relied on: where one of them is not as it was taken over, the whole tree is looked at.
func (pl *planner) look(ctx context.Context, root worktreefs.Dir, r *restore, o capture.Options) (*capture.Capture, error) {
	for {
		c, err := pl.e.worktree.Capture(ctx, root, o)
		if err != nil {
			return nil, err
		}
		if err = pl.aim(c, r); err == nil {
			err = pl.differ(c)
		}
		overlooked := false
		if err == nil && !o.Full {
			overlooked, err = c.Cache.Overlooked(root, pl.victims())
		}
		if err == nil && !overlooked {
			return c, nil
		}
		c.Discard()
		if err != nil {
			return nil, err
		}
		o.Full = true
	}
}

// differ lists what differs between the worktree and the target.
func (pl *planner) differ(c *capture.Capture) error {
	pl.changes = nil
	return tree.Diff(sparing{c.Get, pl.lost}, c.Res.Root, pl.target.Tree, func(ch tree.Change) error {
		pl.changes = append(pl.changes, ch)
		return nil
	})
}

// victims are the files that a restore could replace or remove.
func (pl *planner) victims() []string {
	var paths []string
	for _, ch := range pl.changes {
		if model.IsFile(ch.Old) && pl.r.Paths.Has(ch.Path) {
			paths = append(paths, ch.Path)
		}
	}
	return paths
}

// aim settles the target.
func (pl *planner) aim(c *capture.Capture, r *restore) (err error) {
	if r.choose != nil {
		if err := pl.survey(c); err != nil {
			return err
		}
		if err := r.choose(pl, c); err != nil {
			return err
		}
		clear(pl.unknown) // a second capture may find more
		clear(pl.changed)
	}
	pl.target, pl.plan.Target = r.target, r.target
	if err := pl.refuseLost(); err != nil {
		return err
	}
	if pl.skipped, err = pl.e.log.Note(r.target); err != nil {
		return err
	}
	pl.others, pl.both, err = pl.e.authors.Others(r.Session, r.target, c, r.Kind == refs.KindCheckout)
	pl.plan.theirs = pl.others
	return err
}

// inTheWay returns the paths of the target that the snapshot did not capture although something is there: ignored, over
// the size limit. They must be captured before they may be touched. An uncaptured directory where the target has a file
// stays, for what is in it is not the target's.
func (pl *planner) inTheWay(root worktreefs.Dir, c *capture.Capture) ([]string, error) {
	var hidden []string
	var blocked []model.Blocked
	for _, ch := range pl.changes {
		if ch.New == nil || ch.Old != nil || !pl.r.Paths.Has(ch.Path) {
			continue
		}
		s, ok := model.Covering(c.Res.Skips, ch.Path)
		if why, err := pl.e.log.GoneEntry(ch.New); !ok || err != nil || why != "" {
			if err != nil {
				return nil, err
			}
			continue
		}
		isDir, there, err := capture.OnDisk(root, ch.Path)
		switch {
		case err != nil:
			return nil, err
		case !there || isDir && ch.New.Type == tree.TypeDir:
		case isDir:
			pl.keep(ch.Path, value.KeptOccupied, true)
			pl.blocking[ch.Path] = true
		case s.Reason == tree.ReasonIgnored, s.Reason == tree.ReasonBuiltin, s.Reason == tree.ReasonSize:
			hidden = append(hidden, ch.Path)
		default:
			blocked = append(blocked, model.Blocked{Path: ch.Path, Reason: s.Reason})
		}
	}
	if len(blocked) > 0 {
		return nil, &model.UnsavedError{Paths: blocked}
	}
	return hidden, nil
}

// keep leaves a path as it is. Nothing can be laid below it unless it is a directory.
func (pl *planner) keep(path string, why value.KeptReason, isDir bool) {
	k := value.Kept{Path: value.Text(path), Dir: isDir, Reason: why}
	if why == value.KeptSession {
		k.By, k.Shared = pl.others.Of(path), pl.both[path]
	}
	pl.kept[path] = k
	pl.blocking[path] = !isDir || why == value.KeptBelow || why == value.KeptPurged || why == value.KeptLost
}

// refuseSecrets refuses to replace secret files that the forced capture found, unless their content may be stored.
func (pl *planner) refuseSecrets(c *capture.Capture, hidden []string) error {
	if pl.e.log.Config.StoreSecrets() {
		return nil
	}
	secret, err := pl.e.leaks.SecretFiles()
	if err != nil {
		return err
	}
	var blocked []model.Blocked
	for _, p := range hidden {
		if !secret(p) {
			continue
		}
		switch _, err := tree.Lookup(c.Get, c.Res.Root, p); {
		case err == nil:
			blocked = append(blocked, model.Blocked{Path: p, Reason: tree.ReasonSecret})
		case !errors.Is(err, tree.ErrNotFound):
			return err
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	slices.SortFunc(blocked, func(a, b model.Blocked) int { return cmp.Compare(a.Path, b.Path) })
	return &model.UnsavedError{Paths: blocked}
}

// decide fills the plan with steps and kept paths.
func (pl *planner) decide(c *capture.Capture) error {
	if err := pl.survey(c); err != nil {
		return err
	}
	var steps []tree.Step
	var away []tree.Change // directories that a colleague took away
	for _, ch := range pl.changes {
		if !pl.concerns(ch) {
			continue
		}
		why, err := pl.e.log.GoneEntry(ch.New)
		if err != nil {
			return err
		}
		if why == "" {
			why = pl.stays(ch)
		}
		if why == value.KeptSession && ch.Old == nil && ch.New.Type == tree.TypeDir {
			away = append(away, ch)
			continue
		}
		if why != "" {
			pl.keep(ch.Path, why, ch.Old != nil && ch.Old.Type == tree.TypeDir)
			continue
		}
		if apply.Rests(ch.Old, ch.New) {
			if w, ok := apply.Withheld(ch.Path, ch.Old, ch.New); ok {
				pl.plan.without = append(pl.plan.without, w)
			}
			continue
		}
		steps = append(steps, tree.Step{Path: ch.Path, From: ch.Old, To: ch.New})
	}
	steps = pl.again(away, steps)
	if len(pl.r.Paths) > 0 {
		if err := pl.blockedParents(c, steps); err != nil {
			return err
		}
	}
	pl.filter(steps, c.Res.Skips)
	for _, s := range pl.plan.Steps {
		if model.IsFile(s.From) && pl.changed[s.Path] {
			pl.plan.Replaced = append(pl.plan.Replaced, s.Path)
		}
	}
	pl.collapse()
	pl.take()
	return nil
}

// again adds to the steps those that make directories anew which a colleague took away, where something that is not that one's comes back
// below; the others stay away.
func (pl *planner) again(away []tree.Change, steps []tree.Step) []tree.Step {
	if len(away) == 0 {
		return steps
	}
	needed := map[string]bool{}
	for _, s := range steps {
		for dir, _ := tree.Split(s.Path); s.To != nil && dir != "" && !needed[dir]; dir, _ = tree.Split(dir) {
			needed[dir] = true
		}
	}
	for _, ch := range away {
		if !needed[ch.Path] {
			pl.keep(ch.Path, value.KeptSession, false)
			continue
		}
		steps = append(steps, tree.Step{Path: ch.Path, To: ch.New})
	}
	slices.SortFunc(steps, func(a, b tree.Step) int { return tree.ComparePaths(a.Path, b.Path) })
	return steps
}

// agentDir holds the marker; it may be empty otherwise and never goes.
const agentDir = ".agent"

// concerns reports whether a change is part of what was asked for: a path, or a missing directory above one.
func (pl *planner) concerns(ch tree.Change) bool {
	if ch.Path == agentDir && ch.New == nil {
		return false
	}
	return pl.r.Paths.Has(ch.Path) || ch.Old == nil && ch.New.Type == tree.TypeDir && pl.r.Paths.HasBelow(ch.Path)
}

// isMine reports whether what is at a path is the work of the session's own open call.
func (pl *planner) isMine(path string) bool { return pl.mine != nil && pl.mine(path) }

// isNew reports whether what is at a path is known to no checkpoint, so that it stays. Not where H listed it as not captured and the
// target has this very path.
func (pl *planner) isNew(path string, has bool) bool {
	if !pl.unknown[path] || pl.isMine(path) {
		return false
	}
	_, seen := model.Covering(pl.seen, path)
	return !seen || !has
}

// stays says why what is at a path stays as it is; "" when it does not.
func (pl *planner) stays(ch tree.Change) value.KeptReason {
	if pl.others.Of(ch.Path) != "" && !pl.r.Exact {
		return value.KeptSession
	}
	if ch.Old == nil {
		return ""
	}
	if ch.New == nil {
		// The target does not lack it: it was not captured then.
		if s, ok := model.Covering(pl.skipped, ch.Path); ok && s.Reason != tree.ReasonTorn && s.Reason != tree.ReasonMount {
			return value.KeptSkipped
		}
	}
	if pl.isNew(ch.Path, ch.New != nil) && !pl.r.Exact {
		return value.KeptUnsaved
	}
	return ""
}

// blockedParents finds what new paths would lie below although it is no directory and was not asked for.
func (pl *planner) blockedParents(c *capture.Capture, steps []tree.Step) error {
	now := oplog.NewLookups(c.Get, c.Res.Root)
	changed := map[string]bool{}
	for _, s := range steps {
		changed[s.Path] = true
	}
	for _, s := range steps {
		for dir, _ := tree.Split(s.Path); dir != "" && !changed[dir]; dir, _ = tree.Split(dir) {
			ent, err := now.Find(dir)
			if err != nil {
				return err
			}
			if ent != nil && ent.Type != tree.TypeDir {
				pl.blocking[dir] = true
			}
		}
	}
	return nil
}

// filter drops the steps that kept or skipped files forbid: a directory that still holds some cannot go, and nothing
// can be laid below a kept file.
func (pl *planner) filter(steps []tree.Step, skips []tree.Skip) {
	var stay []string
	for p := range pl.kept {
		stay = append(stay, p)
	}
	for _, s := range skips {
		if s.Reason != tree.ReasonTorn && s.Reason != tree.ReasonMount {
			stay = append(stay, s.Path)
		}
	}
	sort.Strings(stay)
	holds := func(dir string) bool {
		i := sort.SearchStrings(stay, dir+"/")
		return i < len(stay) && strings.HasPrefix(stay[i], dir+"/")
	}
	for _, s := range steps {
		switch {
		case pl.kept[s.Path].Reason != "":
		case pl.belowKept(s.Path):
			pl.keep(s.Path, value.KeptBelow, false)
		case s.From != nil && s.From.Type == tree.TypeDir && (s.To == nil || s.To.Type != tree.TypeDir) && holds(s.Path):
			why := value.KeptHolds
			if s.To != nil {
				why = value.KeptOccupied
			}
			pl.keep(s.Path, why, true)
		default:
			pl.plan.Steps = append(pl.plan.Steps, s)
		}
	}
}

// belowKept reports whether p would lie below something that stays and is no directory.
func (pl *planner) belowKept(p string) bool {
	for {
		if p, _ = tree.Split(p); p == "" {
			return false
		}
		if pl.blocking[p] {
			return true
		}
	}
}
