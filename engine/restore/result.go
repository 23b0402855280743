package restore

import (
	"maps"
	"slices"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// setResultTree sets the operation's Result if the head after the restore is not the target. It is the head before the
// restore, with the target's part at some paths: those that the restore was to set and that now equal the target's.
func (rs *runner) setResultTree(tx *objstore.Tx, op *refs.Operation, j *model.Journal, res *Result) error {
	if len(j.Paths) > 0 {
		return nil
	}
	safety, was, err := rs.withAccounts(j.Safety)
	if err != nil {
		return err
	}
	target, known, err := rs.withAccounts(j.Target)
	if err != nil {
		return err
	}
	if j.Trees == nil {
		j.Trees = tree.NewMemo(rs.log.Objs)
	}
	w := &resultTree{
		res: res, set: setBy(j, res),
		found: oplog.NewLookups(j.Trees, safety.Tree), wanted: oplog.NewLookups(j.Trees, target.Tree),
	}
	if err := tree.Diff(j.Trees, was.Tree, known.Tree, w.take); err != nil {
		return err
	}
	short, err := res.permSteps(oplog.NewLookups(j.Trees, known.Tree), w.wanted)
	if err != nil {
		return err
	}
	seen, err := seenSteps(j.Steps, w.set, w.wanted)
	if err != nil || len(w.stays)+len(short)+len(seen) == 0 {
		return err
	}
	id, err := tree.Edit(j.Trees, tx, was.Tree, w.edits(short, seen))
	if err == nil && id != known.Tree {
		op.Restore.Result = id
	}
	return err
}

// withAccounts is a checkpoint, and what the log says it has.
func (rs *runner) withAccounts(id objstore.ID) (*model.Checkpoint, oplog.Head, error) {
	cp, err := rs.log.Checkpoint(id)
	if err != nil {
		return nil, oplog.Head{}, err
	}
	has, err := rs.log.Accounts(cp)
	return cp, has, err
}

// setBy are the paths that a restore had to set, and whether it did.
func setBy(j *model.Journal, res *Result) map[string]bool {
	set := map[string]bool{}
	for _, s := range j.Steps {
		set[s.Path] = true
	}
	for _, c := range res.Conflicts {
		set[string(c.Path)] = false
	}
	for _, d := range res.KeptDirs {
		set[d] = false
	}
	return set
}

// A resultTree goes through what differs between the tree of the head before a restore and that of its target.
type resultTree struct {
	res           *Result
	set           map[string]bool
	found, wanted *oplog.Lookups
	steps         []tree.Change
	stays         []string // paths that stay as the head had them
}

func (w *resultTree) take(ch tree.Change) (err error) {
	done, isStep := w.set[ch.Path]
	if !isStep {
		if done, err = w.isAsWanted(ch.Path); err != nil {
			return err
		}
	}
	if !done && (ch.New != nil || !w.res.Plan.isIgnored(ch.Path)) {
		w.stays = append(w.stays, ch.Path)
		return nil
	}
	if _, less := w.res.perms[ch.Path]; !less {
		w.steps = append(w.steps, tree.Change{Path: ch.Path, New: ch.New})
	}
	return nil
}

// isAsWanted reports whether a path that was not set was found as the target has it, and is not left to others.
func (w *resultTree) isAsWanted(path string) (bool, error) {
	have, err := w.found.Find(path)
	if err != nil {
		return false, err
	}
	want, err := w.wanted.Find(path)
	if err != nil || w.res.Plan.leavesToOthers(path) {
		return false, err
	}
	if have == nil || want == nil {
		return have == want, nil
	}
	dirs := have.Type == tree.TypeDir && want.Type == tree.TypeDir // what is in them is asked for itself
	return dirs || tree.Same(have, want), nil
}

// edits are what makes the head's tree out of the one before: no directory above a path that stays is removed.
func (w *resultTree) edits(short, seen []tree.Change) []tree.Change {
	stays := w.stays
	for _, s := range seen {
		stays = append(stays, s.Path)
	}
	steps := slices.DeleteFunc(w.steps, func(s tree.Change) bool {
		return s.New == nil && slices.ContainsFunc(stays, func(p string) bool { return refs.Below(p, s.Path) })
	})
	return append(append(steps, short...), seen...)
}

// permSteps are steps that give the paths with other permissions than the target's those that they have.
func (res *Result) permSteps(known, wanted *oplog.Lookups) ([]tree.Change, error) {
	var steps []tree.Change
	for path, perm := range res.perms {
		ent, err := known.Find(path)
		if err != nil {
			return nil, err
		}
		want, err := wanted.Find(path)
		if err != nil {
			return nil, err
		}
		if ent != nil && tree.Same(ent, want) {
			is := *ent
			is.Perm = perm
			steps = append(steps, tree.Change{Path: path, New: &is})
		}
	}
	return steps, nil
}

// adoptPerms puts the permissions that paths got into the plan's steps, so that the answer shows them.
func (res *Result) adoptPerms() {
	if len(res.perms) == 0 {
		return
	}
	steps := slices.Clone(res.Plan.Steps)
	for i, s := range steps {
		if perm, ok := res.perms[s.Path]; ok && s.New != nil {
			to := *s.New
			to.Perm, steps[i].New = perm, &to
		}
	}
	res.Plan.Steps = steps
}

// refuseLost fails with an *oplog.LostError if a path of the request is lost in the checkpoint cp. Lost directories
// outside of the request are put into lostTrees and read as empty from now on.
func (pl *planner) refuseLost(cp *model.Checkpoint) error {
	paths, trees, err := pl.restorer.log.LostIn(cp)
	if err != nil {
		return err
	}
	var asked []string
	for _, p := range paths {
		if pl.request.Paths.Has(p) || p == "" || pl.request.Paths.HasBelow(p) {
			asked = append(asked, p)
		}
	}
	if len(asked) > 0 {
		return &oplog.LostError{Checkpoint: cp.ID, Paths: asked}
	}
	pl.lostTrees = trees
	return nil
}

// lostAsEmpty is a Getter that gives lost trees as empty ones.
type lostAsEmpty struct {
	objstore.Getter
	lost map[objstore.ID]bool
}

func (s lostAsEmpty) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == objstore.Tree && s.lost[id] {
		return tree.Encode(nil)
	}
	return s.Getter.Get(k, id)
}

// listKept fills the plan's Kept, by path; of a directory that no checkpoint holds only the directory itself.
func (pl *planner) listKept() {
	paths := slices.SortedFunc(maps.Keys(pl.kept), tree.ComparePaths)
	for _, p := range paths {
		k, list := pl.kept[p], pl.plan.Kept
		if pl.reverted.isBeside(p) && !pl.hinders(p) {
			pl.plan.beside++
			continue
		}
		if n := len(list); n > 0 && covers(list[n-1], k) {
			continue
		}
		pl.plan.Kept = append(list, k)
	}
}

// listTaken fills the plan's Taken: the files that others changed last, by session, and with Exact those that no
// checkpoint holds.
func (pl *planner) listTaken() {
	by := map[string][]string{}
	for _, s := range pl.plan.Steps {
		who := pl.others.Stay.Of(s.Path)
		if who == "" || who == model.Manual { // a person's are told as such
			who = pl.strange(pl.others.Went.Of(s.Path))
		}
		theirs := who != "" && (model.IsFile(s.Old) || model.IsFile(s.New))
		unheld := who == "" && pl.request.Exact && pl.unknown[s.Path]
		if theirs || unheld && model.IsFile(s.Old) {
			by[who] = append(by[who], s.Path)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(by)) {
		if who != "" {
			pl.plan.Taken = append(pl.plan.Taken, value.Taken{By: who, Paths: value.Texts(by[who])})
		}
	}
	if paths := by[""]; paths != nil {
		pl.plan.Taken = append(pl.plan.Taken, value.Taken{Paths: value.Texts(paths)})
	}
}

// strange is a session, unless it is of the family of the one that goes back, or a person.
func (pl *planner) strange(session string) string {
	of := pl.restorer.sessions.Family
	if session == "" || session == model.Manual || of(session) == of(pl.request.Session) {
		return ""
	}
	return session
}

// covers reports whether a directory that stays says all that is to be said of another path that does.
func covers(dir, o value.Kept) bool {
	below := dir.Dir && refs.Below(string(o.Path), string(dir.Path))
	dir.Path, dir.Dir, o.Path, o.Dir = "", false, "", false
	return below && dir == o
}
