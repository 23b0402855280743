package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/compare"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/value"
)

// A place is where a name of a request lies: in the project that was asked from, or in another worktree of its family.
type place struct {
	root  string // the project is found by it
	dir   string // paths are relative to it
	name  string // "": only the worktree was named
	there bool   // it is another worktree
}

// at is the name of a checkpoint: where only the worktree was named, that on which it stands.
func (p place) at() string { return cmp.Or(p.name, "@") }

// worktree is the root of another worktree.
func (p place) worktree() api.Text {
	if !p.there {
		return ""
	}
	return api.Text(p.root)
}

// tell says of an error that it is of another worktree.
func (p place) tell(e *engine.Engine, err error) error {
	if p.there {
		err = e.Log.AsBeside(err)
	}
	return err
}

// placeOf says where a name lies by how it is written: "<dir>" and "<dir>:<name>", with an absolute path, are of
// another worktree, or of the one that was asked from.
func (s *server) placeOf(ctx context.Context, dir string, name api.Text) (place, error) {
	here := place{root: dir, dir: dir, name: string(name)}
	if !filepath.IsAbs(here.name) {
		return here, nil
	}
	p, err := s.find(ctx, dir)
	if err != nil {
		return here, err
	}
	w, rest, err := s.home.SplitWorktree(p.ID, here.name)
	if errors.Is(err, project.ErrNoWorktree) {
		if moved, rest, ok := s.movedWorktree(ctx, p.ID, here.name); ok {
			return s.in(p, dir, moved, rest), nil
		}
	}
	switch {
	case err != nil:
		return here, err
	case w.Here:
		here.name = rest
		return here, nil
	case w.Wrong != "":
		return here, &api.Error{
			Code: api.CodeOf(api.WordNotFound), Word: api.WordNotFound, Op: "worktree", Subject: w.Root,
			Message: fmt.Sprintf("worktree %q: %s", w.Root, w.Wrong),
			Hint:    fmt.Sprintf("put it back, or 'rewind stores join %.8s <dir>' gives its store another directory", w.ID),
		}
	case w.Unfinished:
		return here, &api.Error{
			Code: api.CodeOf(api.WordUsage), Word: api.WordUsage, Op: "worktree", Subject: w.Root,
			Message: fmt.Sprintf("worktree %q: it was not made to its end", w.Root),
			Hint:    "'rewind worktrees remove' removes it",
		}
	}
	return s.in(p, dir, string(w.Root), rest), nil
}

// beyond says of a name or a path of another worktree, which the request that gave it does not reach, how it is
// reached.
func (s *server) beyond(ctx context.Context, dir string, err error) error {
	op, subject := about(err)
	name := string(subject)
	if op == "path" && name != "" {
		name = filepath.Clean(name)
	}
	if op != "checkpoint" && op != "path" || !filepath.IsAbs(name) {
		return err
	}
	p, lost := s.find(ctx, dir)
	if lost != nil {
		return err
	}
	root, rest := "", ""
	if op == "checkpoint" {
		w, behind, lost := s.home.SplitWorktree(p.ID, name)
		if lost != nil || w.Here {
			return err
		}
		root, rest = string(w.Root), ", and 'rewind pick "+printable(cmp.Or(behind, name))+"' brings a change of it here"
		if behind != "" {
			rest = fmt.Sprintf(", and 'rewind pick %s:%s' brings one change here", printable(root), printable(behind))
		}
	} else {
		for _, w := range s.others(p) {
			if in, lost := filepath.Rel(string(w.Root), name); lost == nil && filepath.IsLocal(in) {
				root = string(w.Root)
			}
		}
		if root == "" {
			return err
		}
	}
	return &api.Error{
		Code: api.CodeOf(api.WordUsage), Word: api.WordUsage, Op: op, Subject: api.Text(name),
		Message: fmt.Sprintf("%s %q: it is in another worktree, %s", op, name, printable(root)),
		Hint:    fmt.Sprintf("'rewind -C %s ...' does it there%s", printable(root), rest),
	}
}

// elsewhere gives the error of a session that is not known here the worktree of the family in which it goes on, if it
// does.
func (s *server) elsewhere(ctx context.Context, dir string, err error) error {
	if !noSession(err) {
		return err
	}
	_, name := about(err)
	if at, lost := s.settle(ctx, dir, name); lost == nil && at[0].there {
		return &model.ElsewhereError{Session: at[0].name, Root: at[0].root}
	}
	return err
}

// movedWorktree finds a worktree that lies where nobody has asked since it was moved there.
func (s *server) movedWorktree(ctx context.Context, id, name string) (root, rest string, ok bool) {
	for dir := name; dir != ""; {
		if p, err := s.find(ctx, dir); err == nil && p.ID != id {
			if w, err := s.home.FindWorktree(id, dir); err == nil && w.ID == p.ID {
				return p.Root, strings.TrimPrefix(name[len(dir):], ":"), true
			}
		}
		i := strings.LastIndexByte(dir, ':')
		if i < 0 {
			break
		}
		dir = dir[:i]
	}
	return "", "", false
}

// in is a place in another worktree: what is relative to the directory that was asked from is relative to the same one
// there.
func (s *server) in(here *project.Project, dir, root, name string) place {
	p := place{root: root, dir: root, name: name, there: true}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		if rel, err := filepath.Rel(here.Root, real); err == nil && filepath.IsLocal(rel) {
			p.dir = filepath.Join(root, rel)
		}
	}
	return p
}

// others are the worktrees of a project's family beside it that can be asked.
func (s *server) others(p *project.Project) (list []value.Worktree) {
	for _, w := range s.home.Worktrees(p.ID) {
		if !w.Here && w.Wrong == "" && !w.Unfinished {
			list = append(list, w)
		}
	}
	return list
}

// eachBeside calls fn for each other worktree of a project's family, and gives what a person should know of those that
// cannot be asked.
func (s *server) eachBeside(ctx context.Context, dir string, fn func(w value.Worktree, e *engine.Engine) error,
) (notices []string, err error) {
	p, err := s.find(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, w := range s.others(p) {
		err := s.beside(ctx, w, func(e *engine.Engine) error { return fn(w, e) })
		if ctx.Err() != nil {
			return notices, ctx.Err()
		}
		if err != nil {
			notices = append(notices, fmt.Sprintf("worktree %s is left out: %s", printable(string(w.Root)), clean(err)))
		}
	}
	return notices, nil
}

// beside opens another worktree to be read.
func (s *server) beside(ctx context.Context, w value.Worktree, fn func(*engine.Engine) error) error {
	return s.read(ctx, string(w.Root), func(e *engine.Engine) error {
		if e.Project().ID != w.ID {
			return fmt.Errorf("%w: the directory has another store now", project.ErrNoWorktree)
		}
		return fn(e)
	})
}

// settle says where names lie: what is not written as another worktree's, and what a copy here says of a session that
// goes on elsewhere, is looked for in the family.
func (s *server) settle(ctx context.Context, dir string, names ...api.Text) ([]place, error) {
	at := make([]place, len(names))
	open := false
	for i, name := range names {
		var err error
		if at[i], err = s.placeOf(ctx, dir, name); err != nil {
			return nil, err
		}
		open = open || !at[i].there && at[i].name != ""
	}
	p, err := s.find(ctx, dir)
	if err != nil || !open {
		return at, err
	}
	family := s.others(p)
	if len(family) == 0 {
		return at, nil
	}
	sought := make([]bool, len(at))
	err = s.read(ctx, dir, func(e *engine.Engine) error {
		for i := range at {
			if at[i].there || at[i].name == "" {
				continue
			}
			root, known := e.History.Whereabouts(at[i].name)
			for _, w := range family {
				if root == string(w.Root) {
					at[i] = s.in(p, dir, root, at[i].name)
				}
			}
			sought[i] = !known
		}
		return nil
	})
	for i := range at {
		if err != nil || !sought[i] {
			continue
		}
		for _, w := range family {
			found := false
			_ = s.beside(ctx, w, func(e *engine.Engine) error { // else nobody has it, which is said of here
				root, known := e.History.Whereabouts(at[i].name)
				found = known && root == ""
				return nil
			})
			if found {
				at[i] = s.in(p, dir, string(w.Root), at[i].name)
				break
			}
		}
	}
	return at, err
}

// placed runs what asks about one or two names, where they lie. What is not found here is looked for in the family.
func (s *server) placed(ctx context.Context, dir string, names []api.Text, run func(at []place) error) error {
	at := make([]place, len(names))
	for i, name := range names {
		var err error
		if at[i], err = s.placeOf(ctx, dir, name); err != nil {
			return err
		}
	}
	err := run(at)
	if !errors.Is(err, model.ErrNotFound) {
		return err
	}
	again, lost := s.settle(ctx, dir, names...)
	if lost != nil {
		return err
	}
	for i := range again {
		if again[i] != at[i] {
			return run(again)
		}
	}
	return err
}

// two opens the projects of two places, which may be the same, for who reads both. A process that lives for one command
// takes the locks of the stores in the order of their roots, so that two such processes do not wait for each other.
func (s *server) two(ctx context.Context, a, b place, open func(context.Context, string, func(*engine.Engine) error) error,
	fn func(x, y *engine.Engine) error,
) error {
	switch {
	case a.root == b.root:
		return open(ctx, a.root, func(e *engine.Engine) error { return a.tell(e, fn(e, e)) })
	case a.root < b.root:
		return open(ctx, a.root, func(x *engine.Engine) error {
			return s.read(ctx, b.root, func(y *engine.Engine) error { return fn(x, y) })
		})
	}
	return s.read(ctx, b.root, func(y *engine.Engine) error {
		return open(ctx, a.root, func(x *engine.Engine) error { return fn(x, y) })
	})
}

// sinceParted is all that a worktree did since another one and it were one, as a range there.
func sinceParted(ctx context.Context, there, here *engine.Engine) (string, error) {
	r, err := there.Comparer.Compare(ctx, compare.Options{A: "@", B: "@", With: here.Comparer})
	if err != nil {
		return "", err
	}
	if r.Ancestor == nil {
		const text = "worktree %s: it has no checkpoint in common with this one; name a change, <dir>:<from>..<to>"
		return "", model.Usagef(text, there.Project().Root)
	}
	return r.Ancestor.ID.String() + ".." + r.Sides[0].Tip.ID.String(), nil
}

// notices are those of the projects that a request was about.
func notices(x, y *engine.Engine) []string {
	list := x.Project().Notices
	if x != y {
		list = slices.Concat(list, y.Project().Notices)
	}
	return list
}
