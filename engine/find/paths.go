package find

import (
	"context"
	"slices"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/tree"
)

// PathsOptions select checkpoints by what they changed.
type PathsOptions struct {
	Paths    []string // files, directories and patterns, relative to the root; none: every path
	NoFollow bool     // a file that was renamed is another one
	Text     string   // only checkpoints that changed how often this occurs in a file; "": any change
	Changed  Pattern  // only checkpoints that added or removed a line in which this matches; "": any
	All      bool     // safety checkpoints, too
	Limit    int      // at most so many; 0: all
	history.Filter
}

// A Change is a path that a checkpoint changed. Old is nil where it was added, New where it was removed.
type Change struct {
	tree.Change
	From string // the path that the file had before; "": this one
}

// Changed is a checkpoint with what it changed of the paths that were asked for, in the order of a walk.
type Changed struct {
	history.Listed
	Changes []Change
	Skips   []tree.Skip // what it did not capture
}

// PathsResult is what Paths found, newest first.
type PathsResult struct {
	Checkpoints []Changed
	More        bool // older ones were left out by the limit
	value.Unsearched
}

// Paths lists the checkpoints that changed some paths, newest first. A file that came by a rename is followed to the
// name that it had before: with all that is older, that name is meant, too. What no checkpoint ever had is
// model.ErrNotFound.
func (f *Finder) Paths(ctx context.Context, o PathsOptions) (*PathsResult, error) {
	return again(func() (*PathsResult, error) { return f.paths(ctx, o) })
}

func (f *Finder) paths(ctx context.Context, o PathsOptions) (*PathsResult, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	changed, err := o.Changed.compile()
	if err != nil {
		return nil, err
	}
	meant, err := newNames(o.Paths)
	if err != nil {
		return nil, err
	}
	if o.Session, err = f.session(o.Session); err != nil {
		return nil, err
	}
	r, err := f.reading()
	if err != nil {
		return nil, err
	}
	t, steps, err := f.timeline(ctx)
	if err != nil {
		return nil, err
	}
	q := &pathQuery{f: f, o: &o, r: r, t: t, steps: steps, meant: meant, changedIn: changed}
	found, more, err := q.run(ctx)
	if err != nil {
		return nil, err
	}
	aside, err := f.aside(steps)
	if err != nil {
		return nil, err
	}
	dress, err := f.history.Dresser()
	if err != nil {
		return nil, err
	}
	out := &PathsResult{More: more, Unsearched: r.unsearched()}
	for _, c := range found {
		l, err := dress(c.cp)
		if err != nil {
			return nil, err
		}
		l.Aside, l.Target = aside[c.at], f.history.TargetIn(c.cp)
		skips, err := f.log.Note(c.cp)
		if err != nil {
			return nil, err
		}
		out.Checkpoints = append(out.Checkpoints, Changed{l, c.changes, skips})
	}
	return out, nil
}

// A pathQuery goes back over the steps that may be asked for.
type pathQuery struct {
	f         *Finder
	o         *PathsOptions
	r         *reading
	t         *timeline
	steps     []step
	meant     *names
	changedIn *matcher // of o.Changed
}

// run gives the steps that are asked for, the newest first; more: there are others.
func (q *pathQuery) run(ctx context.Context) (found []stepChanges, more bool, err error) {
	w := &pathWalk{pathQuery: q, marks: make([]bool, len(q.steps)), most: q.o.Limit}
	if q.o.Text != "" || q.changedIn != nil {
		w.most = 0 // which of them stay is not known yet
		if len(q.meant.given) == 0 {
			if w.holds, err = q.holding(ctx); err != nil {
				return nil, false, err
			}
		}
	}
	if err := w.walk(ctx); err != nil {
		return nil, false, err
	}
	if !w.ever && len(q.meant.given) > 0 {
		return nil, false, &noPathError{q.o.Paths}
	}
	found, more = w.found, w.more
	if q.o.Text != "" {
		found, err = q.withText(ctx, found)
	}
	if err == nil && q.changedIn != nil {
		found, err = q.withLine(ctx, found)
	}
	if more = more || q.o.Limit > 0 && len(found) > q.o.Limit; more {
		found = found[:q.o.Limit]
	}
	return found, more, err
}

// pathWalk goes over the steps from the newest on.
type pathWalk struct {
	*pathQuery
	marks []bool          // the steps that may have changed a path
	holds map[string]bool // the paths of which a content has the text; nil: all may
	most  int             // 0: all
	found []stepChanges
	more  bool // there are others
	ever  bool // some step changed a path
}

func (w *pathWalk) walk(ctx context.Context) error {
	w.t.changed(w.marks, func(path string) bool { return w.meant.has(path) && (w.holds == nil || w.holds[path]) })
	read, told := w.f.log.Checkpoints(), w.f.history.Told()
	for i := len(w.steps) - 1; i >= 0 && !w.more; i-- {
		s := &w.steps[i]
		if !w.marks[i] || w.passes(s) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		list, err := w.changes(s)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		cp, err := read(s.id)
		if err != nil {
			return err
		}
		if its, err := told(cp); err != nil {
			return err
		} else if !w.o.Has(its) {
			continue
		}
		if w.more = w.most > 0 && len(w.found) == w.most; !w.more {
			w.found = append(w.found, stepChanges{i, cp, list})
		}
	}
	return nil
}

// passes reports whether a step is not asked for, whatever it changed.
func (w *pathWalk) passes(s *step) bool {
	others := w.o.Session != "" && s.session != w.o.Session
	return others || s.safety && !w.o.All
}

// changes are those of a step that may be meant.
func (w *pathWalk) changes(s *step) ([]Change, error) {
	list, err := w.r.changed(s, w.meant, !w.o.NoFollow, func(former string) { w.t.changedIn(w.marks, former) })
	if err != nil {
		return nil, err
	}
	w.ever = w.ever || len(list) > 0
	if w.holds != nil {
		list = slices.DeleteFunc(list, func(c Change) bool { return !w.holds[c.Path] && !w.holds[c.From] })
	}
	return list, nil
}

// stepChanges are the changes of a step that are asked for.
type stepChanges struct {
	at      int // its place
	cp      *model.Checkpoint
	changes []Change
}

// changed gives what a step changed of the paths that are meant. With follow, files that came by a rename are one
// change with what they were, and from then on what they were is meant, which followed is told.
func (r *reading) changed(s *step, meant *names, follow bool, followed func(former string)) (list []Change, err error) {
	var added []tree.Change
	err = r.trees.diff(s.before, s.tree, meant, func(ch tree.Change) {
		list = append(list, Change{Change: ch})
		if ch.Old == nil && ch.New.Type != tree.TypeDir {
			added = append(added, ch)
		}
	})
	ends := err != nil || !follow
	if ends || len(added) == 0 || s.before.IsZero() {
		return list, err
	}
	from, err := r.origins(s.before, s.tree, added)
	if err != nil || len(from) == 0 {
		return list, err
	}
	left := map[string]bool{}
	for i := range list {
		if was, ok := from[list[i].Path]; ok && list[i].Old == nil {
			list[i].Old, list[i].From = was.Old, was.Path
			left[was.Path] = true
			if !meant.has(was.Path) {
				meant.follow(was.Path)
				followed(was.Path)
			}
		}
	}
	return slices.DeleteFunc(list, func(c Change) bool { return c.From == "" && c.New == nil && left[c.Path] }), nil
}

// session makes the name of a session whole; "": every one.
func (f *Finder) session(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	return f.sessions.FindSession(name)
}

// noPathError is for paths that no checkpoint changed. It is model.ErrNotFound.
type noPathError struct{ paths []string }

func (e *noPathError) Error() string { return "no checkpoint ever had " + quoted(e.paths) }

// Is reports whether target is model.ErrNotFound.
func (e *noPathError) Is(target error) bool { return target == model.ErrNotFound }
