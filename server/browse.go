package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/tree"
)

func (s states) listProjects(
	ctx context.Context, req api.ProjectsRequest, _ model.Progress,
) (out api.ProjectsResponse, err error) {
	out.Projects = []api.ProjectInfo{}
	all := s.home.Stores()
	if req.ProjectDir() != "" {
		p, err := s.find(ctx, req.ProjectDir())
		if err != nil {
			return out, err
		}
		all = slices.DeleteFunc(all, func(st value.Store) bool { return st.ID != p.ID })
	}
	behind := func(st value.Store) bool { // of two with one root the one with the greater id
		root, id, _ := strings.Cut(string(req.After), "\x00")
		return req.After == "" || cmp.Or(cmp.Compare(string(st.Root), root), cmp.Compare(st.ID, id)) > 0
	}
	slices.SortFunc(all,
		func(a, b value.Store) int { return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.ID, b.ID)) })
	for _, st := range all {
		if st.Orphan || !behind(st) {
			continue
		}
		if out.More = req.Limit > 0 && len(out.Projects) == req.Limit; out.More {
			last := out.Projects[req.Limit-1]
			out.Next = last.Root + "\x00" + api.Text(last.ID)
			break
		}
		one := api.ProjectInfo{ID: st.ID, Root: st.Root, Wrong: st.Wrong}
		if req.Sessions && st.Wrong == "" {
			err := s.beside(ctx, value.Worktree{ID: st.ID, Root: st.Root}, func(e *engine.Engine) error {
				return projectSessions(ctx, e, &one)
			})
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			if err != nil {
				one.Wrong = api.Text(clean(err))
			}
		}
		out.Projects = append(out.Projects, one)
	}
	return out, nil
}

// projectSessions tells the sessions of a project.
func projectSessions(ctx context.Context, e *engine.Engine, to *api.ProjectInfo) error {
	t, err := e.History.FamilyTree(ctx, "", true, nil)
	if err != nil {
		return err
	}
	to.Current = t.Current
	at := map[string]int{}
	for i := range t.Branches {
		b := branch(&t.Branches[i])
		if k, ok := at[b.Parent]; ok {
			to.Sessions[k].Branches = append(to.Sessions[k].Branches, b.Branch)
		}
		if b.Branch != b.Session {
			continue // a branch within one
		}
		at[b.Branch] = len(to.Sessions)
		to.Sessions = append(to.Sessions, api.ProjectSession{
			Session: b.Session, Agent: b.Agent, Title: b.Title, Turns: b.Turns, Last: b.Last, Current: b.Current,
			Running: b.Running,
			Rewound: b.Rewound, Parent: b.Parent, Worktree: b.Worktree,
		})
	}
	return nil
}

func (s states) names(ctx context.Context, req api.NamesRequest, _ model.Progress) (out api.NamesResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		out = api.NamesResponse{Names: []api.Name{}, Notices: e.Project().Notices}
		list, err := e.History.Names(ctx)
		if err != nil {
			return err
		}
		if req.Like != "" {
			list = history.Alike(list, string(req.Like))
		}
		for _, n := range list {
			one := api.Name{Name: n.Name, Kind: string(n.Kind), Title: api.Text(n.Title), Session: n.Session}
			if !n.Checkpoint.IsZero() {
				one.Checkpoint = n.Checkpoint.String()
			}
			out.Names = append(out.Names, one)
		}
		return nil
	})
	return out, err
}

// kinds are the words for what a path is.
var kinds = map[tree.Type]string{tree.TypeFile: "file", tree.TypeSymlink: "link", tree.TypeDir: "dir"}

func (s states) files(ctx context.Context, req api.FilesRequest, _ model.Progress) (out api.FilesResponse, err error) {
	err = s.placed(ctx, req.ProjectDir(), []api.Text{req.Checkpoint}, func(at []place) error {
		return s.read(ctx, at[0].root, func(e *engine.Engine) (err error) {
			defer func() { err = at[0].tell(e, err) }()
			name, err := e.History.Named(req.Walk, at[0].at())
			if err != nil {
				return err
			}
			dir, err := dirIn(e, at[0].dir, string(req.Path))
			if err != nil {
				return err
			}
			r, err := e.History.Files(name, history.FilesOptions{
				Dir: dir, Deep: req.Deep, After: string(req.After), Limit: req.Limit,
			})
			if err != nil {
				return err
			}
			out = api.FilesResponse{
				Checkpoint: checkpoint(r.Checkpoint), Path: api.Text(r.Dir), Files: []api.File{}, More: r.More,
				Notices: e.Project().Notices,
			}
			for _, f := range r.Files {
				one := api.File{
					Path: api.Text(f.Path), Kind: kinds[f.Entry.Type], Mode: mode(&f.Entry),
					Size: f.Entry.Size,
				}
				one.ID = f.Entry.ID.String()
				out.Files = append(out.Files, one)
			}
			if r.More {
				out.Next = out.Files[len(out.Files)-1].Path
			}
			return nil
		})
	})
	return out, err
}

// pageMessages is how many messages a page has where nobody says.
const pageMessages = 50

// nearTo gives an error of what a project has not the names that it has.
func nearTo(ctx context.Context, e *engine.Engine, err error) error {
	if !errors.Is(err, model.ErrNotFound) {
		return err
	}
	if as[*model.IsSessionError](err) { // it is what is meant
		return err
	}
	var path *model.PathError
	var names []string
	if errors.As(err, &path) {
		names = e.History.NearPath(path)
	} else if op, subject := about(err); op == "checkpoint" || op == "session" || op == "tag" {
		names = e.History.Near(ctx, string(subject), op == "session")
	}
	return likeIt(err, names)
}

// maxNearDirs is how many directories or stores are named for one that is not there.
const maxNearDirs = 3

// asked completes the error of a request by where it was asked from.
func (s *server) asked(ctx context.Context, dir string, err error) error {
	return s.nearDir(ctx, dir, s.beyond(ctx, dir, s.elsewhere(ctx, dir, err)))
}

// nearDir gives an error of a directory that is no project, or of a worktree or store that is not there, those that
// are.
func (s *server) nearDir(ctx context.Context, dir string, err error) error {
	var names []string
	_, subject := about(err)
	switch {
	case noDirectory(err): // of one that is there no other one is meant, but what lies below it
		names = naming.Nearest(cmp.Or(string(subject), dir), slices.Collect(maps.Keys(s.home.ByRoot())), maxNearDirs)
	case errors.Is(err, model.ErrNoProject):
		above := strings.TrimSuffix(cmp.Or(string(subject), dir), "/") + "/"
		for _, root := range slices.Sorted(maps.Keys(s.home.ByRoot())) {
			if strings.HasPrefix(root, above) && len(names) < maxNearDirs {
				names = append(names, root)
			}
		}
	case errors.Is(err, project.ErrNoWorktree):
		if p, lost := s.find(ctx, dir); lost == nil {
			for _, w := range s.home.Worktrees(p.ID) {
				names = append(names, string(w.Root))
			}
			names = naming.Nearest(string(subject), names, maxNearDirs)
		}
	}
	return likeIt(err, names)
}

func likeIt(err error, names []string) error {
	if len(names) == 0 {
		return err
	}
	return &nearError{err, names}
}
