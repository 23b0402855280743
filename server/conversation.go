package server

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// conversations answers what sessions, their turns and their forks are, and makes forks.
type conversations struct{ *server }

func (s conversations) routes() {
	handle(s.server, api.Sessions, s.sessions)
	handle(s.server, api.Turns, s.turns)
	handle(s.server, api.Messages, s.messages)
	handle(s.server, api.Future, s.future)
	handle(s.server, api.MakeFork, s.fork)
	handle(s.server, api.MakeClone, s.clone)
	handle(s.server, api.Forks, s.forks)
	handle(s.server, api.Tree, s.tree)
	handle(s.server, api.ManageForks, s.manageForks)
	handle(s.server, api.BringBack, s.bringBack)
	handle(s.server, api.PruneForks, s.pruneForks)
}

func (s conversations) sessions(
	ctx context.Context, req api.SessionsRequest, p model.Progress,
) (out api.SessionsResponse, err error) {
	open := s.read
	if req.Import {
		open = s.project
	}
	env := req.Env
	err = open(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		out = api.SessionsResponse{Sessions: []api.SessionInfo{}}
		if req.Import {
			done, err := e.Talks.Import(ctx, env, p)
			if err != nil {
				return err
			}
			out.Imported = len(done.Sessions)
			for _, p := range done.Passed {
				out.Passed = append(out.Passed, api.Text(clean(p)))
			}
			for _, f := range done.Failed {
				out.Failed = append(out.Failed, api.Text(clean(f)))
			}
		}
		list, left, err := e.History.SessionList(ctx, req.All, req.Limit)
		if err != nil {
			return err
		}
		out.Hidden, out.Older = left.Hidden, left.Older
		for i := range list {
			info := sessionInfo(&list[i])
			info.Worktree = api.Text(e.Sessions.Elsewhere(&list[i].Session))
			out.Sessions = append(out.Sessions, info)
		}
		out.Notices = e.Project().Notices
		return nil
	})
	if err != nil {
		return out, err
	}
	return out, s.sessionsBeside(ctx, req, &out)
}

// sessionsBeside adds to a list of sessions those that go on in other worktrees of the family; what this one has of
// such a session gives way.
func (s conversations) sessionsBeside(ctx context.Context, req api.SessionsRequest, out *api.SessionsResponse) error {
	at := map[string]int{}
	for i := range out.Sessions {
		at[out.Sessions[i].Session] = i
	}
	notices, err := s.eachBeside(ctx, req.ProjectDir(), func(w value.Worktree, e *engine.Engine) error {
		list, left, err := e.History.SessionList(ctx, req.All, req.Limit)
		if err != nil {
			return err
		}
		out.Older += left.Older
		for i := range list {
			one := &list[i]
			if e.Sessions.Elsewhere(&one.Session) != "" {
				continue
			}
			k, copied := at[one.Name]
			if copied && out.Sessions[k].Worktree == "" {
				continue
			}
			info := sessionInfo(one)
			if info.Current, info.Worktree = false, w.Root; copied {
				out.Sessions[k] = info
				continue
			}
			out.Sessions = append(out.Sessions, info)
		}
		return nil
	})
	slices.SortStableFunc(out.Sessions, func(a, b api.SessionInfo) int { return b.Last.Compare(a.Last) })
	if n := len(out.Sessions); req.Limit > 0 && n > req.Limit {
		out.Sessions, out.Older = out.Sessions[:req.Limit], out.Older+n-req.Limit
	}
	out.Notices = append(out.Notices, notices...)
	return err
}

func (s conversations) turns(
	ctx context.Context, req api.TurnsRequest, _ model.Progress,
) (out api.TurnsResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.History.Turns(ctx, req.Walk, req.Limit)
		if err != nil {
			return err
		}
		out = turnsResponse(r, e.Sessions.Whose()(r.Session))
		out.Notices = e.Project().Notices
		return nil
	})
	return out, err
}

func (s conversations) future(
	ctx context.Context, req api.FutureRequest, _ model.Progress,
) (out api.FutureResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		f, err := e.History.Future(ctx, req.Walk)
		if err != nil {
			return err
		}
		out = api.FutureResponse{
			Session: f.Session, Title: api.Text(f.Title), At: f.At, Ahead: []api.Ahead{},
			Notices: e.Project().Notices,
		}
		for _, l := range f.Lines {
			a := api.Ahead{
				Session: l.Session, Title: api.Text(l.Title), After: l.After, Why: string(l.Why),
				Operation: l.Operation,
			}
			for _, t := range l.Turns {
				a.Turns = append(a.Turns, turn(t))
			}
			out.Ahead = append(out.Ahead, a)
		}
		return nil
	})
	return out, err
}

func (s conversations) fork(
	ctx context.Context, req api.ForkRequest, p model.Progress,
) (out api.ForkResponse, err error) {
	if err := checkTitle(req.Title); err != nil {
		return out, err
	}
	if req.Plan != "" && !req.Checkout {
		return out, model.Usagef("a plan is of what is restored: it goes with checkout")
	}
	if req.Worktree != "" {
		return worktrees(s).fork(ctx, req, p)
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		f, err := e.Restorer.Fork(ctx, string(req.Checkpoint), restore.Options{
			Session: req.Walk, Title: string(req.Title), Checkout: req.Checkout, Scope: refs.Scope{Exact: req.Exact},
			DryRun: req.DryRun, Plan: req.Plan, SelfTest: req.SelfTest, Env: req.Env, Progress: p,
			Reuse: !req.New && req.Title == "" && !req.SelfTest && !req.Checkout,
		})
		if err != nil {
			return err
		}
		out, err = forkResponse(e, req.DryRun, f)
		return err
	})
	return out, err
}

func (s conversations) clone(
	ctx context.Context, req api.CloneRequest, p model.Progress,
) (out api.ForkResponse, err error) {
	if err := checkTitle(req.Title); err != nil {
		return out, err
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		f, err := e.Restorer.Clone(ctx, restore.Options{
			Session: req.Walk, Title: string(req.Title), Env: req.Env, Progress: p,
		})
		if err != nil {
			return err
		}
		out, err = forkResponse(e, false, f)
		return err
	})
	return out, err
}

func (s conversations) forks(
	ctx context.Context, req api.ForksRequest, _ model.Progress,
) (out api.ForksResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		list, err := e.History.Forks(ctx, req.Env, req.Fork)
		if err != nil {
			return err
		}
		if req.Fork == "" {
			e.TellManyForks()
		}
		out = api.ForksResponse{Forks: []api.ForkInfo{}, Notices: e.Project().Notices}
		for i := range list {
			if req.Fork == "" && !req.All && list[i].Hidden() {
				out.Hidden++
				continue
			}
			out.Forks = append(out.Forks, forkInfo(&list[i]))
		}
		return nil
	})
	return out, err
}

// saidWithin is how many messages are looked through for a turn's prompt: a long turn has the beginning of it in its
// checkpoints.
const saidWithin = 64

// addMessages adds the conversation before a checkpoint, or why there is none.
func addMessages(ctx context.Context, e *engine.Engine, name string, req api.ShowRequest, out *api.ShowResponse) error {
	if req.Messages <= 0 && !req.Said {
		return nil
	}
	n := req.Messages
	if req.Said {
		n = max(n, saidWithin)
	}
	list, why, err := e.History.Messages(ctx, name, n)
	if req.Said {
		asked, answered := history.Said(list)
		if asked.Who != "" {
			m := message(asked)
			m.At = &asked.At
			out.Asked = &m
		}
		if answered.Who != "" {
			m := message(answered)
			m.At = &answered.At
			out.Answered = &m
		}
	}
	if req.Messages > 0 {
		for _, m := range history.LastMessages(list, req.Messages) {
			out.Messages = append(out.Messages, message(m))
		}
		out.Conversation = api.Text(why)
	}
	return err
}

// managing are the kinds of operations that do what a request asks.
var managing = map[string]refs.Kind{
	api.DoRename: refs.KindRename, api.DoDelete: refs.KindDelete, api.DoArchive: refs.KindArchive,
	api.DoRestore: refs.KindUnarchive,
	api.DoPromote: refs.KindPromote,
}

func (s conversations) manageForks(
	ctx context.Context, req api.ManageRequest, _ model.Progress,
) (out api.ManageResponse, err error) {
	if err := checkTitle(req.Title); err != nil {
		return out, err
	}
	kind, ok := managing[req.Do]
	if !ok {
		return out, model.Usagef("do %q: rename, delete, archive, restore or promote", req.Do)
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.Restorer.Manage(ctx, manage.Request{
			Kind: kind, Sessions: req.Sessions, Title: oneLine(req.Title), LastCopy: req.LastCopy, Force: req.Force,
			DryRun: req.DryRun,
			Env:    req.Env,
		})
		if err != nil {
			return err
		}
		out = manageResponse(r, req.Do, req.DryRun)
		out.Notices = e.Project().Notices
		return nil
	})
	return out, err
}

func (s conversations) bringBack(ctx context.Context, req api.BringBackRequest, p model.Progress) (
	out api.BringBackResponse, err error,
) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.Restorer.BringBack(ctx, req.Session, restore.Options{DryRun: req.DryRun, Env: req.Env, Progress: p})
		if err != nil {
			return err
		}
		out = api.BringBackResponse{
			Session: r.Session, Path: api.Text(r.Path), Turns: r.Turns, Resume: resume(r.Session), DryRun: req.DryRun,
			Notices: e.Project().Notices,
		}
		if r.Operation != nil {
			out.Operation = r.Operation.Seq
		}
		if r.Fork != nil {
			f := fork(e, r.Fork)
			out.Fork, out.Resume = &f, resume(r.Fork.Session)
		}
		return nil
	})
	return out, err
}

func (s conversations) pruneForks(
	ctx context.Context, req api.PruneRequest, _ model.Progress,
) (out api.ManageResponse, err error) {
	choice := manage.Prune{Unused: req.Unused, Keep: req.Keep, Makers: req.Kinds}
	for _, kind := range req.Kinds {
		if !slices.Contains(value.ForkMakers(), kind) {
			return out, model.Usagef("kind %q: want some of %s", kind, strings.Join(value.ForkMakers(), ", "))
		}
	}
	if req.Older != "" {
		if choice.Older, err = project.ParseAge(req.Older); err != nil {
			return out, err
		}
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, left, err := e.Restorer.PruneForks(ctx, choice,
			manage.Request{LastCopy: req.LastCopy, DryRun: req.DryRun, Env: req.Env})
		if err != nil {
			return err
		}
		out = manageResponse(r, "prune", req.DryRun)
		for _, l := range left {
			out.Left = append(out.Left, loss(l))
		}
		out.Notices = e.Project().Notices
		return nil
	})
	return out, err
}

func (s conversations) tree(
	ctx context.Context, req api.TreeRequest, _ model.Progress,
) (out api.TreeResponse, err error) {
	there, left, err := s.branchesBeside(ctx, req.ProjectDir())
	if err != nil {
		return out, err
	}
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		t, err := e.History.FamilyTree(ctx, req.Session, req.All, there)
		if err != nil {
			return err
		}
		out = treeResponse(t)
		shown := t.Branches
		if req.Limit > 0 {
			stretch(&out, req.From, req.Limit)
			shown = shown[out.From : out.From+len(out.Branches)]
		}
		if req.Own {
			if err := own(e, shown, out.Branches); err != nil {
				return err
			}
		}
		out.Notices = slices.Concat(e.Project().Notices, left)
		return nil
	})
	return out, err
}

// own says of branches what is their own.
func own(e *engine.Engine, branches []history.Branch, to []api.Branch) error {
	for i := range branches {
		name, err := branches[i].ForkName(e.History)
		if err != nil {
			return err
		}
		to[i].ForkName = forkName(name)
	}
	return nil
}

func forkName(n history.ForkName) api.ForkName {
	return api.ForkName{OwnPrompt: api.Text(n.Prompt), Borrowed: n.Borrowed}
}

// stretch leaves of a tree's branches some, and the places of all.
func stretch(r *api.TreeResponse, from, most int) {
	r.Places = make([]api.Place, len(r.Branches))
	for i := range r.Branches {
		b := &r.Branches[i]
		r.Places[i] = api.Place{Branch: b.Branch, Parent: b.Parent, Depth: b.Depth}
	}
	r.From = min(max(from, 0), len(r.Branches))
	r.Branches = r.Branches[r.From:min(r.From+most, len(r.Branches))]
}

func treeResponse(t *history.Tree) api.TreeResponse {
	out := api.TreeResponse{
		Session: t.Of, Current: t.Current, Others: t.Others,
		Children: []string{}, Siblings: []string{}, Descendants: []string{}, Path: []string{}, Branches: []api.Branch{},
	}
	at := map[string]int{}
	for i := range t.Branches {
		b := branch(&t.Branches[i])
		at[b.Branch] = i
		out.Branches = append(out.Branches, b)
		if k, ok := at[b.Parent]; ok {
			out.Branches[k].Children = append(out.Branches[k].Children, b.Branch)
		}
	}
	is, ok := at[t.Of]
	if !ok {
		return out
	}
	of := out.Branches[is]
	out.Parent, out.Children = of.Parent, of.Children
	for b := of; ; b = out.Branches[at[b.Parent]] {
		out.Path = append([]string{b.Branch}, out.Path...)
		if b.Parent == "" {
			break
		}
	}
	out.Root = out.Path[0]
	if of.Parent != "" {
		for _, name := range out.Branches[at[of.Parent]].Children {
			if name != of.Branch {
				out.Siblings = append(out.Siblings, name)
			}
		}
	}
	for _, b := range out.Branches[is+1:] { // what hangs on it is right behind it
		if b.Depth <= of.Depth {
			break
		}
		out.Descendants = append(out.Descendants, b.Branch)
	}
	return out
}

func branch(b *history.Branch) api.Branch {
	out := api.Branch{
		ID: b.ID, Session: b.Name, Agent: b.Agent, Title: api.Text(b.Title), Parent: b.Parent, Children: []string{},
		Depth: b.Depth,
		Turns: b.Turn, Checkpoints: b.Work.Steps, Files: b.Work.Files, Added: b.Work.Added, Removed: b.Work.Removed,
		Uncounted: b.Work.Uncounted, First: utc(b.First), Last: utc(b.Last), Current: b.Current, Running: b.Running,
		Rewound:  b.Rewound,
		Imported: b.Imported, Loss: string(b.Loss),
		Clashes: b.Clashes, Worktree: api.Text(b.Worktree), Branch: b.Branch,
	}
	if b.Standing == value.MainLine || b.Standing == value.Archived {
		out.Standing = b.Standing.String()
	}
	if w := b.Way; w != nil {
		out.Left, out.Turns, out.First, out.Last = w.Turns, uint64(len(w.Turns)), utc(w.At), utc(w.At)
	}
	if b.Fork != nil {
		from := lineage(*b.Fork)
		out.Fork = &from
	}
	if !b.Tip.IsZero() {
		out.Checkpoint = b.Tip.String()
	}
	if b.Git != (model.GitHead{}) {
		git := b.Git
		out.Git = &git
	}
	for _, c := range b.Conflicts {
		out.Conflicts = append(out.Conflicts, api.Clash{Session: c.With, Files: c.Files, Paths: value.Texts(c.Paths)})
	}
	return out
}

// branchesBeside are the branches that go on in other worktrees of a project's family.
func (s conversations) branchesBeside(
	ctx context.Context, dir string,
) (list []history.Branch, notices []string, err error) {
	notices, err = s.eachBeside(ctx, dir, func(_ value.Worktree, e *engine.Engine) error {
		own, err := e.History.LocalBranches(ctx)
		list = append(list, own...)
		return err
	})
	return list, notices, err
}

func (s conversations) messages(
	ctx context.Context, req api.MessagesRequest, _ model.Progress,
) (out api.MessagesResponse, err error) {
	if err := pageAsked(&req); err != nil {
		return out, err
	}
	names := []api.Text{}
	if req.Checkpoint != "" {
		names = append(names, req.Checkpoint)
	}
	err = s.placed(ctx, req.ProjectDir(), names, func(at []place) error {
		if len(at) == 0 {
			at = []place{{root: req.ProjectDir()}}
		}
		return s.read(ctx, at[0].root, func(e *engine.Engine) (err error) {
			defer func() { err = at[0].tell(e, err) }()
			name := at[0].name
			if at[0].there || name != "" {
				if name, err = e.History.Named(req.Walk, at[0].at()); err != nil {
					return err
				}
			}
			where := history.Place{
				Before: req.Before, From: req.From, Begin: req.Begin, Generation: req.Generation, Whole: req.Whole,
			}
			r, err := e.History.Page(ctx, req.Walk, name, where, cmp.Or(req.Limit, pageMessages))
			if err != nil {
				return err
			}
			out = messagesResponse(r)
			out.Notices = e.Project().Notices
			return nil
		})
	})
	return out, err
}

// pageAsked reports whether a request says one place, and a limit that goes with what it asks for.
func pageAsked(req *api.MessagesRequest) error {
	places := 0
	for _, named := range []bool{req.Before != nil, req.From != nil, req.Begin} {
		if named {
			places++
		}
	}
	switch {
	case places > 1 || req.Limit < 0:
		return model.Usagef("a page is before a place or from one on, and has a limit that is not negative")
	case req.Whole && req.Limit != 1:
		return model.Usagef("one message is read whole: the limit is 1")
	}
	return nil
}

func messagesResponse(r *history.SaidPage) api.MessagesResponse {
	out := api.MessagesResponse{
		Session: r.Session, Generation: r.Generation, Turns: r.Turns, Messages: []api.Message{}, End: r.End,
		Conversation: api.Text(r.Why),
	}
	for _, m := range r.Messages {
		one := message(m)
		one.At, one.Turn = &m.At, m.Turn
		out.Messages = append(out.Messages, one)
	}
	if r.Older && len(out.Messages) > 0 {
		out.Older = out.Messages[0].At
	}
	if r.Next < r.End {
		out.Newer = &r.Next
	}
	return out
}
