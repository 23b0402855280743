package server

import (
	"cmp"
	"context"
	"slices"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/tree"
)

// rowChanges and stepPaths are how many paths a turn and a step have in a list: what fits beside them in a wide
// terminal.
const (
	rowChanges = 32
	rowReads   = 4 * rowChanges // are read for them: directories go with what is in them, of a rename there is one
	stepPaths  = 8
)

func (s states) list(ctx context.Context, req api.ListRequest, _ model.Progress) (out api.ListResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		out = api.ListResponse{Checkpoints: []api.Checkpoint{}}
		var err error
		switch {
		case req.Turn != "":
			err = listTurn(ctx, e, req, &out)
		case req.Turns:
			err = listTurns(ctx, e, req, &out)
		default:
			err = listCheckpoints(ctx, e, req, &out)
		}
		out.Notices = e.Project().Notices
		return err
	})
	return out, err
}

func listTurns(ctx context.Context, e *engine.Engine, req api.ListRequest, out *api.ListResponse) error {
	o := history.RowOptions{
		Filter: history.Filter{Filter: req.Filter}, All: req.All, Limit: req.Limit, Before: req.Before,
		Changes: rowReads, Past: req.Past, Ends: true,
	}
	if wantsFiles(req.Detail) {
		o.Changes = 0
	}
	r, err := e.History.Rows(ctx, o)
	if err != nil {
		return err
	}
	links, err := graph(ctx, e, req.Graph, r.Rows)
	if err != nil {
		return err
	}
	var kin func(session string, turn uint64) (title string, forks int)
	if req.Kin {
		if kin, err = e.History.Kin(); err != nil {
			return err
		}
	}
	names := map[string]history.ForkName{} // by session
	out.Turns, out.More, out.Next = []api.Row{}, r.More, r.Next
	for i := range r.Rows {
		one := row(&r.Rows[i], rowChanges)
		if one.Files, err = files(ctx, e, r.Rows[i].Changes, req.Detail); err != nil {
			return err
		}
		one.Follows = links(i)
		if kin != nil {
			title, forks := kin(one.Session, one.Turn)
			one.Title, one.Forks = api.Text(title), forks
			name, known := names[one.Session]
			if !known {
				if name, err = e.History.ForkName(one.Session); err != nil {
					return err
				}
				names[one.Session] = name
			}
			one.ForkName = forkName(name)
		}
		out.Turns = append(out.Turns, one)
	}
	return nil
}

// graph gives of each of the rows which one it goes on from, where that was asked for.
func graph(ctx context.Context, e *engine.Engine, asked bool, rows []history.Row) (func(i int) *api.Link, error) {
	if !asked {
		return func(int) *api.Link { return nil }, nil
	}
	links, err := e.History.Graph(ctx, rows)
	return func(i int) *api.Link {
		if links[i] == nil {
			return nil
		}
		l := &api.Link{Row: links[i].Row, Elided: links[i].Elided}
		if f := links[i].Fork; f != nil {
			from := lineage(*f)
			l.Fork = &from
		}
		return l
	}, err
}

func listCheckpoints(ctx context.Context, e *engine.Engine, req api.ListRequest, out *api.ListResponse) error {
	r, err := e.History.List(ctx, history.ListOptions{
		Filter: history.Filter{Filter: req.Filter}, All: req.All, Steps: req.Steps, Limit: req.Limit,
		Before: req.Before,
	})
	if err != nil {
		return err
	}
	links, err := graph(ctx, e, req.Graph, history.StepRows(r.Checkpoints))
	if err != nil {
		return err
	}
	if out.More, out.Folded = r.More, r.Folded; r.More {
		out.Next = r.Checkpoints[len(r.Checkpoints)-1].Seq
	}
	for i, l := range r.Checkpoints {
		one := checkpoint(l)
		one.Follows = links(i)
		out.Checkpoints = append(out.Checkpoints, one)
	}
	if !req.Steps {
		return nil
	}
	steps := make([]*model.Checkpoint, len(r.Checkpoints))
	for i := range steps {
		steps[i] = r.Checkpoints[i].Checkpoint
	}
	return describe(e, steps, out.Checkpoints)
}

// listTurn lists the steps of a turn, the newest first.
func listTurn(ctx context.Context, e *engine.Engine, req api.ListRequest, out *api.ListResponse) error {
	name, err := e.History.Named(model.SessionChoice{Session: req.Session, Choose: req.Choose}, string(req.Turn))
	if err != nil {
		return err
	}
	r, err := e.History.TurnRow(ctx, name, req.End)
	if err != nil {
		return err
	}
	if !r.Coded() {
		_, err := e.History.Resolve(name) // says what there is
		return err
	}
	f, steps := history.Filter{Filter: req.Filter}, []*model.Checkpoint{}
	f.Session = "" // the turn may be of the session that this one was forked from
	dress, err := e.History.Dresser()
	if err != nil {
		return err
	}
	var listed []history.Listed
	for _, cp := range slices.Backward(r.Steps) {
		if out.More = req.Limit > 0 && len(steps) == req.Limit; out.More {
			break
		}
		if req.Before > 0 && cp.Seq >= req.Before {
			continue
		}
		l, err := dress(cp)
		if err != nil {
			return err
		}
		if !f.Has(l.Checkpoint) {
			continue
		}
		l.Aside = r.Aside
		steps, listed, out.Checkpoints = append(steps, cp), append(listed, l), append(out.Checkpoints, checkpoint(l))
	}
	links, err := graph(ctx, e, req.Graph, history.StepRows(listed))
	if err != nil {
		return err
	}
	for i := range out.Checkpoints {
		out.Checkpoints[i].Follows = links(i)
	}
	if out.More {
		out.Next = steps[len(steps)-1].Seq
	}
	out.Turns = []api.Row{row(r, rowChanges)}
	return describe(e, steps, out.Checkpoints)
}

// describe says of steps what their calls were about, and how what they changed begins.
func describe(e *engine.Engine, steps []*model.Checkpoint, to []api.Checkpoint) error {
	targets := e.History.Targets(steps)
	for i, cp := range steps {
		to[i].Target = api.Text(targets[cp.Cause.Call])
		paths, err := e.History.Paths(cp, stepPaths)
		if err != nil {
			return err
		}
		to[i].Paths = value.Texts(paths)
	}
	return nil
}

// row is a row as an answer, with at most so many changes.
func row(r *history.Row, most int) api.Row {
	out := api.Row{
		Checkpoint: endOf(r), NoCode: r.NoCode,
		Session: r.Of, Turn: r.Turn, Prompt: api.Text(r.Prompt), Time: r.At.UTC(),
		Steps: r.Count, Tools: r.Tools(),
		Outside: !slices.ContainsFunc(r.Steps, func(cp *model.Checkpoint) bool { return len(cp.Authors()) > 0 }) &&
			len(r.Steps) > 0,
		Added: r.Counts.Added, Modified: r.Counts.Modified, Deleted: r.Counts.Deleted, Current: r.Current,
		Aside: r.Aside, Yours: value.Texts(r.Yours), Restored: value.Texts(r.Restored),
	}
	out.Agent, _ = model.SplitSession(r.Of)
	if len(r.Steps) > 0 {
		out.First = r.Steps[0].ID.String()
	}
	all := changes(r.Changes, nil) // fewer: directories go with what is in them, of a rename there is one
	out.Changes = all[:min(len(all), most)]
	out.Left = len(all) - len(out.Changes)
	if r.Cut {
		out.Left = r.Counts.Added + r.Counts.Modified + r.Counts.Deleted - len(out.Changes)
	}
	return out
}

// endOf is the checkpoint of a row; of a turn without code what the turn itself has of one.
func endOf(r *history.Row) api.Checkpoint {
	if !r.NoCode {
		return checkpoint(r.Listed)
	}
	c := api.Checkpoint{
		Session: r.Of, Turn: r.Turn, Prompt: api.Text(r.Prompt), Time: r.At.UTC(), Aside: r.Aside, Parents: []string{},
	}
	c.Agent, _ = model.SplitSession(r.Of)
	return c
}

func (s states) show(ctx context.Context, req api.ShowRequest, _ model.Progress) (out api.ShowResponse, err error) {
	if req.Checkpoint == "" {
		return out, model.Usagef("the checkpoint's name is empty")
	}
	err = s.placed(ctx, req.ProjectDir(), []api.Text{req.Checkpoint}, func(at []place) error {
		out, err = s.showAt(ctx, req, at[0])
		return err
	})
	return out, err
}

func (s states) showAt(ctx context.Context, req api.ShowRequest, at place) (out api.ShowResponse, err error) {
	err = s.read(ctx, at.root, func(e *engine.Engine) (err error) {
		defer func() { err = at.tell(e, err) }()
		paths, err := relative(e, at.dir, req.Paths)
		if err != nil {
			return err
		}
		name, err := e.History.TalkedTurn(ctx, req.Walk, at.at())
		if req.Whole = req.Whole || name != ""; err == nil && name == "" {
			name, err = e.History.Named(req.Walk, at.at())
		}
		if err != nil {
			return err
		}
		r, whole, err := shown(ctx, e, name, req.Whole, req.End, paths)
		if err != nil {
			return err
		}
		if whole != nil && whole.NoCode {
			out = api.ShowResponse{
				Checkpoint: whole.Checkpoint, Whole: whole, SaidLeaks: r.Said, Notices: e.Project().Notices,
				Changes: []api.Change{}, Skips: []api.Skip{}, Leaks: []api.Leak{},
			}
			return addMessages(ctx, e, name, req, &out)
		}
		out = api.ShowResponse{
			Checkpoint: checkpoint(r.Listed), Whole: whole, Changes: changes(r.Changes, r.Skips), Skips: skips(r.Skips),
			Cursor:  cursor(r.Checkpoint),
			Notices: e.Project().Notices,
		}
		out.Checkpoint.Target = api.Text(e.History.Targets([]*model.Checkpoint{r.Checkpoint})[r.Cause.Call])
		out.NotCaptured, out.GitGone = e.PlaceEdits(r.Uncaptured), head(r.GitGone)
		if unread := model.GitUnread(r.Skips); len(unread) > 0 {
			out.GitUnread = value.Texts(unread)
		}
		if l, err := e.History.ForkPoint(ctx, name); err != nil {
			return err
		} else if l != nil {
			from := lineage(*l)
			out.Fork = &from
		}
		out.Leaks, out.SaidLeaks = append([]api.Leak{}, r.Leaks...), r.Said
		for i := range out.Skips {
			out.Skips[i].Changed = r.Secrets[string(out.Skips[i].Path)]
		}
		for i := range out.Changes {
			out.Changes[i].Gone = r.Gone[string(out.Changes[i].Path)]
		}
		if out.Files, err = files(ctx, e, r.Changes, req.Detail); err != nil {
			return err
		}
		return addMessages(ctx, e, name, req, &out)
	})
	return out, err
}

// shown is a checkpoint, or where whole is true the turn that a name stands for, in the row that ends with a
// checkpoint; "": the newest.
func shown(
	ctx context.Context, e *engine.Engine, name string, whole bool, end string, paths []string,
) (*history.Shown, *api.Row, error) {
	if !whole {
		r, err := e.History.Show(ctx, name, paths)
		return r, nil, err
	}
	r, turn, err := e.History.ShowTurn(ctx, name, end, paths)
	if err != nil || turn == nil {
		return r, nil, err
	}
	out := row(turn, 0)
	out.Left = 0 // they are the answer's
	return r, &out, nil
}

func wantsFiles(d api.Detail) bool { return d.Names || d.Lines || d.Patch }

// files tells of changes as much as is asked for.
func files(ctx context.Context, e *engine.Engine, list []tree.Change, d api.Detail) (out []api.FileDiff, err error) {
	if !wantsFiles(d) {
		return nil, nil
	}
	o := engine.DiffOptions{Context: d.Context, NoText: !d.Lines && !d.Patch, First: d.First, Most: d.Most}
	err = e.DiffChanges(list, o,
		func(f engine.FileDiff) error {
			one := fileDiff(f)
			if !d.Patch {
				one.Hunks = nil
			}
			out = append(out, one)
			return ctx.Err()
		})
	return out, err
}

func cursor(cp *model.Checkpoint) *api.Cursor {
	c := cp.Conversation
	if c.Transcript.IsZero() {
		return nil
	}
	out := &api.Cursor{
		Path: api.Text(c.Path), Generation: c.Generation, Offset: c.Length, Last: c.Last,
		Hash: c.Transcript.String(),
	}
	out.Agent, _ = model.SplitSession(cp.Session)
	return out
}

// densitySpans is how many spans a density has at most where nobody says.
const densitySpans = 120

func (s states) density(
	ctx context.Context, req api.DensityRequest, _ model.Progress,
) (out api.DensityResponse, err error) {
	if req.Most < 0 {
		return out, model.Usagef("a number of spans is not negative")
	}
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		d, err := e.History.Density(ctx, cmp.Or(req.Most, densitySpans))
		if err != nil {
			return err
		}
		out = api.DensityResponse{Seconds: int64(d.Length.Seconds()), Spans: []api.Span{}, Notices: e.Project().Notices}
		for _, one := range d.Spans {
			out.Spans = append(out.Spans,
				api.Span{Time: one.At.UTC(), Checkpoints: one.Checkpoints, Next: one.Newest + 1})
		}
		return nil
	})
	return out, err
}
