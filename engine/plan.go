package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"rewind/internal/gitinfo"
	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Plan is what a restore would do. Preview and act share it: nothing is decided later.
type Plan struct {
	Target   *Checkpoint
	Paths    []string // limited to these; empty: the whole tree
	Exact    bool
	Steps    []tree.Step // by path
	Kept     []Kept      // differ from the target and stay as they are
	Replaced []string    // changed since the newest checkpoint: afterwards only the safety checkpoint has their bytes
	Git      GitThenNow
}

// Kept is a path that a restore leaves as it is although the target has it otherwise or not at all.
type Kept struct {
	Path   string
	Dir    bool // with all below it
	Reason KeptReason
}

// KeptReason says why; the value is the word in the API.
type KeptReason string

// The reasons for keeping a path.
const (
	KeptNew      KeptReason = "new"      // no checkpoint holds it: first seen by this command
	KeptHolds    KeptReason = "holds"    // a directory with kept, ignored or skipped files in it is in the way
	KeptBelow    KeptReason = "below"    // it would lie below a kept path
	KeptConflict KeptReason = "conflict" // it changed while the restore ran
)

// GitThenNow is where the user's repository stood at the target and stands now; a restore moves none of it.
type GitThenNow struct {
	Then, Now GitHead
	State     string // merge, rebase, ... under way; empty: none
}

// planOptions are what a restore is asked for.
type planOptions struct {
	paths pathSet
	exact bool
}

// planner holds what the decisions of one plan are made from.
type planner struct {
	e       *Engine
	opt     planOptions
	target  *Checkpoint
	base    *Checkpoint   // H: the newest step, no undo's own
	since   []objstore.ID // trees laid out by restores since base
	seen    []tree.Skip   // of base's note, by path
	unknown map[string]bool
	plan    *Plan
	kept    map[string]KeptReason
	// blocking are the paths that stay and are no directories: nothing can be laid out below them
	blocking map[string]bool
}

// plan captures the worktree and decides. On success the capture holds, uncommitted, every byte that the steps replace
// or remove, ignored files included. *UnsavedError when there are bytes in the way that must not or cannot be stored.
func (e *Engine) plan(ctx context.Context, root worktreefs.Dir, target *Checkpoint, opt planOptions, p Progress) (_ *Plan, _ *capture, err error) {
	pl := &planner{
		e: e, opt: opt, target: target, unknown: map[string]bool{}, kept: map[string]KeptReason{}, blocking: map[string]bool{},
		plan: &Plan{Target: target, Paths: opt.paths, Exact: opt.exact},
	}
	if err := pl.baseline(); err != nil {
		return nil, nil, err
	}
	cur, err := e.current()
	if err != nil {
		return nil, nil, err
	}
	var prev objstore.ID
	if cur != nil {
		prev = cur.Tree
	}
	c, err := e.capture(ctx, root, prev, nil, p)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			c.tx.Discard()
		}
	}()
	hidden, err := pl.inTheWay(root, c)
	if err != nil {
		return nil, nil, err
	}
	if len(hidden) > 0 {
		c.tx.Discard()
		if c, err = e.capture(ctx, root, prev, hidden, p); err != nil {
			return nil, nil, err
		}
		if err := pl.refuseSecrets(c, hidden); err != nil {
			return nil, nil, err
		}
	}
	if err := pl.decide(c); err != nil {
		return nil, nil, err
	}
	pl.plan.Git.Then, pl.plan.Git.Now = target.Git, c.git
	pl.plan.Git.State, err = e.gitState()
	return pl.plan, c, err
}

// baseline finds H and what restores have laid out since: together they are what rewind knows to have been there.
func (pl *planner) baseline() error {
	err := pl.e.refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case op.Kind.IsRestore() && op.Restore != nil:
			cp, err := pl.e.checkpoint(op.Restore.Target)
			if err != nil {
				return err
			}
			if !slices.Contains(pl.since, cp.Tree) {
				pl.since = append(pl.since, cp.Tree)
			}
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

// inTheWay returns the paths of the target that the snapshot did not capture although something is there: ignored, over
// the size limit. They must be captured before they may be touched. An uncaptured directory where the target has a file
// stays, for what is in it is not the target's.
func (pl *planner) inTheWay(root worktreefs.Dir, c *capture) ([]string, error) {
	var hidden []string
	var blocked []Blocked
	err := tree.Diff(c.tx, c.res.Root, pl.target.Tree, func(ch tree.Change) error {
		if ch.New == nil || ch.Old != nil || !pl.opt.paths.has(ch.Path) {
			return nil
		}
		s, ok := covering(c.res.Skips, ch.Path)
		if !ok {
			return nil
		}
		isDir, there, err := onDisk(root, ch.Path)
		switch {
		case err != nil:
			return err
		case !there || isDir && ch.New.Type == tree.TypeDir:
		case isDir:
			pl.keep(ch.Path, KeptHolds)
		case s.Reason == tree.ReasonIgnored, s.Reason == tree.ReasonBuiltin, s.Reason == tree.ReasonSize:
			hidden = append(hidden, ch.Path)
		default:
			blocked = append(blocked, Blocked{ch.Path, s.Reason})
		}
		return nil
	})
	if err == nil && len(blocked) > 0 {
		err = &UnsavedError{Paths: blocked}
	}
	return hidden, err
}

// onDisk reports what is at path. What cannot be looked at counts as a file that is there.
func onDisk(root worktreefs.Dir, path string) (isDir, there bool, err error) {
	parent, name, err := worktreefs.OpenParent(root, path)
	switch {
	case errors.Is(err, worktreefs.ErrNotExist), errors.Is(err, worktreefs.ErrNotDir):
		return false, false, nil
	case errors.Is(err, fs.ErrPermission):
		return false, true, nil
	case err != nil:
		return false, false, err
	}
	defer parent.Close()
	st, err := parent.Lstat(name)
	switch {
	case errors.Is(err, worktreefs.ErrNotExist):
		return false, false, nil
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return false, false, err
	}
	return err == nil && st.Type == worktreefs.TypeDir, true, nil
}

// keep leaves a path as it is. Nothing can be laid below it unless it is a directory of the target too.
func (pl *planner) keep(path string, why KeptReason) {
	pl.kept[path] = why
	pl.blocking[path] = true
}

// refuseSecrets refuses to replace secret files that the forced capture found, unless their content may be stored.
func (pl *planner) refuseSecrets(c *capture, hidden []string) error {
	if pl.e.config.storeSecrets() {
		return nil
	}
	secret := ignore.Secrets(pl.e.config.secretPatterns())
	var blocked []Blocked
	for _, p := range hidden {
		if !secret(p) {
			continue
		}
		switch _, err := tree.Lookup(c.tx, c.res.Root, p); {
		case err == nil:
			blocked = append(blocked, Blocked{p, tree.ReasonSecret})
		case !errors.Is(err, tree.ErrNotFound):
			return err
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	slices.SortFunc(blocked, func(a, b Blocked) int { return cmp.Compare(a.Path, b.Path) })
	return &UnsavedError{Paths: blocked}
}

// decide fills the plan with steps and kept paths.
func (pl *planner) decide(c *capture) error {
	var baseTree objstore.ID
	if pl.base != nil {
		baseTree = pl.base.Tree
	}
	changed := map[string]bool{}
	err := tree.Diff(c.tx, baseTree, c.res.Root, func(ch tree.Change) error {
		switch {
		case ch.Old == nil:
			known, err := pl.known(c, ch.Path)
			if !known {
				pl.unknown[ch.Path] = true
			}
			return err
		case ch.New != nil && isFile(ch.New):
			laid, err := pl.laidOut(ch.Path, ch.New)
			changed[ch.Path] = !laid
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	var steps []tree.Step
	err = tree.Diff(c.tx, c.res.Root, pl.target.Tree, func(ch tree.Change) error {
		if !pl.opt.paths.has(ch.Path) || below(ch.Path, agentDir) {
			return nil
		}
		if ch.Old != nil && pl.unknown[ch.Path] && !pl.opt.exact {
			pl.keep(ch.Path, KeptNew)
			pl.blocking[ch.Path] = ch.Old.Type != tree.TypeDir
			return nil
		}
		steps = append(steps, tree.Step{Path: ch.Path, From: ch.Old, To: ch.New})
		return nil
	})
	if err != nil {
		return err
	}
	pl.filter(steps, c.res.Skips)
	for _, s := range pl.plan.Steps {
		if isFile(s.From) && (changed[s.Path] || pl.unknown[s.Path]) {
			pl.plan.Replaced = append(pl.plan.Replaced, s.Path)
		}
	}
	pl.plan.Kept = pl.collapse(c)
	return nil
}

// agentDir holds the marker; a restore never concerns itself with it.
const agentDir = ".agent"

// known reports whether a path that H's tree lacks was nevertheless there before: laid out by a restore since, or
// listed by H as skipped.
func (pl *planner) known(c *capture, path string) (bool, error) {
	for _, t := range pl.since {
		switch _, err := tree.Lookup(c.tx, t, path); {
		case err == nil:
			return true, nil
		case !errors.Is(err, tree.ErrNotFound):
			return false, err
		}
	}
	_, ok := covering(pl.seen, path)
	return ok, nil
}

// laidOut reports whether a restore since H left exactly this at path.
func (pl *planner) laidOut(path string, ent *tree.Entry) (bool, error) {
	for _, t := range pl.since {
		have, err := tree.Lookup(pl.e.objs, t, path)
		switch {
		case err == nil && tree.Same(&have, ent):
			return true, nil
		case err != nil && !errors.Is(err, tree.ErrNotFound):
			return false, err
		}
	}
	return false, nil
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
		case pl.kept[s.Path] != "":
		case pl.belowKept(s.Path):
			pl.keep(s.Path, KeptBelow)
		case s.From != nil && s.From.Type == tree.TypeDir && (s.To == nil || s.To.Type != tree.TypeDir) && holds(s.Path):
			pl.kept[s.Path] = KeptHolds
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

// collapse lists the kept paths, a wholly new directory once.
func (pl *planner) collapse(c *capture) []Kept {
	paths := make([]string, 0, len(pl.kept))
	for p := range pl.kept {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, tree.ComparePaths)
	var list []Kept
	for _, p := range paths {
		if n := len(list); n > 0 && list[n-1].Dir && below(p, list[n-1].Path) {
			continue
		}
		ent, err := tree.Lookup(c.tx, c.res.Root, p)
		list = append(list, Kept{Path: p, Dir: err == nil && ent.Type == tree.TypeDir, Reason: pl.kept[p]})
	}
	return list
}

// dirty reports whether the captured tree differs from cp in anything but paths that no checkpoint holds.
func (pl *planner) dirty(c *capture, cp *Checkpoint) (bool, error) {
	dirty := false
	err := tree.Diff(c.tx, cp.Tree, c.res.Root, func(ch tree.Change) error {
		if ch.Old == nil {
			inBase := false
			if pl.base != nil {
				_, err := tree.Lookup(c.tx, pl.base.Tree, ch.Path)
				if err != nil && !errors.Is(err, tree.ErrNotFound) {
					return err
				}
				inBase = err == nil
			}
			known, err := pl.known(c, ch.Path)
			if err != nil || (!known && !inBase) {
				return err
			}
		}
		dirty = true
		return tree.SkipAll
	})
	return dirty, err
}

// covering finds the skip that stands for path: its own, or that of a directory above it.
func covering(skips []tree.Skip, path string) (tree.Skip, bool) {
	for p := path; ; {
		i, ok := slices.BinarySearchFunc(skips, p, func(s tree.Skip, p string) int { return cmp.Compare(s.Path, p) })
		if ok {
			return skips[i], true
		}
		if p, _ = tree.Split(p); p == "" {
			return tree.Skip{}, false
		}
	}
}

func (e *Engine) gitState() (string, error) {
	repo, err := gitinfo.Open(e.project.Root)
	if errors.Is(err, gitinfo.ErrNoRepo) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return repo.State()
}
