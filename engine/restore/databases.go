package restore

import (
	"maps"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// A database and its companions (tree.CompanionOf) are set together, or all of them stay. Which steps that are is
// decided here; apply carries them out as one.

// databases finds the databases of a plan.
type databases struct {
	pl        *planner
	capture   *capture.Capture
	now, then *oplog.Lookups
	asked     *oplog.Lookups         // the checkpoint of which then has parts; nil: then is all of it
	changes   map[string]tree.Change // of the request, by path
	steps     map[string]bool
}

// settleDatabases has every database of the request set with all its companions, or kept with them. It returns the
// steps of the plan, sorted.
func (pl *planner) settleDatabases(c *capture.Capture, steps []tree.Change) ([]tree.Change, error) {
	paths := pl.databasePaths(c)
	if len(paths) == 0 {
		return steps, nil
	}
	d := &databases{
		pl: pl, capture: c, changes: map[string]tree.Change{}, steps: map[string]bool{},
		now: oplog.NewLookups(c.Get, c.Res.Root), then: oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree),
	}
	if pl.target.Tree != pl.request.target.Tree {
		d.asked = oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.request.target.Tree)
	}
	for _, ch := range pl.changes {
		if pl.inScope(ch) {
			d.changes[ch.Path] = ch
		}
	}
	for _, s := range steps {
		d.steps[s.Path] = true
	}
	for _, path := range paths {
		if err := d.settle(path); err != nil {
			return nil, err
		}
	}
	steps = slices.DeleteFunc(steps, func(s tree.Change) bool { return !d.steps[s.Path] })
	for _, ch := range pl.changes {
		if d.steps[ch.Path] && !slices.ContainsFunc(steps, func(s tree.Change) bool { return s.Path == ch.Path }) {
			steps = append(steps, ch)
		}
	}
	slices.SortFunc(steps, func(a, b tree.Change) int { return tree.ComparePaths(a.Path, b.Path) })
	return steps, nil
}

// databasePaths are the paths, sorted, of what could be a database with companions: by the names of what differs and of
// what is not captured, and by what was torn.
func (pl *planner) databasePaths(c *capture.Capture) []string {
	found := map[string]bool{}
	for _, ch := range pl.changes {
		if of, ok := tree.CompanionOf(ch.Path); ok && (model.IsFile(ch.Old) || model.IsFile(ch.New)) {
			found[of] = true
		}
	}
	for _, skips := range [][]tree.Skip{pl.targetSkips, c.Res.Skips} {
		for _, k := range skips {
			of, ok := tree.CompanionOf(k.Path)
			if ok {
				found[of] = true
			} else if k.Reason == tree.ReasonTorn {
				found[k.Path] = true
			}
		}
	}
	paths := make([]string, 0, len(found))
	for path := range found {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// databaseFiles are the files of one database.
type databaseFiles struct {
	path       string
	now, then  []byte   // what it begins with; nil: there is none
	companions []string // paths of those that the worktree's capture or the target has
}

// settle decides about the database at a path, if it is one and the request changes it.
func (d *databases) settle(path string) error {
	if len(d.changed(append(tree.Companions(path), path))) == 0 {
		return nil // nothing of it is asked for, so it need not be readable
	}
	f, err := d.filesOf(path)
	if err != nil || f == nil {
		return err
	}
	changed := d.changed(append(f.companions, path))
	if len(changed) == 0 {
		return nil
	}
	whole, err := d.canBeSet(f, changed)
	if err != nil {
		return err
	}
	for _, p := range changed {
		if d.steps[p] = whole; whole {
			d.pl.unkeep(p)
		}
	}
	if whole {
		return nil
	}
	for _, p := range append(changed, path) {
		if _, kept := d.pl.kept[p]; !kept {
			d.pl.keep(p, value.KeptDatabase, false)
		}
	}
	return nil
}

// changed are those paths that the request changes.
func (d *databases) changed(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, ok := d.changes[p]
		return !ok
	})
}

// filesOf are the files of the database at a path; nil: there is none, now or in the target.
func (d *databases) filesOf(path string) (*databaseFiles, error) {
	f := &databaseFiles{path: path, now: headNow(d.pl.root, path)}
	var err error
	if f.then, err = d.headThen(path); err != nil {
		return nil, err
	}
	for _, p := range tree.Companions(path) {
		now, err := d.now.Find(p)
		if err != nil {
			return nil, err
		}
		then, err := d.then.Find(p)
		if err != nil {
			return nil, err
		}
		if !model.IsFile(now) && !model.IsFile(then) {
			continue
		}
		head, err := d.headThen(p)
		if err != nil {
			return nil, err
		}
		if tree.Accompanies(p, f.now, headNow(d.pl.root, p)) || tree.Accompanies(p, f.then, head) {
			f.companions = append(f.companions, p)
		}
	}
	if len(f.companions) == 0 && !tree.IsDatabase(f.now) && !tree.IsDatabase(f.then) {
		return nil, nil
	}
	return f, nil
}

// headNow is what the file at a path of the worktree begins with; nothing if there is none that can be read.
func headNow(root worktreefs.Dir, path string) []byte {
	parent, name, err := worktreefs.OpenParent(root, path)
	if err != nil {
		return nil
	}
	defer parent.Close()
	f, _, err := parent.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	return oplog.ReadHead(f)
}

// headThen is what the target's file at a path begins with; nothing if it has none, or its content is gone.
func (d *databases) headThen(path string) ([]byte, error) {
	ent, err := d.then.Find(path)
	if err != nil || ent == nil || ent.Type != tree.TypeFile {
		return nil, err
	}
	return d.pl.restorer.log.HeadOf(d.capture.Get, ent.ID)
}

// canBeSet reports whether a database can be set with all its companions. The target must have all of them, as they
// were at one moment. None of them may have to stay. The current ones must be stored by then, as they are at one
// moment.
func (d *databases) canBeSet(f *databaseFiles, changed []string) (bool, error) {
	for _, p := range changed {
		why := d.pl.kept[p].Reason
		// A companion is the database's, whoever else knows of it: its bytes are in the safety checkpoint.
		if why != "" && (p == f.path || why != value.KeptUnsaved && why != value.KeptSkipped) {
			return false, nil
		}
	}
	if d.isTorn(f) || d.lacks(f) {
		return false, nil
	}
	then, err := d.then.Find(f.path)
	if err != nil {
		return false, err
	}
	now, err := d.now.Find(f.path)
	if err != nil || then == nil && now == nil && model.Covered(d.capture.Res.Skips, f.path) {
		return false, err // it is there and not captured, so it stays
	}
	return d.isOneState(f)
}

// isTorn reports whether a file of the database changed while the target, or the worktree, was captured.
func (d *databases) isTorn(f *databaseFiles) bool {
	for _, p := range append(tree.Companions(f.path), f.path) {
		if torn(d.pl.targetSkips, p) || torn(d.capture.Res.Skips, p) {
			return true
		}
	}
	return false
}

// lacks reports whether a companion was there and was not captured, in the target or now.
func (d *databases) lacks(f *databaseFiles) bool {
	for _, p := range tree.Companions(f.path) {
		if lists(d.pl.targetSkips, p) && !tree.IsRebuilt(p) && tree.Accompanies(p, f.then, nil) {
			return true
		}
		if lists(d.capture.Res.Skips, p) && (tree.Accompanies(p, f.now, headNow(d.pl.root, p)) || tree.Accompanies(p, f.then, nil)) {
			return true
		}
	}
	return false
}

// isOneState reports whether the target has a database as one checkpoint has it, and not half from there and half from
// the worktree.
func (d *databases) isOneState(f *databaseFiles) (bool, error) {
	if d.asked == nil {
		return true, nil
	}
	for _, p := range append(f.companions, f.path) {
		then, err := d.then.Find(p)
		if err != nil {
			return false, err
		}
		asked, err := d.asked.Find(p)
		if err != nil || !sameEntry(then, asked) {
			return false, err
		}
	}
	return true, nil
}

func sameEntry(a, b *tree.Entry) bool {
	return a == nil && b == nil || a != nil && b != nil && tree.Same(a, b)
}

// torn reports whether a note lists a path as one that changed while it was read. The index of a log is made again
// whatever it is like.
func torn(note []tree.Skip, path string) bool {
	i, _ := slices.BinarySearchFunc(note, tree.Skip{Path: path, Reason: tree.ReasonTorn}, tree.CompareSkips)
	return i < len(note) && note[i].Path == path && note[i].Reason == tree.ReasonTorn && !tree.IsRebuilt(path)
}

// lists reports whether a note lists just this path as not captured.
func lists(note []tree.Skip, path string) bool {
	k, ok := model.Covering(note, path)
	return ok && k.Path == path
}

// unkeep takes a path out of kept.
func (pl *planner) unkeep(path string) {
	delete(pl.kept, path)
	delete(pl.blocking, path)
}

// knowCompanions takes what belongs to a known database out of unknown: a log that came since is its newest content.
func (pl *planner) knowCompanions(c *capture.Capture) error {
	var now *oplog.Lookups
	for path := range pl.unknown {
		of, ok := tree.CompanionOf(path)
		if !ok || pl.unknown[of] {
			continue
		}
		if now == nil {
			now = oplog.NewLookups(c.Get, c.Res.Root)
		}
		ent, err := now.Find(of)
		if err != nil {
			return err
		}
		if model.IsFile(ent) && tree.Accompanies(path, headNow(pl.root, of), headNow(pl.root, path)) {
			delete(pl.unknown, path)
		}
	}
	return nil
}

// uncapturedCompanions are the paths of companions on disk that are not captured, of databases that the request
// changes: with those they are replaced or removed, so they must be captured first.
func (pl *planner) uncapturedCompanions(c *capture.Capture) ([]string, error) {
	beside := map[string][]string{}
	for _, k := range c.Res.Skips {
		of, ok := tree.CompanionOf(k.Path)
		if ok && (k.Reason == tree.ReasonIgnored || k.Reason == tree.ReasonBuiltin || k.Reason == tree.ReasonSize) {
			beside[of] = append(beside[of], k.Path)
		}
	}
	var paths []string
	for _, ch := range pl.changes {
		if !pl.request.Paths.Has(ch.Path) || !model.IsFile(ch.Old) && !model.IsFile(ch.New) {
			continue
		}
		names := beside[ch.Path]
		if k, ok := model.Covering(c.Res.Skips, ch.Path); ok && ch.Old == nil && k.Reason == tree.ReasonIgnored {
			names = tree.Companions(ch.Path) // below an ignored directory no name is listed
		}
		for _, p := range names {
			isDir, there, err := capture.OnDisk(pl.root, p)
			if err != nil {
				return nil, err
			}
			if there && !isDir && pl.goesWith(c, ch, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths, nil
}

// goesWith reports whether what is on disk at a path is a companion of what a change sets or removes.
func (pl *planner) goesWith(c *capture.Capture, ch tree.Change, path string) bool {
	head := headNow(pl.root, path)
	if tree.Accompanies(path, headNow(pl.root, ch.Path), head) {
		return true
	}
	if ch.New == nil || ch.New.Type != tree.TypeFile {
		return false
	}
	then, err := pl.restorer.log.HeadOf(c.Get, ch.New.ID)
	return err == nil && tree.Accompanies(path, then, head)
}

// widen adds to a request of some paths the other members of their databases, which cannot be set alone.
func (pl *planner) widen(c *capture.Capture) error {
	r := pl.request
	if len(r.Paths) == 0 || r.merges {
		return nil
	}
	d := &databases{
		pl: pl, capture: c,
		now: oplog.NewLookups(c.Get, c.Res.Root), then: oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree),
	}
	paths := slices.Clone(r.Paths)
	for _, p := range r.Paths {
		of, ok := tree.CompanionOf(p)
		if !ok {
			of = p
		}
		f, err := d.filesOf(of)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		for _, p := range append(tree.Companions(of), of) {
			if listed := slices.Contains(f.companions, p) || p == of || lists(c.Res.Skips, p); listed && !paths.Has(p) {
				paths = append(paths, p)
			}
		}
	}
	r.Paths, pl.plan.Paths = paths, paths
	return nil
}

// choose adds to the paths that somebody has chosen of the target the other files of their databases.
func (d *databases) choose(set map[string]*tree.Entry) error {
	for _, path := range slices.Sorted(maps.Keys(set)) {
		of, ok := tree.CompanionOf(path)
		if !ok {
			of = path
		}
		then, err := d.then.Find(path)
		if err != nil {
			return err
		}
		if !sameEntry(set[path], then) {
			continue // only its permissions were chosen
		}
		f, err := d.filesOf(of)
		if err != nil || f == nil {
			if err != nil {
				return err
			}
			continue
		}
		for _, p := range append(f.companions, of) {
			if set[p], err = d.then.Find(p); err != nil {
				return err
			}
		}
	}
	return nil
}
