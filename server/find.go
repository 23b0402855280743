package server

import (
	"context"
	"maps"
	"slices"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/find"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/tree"
)

func (s *server) paths(ctx context.Context, req api.PathsRequest, _ model.Progress) (out api.PathsResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Finder.Paths(ctx, find.PathsOptions{
			Paths: paths, NoFollow: req.NoFollow, Text: string(req.Text), Changed: find.Pattern{Text: string(req.Changed)},
			All: req.All, Limit: req.Limit, Filter: history.Filter{Filter: req.Filter},
		})
		if err != nil {
			return err
		}
		out = api.PathsResponse{Checkpoints: []api.PathsCheckpoint{}, More: r.More, Unsearched: r.Unsearched, Notices: e.Project().Notices}
		listed := make([]history.Listed, len(r.Checkpoints))
		for i := range listed {
			listed[i] = r.Checkpoints[i].Listed
		}
		links, err := graph(ctx, e, req.Graph, history.StepRows(listed))
		if err != nil {
			return err
		}
		for i, c := range r.Checkpoints {
			one := checkpoint(c.Listed)
			one.Follows = links(i)
			out.Checkpoints = append(out.Checkpoints, api.PathsCheckpoint{Checkpoint: one, Changes: pathChanges(c)})
		}
		return nil
	})
	return out, err
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

func (s *server) grep(ctx context.Context, req api.GrepRequest, p model.Progress) (out api.GrepResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		o := find.GrepOptions{
			Pattern: find.Pattern{Text: string(req.Pattern), Fixed: req.Fixed, IgnoreCase: req.IgnoreCase, Word: req.Word},
			Paths:   paths, All: req.All, Session: req.Session, Before: req.Before, After: req.After, Limit: req.Limit,
		}
		out = api.GrepResponse{Matches: []api.Match{}, Notices: e.Project().Notices}
		if req.Conversation {
			said, err := e.Finder.Said(ctx, o)
			if err != nil {
				return err
			}
			out.More, out.Said = said.More, said.Said
			for _, name := range slices.Sorted(maps.Keys(said.Unread)) {
				out.Unread = append(out.Unread, api.Text(name+": "+said.Unread[name]))
			}
		}
		if !req.Code {
			return nil
		}
		var r *find.GrepResult
		if req.Now {
			r, err = e.GrepNow(ctx, o, p)
		} else {
			r, err = e.Finder.Grep(ctx, o)
		}
		if err != nil {
			return err
		}
		out.More, out.Unsearched = out.More || r.More, r.Unsearched
		for i := range r.Matches {
			out.Matches = append(out.Matches, match(&r.Matches[i]))
		}
		return nil
	})
	return out, err
}

func match(m *find.Match) api.Match {
	out := api.Match{Path: api.Text(m.Path), Line: m.Line, Text: api.Text(m.Text), Cut: m.Cut, Binary: m.Binary, Older: m.Older, Now: m.Now}
	if len(m.Before) > 0 {
		out.Before = value.Texts(m.Before)
	}
	if len(m.After) > 0 {
		out.After = value.Texts(m.After)
	}
	for _, s := range m.Spans {
		span := api.FoundSpan{First: moment(s.First), Last: moment(s.Last)}
		if s.Gone != nil {
			gone := moment(*s.Gone)
			span.Gone = &gone
		}
		out.Spans = append(out.Spans, span)
	}
	return out
}

// moment is as much of a checkpoint as a person knows it by.
func moment(l history.Listed) api.Moment {
	m := api.Moment{
		ID: l.ID.String(), Short: l.Short, Time: l.Time.UTC(), Turn: l.Cause.Turn, Event: l.Cause.Event,
		Message: api.Text(l.Cause.Message), Prompt: api.Text(l.Cause.Prompt), Safety: l.Safety,
	}
	m.Agent, _ = model.SplitSession(l.Session)
	m.Session = l.Session
	if l.Cause.Tool != "" {
		m.Tool = &api.Tool{Name: api.Text(l.Cause.Tool), Call: api.Text(l.Cause.Call)}
	}
	return m
}

func (s *server) blame(ctx context.Context, req api.BlameRequest, _ model.Progress) (out api.BlameResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), []api.Text{req.Path})
		if err != nil {
			return err
		}
		o := find.BlameOptions{Path: paths[0], First: req.First, Last: req.Last, AnySpace: req.AnySpace}
		if req.Checkpoint != "" {
			if o.Checkpoint, err = e.History.Named(req.Walk, string(req.Checkpoint)); err != nil {
				return err
			}
		}
		r, err := e.Finder.Blame(ctx, o)
		if err != nil {
			return err
		}
		out = api.BlameResponse{
			Checkpoint: moment(r.Checkpoint), Path: api.Text(r.Path), First: r.First, Lines: r.Lines, Origins: []api.Origin{},
			Notices: e.Project().Notices,
		}
		for _, o := range r.Origins {
			one := api.Origin{Moment: moment(o.Listed), Path: api.Text(o.Path), By: o.By, Before: o.Root}
			if !o.Prior.IsZero() {
				one.Prior, one.Was = o.Prior.String(), api.Text(o.Was)
			}
			if o.Root && o.Git.Commit != "" {
				one.Git = head(o.Git)
			}
			out.Origins = append(out.Origins, one)
		}
		return nil
	})
	return out, err
}
