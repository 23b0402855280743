package capture

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// A file that a call of an edit tool names is captured before the call and after it, although a rule leaves it out,
// unless it is a secret, over the size limit, or no file. Once named it is looked at by every capture, and the note of
// each checkpoint lists it: the tree has it, or it was not there. That it comes into view is no change: the checkpoint
// that has it first has it in its base, too.

// naming is what the calls of a batch name and rules leave out.
type naming struct {
	fresh  []string // captured from now on
	before []string // those of fresh that came into view: what they were before the event is not known
}

// namedPaths are the paths that calls have named, as the newest note lists them. The log's lock is held.
func (wt *Worktree) namedPaths() (*snapshot.Named, error) {
	if wt.namesRead {
		return wt.named, nil
	}
	_, err := wt.log.NewestMade(0, func(op *refs.Operation) (bool, error) {
		var note []tree.Skip
		cp, err := wt.log.Checkpoint(op.Checkpoint)
		if err == nil {
			note, err = wt.log.Note(cp)
		}
		if err != nil {
			return false, nil //nolint:nilerr // it is passed over: the one before it lists nearly the same
		}
		wt.named = snapshot.NewNamed(tree.Named(note))
		return true, nil
	})
	wt.namesRead = err == nil
	return wt.named, err
}

// before is the tree that the changes of a capture are counted from: the head was, with what came into view.
func (c *Capture) before(was oplog.Head) objstore.ID {
	if !c.viewed.IsZero() {
		return c.viewed
	}
	return was.Tree
}

// readNames splits the files that a call names into those below the root and those outside.
func (in *batch) readNames() {
	for _, a := range in.events {
		if len(a.Event.Tool.Paths) > 0 {
			a.inside, a.outside = inside(in.wt.log.Project.Root, a.Event.Cwd, a.Event.Tool.Paths)
		}
	}
}

// withNamed returns the capture that has the files which the calls of the batch name: c, or where it left one out
// another in its place. With an error c is discarded.
func (in *batch) withNamed(ctx context.Context, root worktreefs.Dir, c *Capture) (*Capture, error) {
	for _, a := range in.events {
		if a.Event.Tool.Class == hooks.Editor {
			if err := in.judge(a, root, c); err != nil {
				c.Discard()
				return nil, err
			}
		}
	}
	if len(in.named.fresh) == 0 {
		return c, nil
	}
	if err := in.makeRoom(c); err != nil {
		c.Discard()
		return nil, err
	}
	for {
		c.Discard()
		var err error
		if c, err = in.wt.Capture(ctx, root, Options{hasty: true, named: in.named.fresh}); err != nil {
			return nil, err
		}
		missed, err := in.missed(root, c)
		if err == nil && len(missed) == 0 {
			return c, nil
		}
		if err != nil {
			c.Discard()
			return nil, err
		}
		in.leaveOut(missed, tree.ReasonBuiltin)
	}
}

// missed lists the paths in fresh that a capture could not take although a file is there: they lie in what is never
// captured.
func (in *batch) missed(root worktreefs.Dir, c *Capture) (missed []string, err error) {
	for _, p := range in.named.fresh {
		_, err := tree.Lookup(c.Get, c.Res.Root, p)
		switch {
		case err == nil || model.Covered(c.Res.Skips, p):
			continue
		case !errors.Is(err, tree.ErrNotFound):
			return nil, err
		}
		if st, err := lstat(root, p); err == nil && st.Type != worktreefs.TypeDir {
			missed = append(missed, p)
		}
	}
	return missed, nil
}

// judge decides about each file that a call names. Those that no rule leaves out are captured anyway: nearly all, at
// the price of a look into what is in memory.
func (in *batch) judge(a *Pending, root worktreefs.Dir, c *Capture) error {
	a.follow(in.wt)
	announced := in.announced(a)
	for _, path := range a.inside { // leaves makes another list of it
		s, covered := model.Covering(c.Res.Skips, path)
		if covered && nestedAbove(c.Res.Skips, path) != "" {
			continue // the project there has it
		}
		// it could not be captured when the call began
		unseen := announced != nil && !slices.Contains(announced.Paths, path)
		if !covered && !unseen {
			continue
		}
		reason := byte(tree.ReasonSize)
		if covered {
			var there bool
			var err error
			if reason, there, err = in.wt.unnameable(root, s, path); err != nil {
				return err
			}
			if reason == 0 {
				reason = in.name(a, path, announced != nil && !unseen, there)
			}
		}
		if err := in.leaves(a, c, path, reason); err != nil {
			return err
		}
	}
	if a.tells() {
		for _, path := range a.outside {
			a.edits = append(a.edits, model.Edit{Path: path})
		}
	}
	return nil
}

// tells reports whether an event says that its call has changed what it names.
func (a *Pending) tells() bool { return a.Act.Closes && !a.Event.Failed }

// name has a path captured from now on. made: it was not there when the call began. It returns the reason why what it
// was before the call is in no checkpoint; 0: it is, or there was nothing.
func (in *batch) name(a *Pending, path string, made, there bool) (reason byte) {
	if slices.Contains(in.named.fresh, path) {
		return 0
	}
	in.named.fresh = append(in.named.fresh, path)
	if a.Act.Closes && made {
		return 0
	}
	in.named.before = append(in.named.before, path)
	if a.Act.Closes && there {
		return tree.ReasonIgnored
	}
	return 0
}

// leaves takes note of a path that is not captured for a reason; 0: it is. At the beginning of a call the call does not
// name the path, so that its end can see it. At its end it is reported as an edit, unless the newest state has its
// former content.
func (in *batch) leaves(a *Pending, c *Capture, path string, reason byte) error {
	switch {
	case reason == 0:
		return nil
	case a.Act.Opens:
		a.inside = slices.DeleteFunc(slices.Clone(a.inside), func(p string) bool { return p == path })
		return nil
	case !a.tells():
		return nil
	}
	if !in.was.Tree.IsZero() {
		switch _, err := tree.Lookup(c.Get, in.was.Tree, path); {
		case err == nil:
			return nil
		case !errors.Is(err, tree.ErrNotFound):
			return err
		}
	}
	a.edits = append(a.edits, model.Edit{Path: path, Reason: reason})
	return nil
}

// announced is the call of an event's end, as it began; nil: nobody has told of that.
func (in *batch) announced(a *Pending) *model.Call {
	s := in.wt.log.Session(a.Name)
	if s == nil || !a.Act.Closes || a.Event.Tool.Call == "" {
		return nil
	}
	for i := range s.Calls {
		if s.Calls[i].ID == a.Event.Tool.Call {
			return &s.Calls[i]
		}
	}
	return nil
}

// follow has the files that a call names by their true paths: of one in a directory that captures enter, by the path as
// it is, unless that is a link.
func (a *Pending) follow(wt *Worktree) {
	root := wt.log.Project.Root
	for i := 0; i < len(a.inside); i++ {
		path := a.inside[i]
		entered, link := wt.cache.Sees(path)
		if entered && !link {
			continue
		}
		real := resolved(filepath.Join(root, filepath.FromSlash(path)))
		if to, err := filepath.EvalSymlinks(real); err == nil {
			real = to
		} else if to, err := os.Readlink(real); err == nil { // it leads to nothing yet
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(real), to)
			}
			real = resolved(to)
		}
		rel, ok := relativeTo(root, real)
		if !ok {
			a.outside = append(a.outside, real)
			a.inside = slices.Delete(slices.Clone(a.inside), i, i+1)
			i--
			continue
		}
		if rel = filepath.ToSlash(rel); rel != path {
			a.inside = slices.Clone(a.inside)
			a.inside[i] = rel
		}
	}
}

// unnameable is why a file that a call names, and that the skip s covers, is not captured; 0: it can be. there reports
// whether it is there.
func (wt *Worktree) unnameable(root worktreefs.Dir, s tree.Skip, path string) (reason byte, there bool, err error) {
	switch {
	case isOwn(path):
		return tree.ReasonBuiltin, false, nil
	case wt.repo.rules.Secret(path) && !wt.log.Config.StoreSecrets():
		return tree.ReasonSecret, false, nil
	case s.Reason != tree.ReasonIgnored && s.Reason != tree.ReasonBuiltin:
		return s.Reason, false, nil
	}
	st, err := lstat(root, path)
	switch {
	case errors.Is(err, worktreefs.ErrNotExist), errors.Is(err, worktreefs.ErrNotDir):
		return 0, false, nil
	case worktreefs.IsLocal(err) || errors.Is(err, fs.ErrPermission):
		return tree.ReasonUnreadable, false, nil
	case err != nil:
		return 0, false, err
	}
	limit := wt.log.Config.SizeLimit()
	switch st.Type {
	case worktreefs.TypeSymlink:
	case worktreefs.TypeFile:
		if limit > 0 && st.Size > limit {
			return tree.ReasonSize, true, nil
		}
	case worktreefs.TypePipe:
		return tree.ReasonPipe, true, nil
	case worktreefs.TypeSocket:
		return tree.ReasonSocket, true, nil
	case worktreefs.TypeDir:
		return tree.ReasonIgnored, true, nil
	default:
		return tree.ReasonDevice, true, nil
	}
	return 0, true, nil
}

// lstat looks at a path below root without following any link.
func lstat(root worktreefs.Dir, path string) (worktreefs.Stat, error) {
	parent, name, err := worktreefs.OpenParent(root, path)
	if err != nil {
		return worktreefs.Stat{}, err
	}
	defer parent.Close()
	return parent.Lstat(name)
}

// isOwn reports whether a path lies in git's directory or in rewind's.
func isOwn(path string) bool {
	if strings.HasPrefix(path, project.MarkerDir+"/") || strings.Contains(path, "/"+project.MarkerDir+"/") {
		return true
	}
	for name := range strings.SplitSeq(path, "/") {
		if worktreefs.IsDotGit(name) {
			return true
		}
	}
	return false
}

// makeRoom lets named paths go that are not there any more, where there would be too many. What does not fit then is
// not captured.
func (in *batch) makeRoom(c *Capture) error {
	named := in.wt.named
	if len(named.Paths())+len(in.named.fresh) <= snapshot.MaxNamed {
		return nil
	}
	var stay []string
	for _, p := range named.Paths() {
		switch _, err := tree.Lookup(c.Get, c.Res.Root, p); {
		case err == nil:
			stay = append(stay, p)
		case !errors.Is(err, tree.ErrNotFound):
			return err
		}
	}
	in.wt.named = snapshot.NewNamed(stay)
	if n := max(snapshot.MaxNamed-len(stay), 0); n < len(in.named.fresh) {
		in.leaveOut(in.named.fresh[n:], tree.ReasonIgnored)
	}
	return nil
}

// leaveOut has paths that a call names not captured after all.
func (in *batch) leaveOut(paths []string, reason byte) {
	out := func(p string) bool { return slices.Contains(paths, p) }
	for _, a := range in.events {
		if !a.Act.Closes || a.Event.Failed {
			continue
		}
		for _, p := range a.inside {
			if out(p) && !slices.ContainsFunc(a.edits, func(e model.Edit) bool { return e.Path == p }) {
				a.edits = append(a.edits, model.Edit{Path: p, Reason: reason})
			}
		}
	}
	in.named.fresh = slices.DeleteFunc(slices.Clone(in.named.fresh), out)
	in.named.before = slices.DeleteFunc(slices.Clone(in.named.before), out)
}

// view sets what the changes of a capture are counted from, if paths came into view with it.
func (in *batch) view(c *Capture) error {
	if len(in.named.before) == 0 || in.was.Tree.IsZero() {
		return nil
	}
	steps, err := stepsTo(c, in.was.Tree, in.named.before)
	if err != nil || len(steps) == 0 {
		return err
	}
	c.viewed, err = tree.Edit(c.Get, c.Tx, in.was.Tree, steps)
	return err
}

// stepsTo are the steps by which the tree from gets paths, with the directories above them, as a capture has them. What
// the capture does not have makes no step.
func stepsTo(c *Capture, from objstore.ID, paths []string) ([]tree.Change, error) {
	was, is := oplog.NewLookups(c.Get, from), oplog.NewLookups(c.Get, c.Res.Root)
	set := map[string]*tree.Entry{}
	for _, path := range paths {
		for p := path; p != ""; p, _ = tree.Split(p) {
			to, err := is.Find(p)
			if err != nil {
				return nil, err
			}
			had, err := was.Find(p)
			if err != nil {
				return nil, err
			}
			if to == nil || p != path && had != nil {
				break
			}
			set[p] = to
		}
	}
	steps := make([]tree.Change, 0, len(set))
	for p, to := range set {
		steps = append(steps, tree.Change{Path: p, New: to})
	}
	return steps, nil
}
