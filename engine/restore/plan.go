package restore

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

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

// Plan is what a restore would do. A dry run shows it and a restore carries it out: nothing is decided later.
type Plan struct {
	Target *model.Checkpoint
	refs.Scope
	Steps    []tree.Change // by path
	Kept     []value.Kept  // paths that differ from the target and stay as they are
	Replaced []string      // changed since the newest checkpoint: afterwards only the safety checkpoint has their bytes
	Git      GitHeads
	without  []value.Without // paths without a step: as the target has them, but for bits that a restore gives to no file
	Missing  []tree.Skip     // paths that the target did not capture, and that are not on disk
	Taken    []value.Taken   // with Exact: what would be kept without it
	Merges   []value.Merge   // of a merge: what became of each path of it, by path
	// Mergeable: Merge would take what goes out of a path that stays for a colleague, or mark it there
	Mergeable bool
	beside    int // of those that stay, how many are not in Kept, for nothing was asked about them

	others     authorship.Theirs  // what others changed after the target, and stays
	Yours      []string           // what a person changed after the target, and is set: the safety checkpoint has it
	Returned   []string           // what a person removed after the target, and is there again
	Uncaptured []value.Uncaptured // what agents' edit tools changed after the target and nothing takes back
	ignored    map[string]bool    // directories that rules leave out now: only what was named in them is captured
}

// leavesToOthers reports whether a path was changed by a colleague and is therefore kept, even if it happens to be as
// the target has it.
func (p *Plan) leavesToOthers(path string) bool {
	return p != nil && p.others.Of(path) != ""
}

// GitHeads is where the user's git repository stood at the target, and where it stands now. A restore changes nothing
// of it.
type GitHeads struct {
	Then, Now model.GitHead
	State     string // merge, rebase, ... under way; empty: none
	Gone      bool   // there was a repository then, and there is none now
}

// planner makes one plan.
type planner struct {
	restorer    *runner
	root        worktreefs.Dir
	request     *request
	target      *model.Checkpoint
	base        *model.Checkpoint // the newest step that no undo made; nil: none
	restored    []restoredState   // what restores since base wrote
	baseSkips   []tree.Skip       // of base's note, by path
	targetSkips []tree.Skip       // of the target's note, by path
	unknown     map[string]bool
	inCall      func(path string) bool // reports unknown paths that an open call of the session itself made; nil: none
	ofAgent     map[string]bool        // of unknown: a restore had left the file that a person has changed since
	unsaved     map[string]bool
	reverted    *reverted                    // the restore that is taken back; nil: it is another kind
	others      *authorship.Since            // what others changed after the target
	merged      map[string]bool              // paths that a merge sets instead of leaving them to others
	stuck       map[string]value.MergeReason // paths that stay, for what goes could not be taken out of them
	hidden      map[string]*tree.Entry       // files that the session made and then hid, see hiddenWork
	gaveUp      map[string]bool              // paths with a person's changes that are set all the same, see giveUp
	changes     []tree.Change                // from the worktree to the target
	named       []string                     // the paths that calls have named, by path
	seen        map[string]bool              // named paths that the target does not know, see complete
	lostTrees   map[objstore.ID]bool         // lost trees of the target outside of the request
	foreign     *foreignDirs
	plan        *Plan
	kept        map[string]value.Kept
	// blocking are paths that stay and are no directories: nothing can be made below them
	blocking map[string]bool
}

// Plan captures the worktree through root and decides what becomes of each path. On success the capture, which the
// caller commits or discards, holds every byte that the steps replace or remove, ignored files included. An
// *UnsavedError when bytes are in the way that must not or cannot be stored.
func (rs *runner) Plan(
	ctx context.Context, root worktreefs.Dir, r *request, p model.Progress,
) (*Plan, *capture.Capture, error) {
	pl := &planner{
		restorer: rs, root: root, request: r, unknown: map[string]bool{}, unsaved: map[string]bool{},
		ofAgent:  map[string]bool{},
		kept:     map[string]value.Kept{},
		blocking: map[string]bool{},
		plan:     &Plan{Scope: r.Scope},
	}
	if err := pl.loadBase(); err != nil {
		return nil, nil, err
	}
	o := capture.Options{Compare: r.options.DryRun && !r.merges && !r.options.Merge, Progress: p}
	c, err := pl.captureWorktree(ctx, root, r, &o)
	if err != nil {
		return nil, nil, err
	}
	pl.foreign, err = foreignOf(c, pl.target, lostAsEmpty{c.Get, pl.lostTrees})
	if err == nil {
		o.Force, err = pl.uncaptured(root, c)
	}
	if err == nil && len(o.Force) > 0 {
		c.Discard()
		if c, err = pl.captureTargets(ctx, root, o); c == nil {
			return nil, nil, err
		}
	}
	if err == nil {
		err = pl.decide(c)
	}
	if err == nil {
		pl.tellGit(c)
		pl.plan.Missing, err = capture.Missing(root, pl.targetSkips, c.Res.Skips, pl.request.Paths)
		pl.plan.Missing = slices.DeleteFunc(pl.plan.Missing, func(s tree.Skip) bool { return pl.seen[s.Path] })
	}
	if err == nil {
		pl.plan.Uncaptured, err = rs.uncaptured(r, r.since())
	}
	if err != nil {
		c.Discard()
		return nil, nil, err
	}
	return pl.plan, c, nil
}

// uncaptured are the paths that are to be captured whatever the rules say, before they may be replaced or removed.
func (pl *planner) uncaptured(root worktreefs.Dir, c *capture.Capture) ([]string, error) {
	targets, err := pl.uncapturedTargets(root, c)
	if err != nil {
		return nil, err
	}
	hidden, err := pl.hiddenWork(c)
	return append(targets, hidden...), err
}

// captureTargets captures the worktree with what the target has and no checkpoint would; nil: it could not be captured.
func (pl *planner) captureTargets(
	ctx context.Context, root worktreefs.Dir, o capture.Options,
) (*capture.Capture, error) {
	c, err := pl.restorer.worktree.Capture(ctx, root, o)
	if err != nil {
		return nil, err
	}
	if err = pl.refuseSecrets(c, o.Force); err == nil {
		err = pl.takeOut(c) // what it makes is in the capture's transaction
	}
	if err == nil {
		err = pl.compareWithTarget(c)
	}
	return c, err
}

// tellGit tells where git stood then, and stands now.
func (pl *planner) tellGit(c *capture.Capture) {
	pl.plan.Git.Then, pl.plan.Git.Now = pl.target.Git, c.Git
	pl.plan.Git.Gone = !c.Repo && pl.target.Git != (model.GitHead{})
	pl.plan.Git.State = pl.restorer.worktree.GitState()
}

// captureWorktree captures the worktree, chooses the target and fills changes. A capture believes the watcher; a
// restore must not believe it of the files that it would replace. If one of those is not as the capture took it over,
// the whole tree is scanned.
func (pl *planner) captureWorktree(
	ctx context.Context, root worktreefs.Dir, r *request, o *capture.Options,
) (*capture.Capture, error) {
	for {
		c, err := pl.restorer.worktree.Capture(ctx, root, *o)
		if err != nil {
			return nil, err
		}
		if err = pl.chooseTarget(c, r); err == nil {
			err = pl.compareWithTarget(c)
		}
		overlooked := false
		if err == nil && !o.Full {
			overlooked, err = c.Cache.Overlooked(root, pl.victims())
		}
		if err == nil && !overlooked {
			return c, nil
		}
		c.Discard()
		switch {
		case o.Compare && errors.Is(err, errStores):
			o.Compare = false
		case err != nil:
			return nil, err
		default:
			o.Full = true
		}
	}
}

// compareWithTarget fills changes: from the captured worktree to the target, by path.
func (pl *planner) compareWithTarget(c *capture.Capture) error {
	pl.changes = nil
	to, seen, err := pl.complete(c, pl.target)
	if err != nil {
		return err
	}
	pl.seen = seen
	return tree.Diff(lostAsEmpty{c.Get, pl.lostTrees}, c.Res.Root, to, func(ch tree.Change) error {
		editors, err := pl.isEditors(ch)
		if err == nil && !editors {
			pl.changes = append(pl.changes, ch)
		}
		return err
	})
}

// isEditors reports whether a change would bring back an editor's lock or swap file, which older versions captured.
func (pl *planner) isEditors(ch tree.Change) (bool, error) {
	if ch.Old != nil || !model.IsFile(ch.New) {
		return false, nil
	}
	return pl.restorer.worktree.LeavesOut(pl.root, ch.Path)
}

// victims are the files that the restore could replace or remove.
func (pl *planner) victims() []string {
	var paths []string
	for _, ch := range pl.changes {
		if model.IsFile(ch.Old) && pl.request.Paths.Has(ch.Path) {
			paths = append(paths, ch.Path)
		}
	}
	return paths
}

// chooseTarget sets the target, where it depends on the captured worktree, and what is read of it: its note, what is
// lost of it, what colleagues changed since.
func (pl *planner) chooseTarget(c *capture.Capture, r *request) (err error) {
	if r.choose != nil {
		if err := pl.compareWithBase(c); err != nil {
			return err
		}
		if err := r.choose(pl, c); err != nil {
			return err
		}
		pl.forgetBase()
	}
	pl.target = r.target
	pl.plan.Target = cmp.Or(r.partOf, r.target) // the parts are a state that is not stored yet
	known := r.since()
	if err := pl.refuseLost(known); err != nil {
		return err
	}
	if pl.targetSkips, err = pl.restorer.log.Note(known); err != nil {
		return err
	}
	g := pl.restorer.going(r)
	pl.others, err = pl.restorer.authors.Others(g, known, c, g.Way == authorship.GoTo)
	if err != nil {
		return err
	}
	if g.Way == authorship.TakeBack {
		j, err := pl.restorer.authors.Judge(g)
		if err != nil {
			return err
		}
		pl.inCall = j.InCall()
	}
	pl.merged, pl.stuck = map[string]bool{}, map[string]value.MergeReason{}
	if pl.gaveUp = r.gaveUp; pl.gaveUp == nil {
		pl.gaveUp = map[string]bool{}
	}
	if !pl.all() {
		pl.plan.others = pl.others.Stay
	}
	if err := pl.widen(c); err != nil {
		return err
	}
	if err := pl.findReverted(c); err != nil {
		return err
	}
	return pl.takeOut(c)
}

// forgetBase clears what compareWithBase has filled: decide fills it again, for the last capture.
func (pl *planner) forgetBase() {
	clear(pl.unknown)
	clear(pl.unsaved)
}

// uncapturedTargets are the paths of the target that the snapshot did not capture although something is there: ignored,
// or over the size limit. They must be captured before they may be replaced. An uncaptured directory where the target
// has a file is kept, since its files are not the target's.
func (pl *planner) uncapturedTargets(root worktreefs.Dir, c *capture.Capture) ([]string, error) {
	var hidden []string
	var blocked []model.Blocked
	for _, ch := range pl.changes {
		if ch.New == nil || ch.Old != nil || !pl.request.Paths.Has(ch.Path) {
			continue
		}
		if _, why, err := pl.foreign.around(ch.Path); err != nil {
			return nil, err
		} else if why != "" {
			continue
		}
		s, ok := model.Covering(c.Res.Skips, ch.Path)
		if why, err := pl.restorer.log.GoneEntry(ch.New); !ok || err != nil || why != "" {
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
	beside, err := pl.uncapturedCompanions(c)
	return append(hidden, beside...), err
}

// keep puts a path into kept. Nothing can be made below it unless it is a directory that stays.
func (pl *planner) keep(path string, why value.KeptReason, isDir bool) {
	k := value.Kept{Path: value.Text(path), Dir: isDir, Reason: why}
	if why == value.KeptSession {
		k.By, k.Shared, k.Conflict = pl.others.KeptBy(path), pl.others.Shared[path], pl.stuck[path]
	}
	pl.kept[path] = k
	pl.blocking[path] = !isDir || why == value.KeptBelow || why == value.KeptPurged || why == value.KeptLost
}

// keepGone says of a path that is kept that somebody has removed it.
func (pl *planner) keepGone(path string) {
	k := pl.kept[path]
	k.Gone = true
	pl.kept[path] = k
}

// refuseSecrets fails with an *UnsavedError if one of the paths in hidden, which the second capture took in, is a
// secret file whose content may not be stored.
func (pl *planner) refuseSecrets(c *capture.Capture, hidden []string) error {
	if pl.restorer.log.Config.StoreSecrets() {
		return nil
	}
	secret, err := pl.restorer.leaks.SecretFiles()
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

// decide fills the plan with steps, kept paths and what is told of them.
func (pl *planner) decide(c *capture.Capture) error {
	if err := pl.compareWithBase(c); err != nil {
		return err
	}
	var d decided
	pl.plan.ignored = ignoredDirs(c)
	for _, ch := range pl.changes {
		if !pl.inScope(ch) || pl.wasIgnored(ch) {
			continue
		}
		if err := pl.decideOn(ch, &d); err != nil {
			return err
		}
	}
	steps, err := pl.settleDatabases(c, pl.remakeDirs(d.away, d.steps))
	if err != nil {
		return err
	}
	if len(pl.request.Paths) > 0 {
		if err := pl.blockedParents(c, steps); err != nil {
			return err
		}
	}
	pl.dropBlocked(steps, c.Res.Skips)
	if err := errors.Join(pl.keepUnread(c), pl.keepHidden(c)); err != nil {
		return err
	}
	pl.listReplaced()
	pl.listKept()
	pl.listTaken()
	return nil
}

// decided is what the paths so far come to.
type decided struct {
	steps []tree.Change
	away  []tree.Change // directories that a colleague removed
}

// decideOn sets one path, or keeps it.
func (pl *planner) decideOn(ch tree.Change, d *decided) error {
	if kept, err := pl.keepForeign(ch.Path); err != nil || kept {
		return err
	}
	why, err := pl.whyKept(ch)
	if err != nil {
		return err
	}
	others := why == value.KeptSession || why == value.KeptSince
	switch {
	case others && removedDir(ch):
		d.away = append(d.away, ch)
	case why != "":
		pl.keep(ch.Path, why, ch.Old != nil && ch.Old.Type == tree.TypeDir)
		if gone := others && ch.Old == nil; gone {
			pl.keepGone(ch.Path)
		}
	case !apply.UpToDate(ch.Old, ch.New):
		d.steps = append(d.steps, ch)
	default:
		if w, ok := apply.Withheld(ch.Path, ch.Old, ch.New); ok {
			pl.plan.without = append(pl.plan.without, w)
		}
	}
	return nil
}

// keepUnread tells of what cannot be read now and is not in the target: it stays, and nobody would know.
func (pl *planner) keepUnread(c *capture.Capture) error {
	target := oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree)
	for _, s := range capture.Visible(c.Res.Skips) {
		ofGit := s.Path == ".git" || refs.Below(s.Path, ".git")
		if s.Reason != tree.ReasonUnreadable || ofGit || !pl.request.Paths.Has(s.Path) {
			continue
		}
		if model.Covered(pl.targetSkips, s.Path) {
			continue
		}
		ent, err := target.Find(s.Path)
		if err != nil {
			return err
		}
		isDir, there, err := capture.OnDisk(pl.root, s.Path)
		if err != nil {
			return err
		}
		if there && ent == nil {
			pl.keep(s.Path, value.KeptUnread, isDir)
		}
	}
	return nil
}

// listReplaced fills the plan's Replaced, Yours and Returned. What an undo-restore sets is as the restore left it: of
// nobody.
func (pl *planner) listReplaced() {
	if pl.reverted != nil && !pl.all() {
		return
	}
	stay := pl.request.merges || pl.restorer.going(pl.request).KeepsPerson() && !pl.all()
	for _, s := range pl.plan.Steps {
		was := model.IsFile(s.Old)
		if was && pl.unsaved[s.Path] && !pl.merged[s.Path] {
			pl.plan.Replaced = append(pl.plan.Replaced, s.Path)
		}
		yours := pl.others.Yours(s.Path, pl.merged[s.Path]) || pl.request.merges // of a revert gaveUp says it
		if goes := yours && (pl.gaveUp[s.Path] || !stay); goes {
			pl.listYours(s)
		}
	}
}

// listYours names what a step sets of a person's: a file, or the removal of one.
func (pl *planner) listYours(s tree.Change) {
	switch {
	case model.IsFile(s.Old):
		pl.plan.Yours = append(pl.plan.Yours, s.Path)
	case s.Old == nil && model.IsFile(s.New):
		pl.plan.Returned = append(pl.plan.Returned, s.Path)
	}
}

// remakeDirs adds to steps those that make the directories in away, which a colleague removed, if a step makes
// something below them; the others are kept away.
func (pl *planner) remakeDirs(away []tree.Change, steps []tree.Change) []tree.Change {
	if len(away) == 0 {
		return steps
	}
	needed := map[string]bool{}
	for _, s := range steps {
		for dir, _ := tree.Split(s.Path); s.New != nil && dir != "" && !needed[dir]; dir, _ = tree.Split(dir) {
			needed[dir] = true
		}
	}
	for _, ch := range away {
		if !needed[ch.Path] {
			pl.keep(ch.Path, value.KeptSession, false)
			pl.keepGone(ch.Path)
			continue
		}
		steps = append(steps, tree.Change{Path: ch.Path, New: ch.New})
	}
	slices.SortFunc(steps, func(a, b tree.Change) int { return tree.ComparePaths(a.Path, b.Path) })
	return steps
}

// agentDir holds the marker. It is never removed, even if it is empty otherwise.
const agentDir = ".agent"

// inScope reports whether a change is part of the request: it is at a path of its own, or makes a directory above one.
func (pl *planner) inScope(ch tree.Change) bool {
	if ch.Path == agentDir && ch.New == nil {
		return false
	}
	makesDir := ch.Old == nil && ch.New.Type == tree.TypeDir
	return pl.request.Paths.Has(ch.Path) || makesDir && pl.request.Paths.HasBelow(ch.Path)
}

// isInCall reports whether an open call of the session itself made what is at an unknown path.
func (pl *planner) isInCall(path string) bool { return pl.inCall != nil && pl.inCall(path) }

// isNew reports whether no checkpoint knows what is at a path, so that it is kept. Not so if the base's note lists it
// as skipped and the target has the path (has).
func (pl *planner) isNew(path string, has bool) bool {
	if !pl.unknown[path] || pl.ofAgent[path] || pl.isInCall(path) {
		return false
	}
	_, seen := model.Covering(pl.baseSkips, path)
	return !seen || !has
}

// wasSkipped reports whether a change would remove what is no work of a person's: a session's file, or what the base's
// capture skipped, which is new only since another rule holds.
func (pl *planner) wasSkipped(ch tree.Change) bool {
	_, seen := model.Covering(pl.baseSkips, ch.Path)
	if ch.New != nil || pl.all() {
		return false
	}
	return seen || pl.isTalk(ch.Path)
}

// isTalk reports whether a path is the file of a session, whose folder lies in the project: no person's work.
func (pl *planner) isTalk(path string) bool {
	full := filepath.Join(pl.restorer.log.Project.Root, path)
	for _, s := range pl.restorer.log.EachSession() {
		for _, file := range []string{s.Transcript, s.Cursor.Path} {
			if file == full || file != "" && refs.Below(file, full) {
				return true
			}
		}
	}
	return false
}

// removedDir reports whether the target has a directory where nothing is now.
func removedDir(ch tree.Change) bool { return ch.Old == nil && ch.New.Type == tree.TypeDir }

// whyKept is why a path is kept as it is; "": it is not.
func (pl *planner) whyKept(ch tree.Change) (value.KeptReason, error) {
	why, err := pl.restorer.log.GoneEntry(ch.New)
	if err == nil && why == "" {
		why = pl.isToStay(ch)
	}
	if err != nil || pl.reverted == nil || pl.all() {
		return why, err
	}
	return pl.reverted.whyKept(ch, why)
}

// isToStay is whyKept of what could be set.
func (pl *planner) isToStay(ch tree.Change) value.KeptReason {
	if pl.others.Stay.Of(ch.Path) != "" && !pl.all() {
		return value.KeptSession
	}
	if ch.Old == nil {
		return ""
	}
	if ch.New == nil && !pl.seen[ch.Path] {
		// The target's note lists the path: it may have been there.
		if s, ok := model.Covering(pl.targetSkips, ch.Path); ok && s.Reason != tree.ReasonTorn &&
			s.Reason != tree.ReasonMount {
			return value.KeptSkipped
		}
	}
	if pl.isNew(ch.Path, ch.New != nil) && (!pl.takesNew() || pl.wasSkipped(ch)) {
		return value.KeptUnsaved
	}
	return ""
}
