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

// setResultTree sets the operation's Result where the head after the restore is not the target: the head before it,
// with what the target accounts for at the paths that the restore was to set and that are now as the target has them.
func (rs *Restorer) setResultTree(tx *objstore.Tx, op *refs.Operation, j *model.Journal, res *Result) error {
	if len(j.Paths) > 0 {
		return nil
	}
	safety, err := rs.log.Checkpoint(j.Safety)
	if err != nil {
		return err
	}
	target, err := rs.log.Checkpoint(j.Target)
	if err != nil {
		return err
	}
	was, err := rs.log.Accounts(safety)
	if err != nil {
		return err
	}
	known, err := rs.log.Accounts(target)
	if err != nil {
		return err
	}
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
	if j.Trees == nil {
		j.Trees = tree.NewMemo(rs.log.Objs)
	}
	found, wanted := oplog.NewLookups(j.Trees, safety.Tree), oplog.NewLookups(j.Trees, target.Tree)
	var steps []tree.Change
	var stays []string // paths that stay as the head had them
	err = tree.Diff(j.Trees, was.Tree, known.Tree, func(ch tree.Change) error {
		done, isStep := set[ch.Path]
		if !isStep {
			have, err := found.Find(ch.Path)
			if err != nil {
				return err
			}
			want, err := wanted.Find(ch.Path)
			if err != nil {
				return err
			}
			done = !res.Plan.leavesToOthers(ch.Path) && (have == nil && want == nil || have != nil && want != nil && tree.Same(have, want))
		}
		done = done || ch.New == nil && res.Plan.isIgnored(ch.Path)
		if _, less := res.perms[ch.Path]; done && !less {
			steps = append(steps, tree.Change{Path: ch.Path, New: ch.New})
		}
		if !done {
			stays = append(stays, ch.Path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	short, err := res.permSteps(oplog.NewLookups(j.Trees, known.Tree), wanted)
	if err != nil {
		return err
	}
	seen, err := seenSteps(j.Steps, set, wanted)
	if err != nil || len(stays) == 0 && len(short) == 0 && len(seen) == 0 {
		return err
	}
	for _, s := range seen {
		stays = append(stays, s.Path)
	}
	// a directory above a path that stays is not removed from the head
	steps = slices.DeleteFunc(steps, func(s tree.Change) bool {
		return s.New == nil && slices.ContainsFunc(stays, func(p string) bool { return refs.Below(p, s.Path) })
	})
	steps = append(append(steps, short...), seen...)
	id, err := tree.Edit(j.Trees, tx, was.Tree, steps)
	if err == nil && id != known.Tree {
		op.Restore.Result = id
	}
	return err
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
		if who == "" {
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
