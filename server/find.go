package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/find"
	"rewind/engine/model"
	"rewind/tree"
)

func (s *Server) paths(ctx context.Context, req api.PathsRequest, _ model.Progress) (out api.PathsResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Finder.Paths(ctx, find.PathsOptions{
			Paths: paths, NoFollow: req.NoFollow, Text: string(req.Text), Changed: find.Pattern{Text: string(req.Changed)},
			All: req.All, Session: req.Session, Limit: req.Limit,
		})
		if err != nil {
			return err
		}
		out = api.PathsResponse{Checkpoints: []api.PathsCheckpoint{}, More: r.More, Unsearched: unsearched(r.Large, r.Gone), Notices: e.Project().Notices}
		for _, c := range r.Checkpoints {
			out.Checkpoints = append(out.Checkpoints, api.PathsCheckpoint{Checkpoint: checkpoint(c.Listed), Changes: pathChanges(c)})
		}
		return nil
	})
	return out, err
}

func unsearched(large, gone []string) (u api.Unsearched) {
	if len(large) > 0 {
		u.TooLarge = api.Texts(large)
	}
	if len(gone) > 0 {
		u.Gone = api.Texts(gone)
	}
	return u
}

// pathChanges leaves out directories that come or go with what is in them, as changes does.
func pathChanges(c find.Changed) []api.Change {
	list := make([]tree.Change, len(c.Changes))
	for i := range c.Changes {
		list[i] = c.Changes[i].Change
	}
	out := []api.Change{}
	for _, ch := range c.Changes {
		if (isDir(ch.Old) && ch.New == nil || isDir(ch.New) && ch.Old == nil) && anyBelow(list, ch.Path) {
			continue
		}
		one := change(ch.Path, ch.Old, ch.New)
		if ch.From != "" {
			one.Status, one.RenamedFrom = "renamed", api.Text(ch.From)
		}
		if ch.New == nil && model.Covered(c.Skips, ch.Path) {
			one.Status = "uncaptured"
		}
		out = append(out, one)
	}
	return out
}
