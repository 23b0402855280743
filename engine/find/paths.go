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
		l.Aside = aside[c.at]
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
	marks, most := make([]bool, len(q.steps)), q.o.Limit
	var holds map[string]bool // the paths of which a content has the text; nil: all may
	if q.o.Text != "" || q.changedIn != nil {
		most = 0 // which of them stay is not known yet
		if len(q.meant.given) == 0 {
			if holds, err = q.holding(ctx); err != nil {
				return nil, false, err
			}
		}
	}
	q.t.changed(marks, func(path string) bool { return q.meant.has(path) && (holds == nil || holds[path]) })
	read := q.f.log.Checkpoints()
	ever := false
	for i := len(q.steps) - 1; i >= 0 && !more; i-- {
		s := &q.steps[i]
		if !marks[i] || s.safety && !q.o.All || q.o.Session != "" && s.session != q.o.Session {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		list, err := q.r.changed(s, q.meant, !q.o.NoFollow, func(former string) { q.t.changedIn(marks, former) })
		if err != nil {
			return nil, false, err
		}
		ever = ever || len(list) > 0
		if holds != nil {
			list = slices.DeleteFunc(list, func(c Change) bool { return !holds[c.Path] && !holds[c.From] })
		}
		if len(list) == 0 {
			continue
		}
		cp, err := read(s.id)
		if err != nil {
			return nil, false, err
		}
		if !q.o.Has(cp) {
			continue
		}
		if more = most > 0 && len(found) == most; !more {
			found = append(found, stepChanges{i, cp, list})
		}
	}
	if !ever && len(q.meant.given) > 0 {
		return nil, false, &noPathError{q.o.Paths}
	}
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
	if err != nil || !follow || len(added) == 0 || s.before.IsZero() {
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
