package restore

import (
	"slices"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// complete returns the tree of a checkpoint with the named paths that rules hid from it. Each has its first captured
// content after the checkpoint: no known change came in between. Where nobody has seen it since, it is as it is now.
// seen are those paths.
func (pl *planner) complete(
	c *capture.Capture, cp *model.Checkpoint,
) (root objstore.ID, seen map[string]bool, err error) {
	made := pl.request.merges || pl.request.partOf != nil // of the worktree as it is
	if named := tree.Named(c.Res.Skips); len(named) > 0 && !made {
		var unknown []string
		if unknown, err = pl.unknownTo(c, cp, named); err == nil && len(unknown) > 0 {
			return pl.restorer.completed(c, cp, unknown)
		}
	}
	return cp.Tree, nil, err
}

// unknownTo are those of named paths of which a checkpoint does not know what they were: its note covers them. Any
// other one that it does not have was not there.
func (pl *planner) unknownTo(c *capture.Capture, cp *model.Checkpoint, named []string) (unknown []string, err error) {
	note, err := pl.restorer.log.Note(cp)
	if err != nil {
		return nil, err
	}
	has := oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, cp.Tree)
	for _, path := range named {
		if isNamedIn(note, path) || !model.Covered(note, path) {
			continue
		}
		ent, err := has.Find(path)
		if err != nil {
			return nil, err
		}
		if ent == nil {
			unknown = append(unknown, path)
		}
	}
	return unknown, nil
}

// isNamedIn reports whether a note lists a path as named.
func isNamedIn(note []tree.Skip, path string) bool {
	return slices.ContainsFunc(tree.LinesAt(note, path), func(s tree.Skip) bool { return s.IsNamed() })
}

// completed is the tree of a checkpoint with paths as they were first known behind it.
func (rs *runner) completed(
	c *capture.Capture, cp *model.Checkpoint, paths []string,
) (objstore.ID, map[string]bool, error) {
	first, err := rs.firstSeen(cp, paths)
	if err != nil {
		return cp.Tree, nil, err
	}
	seen, states := map[string]bool{}, map[objstore.ID]*oplog.Lookups{}
	has, set := oplog.NewLookups(c.Get, cp.Tree), map[string]*tree.Entry{}
	for _, path := range paths {
		seen[path] = true
		from := c.Res.Root
		if at, known := first[path]; known {
			if from, err = at.tree(rs.log); err != nil {
				return cp.Tree, nil, err
			}
		}
		if from.IsZero() {
			continue
		}
		if states[from] == nil {
			states[from] = oplog.NewLookups(c.Get, from)
		}
		if err := addWithParents(set, path, states[from], has); err != nil {
			return cp.Tree, nil, err
		}
	}
	steps := make([]tree.Change, 0, len(set))
	for path, to := range set {
		steps = append(steps, tree.Change{Path: path, New: to})
	}
	if len(steps) == 0 {
		return cp.Tree, seen, nil
	}
	root, err := tree.Edit(c.Get, c.Putter(), cp.Tree, steps)
	return root, seen, err
}

// addWithParents adds to set what a state has at path, with the directories above it that the tree of has lacks.
// Nothing, where the state has nothing there, or that tree no directory above it.
func addWithParents(set map[string]*tree.Entry, path string, state, has *oplog.Lookups) error {
	more := map[string]*tree.Entry{}
	for p := path; p != ""; p, _ = tree.Split(p) {
		to, err := state.Find(p)
		if err != nil || to == nil {
			return err
		}
		is, err := has.Find(p)
		switch {
		case err != nil:
			return err
		case is != nil && is.Type != tree.TypeDir:
			return nil
		case is == nil:
			more[p] = to
		}
	}
	for p, to := range more {
		set[p] = to
	}
	return nil
}

// sight is a checkpoint that knows of a path.
type sight struct {
	*model.Checkpoint
	named bool // it lists the path as named, and has in its base what that was; else it was seen as any file
}

// tree is the one in which a path is as it came into view.
func (s sight) tree(log *oplog.Log) (objstore.ID, error) {
	if s.named {
		return log.Before(s.Checkpoint)
	}
	return s.Tree, nil
}

// firstSeen has for paths the first checkpoint behind another one that lists them as named, or has them since no rule
// hid them then.
func (rs *runner) firstSeen(after *model.Checkpoint, paths []string) (map[string]sight, error) {
	first, views, read := map[string]sight{}, map[objstore.ID]map[string]bool{}, rs.log.Checkpoints()
	err := rs.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= after.Seq {
			return kv.ErrStop
		}
		if op.Kind != refs.KindCheckpoint && op.Kind != refs.KindSafety {
			return nil
		}
		cp, err := read(op.Checkpoint)
		if err != nil {
			return err
		}
		view, known := views[cp.Note]
		if !known {
			note, err := rs.log.Note(cp)
			if err != nil {
				return err
			}
			view = inView(note, paths)
			views[cp.Note] = view
		}
		has := oplog.NewLookups(oplog.Lenient{Store: rs.log.Objs}, cp.Tree)
		for path, named := range view {
			there := named
			if !named {
				is, err := has.Find(path)
				if err != nil {
					return err
				}
				there = is != nil
			}
			if there {
				first[path] = sight{cp, named}
			}
		}
		return nil
	})
	return first, err
}

// inView are those of paths that a note does not cover, and whether it lists them as named.
func inView(note []tree.Skip, paths []string) map[string]bool {
	view := map[string]bool{}
	for _, path := range paths {
		if named := isNamedIn(note, path); named || !model.Covered(note, path) {
			view[path] = named
		}
	}
	return view
}

// ignoredDirs are the directories that rules leave out and that are in a capture only for what was named or is tracked
// in them.
func ignoredDirs(c *capture.Capture) map[string]bool {
	dirs := map[string]bool{}
	for i := range c.Res.Skips {
		if s := &c.Res.Skips[i]; s.IsNamed() {
			for dir, _ := tree.Split(s.Path); dir != ""; dir, _ = tree.Split(dir) {
				if model.Covered(c.Res.Skips, dir) {
					dirs[dir] = true
				}
			}
		}
	}
	return dirs
}

// isIgnored reports whether a directory is one of those that rules leave out.
func (p *Plan) isIgnored(dir string) bool { return p != nil && p.ignored[dir] }

// wasIgnored reports whether a change is the end of a directory that was ignored at the target, too: it was there, and
// stays.
func (pl *planner) wasIgnored(ch tree.Change) bool {
	return ch.New == nil && pl.plan.isIgnored(ch.Path) && model.Covered(pl.targetSkips, ch.Path)
}

// seenSteps are the steps that set a path as the target's tree does not have it: as it was first known behind that. set
// says of a path that it was not done.
func seenSteps(steps []tree.Change, set map[string]bool, wanted *oplog.Lookups) (list []tree.Change, err error) {
	for _, s := range steps {
		if s.New == nil || !set[s.Path] {
			continue
		}
		to, err := wanted.Find(s.Path)
		if err != nil {
			return nil, err
		}
		if to == nil {
			list = append(list, tree.Change{Path: s.Path, New: s.New})
		}
	}
	return list, nil
}

// uncaptured returns the files that agents' edit tools changed after the target of a request and whose former content
// no checkpoint has. Colleagues' files count only if the request takes their changes away. The newest call of each is
// told.
func (rs *runner) uncaptured(r *request, target *model.Checkpoint) (list []value.Uncaptured, err error) {
	if r.ContextOnly || len(r.Paths) > 0 {
		return nil, nil
	}
	type key struct{ path, reason string }
	seen := map[key]bool{}
	var mine func(op *refs.Operation) bool
	count := rs.log.Count()
	err = rs.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= target.Seq {
			return kv.ErrStop
		}
		edits := model.EditsOf(op)
		turn := count.Operation(op).Turn
		atTarget := op.Checkpoint == target.ID && op.Session == target.Session && turn == target.Cause.Turn
		if len(edits) == 0 || atTarget {
			return nil
		}
		if mine == nil {
			if mine, err = rs.takes(r); err != nil {
				return err
			}
		}
		if !mine(op) {
			return nil
		}
		for _, e := range edits {
			if k := (key{e.Path, e.Word()}); !seen[k] {
				seen[k] = true
				list = append(list, value.Uncaptured{
					Path: value.Text(e.Path), Reason: e.Word(), Session: op.Session, Turn: turn,
				})
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b value.Uncaptured) int { return tree.ComparePaths(string(a.Path), string(b.Path)) })
	return list, err
}

// takes reports of an operation whether a request takes back what its session did then.
func (rs *runner) takes(r *request) (func(*refs.Operation) bool, error) {
	if r.Exact {
		return func(*refs.Operation) bool { return true }, nil
	}
	j, err := rs.authors.Judge(rs.going(r))
	if err != nil {
		return nil, err
	}
	return func(op *refs.Operation) bool { return !j.Stranger(op.Session, op.Seq) }, nil
}
