package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/bisect"
	"rewind/engine/find"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/tree"
)

// searches answers where something was, and who wrote it.
type searches struct{ *server }

func (s searches) routes() {
	handle(s.server, api.Paths, s.paths)
	handle(s.server, api.Grep, s.grep)
	handle(s.server, api.Blame, s.blame)
	handle(s.server, api.Bisect, s.bisect)
	handle(s.server, api.BisectStart, s.bisectStart)
	handle(s.server, api.BisectMark, s.bisectMark)
	handle(s.server, api.BisectReset, s.bisectReset)
}

func (s searches) paths(
	ctx context.Context, req api.PathsRequest, _ model.Progress,
) (out api.PathsResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Finder.Paths(ctx, find.PathsOptions{
			Paths: paths, NoFollow: req.NoFollow, Text: string(req.Text),
			Changed: find.Pattern{Text: string(req.Changed)},
			All:     req.All, Limit: req.Limit, Filter: history.Filter{Filter: req.Filter},
		})
		if err != nil {
			return err
		}
		out = api.PathsResponse{
			Checkpoints: []api.PathsCheckpoint{}, More: r.More, Unsearched: r.Unsearched,
			Notices: e.Project().Notices,
		}
		listed := make([]history.Listed, len(r.Checkpoints))
		for i := range listed {
			listed[i] = r.Checkpoints[i].Listed
		}
		links, err := graph(ctx, e, req.Graph, history.StepRows(listed))
		if err != nil {
			return err
		}
		otherLine, err := e.History.OtherLine()
		if err != nil {
			return err
		}
		for i, c := range r.Checkpoints {
			off, err := otherLine(c.Checkpoint)
			if err != nil {
				return err
			}
			one := checkpoint(c.Listed)
			one.Aside = one.Aside || off && !c.Safety
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

func (s searches) grep(ctx context.Context, req api.GrepRequest, p model.Progress) (out api.GrepResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		o := find.GrepOptions{
			Pattern: find.Pattern{
				Text: string(req.Pattern), Fixed: req.Fixed, IgnoreCase: req.IgnoreCase,
				Word: req.Word,
			},
			Paths: paths, All: req.All, Session: req.Session, Before: req.Before, After: req.After, Limit: req.Limit,
			Once: req.Once,
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
		if req.Names {
			r, err := e.Finder.Files(ctx, o)
			if err != nil {
				return err
			}
			out.More, out.Names = out.More || r.More, matches(r)
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
		out.Matches = matches(r)
		return nil
	})
	return out, err
}

func matches(r *find.GrepResult) []api.Match {
	out := make([]api.Match, 0, len(r.Matches))
	for i := range r.Matches {
		out = append(out, match(&r.Matches[i]))
	}
	return out
}

func match(m *find.Match) api.Match {
	out := api.Match{
		Path: api.Text(m.Path), Line: m.Line, Text: api.Text(m.Text), Cut: m.Cut, Binary: m.Binary,
		Older: m.Older, Now: m.Now,
	}
	if len(m.Before) > 0 {
		out.Before = value.Texts(m.Before)
	}
	if len(m.After) > 0 {
		out.After = value.Texts(m.After)
	}
	changed := func(l history.Listed) api.Moment {
		at := moment(l)
		at.Outside = !l.Safety && len(l.AuthorsOf()(m.Path)) == 0
		return at
	}
	for _, s := range m.Spans {
		span := api.FoundSpan{First: changed(s.First), Last: moment(s.Last)}
		if s.Gone != nil {
			gone := changed(*s.Gone)
			span.Gone = &gone
		}
		out.Spans = append(out.Spans, span)
	}
	return out
}

// moment is as much of a checkpoint as a person knows it by.
func moment(l history.Listed) api.Moment {
	m := api.Moment{
		ID: l.ID.String(), Short: l.Short, Time: l.Time.UTC(), Turn: l.Cause.Turn, Whose: l.Whose, Event: l.Cause.Event,
		Message: api.Text(l.Cause.Message), Prompt: api.Text(l.Cause.Prompt), Safety: l.Safety, Merged: l.Merged,
		Target: api.Text(l.Target),
	}
	m.Agent, _ = model.SplitSession(l.Session)
	m.Session = l.Session
	if l.Cause.Tool != "" {
		m.Tool = &api.Tool{Name: api.Text(l.Cause.Tool), Call: api.Text(l.Cause.Call)}
	}
	return m
}

func (s searches) blame(
	ctx context.Context, req api.BlameRequest, _ model.Progress,
) (out api.BlameResponse, err error) {
	err = s.placed(ctx, req.ProjectDir(), []api.Text{req.Checkpoint}, func(at []place) error {
		out, err = s.blameAt(ctx, req, at[0])
		return err
	})
	return out, err
}

func (s searches) blameAt(ctx context.Context, req api.BlameRequest, at place) (out api.BlameResponse, err error) {
	err = s.read(ctx, at.root, func(e *engine.Engine) (err error) {
		defer func() { err = at.tell(e, err) }()
		paths, err := relative(e, at.dir, []api.Text{req.Path})
		if err != nil {
			return err
		}
		o := find.BlameOptions{Path: paths[0], First: req.First, Last: req.Last, AnySpace: req.AnySpace}
		if at.there || at.name != "" {
			if o.Checkpoint, err = e.History.Named(req.Walk, at.at()); err != nil {
				return err
			}
		}
		r, err := e.Blame(ctx, o)
		if err != nil {
			return err
		}
		out = api.BlameResponse{
			Checkpoint: moment(r.Checkpoint), Path: api.Text(r.Path), First: r.First, Lines: r.Lines,
			Origins: []api.Origin{},
			Notices: e.Project().Notices,
		}
		for _, o := range r.Origins {
			one := api.Origin{
				Moment: moment(o.Listed), Path: api.Text(o.Path), By: o.By, Before: o.Root,
				Older: o.Older,
			}
			if !o.Prior.IsZero() {
				one.Prior, one.Was = o.Prior.String(), api.Text(o.Was)
			}
			if o.Root && o.Git.Commit != "" {
				one.Git = head(o.Git)
			}
			if c := o.Commit; c != nil {
				one.Commit = &api.Commit{
					ID: c.ID, Author: api.Text(c.Author), Time: c.Time,
					Summary: api.Text(c.Summary),
				}
			}
			out.Origins = append(out.Origins, one)
		}
		return nil
	})
	return out, err
}

func (s searches) bisect(
	ctx context.Context, req api.BisectRequest, _ model.Progress,
) (out api.BisectResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.Bisector.Show(ctx, cmp.Or(req.Bisection, bisect.Manual))
		if err == nil {
			out = bisectResponse(e, r)
		}
		return err
	})
	return out, err
}

func (s searches) bisectStart(
	ctx context.Context, req api.BisectStartRequest, p model.Progress,
) (out api.BisectResponse, err error) {
	err = s.bisecting(ctx, req.ProjectDir(), req.Bad != "" || req.Hand && len(req.Good) == 0,
		func(e *engine.Engine) error {
			o := bisect.Options{
				Hand: req.Hand, Newer: req.Newer, NoLinks: req.NoLinks, Mounts: bisect.Mounts(req.Mounts),
			}
			var err error
			if req.Bad != "" {
				if o.Bad, err = e.History.Named(req.Walk, string(req.Bad)); err != nil {
					return err
				}
			}
			for _, name := range req.Good {
				good, err := e.History.Named(req.Walk, string(name))
				if err != nil {
					return err
				}
				o.Good = append(o.Good, good)
			}
			if o.Links, err = relative(e, req.ProjectDir(), req.Links); err != nil {
				return err
			}
			r, err := e.Bisector.Start(ctx, o, p)
			if err == nil {
				out = bisectResponse(e, r)
			}
			return err
		})
	return out, err
}

func (s searches) bisectMark(
	ctx context.Context, req api.BisectMarkRequest, p model.Progress,
) (out api.BisectResponse, err error) {
	as := bisect.Verdict(req.As)
	if as != bisect.Good && as != bisect.Bad && as != bisect.Skip {
		return out, model.Usagef("%q: want good, bad or skip", req.As)
	}
	err = s.bisecting(ctx, req.ProjectDir(), req.Bisection != "" || req.Checkpoint != "", func(e *engine.Engine) error {
		said := bisect.Said{As: as, Why: string(req.Why), At: req.Said}
		if req.Checkpoint != "" {
			var err error
			if said.Checkpoint, err = e.History.Named(req.Walk, string(req.Checkpoint)); err != nil {
				return err
			}
		}
		r, err := e.Bisector.Mark(ctx, cmp.Or(req.Bisection, bisect.Manual), said, p)
		if err == nil {
			out = bisectResponse(e, r)
		}
		return err
	})
	return out, err
}

// bisecting is read for a request that saves nothing, else project.
func (s searches) bisecting(ctx context.Context, dir string, reads bool, fn func(*engine.Engine) error) error {
	if reads {
		return s.read(ctx, dir, fn)
	}
	return s.project(ctx, dir, fn)
}

func (s searches) bisectReset(
	ctx context.Context, req api.BisectResetRequest, _ model.Progress,
) (out api.BisectResetResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		err := e.Bisector.Reset(cmp.Or(req.Bisection, bisect.Manual))
		if errors.Is(err, bisect.ErrNone) {
			return nil
		}
		out = api.BisectResetResponse{Ended: err == nil, Notices: e.Project().Notices}
		return err
	})
	return out, err
}

func bisectResponse(e *engine.Engine, r *bisect.Result) api.BisectResponse {
	out := api.BisectResponse{
		Bisection: r.Session, Root: api.Text(e.Project().Root), Dir: api.Text(r.Dir), Test: listedOrNil(r.Test),
		End: r.End, Seeks: r.Seeks, Left: r.Left,
		Asks: r.Asks, Wants: string(r.Wants), Notices: append(e.Project().Notices, r.Notices...),
		Mounts: value.Texts(r.Mounts),
	}
	for _, l := range r.Links {
		out.Links = append(out.Links, api.BisectLink{Path: api.Text(l.Path), How: string(l.How), Why: l.Why})
	}
	for _, l := range r.Log {
		one := api.BisectLogged{Time: l.Time, ID: l.Checkpoint.String(), As: string(l.As), Why: api.Text(l.Why)}
		if l.Listed != nil {
			m := moment(*l.Listed)
			one.Moment = &m
		}
		out.Log = append(out.Log, one)
	}
	if a := r.Answer; a != nil {
		out.Answer = &api.BisectAnswer{Bad: listedOrNil(a.Bad), Good: listedOrNil(a.Good), Assumed: a.Assumed}
		for _, l := range a.Suspects {
			out.Answer.Suspects = append(out.Answer.Suspects, checkpoint(l))
		}
		for _, l := range a.Tried {
			out.Answer.Tried = append(out.Answer.Tried, checkpoint(l))
		}
	}
	return out
}

func listedOrNil(l *history.Listed) *api.Checkpoint {
	if l == nil {
		return nil
	}
	cp := checkpoint(*l)
	return &cp
}
