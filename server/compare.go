package server

import (
	"cmp"
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/compare"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/internal/value"
)

func (s states) compare(
	ctx context.Context, req api.CompareRequest, _ model.Progress,
) (out api.CompareResponse, err error) {
	at, err := s.settle(ctx, req.ProjectDir(), req.A, req.B)
	if err != nil {
		return out, err
	}
	a, b := at[0], at[1]
	switch n, bad := history.ParseName(a.name); {
	case req.B != "":
		b.name = b.at()
	case a.there && bad == nil && n.Kind == naming.Fork && n.Back == 0:
		b = place{root: a.root, dir: a.dir, there: true} // the newest state of that session
	case a.there:
		b.name = "@"
	}
	err = s.two(ctx, a, b, s.read, func(e, with *engine.Engine) error {
		paths, err := relative(e, a.dir, req.Paths)
		if err != nil {
			return err
		}
		r, err := e.Compare(ctx, with, compare.Options{A: a.at(), B: b.name, Session: req.Walk, Paths: paths}, req.Context)
		if err != nil {
			return err
		}
		out = api.CompareResponse{
			Ancestor: ancestor(r.Result), NoFork: api.Text(r.NoFork), Conflicts: append([]api.Overlap{}, r.Overlaps...),
			Divergence: r.Divergence,
		}
		for _, o := range r.Overlaps {
			if o.Verdict == value.OverlapCollide {
				out.Collide++
			}
		}
		whose := e.Sessions.Whose()
		if e != with { // each has sessions of its own
			whose = naming.Whose
		}
		for i, to := range []*api.CompareSide{&out.A, &out.B} {
			side, in := &r.Sides[i], []*engine.Engine{e, with}[i]
			if *to, err = compareSide(in, side, r.Files[i], !req.NoHunks, whose); err != nil {
				return err
			}
			to.Worktree = []place{a, b}[i].worktree()
		}
		out.Notices = notices(e, with)
		return nil
	})
	return out, err
}

func ancestor(r *compare.Result) *api.Ancestor {
	l := r.Ancestor
	if l == nil {
		return nil
	}
	found := "history"
	if r.Forked {
		found = "fork"
	}
	return &api.Ancestor{
		Session: l.Session, Checkpoint: l.ID.String(), Short: l.Short, Turn: l.Cause.Turn, Event: l.Cause.Event,
		Message: api.Text(l.Cause.Message), Prompt: api.Text(l.Cause.Prompt),
		Commit: l.Git.Commit, Branch: l.Git.Branch, Time: l.Time.UTC(), Found: found,
	}
}

func compareSide(
	e *engine.Engine, s *compare.Side, files []engine.FileDiff, hunks bool, whose func(session string) string,
) (api.CompareSide, error) {
	out := api.CompareSide{
		Session: s.Session, Whole: s.Whole, Tip: checkpoint(s.Tip), Checkpoints: len(s.Steps), IDs: []string{}, Turns: []api.CompareTurn{},
		Files: []api.FileDiff{},
	}
	out.Agent, _ = model.SplitSession(s.Session)
	rec, err := e.Log.StoredSession(s.Session)
	if err != nil {
		return out, err
	}
	if rec != nil {
		out.Title = api.Text(rec.Title)
	}
	name, err := e.History.ForkName(s.Session)
	if err != nil {
		return out, err
	}
	out.ForkName = forkName(name)
	for _, cp := range s.Steps {
		out.IDs = append(out.IDs, cp.ID.String())
	}
	for _, t := range s.Turns {
		out.Turns = append(out.Turns, api.CompareTurn{
			Session: t.Session, Turn: t.Turn, Whose: whose(t.Session), Prompt: api.Text(t.Prompt),
			Time: t.Time.UTC(), Checkpoints: t.Steps,
		})
	}
	for _, f := range files {
		one := fileDiff(f)
		if !hunks {
			one.Hunks = nil
		}
		out.Added, out.Removed = out.Added+one.Added, out.Removed+one.Removed
		out.Files = append(out.Files, one)
	}
	for _, w := range s.Others {
		out.Others = append(out.Others, api.Wrote{By: w.By, Paths: value.Texts(w.Paths)})
	}
	return out, nil
}

// sinceFork is what a diff since the fork point of a session compares: the names of both sides, and what it is.
func sinceFork(ctx context.Context, e *engine.Engine, req *api.DiffRequest) (since *api.SinceFork, err error) {
	if req.From != "" || req.To != "" {
		return nil, model.Usagef("since a fork point: a diff from or to a checkpoint is another one")
	}
	session, err := e.Sessions.Session(req.Walk)
	if err != nil {
		return nil, err
	}
	at, err := e.Sessions.Position()
	if err != nil {
		return nil, err
	}
	name := "fork:" + session
	// refuses a session that is no fork
	r, err := e.Comparer.Compare(ctx, compare.Options{A: name, B: "session:" + session})
	if err != nil {
		return nil, err
	}
	l, err := e.History.ForkPoint(ctx, name)
	if err != nil {
		return nil, err
	}
	tip := checkpoint(r.Sides[1].Tip)
	since = &api.SinceFork{Fork: lineage(*l), Current: &tip, Checkpoints: len(r.Sides[1].Steps)}
	req.From = api.Text(cmp.Or(l.Checkpoint, name))
	if at.Session != session {
		req.To = api.Text(tip.ID)
	}
	return since, nil
}
