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

// Paths lists the checkpoints that changed some paths, newest first. A file that came by a rename is followed to the name that it had
// before: with all that is older, that name is meant, too. What no checkpoint ever had is model.ErrNotFound.
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
	steps, err := f.line(ctx, o.All, o.Session)
	if err != nil {
		return nil, err
	}
	var found []stepChanges
	most := o.Limit
	if o.Text != "" || changed != nil {
		most = 0 // which of them stay is not known yet
	}
	more, ever := false, false
	for i := len(steps) - 1; i >= 0 && !more; i-- {
		list, err := r.changed(&steps[i], meant, !o.NoFollow)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ever = ever || len(list) > 0
		if len(list) == 0 || !o.Has(steps[i].Checkpoint) {
			continue
		}
		if more = most > 0 && len(found) == most; !more {
			found = append(found, stepChanges{&steps[i], list})
		}
	}
	if !ever && len(meant.given) > 0 {
		return nil, &noPathError{o.Paths}
	}
	if o.Text != "" {
		found, err = r.withText(ctx, found, []byte(o.Text))
	}
	if err == nil && changed != nil {
		found, err = r.withLine(ctx, found, changed)
	}
	if err != nil {
		return nil, err
	}
	if more = more || o.Limit > 0 && len(found) > o.Limit; more {
		found = found[:o.Limit]
	}
	out := &PathsResult{More: more, Unsearched: r.unsearched()}
	dress, err := f.history.Dresser()
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		l, err := dress(c.Checkpoint)
		if err != nil {
			return nil, err
		}
		l.Aside = c.aside
		skips, err := f.log.Note(c.Checkpoint)
		if err != nil {
			return nil, err
		}
		out.Checkpoints = append(out.Checkpoints, Changed{l, c.changes, skips})
	}
	return out, nil
}

// stepChanges are the changes of a step that are asked for.
type stepChanges struct {
	*step
	changes []Change
}

// changed gives what a step changed of the paths that are meant. With follow, files that came by a rename are one change with what they
// were, and from then on what they were is meant.
func (r *reading) changed(s *step, meant *names, follow bool) (list []Change, err error) {
	var added []tree.Change
	err = r.trees.diff(s.before, s.Tree, meant, func(ch tree.Change) {
		list = append(list, Change{Change: ch})
		if ch.Old == nil && ch.New.Type != tree.TypeDir {
			added = append(added, ch)
		}
	})
	if err != nil || !follow || len(added) == 0 || s.before.IsZero() {
		return list, err
	}
	from, err := r.origins(s.before, s.Tree, added)
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
